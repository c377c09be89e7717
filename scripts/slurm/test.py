"""Runs array.sh in Slurm: one node on 127.0.0.1, a gateway, an array of 8 tasks, and input and output in an S3 server.

    python3 test.py BULKCAT UPSTREAM VERSITYGW [--records 20000] [--rate 2000]

One task is killed, one is killed and loses its disk, one is requeued, one reaches its time limit, and the folder of one
is removed and its task submitted again. bulkcat finish must then find the folder balanced and write the file of a run
without shards, the upstream must have got each request once, and no second may have more requests than the rate. The
test needs root and Debian's packages slurmctld, slurmd, slurm-client and munge.
"""

import argparse
import filecmp
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "engines"))

from servers import Processes, Servers, Storage, environment, free_port  # noqa: E402 (the path comes first)

SHARDS = 8
IN_FLIGHT = 128  # of a task
BUCKET = "lists"
INPUT, OUT = f"s3://{BUCKET}/catalog.csv", f"s3://{BUCKET}/out/"
# The parts are small, so that a task has full parts when it is killed.
FLAGS = ["--part-rows", "5000", "--workers", str(IN_FLIGHT)]
CONFIGURATION = """
ClusterName=bulkcat
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
# A task that is requeued waits for the life of a credential, 120 s by default.
AuthInfo=socket={folder}/munge/socket,cred_expire=10
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=5,batch_sched_delay=1
ReturnToService=2
MinJobAge=3600
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def program(name: str) -> str:
    """The path of a daemon, which may not be in PATH."""
    path = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if not path:
        raise SystemExit(f"{name} is missing: apt-get install slurmctld slurmd slurm-client munge")
    return path


class Slurm(Processes):
    """A Slurm cluster of one node, with its files in folder, that runs while the context is open."""

    def __init__(self, folder: pathlib.Path, env: dict):
        super().__init__(folder)
        self.env = env | {"SLURM_CONF": str(folder / "slurm.conf")}

    def start_all(self):
        munge = self.folder / "munge"
        for path in munge, self.folder / "state", self.folder / "spool":
            path.mkdir(parents=True, mode=0o755)
        key = munge / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        host = socket.gethostname().split(".")[0]
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(host=host, folder=self.folder, controller=free_port(), node=free_port()))
        version = subprocess.run([program("slurmd"), "-V"], check=True, capture_output=True, text=True).stdout.split()[-1]
        plugin = "disabled" if int(version.split(".")[0]) >= 23 else "cgroup/v1"  # before 23.02 slurmd wants a plugin
        (self.folder / "cgroup.conf").write_text(f"CgroupPlugin={plugin}\n")
        self.start("munged", "--foreground", "--force", f"--socket={munge}/socket", f"--key-file={key}",
                   f"--pid-file={munge}/pid", f"--seed-file={munge}/seed", f"--log-file={munge}/log")
        self.wait("munged", lambda: (munge / "socket").exists())
        self.start("slurmctld", "-D")
        self.start("slurmd", "-D", "-N", host)
        self.wait("the node", lambda: "idle" in self.command("sinfo", "-h", "-o", "%T", check=False).split())

    def start(self, *command: str):
        self.run(f"{command[0]}-output", [program(command[0]), *command[1:]], self.env)

    def wait(self, name: str, ready, seconds: float = 60):
        """Waits until ready() is true."""
        end = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > end:
                raise RuntimeError(f"{name}: not ready after {seconds:.0f} s; see {self.folder}")
            time.sleep(0.2)

    def command(self, *args: str, check=True) -> str:
        return subprocess.run(args, env=self.env, cwd=self.folder, check=check, stdout=subprocess.PIPE, text=True).stdout

    def submit(self, options: list, *args: str) -> str:
        """Submits array.sh with options of sbatch, and returns the number of the job."""
        return self.command("sbatch", "--parsable", f"--output={self.folder}/task-%A-%a.log", *options, str(HERE / "array.sh"), *args).strip()

    def tasks(self, job: str) -> dict:
        """The state of each task of a job, by its index."""
        lines = self.command("squeue", "-h", "-r", "-t", "all", "-j", job, "-o", "%K %T", check=False).splitlines()
        return {int(line.split()[0]): line.split()[1] for line in lines}

    def ended(self, job: str) -> bool:
        states = self.tasks(job)
        return bool(states) and not any(s in ("RUNNING", "PENDING", "COMPLETING", "CONFIGURING", "REQUEUED") for s in states.values())

    def log(self, job: str, task: int) -> str:
        return (self.folder / f"task-{job}-{task}.log").read_text()


def run_of(job: str, task: int, bulkcat: str) -> int | None:
    """The process of bulkcat in a task."""
    for proc in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            variables = (proc / "environ").read_bytes().split(b"\0")
            if {b"SLURM_ARRAY_JOB_ID=%s" % job.encode(), b"SLURM_ARRAY_TASK_ID=%d" % task} <= set(variables) and os.readlink(proc / "exe") == bulkcat:
                return int(proc.name)
        except OSError:
            continue
    return None


def check(condition: bool, message: str):
    if not condition:
        raise SystemExit(message)


class Disk:
    """The disk of the node, with the local files of the tasks."""

    def __init__(self, folder: pathlib.Path):
        self.state = folder / "disk"

    def shard(self, task: int) -> pathlib.Path:
        return self.state / "bulkcat" / "s3" / BUCKET / "out" / shard_name(task)

    def run(self, task: int) -> pathlib.Path:
        """The folder of a run that goes on, or was killed."""
        return self.shard(task).parent / f".{shard_name(task)}.run"

    def wipe(self, task: int) -> int:
        """Removes the files of a task, and returns the number of requests that the task had made, by its journal."""
        lines = (self.run(task) / "journal").read_text().splitlines()
        shutil.rmtree(self.shard(task))
        shutil.rmtree(self.run(task))
        return max(json.loads(line).get("requests", 0) for line in lines if line.endswith("}"))


def shard_name(task: int) -> str:
    return f"shard={task:02d}-of-{SHARDS}"


def test(options, folder: pathlib.Path):
    local, plain, merged, disk = folder / "input.csv", folder / "plain.csv", "all.csv", Disk(folder)
    local.write_text("sku,title\n" + "".join(f"{i},oak table number {i // 2 if i % 5 == 0 else i}\n" for i in range(options.records)))
    with Servers(options.bulkcat, options.upstream, folder / "alone", latency="0s") as alone:
        alone.plain("product", str(local), "-o", str(plain))
        inputs = alone.audit()["inputs"]
    with Storage(options.versitygw, folder / "s3", BUCKET) as storage, \
            Servers(options.bulkcat, options.upstream, folder / "servers", rate=f"{options.rate}/s") as servers:
        shutil.copy(local, storage.bucket / "catalog.csv")
        env = environment(servers.gateway) | storage.env | {"XDG_STATE_HOME": str(disk.state)}
        env["PATH"] = f"{os.path.dirname(options.bulkcat)}:{env['PATH']}"
        with Slurm(folder / "slurm", env) as slurm:
            array(slurm, servers, storage, disk, inputs, options)
            again(slurm, servers, storage, disk, options)
            cancelled(slurm, options)
            audit = servers.audit()
            finished = finish(slurm, options, "-o", f"s3://{BUCKET}/{merged}")
        print(finished.stdout, end="")
        check(finished.returncode == 0 and finished.stdout.startswith("balanced"), f"finish: {finished.stdout}{finished.stderr}")
    check(filecmp.cmp(storage.bucket / merged, plain, shallow=False), f"{merged} differs from {plain}")
    print(f"{options.records} records in {SHARDS} shards equal those of one run; upstream: {audit}")
    check(audit["inputs"] == inputs and audit["repeated"] == 0, f"want {inputs} requests, each once")
    check(audit["peak"] <= options.rate, f"want {options.rate} requests at most within one second")


def finish(slurm: Slurm, options, *args: str) -> subprocess.CompletedProcess:
    return subprocess.run([options.bulkcat, "finish", OUT, *args], env=slurm.env, capture_output=True, text=True)


def array(slurm: Slurm, servers: Servers, storage: Storage, disk: Disk, inputs: int, options):
    """Runs the array with one task killed, one killed and wiped, one requeued, and one at its time limit."""
    began = time.monotonic()
    job = slurm.submit([], "product", INPUT, OUT, *FLAGS)
    slurm.wait("a fifth of the requests", lambda: servers.audit()["requests"] > inputs // 5, 600)
    running = sorted(task for task, state in slurm.tasks(job).items() if state == "RUNNING")
    killed, wiped, requeued, limited = running[:4]
    for task in killed, wiped:
        os.kill(run_of(job, task, options.bulkcat), signal.SIGKILL)
    slurm.wait("the end of the run", lambda: run_of(job, wiped, options.bulkcat) is None)
    lost = disk.wipe(wiped)
    parts = len(list((storage.bucket / "out" / shard_name(wiped)).glob("part-*")))
    slurm.command("scontrol", "requeue", f"{job}_{requeued}")
    slurm.command("scancel", "--batch", "--signal=USR1", f"{job}_{limited}", check=False)  # fails if the task is faster
    print(f"killed the runs of tasks {killed} and {wiped}, wiped the disk of task {wiped} after {lost} requests and {parts} parts, "
          f"requeued task {requeued}, sent the signal of the time limit to task {limited}", flush=True)
    slurm.wait("the array", lambda: slurm.ended(job), 1800)
    states = slurm.tasks(job)
    check(set(states.values()) == {"COMPLETED"} and len(states) == SHARDS, f"the tasks ended as {states}")
    for task, status in {killed: 137, wiped: 137, limited: 143}.items():
        check(f"ended with status {status}; the task continues" in slurm.log(job, task), f"task {task}: {slurm.log(job, task)}")
    repeated, bound = servers.calls() - inputs, lost + 4 * IN_FLIGHT
    print(f"the array is complete after {time.monotonic() - began:.0f} s; {repeated} calls of the gateway were repeated, "
          f"{bound} at most were expected", flush=True)
    check(0 <= repeated <= bound, "more calls were repeated than the disk had answers, and the tasks had in flight")


def again(slurm: Slurm, servers: Servers, storage: Storage, disk: Disk, options):
    """Removes the folder of one shard, and runs its task again, which asks the upstream nothing."""
    lost, paid = 7, servers.audit()["requests"]
    shutil.rmtree(storage.bucket / "out" / shard_name(lost))
    shutil.rmtree(disk.shard(lost))
    incomplete = finish(slurm, options)
    check(incomplete.returncode == 1, f"finish without a shard ends with {incomplete.returncode}: {incomplete.stdout}{incomplete.stderr}")
    alone = slurm.submit([f"--array={lost}"], "product", INPUT, OUT, *FLAGS)
    slurm.wait("the task alone", lambda: slurm.ended(alone))
    check(slurm.tasks(alone) == {lost: "FAILED"} and "name its shard" in slurm.log(alone, lost), f"a task that does not name its shard: {slurm.tasks(alone)}")
    named = slurm.submit([f"--array={lost}", f"--export=ALL,SHARD={lost}/{SHARDS}"], "product", INPUT, OUT, *FLAGS)
    slurm.wait("the task with its shard", lambda: slurm.ended(named), 600)
    check(slurm.tasks(named) == {lost: "COMPLETED"}, f"shard {lost}/{SHARDS} ended as {slurm.tasks(named)}: {slurm.log(named, lost)}")
    asked = servers.audit()["requests"] - paid
    print(f"removed the folder of task {lost}, and ran the task again: {asked} requests to the upstream", flush=True)
    check(asked == 0, "stored answers were asked again")


def cancelled(slurm: Slurm, options):
    """Cancels a task, which must not return."""
    job = slurm.submit(["--array=1", f"--export=ALL,SHARD=1/{SHARDS}"], "product", INPUT, f"s3://{BUCKET}/cancelled/", "--rate", "1/s")
    slurm.wait("the task", lambda: run_of(job, 1, options.bulkcat))
    slurm.command("scancel", job)
    slurm.wait("the end of the task", lambda: slurm.ended(job))
    time.sleep(3)
    check(slurm.tasks(job) == {1: "CANCELLED"}, f"a cancelled task is {slurm.tasks(job)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bulkcat", type=os.path.realpath)
    parser.add_argument("upstream", type=os.path.realpath)
    parser.add_argument("versitygw", type=os.path.realpath)
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--rate", type=int, default=2_000, help="of the gateway, in requests a second")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bulkcat-slurm-"))
    folder.chmod(0o755)  # munge wants a socket that all users can reach
    test(options, folder)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
