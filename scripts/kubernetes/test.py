"""Compares the manifests with the schemas of Kubernetes, and runs the commands of their containers without a cluster.

    python test.py BULKCAT
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import kubernetes_validate
import yaml

HERE = pathlib.Path(__file__).resolve().parent


def read() -> dict:
    """The resources of the kustomization, by kind and name."""
    kustomization = yaml.safe_load((HERE / "kustomization.yaml").read_text())
    resources = [r for name in kustomization["resources"] for r in yaml.safe_load_all((HERE / name).read_text())]
    return {(r["kind"], r["metadata"]["name"]): r for r in resources}


def validate(resources: dict):
    for name, resource in resources.items():
        for version in "1.33", "1.37":
            kubernetes_validate.validate(resource, version, strict=True)
        print("valid:", *name)
        template = resource["spec"].get("jobTemplate", resource)["spec"].get("template")
        if template and not is_restricted(template["spec"]):
            sys.exit(f"a namespace with the restricted policy refuses {' '.join(name)}")
    job = resources["Job", "bulkcat-shards"]
    job["spec"]["completionMod"] = "Indexed"  # the schemas must find a wrong name
    try:
        kubernetes_validate.validate(job, "1.37", strict=True)
    except kubernetes_validate.ValidationError:
        del job["spec"]["completionMod"]
        return
    sys.exit("a wrong name is valid")


def gateway(resources: dict, folder: str, bulkcat: str):
    """Starts the gateway with its own flags, probes it, and has it read its keys again."""
    container, = resources["Deployment", "bulkcat-gateway"]["spec"]["template"]["spec"]["containers"]
    pathlib.Path(folder, "upstream-key").write_text("key-of-the-upstream\n")
    keys = pathlib.Path(folder, "keys.txt")
    keys.write_text("key-of-the-jobs name=jobs\n")
    command = [bulkcat, *container["command"][1:]]
    for path in "/secret/", "/store/":
        command = [part.replace(path, folder + "/") for part in command]
    ports = {p["name"]: p["containerPort"] for p in container["ports"]}
    log = pathlib.Path(folder, "gateway.log")
    with log.open("w") as stderr:
        process = subprocess.Popen([*command, "--upstream=http://127.0.0.1:1"], env={"HOME": folder}, stderr=stderr)
    try:
        until(lambda: "serves" in log.read_text())
        for kind in "startupProbe", "readinessProbe", "livenessProbe":
            probe = container[kind]["httpGet"]
            read_page(ports[probe["port"]], probe["path"])
        if 'key="jobs"' not in read_page(ports["metrics"], "/metrics"):
            sys.exit("the metrics have no key")
        keys.write_text("key-of-the-jobs name=jobs\nanother-key name=others\n")
        process.send_signal(signal.SIGHUP)
        until(lambda: "read again" in log.read_text())
    finally:
        process.terminate()
    want(process.wait(), 0, "the gateway")
    print("probed: the gateway")


def read_page(port: int, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as page:
        return page.read().decode()


def until(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    sys.exit("the gateway does not do in a minute what is wanted of it")


def is_restricted(pod: dict) -> bool:
    """Whether a pod meets the restricted policy of the Pod Security Standards."""
    context = pod["securityContext"]
    return context["runAsNonRoot"] and context["seccompProfile"]["type"] == "RuntimeDefault" and all(
        not c["securityContext"]["allowPrivilegeEscalation"] and c["securityContext"]["capabilities"]["drop"] == ["ALL"] for c in pod["containers"]
    )


class Pod:
    """The container of a pod's template, which runs on this machine with folder instead of /data."""

    def __init__(self, template: dict, folder: str, bulkcat: str):
        self.container, = template["spec"]["containers"]
        self.folder = folder
        self.env = {"PATH": f"{os.path.dirname(bulkcat)}:{os.environ['PATH']}", "HOME": folder, "BULKCAT_FETCH": "never"}
        self.env |= {e["name"]: e["value"] for e in self.container["env"] if e["name"] == "BULKCAT_SHARD_COUNT"}

    def start(self, **env) -> subprocess.Popen:
        command = [part.replace("/data/", self.folder + "/") for part in self.container["command"] + self.container["args"]]
        return subprocess.Popen(command, env=self.env | env, start_new_session=True)


def want(got: int, status: int, name: str):
    if got != status:
        sys.exit(f"{name} ends with status {got}, want {status}")


def run(resources: dict, folder: str, bulkcat: str):
    job = resources["Job", "bulkcat-shards"]["spec"]
    catalog, domains = pathlib.Path(folder, "catalog.csv"), pathlib.Path(folder, "domains.csv")
    catalog.write_text("title\n" + "".join(f"oak table number {i}\n" for i in range(5000)) + '""\n')  # the last is invalid
    domains.write_text("url\nexample.com\nexample.org\n")
    pod = Pod(job["template"], folder, bulkcat)
    first = pod.start(JOB_COMPLETION_INDEX="0", BULKCAT_RATE="50/s")
    time.sleep(2)
    first.send_signal(signal.SIGTERM)  # to the shell only
    want(first.wait(), 143, "a terminated shard")
    for index in range(job["completions"]):
        want(pod.start(JOB_COMPLETION_INDEX=str(index)).wait(), 0, f"the shard of index {index}")
    want(pod.start(JOB_COMPLETION_INDEX="0", BULKCAT_SHARD_COUNT="3").wait(), 2, "a shard with another count")
    finished = subprocess.run([bulkcat, "finish", f"{folder}/shards", "-o", f"{folder}/catalog.parquet"], env=pod.env, stdout=subprocess.PIPE, text=True)
    print(finished.stdout, end="")
    want(finished.returncode, 0, "finish")
    cron = resources["CronJob", "bulkcat-nightly"]["spec"]["jobTemplate"]["spec"]["template"]
    want(Pod(cron, folder, bulkcat).start().wait(), 0, "the nightly run")


if __name__ == "__main__":
    manifests = read()
    validate(manifests)
    with tempfile.TemporaryDirectory(prefix="bulkcat-kubernetes-") as data:
        gateway(manifests, data, os.path.abspath(sys.argv[1]))
        run(manifests, data, os.path.abspath(sys.argv[1]))
