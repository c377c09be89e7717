"""The wheel, in an environment without other packages and without a network."""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import venv
import zipfile

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import wheel  # noqa: E402

SESSION = """
import sys, time
began = time.perf_counter()
import bulkcat
took = time.perf_counter() - began
heavy = {"pandas", "polars", "pyarrow", "duckdb", "numpy", "tqdm", "subprocess", "importlib.metadata"} & sys.modules.keys()
assert not heavy, heavy
assert took < 0.5, took  # 50 ms on an idle machine
one = bulkcat.product("Cast iron skillet 12 in")
assert one.status == "ok" and one.category_id == "662", one
assert [a.status for a in bulkcat.products(["steel drill", None])] == ["ok", "blank"]
open("titles.csv", "w").write("title\\nsteel drill\\n")
run = bulkcat.products("titles.csv", output="out.csv")
assert run.counts["ok"] == 1
print(bulkcat.__version__)
"""


@pytest.fixture(scope="module")
def wheel_path():
    return pathlib.Path(os.environ["BULKCAT_WHEEL"])


@pytest.fixture(scope="module")
def python(wheel_path, tmp_path_factory):
    """The Python of a new environment that has the wheel."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    program = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    command = [sys.executable, "-m", "pip", "--python", str(program), "--disable-pip-version-check", "install", "-q", "--no-index"]
    subprocess.run([*command, str(wheel_path)], check=True)
    return program


def test_session_in_a_clean_environment(python, wheel_path, tmp_path):
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("BULKCAT_", "PYTHON"))} | {"PATH": ""}

    def call(*command):
        return subprocess.run(command, cwd=tmp_path, env=variables, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    number = call(python, "-W", "error", "-c", SESSION)
    assert number == wheel_path.name.split("-")[1]
    told = call(python, "-m", "bulkcat", "version")
    assert told == call(python.parent / "bulkcat", "version")
    assert wheel.version(told.split()[1]) == number
    ended = subprocess.run([python, "-m", "bulkcat", "product"], env=variables, capture_output=True)
    assert ended.returncode == 2


CHECKS = """
assert list(products.status.unique()) == ["ok"] and len(products) == len(df) == 240
assert len(industries) == 4 and industries.title[0].startswith("Hotels")
assert one.status == "ok" and run.counts["ok"] == 4
"""


def test_sessions_of_the_readme(tmp_path):
    """In an empty folder with the sample inputs, one after the other."""
    readme = (HERE.parent / "README.md").read_text(encoding="utf-8")
    sessions = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    assert len(sessions) == readme.count("```python") == 3
    environment = {k: v for k, v in os.environ.items() if not k.startswith("BULKCAT_")} | {"BULKCAT_FETCH": "never"}
    subprocess.run([sys.executable, "-m", "bulkcat", "demo", "."], cwd=tmp_path, env=environment, check=True)
    subprocess.run([sys.executable, "-W", "error", "-c", "\n".join([*sessions, CHECKS])], cwd=tmp_path, env=environment, check=True)


def test_links_of_the_description_are_absolute():
    links = re.findall(r"\]\(([^)]*)\)", wheel.description())
    place = re.compile(re.escape(wheel.SOURCE) + "/(tree|blob)/HEAD/([^#]+)")
    targets = [place.match(link) for link in links]
    assert len(links) > 10 and all(targets)
    for target in targets:
        path = wheel.ROOT / target[2]
        assert path.is_dir() if target[1] == "tree" else path.is_file(), target[0]


def test_record_lists_all_files(wheel_path):
    with zipfile.ZipFile(wheel_path) as archive:
        names = archive.namelist()
        record = archive.read(next(n for n in names if n.endswith("/RECORD"))).decode()
        for line in record.splitlines():
            name, digest, size = line.split(",")
            names.remove(name)
            if digest:
                text = archive.read(name)
                sha256 = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).decode().rstrip("=")
                assert (digest, int(size)) == ("sha256=" + sha256, len(text))
    assert names == []


def test_equal_builds_make_equal_wheels(tmp_path):
    binary = tmp_path / "bulkcat.exe"
    binary.write_bytes(b"program")
    texts = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        os.utime(binary, (len(name), hash(name) % 10**9))
        texts.add(wheel.write(tmp_path / name, "1.2.3", wheel.PLATFORMS["windows/arm64"], binary).read_bytes())
    assert len(texts) == 1


@pytest.mark.parametrize("platform", wheel.PLATFORMS)
def test_tools_of_pypi_accept_the_wheel_of_each_platform(tmp_path, platform):
    binary = tmp_path / "bulkcat.exe"
    binary.write_bytes(b"program")
    path = wheel.write(tmp_path, "1.2.3", wheel.PLATFORMS[platform], binary)
    for command in (["twine", "check", "--strict"], ["check_wheel_contents"]):
        done = subprocess.run([sys.executable, "-m", *command, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("release", "number"),
    [
        ("v0.1.0", "0.1.0"),
        ("v0.1.0-5-gabc1234", "0.1.0.post5+gabc1234"),
        ("v0.1.0-5-gabc1234-dirty", "0.1.0.post5+gabc1234.dirty"),
        ("v1.2.0-rc.1", "1.2.0rc1"),
        ("v1.2.0-rc1-3-gabcdef0", "1.2.0rc1.post3+gabcdef0"),
        ("e88ad2a-dirty", "0.dev0+ge88ad2a.dirty"),
        ("0123456", "0.dev0+g0123456"),
        ("dev", "0.dev0+gdev"),
    ],
)
def test_versions(release, number):
    from packaging.version import Version

    assert wheel.version(release) == number == str(Version(number))
