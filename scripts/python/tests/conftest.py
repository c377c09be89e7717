"""A hosted service for the tests, and a state folder of their own."""

import hashlib
import json
import os
import subprocess
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import hypothesis
import pytest

KEY = "a-key-that-nobody-may-see"


hypothesis.settings.register_profile("bulkcat", database=None)  # nothing is left in the tree
hypothesis.settings.load_profile("bulkcat")


class Service(ThreadingHTTPServer):
    """Answers every input with one category."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests = 0  # for categories
        self.asked = []  # the inputs that were answered
        self.quota = 10**9  # of answers
        self.refusal = 0  # the status of all answers, if not 0
        self.rejected = set()  # inputs
        self.broken = set()  # inputs, for which the service fails
        self.hold_after = 10**9  # answers, after which requests wait
        self.held = threading.Event()  # a request waits
        self.release = threading.Event()
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_):
        pass  # of killed clients


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Service

    def do_GET(self):
        service, url = self.server, urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        text = query.get("query", query.get("url", ""))
        if service.refusal or self.headers.get("x-api-key") != KEY:
            return self.answer(service.refusal or 403, {"error": "no"})
        if url.path == "/api/usage":
            return self.answer(200, {"plan": "test", "remaining": str(service.quota - len(service.asked))})
        with service.lock:
            service.requests += 1
        if text in service.rejected:
            return self.answer(400, {"error": "this input is refused"})
        if text in service.broken:
            return self.answer(500, {"error": "broken"})
        with service.lock:
            hold = len(service.asked) >= service.hold_after
        if hold:
            service.held.set()
            service.release.wait(60)
        with service.lock:
            if len(service.asked) >= service.quota:
                return self.answer(402, {"error": "the quota is used up"})
            service.asked.append(text)
        entry = {"value": "Hardware > Tools > " + text[:1], "confidence": 0.5}
        return self.answer(200, {query["classification"]: [entry]})

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@pytest.fixture
def service():
    server = Service()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.release.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def start():
    """Starts a process of Python, which ends with the test at the latest."""
    processes = []

    def started(code, **options):
        process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        processes.append(process)
        return process

    yield started
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """The state folder of one test."""
    import bulkcat._one

    for name in list(os.environ):
        if name.startswith("BULKCAT_") and name not in ("BULKCAT_BINARY", "BULKCAT_WHEEL"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield tmp_path / "state" / "bulkcat"
    bulkcat._one.close()


@pytest.fixture
def hosted(service, monkeypatch):
    """The variables of the service are set."""
    monkeypatch.setenv("BULKCAT_BASE_URL", service.url)
    monkeypatch.setenv("BULKCAT_API_KEY", KEY)
    return service


class Bucket(BaseHTTPRequestHandler):
    """The objects of an S3 server, by path."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        objects, url = self.server.objects, urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if "list-type" in query:
            keys = [path.removeprefix("/bucket/") for path in sorted(objects)]
            keys = "".join(f"<Contents><Key>{key}</Key></Contents>" for key in keys if key.startswith(query.get("prefix", "")))
            return self.answer(200, f"<ListBucketResult><IsTruncated>false</IsTruncated>{keys}</ListBucketResult>".encode())
        if self.command == "DELETE":
            objects.pop(url.path, None)
            return self.answer(204, b"")
        if self.command == "PUT":
            chunks = self.rfile.read(int(self.headers["Content-Length"]))
            if "aws-chunked" in self.headers.get("Content-Encoding", ""):
                size, _, rest = chunks.partition(b"\r\n")
                chunks = rest[: int(size.split(b";")[0], 16)]
            objects[url.path] = chunks, self.headers.get("x-amz-meta-bulkcatdraft", "")
            return self.answer(200, b"", objects[url.path])
        if url.path not in objects:
            return self.answer(404, b"")
        return self.answer(200, objects[url.path][0], objects[url.path])

    do_HEAD = do_PUT = do_DELETE = do_GET

    def answer(self, status, body, made=None):
        self.send_response(status)
        if made is not None:
            self.send_header("ETag", '"' + hashlib.md5(made[0]).hexdigest() + '"')
            self.send_header("x-amz-meta-bulkcatdraft", made[1])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def bucket(monkeypatch):
    """The objects of s3://bucket."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bucket)
    server.daemon_threads, server.objects = True, {}
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true"}
    for name, value in {**keys, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}"}.items():
        monkeypatch.setenv(name, value)
    yield server.objects
    server.shutdown()
    thread.join()
    server.server_close()
