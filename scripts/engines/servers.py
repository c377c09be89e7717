"""An upstream that counts what it is asked, a gateway in front of it, and an S3 server, for the tests with Spark and
Slurm."""

import json
import os
import pathlib
import socket
import subprocess
import time
import urllib.request

KEY = "key-of-the-engine-0123456789"
UPSTREAM_KEY = "key-of-the-upstream-0123456789"


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def environment(base_url: str, key: str = KEY) -> dict:
    """The environment of a run that asks base_url."""
    return os.environ | {"BULKCAT_BASE_URL": base_url, "BULKCAT_API_KEY": key}


class Processes:
    """Processes that run while the context is open. start_all starts them."""

    def __init__(self, folder: pathlib.Path):
        self.folder, self.processes = folder, []

    def __enter__(self):
        try:
            self.start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()

    def run(self, name: str, command: list, env: dict):
        """Starts a process whose log is in the folder."""
        with open(self.folder / f"{name}.log", "w") as log:
            self.processes.append(subprocess.Popen(command, env=env, stdout=log, stderr=log))


class Servers(Processes):
    """An upstream and a gateway that run while the context is open. Their logs are in folder."""

    def __init__(self, bulkcat: str, upstream: str, folder: pathlib.Path, latency="50ms", rate="auto"):
        super().__init__(folder)
        self.bulkcat, self.program, self.latency, self.rate = bulkcat, upstream, latency, rate

    def start_all(self):
        self.folder.mkdir()
        self.upstream = self.start("upstream", [self.program, "-latency", self.latency], "/audit")
        keys = self.folder / "keys.txt"
        keys.write_text(f"{KEY} quota=1000000000 name=engine\n")
        self.gateway = self.start("gateway", [
            self.bulkcat, "serve", "--upstream", self.upstream, "--store", str(self.folder / "store"),
            "--api-key-file", str(keys), "--rate", self.rate], "/healthz")

    def start(self, name: str, command: list, ready: str) -> str:
        """Starts a server, waits until it answers, and gives its URL."""
        address = f"127.0.0.1:{free_port()}"
        env = environment("", UPSTREAM_KEY)
        del env["BULKCAT_BASE_URL"]
        self.run(name, command + ["--addr", address], env)
        for _ in range(500):
            try:
                with urllib.request.urlopen(f"http://{address}{ready}"):
                    return f"http://{address}"
            except OSError:
                time.sleep(0.02)
        raise RuntimeError(f"the {name} does not listen: see {self.folder}/{name}.log")

    def audit(self) -> dict:
        """What the upstream was asked: requests, inputs, repeated, peak (requests within one second)."""
        with urllib.request.urlopen(self.upstream + "/audit") as response:
            return json.load(response)

    def calls(self) -> int:
        """The requests that the gateway has answered, from its store or not."""
        with urllib.request.urlopen(self.gateway + "/metrics") as response:
            lines = response.read().decode().splitlines()
        counts = [line.split() for line in lines if line.startswith("bulkcat_gateway_requests_total{")]
        return sum(int(float(count)) for name, count in counts if "refused" not in name)

    def plain(self, *args: str):
        """Runs bulkcat without engine and gateway."""
        done = subprocess.run([self.bulkcat, *args, "--quiet"], env=environment(self.upstream), stderr=subprocess.PIPE, text=True)
        if done.returncode not in (0, 3):
            raise RuntimeError(done.stderr)


class Storage(Processes):
    """An S3 server, versitygw, over a folder, with a bucket. It runs while the context is open."""

    def __init__(self, program: str, folder: pathlib.Path, bucket: str):
        super().__init__(folder)
        self.program, self.bucket = program, folder / bucket

    def start_all(self):
        self.bucket.mkdir(parents=True)
        address = f"127.0.0.1:{free_port()}"
        self.env = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret-of-the-storage", "AWS_REGION": "us-east-1",
                    "AWS_ENDPOINT_URL": f"http://{address}", "AWS_EC2_METADATA_DISABLED": "true"}
        env = os.environ | {"ROOT_ACCESS_KEY": self.env["AWS_ACCESS_KEY_ID"], "ROOT_SECRET_KEY": self.env["AWS_SECRET_ACCESS_KEY"]}
        self.run("server", [self.program, "--quiet", "--port", address, "posix", str(self.folder)], env)
        for _ in range(500):
            try:
                return socket.create_connection(address.split(":")).close()
            except OSError:
                time.sleep(0.02)
        raise RuntimeError("the S3 server does not listen")
