"""Makes wheels of bulkcat from Go builds: wheel.py OUT [--all | PLATFORM...], with platforms such as linux/amd64.

A wheel has the package and the program, which needs no library of the system, so that one wheel serves all Pythons and
all Linuxes of an architecture. Two builds of one commit give the same bytes.
"""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).parent.resolve()
ROOT = HERE.parent.parent
SOURCE = "https://github.com/bulkcat/bulkcat"

# Go 1.26 needs Linux 3.2 and macOS 12. The static binary uses no C library: the lowest tags that pip knows fit.
PLATFORMS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}

EXTRAS = {
    "pandas": ["pandas>=2", "pyarrow>=15"],
    "polars": ["polars>=1", "pyarrow>=15"],
    "arrow": ["pyarrow>=15"],
    "duckdb": ["duckdb>=1", "pyarrow>=15"],
    "spark": ["pyspark>=4", "pyarrow>=18", "pandas>=2.2"],
    "airflow": ["apache-airflow>=3.3"],
    "progress": ["tqdm>=4.60"],
}


def main(arguments: list[str]) -> None:
    out, *platforms = arguments
    if platforms == ["--all"]:
        platforms = list(PLATFORMS)
    if unknown := set(platforms) - PLATFORMS.keys():
        sys.exit(f"wheel.py: no such platform: {', '.join(sorted(unknown))}; there are {', '.join(PLATFORMS)}")
    release = os.environ.get("VERSION") or output("git", "describe", "--tags", "--always", "--dirty")
    folder = pathlib.Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for platform in platforms or [output("go", "env", "GOOS") + "/" + output("go", "env", "GOARCH")]:
        with tempfile.TemporaryDirectory() as temporary:
            binary = build(platform, release, pathlib.Path(temporary))
            print(write(folder, version(release), PLATFORMS[platform], binary))


def output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def version(release: str) -> str:
    """The version of a `git describe` by PEP 440: a tag, a tag and commits after it, or a commit without a tag."""
    match = re.fullmatch(r"v?(\d+(?:\.\d+)+)(?:-(\w[\w.]*?))?(?:-(\d+)-g([0-9a-f]+))?(-dirty)?", release)
    if match is None:
        return "0.dev0+g" + re.sub(r"[^a-z0-9]+", ".", release.lower())  # "g", since numbers lose their zeros
    number, before, commits, commit, dirty = match.groups()
    local = ".".join(filter(None, [commit and "g" + commit, dirty and "dirty"]))
    text = number + (re.sub(r"[.-]", "", before) if before else "") + (f".post{commits}" if commits else "")
    return text + ("+" + local if local else "")


def build(platform: str, release: str, folder: pathlib.Path) -> pathlib.Path:
    system, architecture = platform.split("/")
    binary = folder / ("bulkcat.exe" if system == "windows" else "bulkcat")
    environment = dict(os.environ, GOOS=system, GOARCH=architecture)
    command = ["make", "--no-print-directory", "build", f"VERSION={release}", f"BIN={binary}"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=sys.stderr)
    return binary


def write(folder: pathlib.Path, number: str, tags: str, binary: pathlib.Path) -> pathlib.Path:
    info, data = f"bulkcat-{number}.dist-info", f"bulkcat-{number}.data"
    files = {f"bulkcat/{p.name}": p.read_bytes() for p in sorted((HERE / "bulkcat").iterdir()) if p.is_file()}
    files[f"{data}/scripts/{binary.name}"] = binary.read_bytes()
    files[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    if notices := os.environ.get("NOTICES"):  # which the release makes
        files[f"{info}/licenses/THIRD_PARTY_NOTICES"] = pathlib.Path(notices).read_bytes()
    files[f"{info}/METADATA"] = metadata(number).encode()
    files[f"{info}/WHEEL"] = wheel(tags).encode()
    record = "".join(f"{name},sha256={digest(text)},{len(text)}\n" for name, text in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    path = folder / f"bulkcat-{number}-py3-none-{tags}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980, on every machine
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, whose permissions follow
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            archive.writestr(entry, text, compresslevel=9)
    return path


def digest(text: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()


def metadata(number: str) -> str:
    lines = [
        "Metadata-Version: 2.4",
        "Name: bulkcat",
        f"Version: {number}",
        "Summary: Categorize millions of websites or products: frames, Parquet or CSV",
        "License-Expression: Apache-2.0",
        "License-File: LICENSE",
        *(["License-File: THIRD_PARTY_NOTICES"] if os.environ.get("NOTICES") else []),
        f"Project-URL: Source, {SOURCE}",
        "Requires-Python: >=3.10",
        "Classifier: Typing :: Typed",
    ]
    for extra, requirements in EXTRAS.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {r}; extra == "{extra}"' for r in requirements]
    lines += ["Description-Content-Type: text/markdown", "", description()]
    return "\n".join(lines)


def description() -> str:
    """The README with absolute links, since PyPI has none of the other files."""

    def absolute(link: re.Match[str]) -> str:
        path, *place = link[1].split("#")
        target = (HERE / path).resolve().relative_to(ROOT).as_posix()
        return f"]({SOURCE}/{'tree' if (ROOT / target).is_dir() else 'blob'}/HEAD/{'#'.join([target, *place])})"

    return re.sub(r"\]\((?!https?:)([^)]+)\)", absolute, (HERE / "README.md").read_text(encoding="utf-8"))


def oldest() -> list[str]:
    """The oldest libraries of frames that the package declares, for pip."""
    extras = ("pandas", "polars", "arrow", "duckdb", "progress")
    return sorted({requirement.replace(">=", "==") for extra in extras for requirement in EXTRAS[extra]})


def wheel(tags: str) -> str:
    lines = ["Wheel-Version: 1.0", "Generator: scripts/python/wheel.py", "Root-Is-Purelib: false"]
    return "\n".join(lines + [f"Tag: py3-none-{tag}" for tag in tags.split(".")]) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
