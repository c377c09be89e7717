"""An upstream that counts what it is asked, and a gateway in front of it, for the tests with Spark and Slurm."""

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


class Servers:
    """An upstream and a gateway that run while the context is open. Their logs are in folder."""

    def __init__(self, bulkcat: str, upstream: str, folder: pathlib.Path, latency="50ms", rate="auto"):
        self.bulkcat, self.program, self.folder, self.latency, self.rate = bulkcat, upstream, folder, latency, rate
        self.processes = []

    def __enter__(self):
        try:
            self.start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start_all(self):
        self.folder.mkdir()
        self.upstream = self.start("upstream", [self.program, "-latency", self.latency], "/audit")
        keys = self.folder / "keys.txt"
        keys.write_text(f"{KEY} quota=1000000000 name=engine\n")
        self.gateway = self.start("gateway", [
            self.bulkcat, "serve", "--upstream", self.upstream, "--store", str(self.folder / "store"),
            "--api-key-file", str(keys), "--rate", self.rate], "/healthz")

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()

    def start(self, name: str, command: list, ready: str) -> str:
        """Starts a server, waits until it answers, and gives its URL."""
        address = f"127.0.0.1:{free_port()}"
        with open(self.folder / f"{name}.log", "w") as log:
            env = environment("", UPSTREAM_KEY)
            del env["BULKCAT_BASE_URL"]
            self.processes.append(subprocess.Popen(command + ["--addr", address], env=env, stderr=log))
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

    def plain(self, *args: str):
        """Runs bulkcat without engine and gateway."""
        done = subprocess.run([self.bulkcat, *args, "--quiet"], env=environment(self.upstream), stderr=subprocess.PIPE, text=True)
        if done.returncode not in (0, 3):
            raise RuntimeError(done.stderr)
