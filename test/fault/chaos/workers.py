"""Workers: processes that contend for the names, and the faults that befall them."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

from .process import Process, Trouble, environment, until

ROOT = Path(__file__).resolve().parents[3]
BIN = ROOT / "build" / "bin"
FAULT = ROOT / "test" / "fault"
REDLOCK = os.environ.get("REDLOCK") or str(BIN / "redlock")

PROGRAMS = {
    "library": os.environ.get("REDLOCK_CHAOS_WORKER") or str(BIN / "redlock-chaos-worker"),
    "command": str(FAULT / "command_worker"),
    "plain": str(FAULT / "plain_worker"),
    "node-redlock": str(FAULT / "node_redlock_worker.mjs"),
}
FOREIGN = ("plain", "node-redlock")
LEFT_S = 900  # a run may take longer than it is told
# A worker without arguments ends with this status when it has all that it needs.
USAGE = 64


def missing(program):
    """Why this kind of worker cannot be had here; None if it can."""
    path = PROGRAMS[program]
    if not Path(path).exists():
        return f"{path} is not there"
    if path.endswith(".mjs") and not shutil.which("node"):
        return "node is not installed"
    # Without arguments, it checks for its packages before it complains.
    asked = subprocess.run(command_of(program), stdin=subprocess.DEVNULL, text=True,
                           capture_output=True, check=False)
    if asked.returncode == USAGE:
        return None
    return asked.stderr.rpartition("skipped: ")[2].strip() or f"status {asked.returncode}"


def command_of(program):
    path = PROGRAMS[program]
    return ["node", path] if path.endswith(".mjs") else [path]


class Worker:
    """One place among the workers: processes take it one after another."""

    kind = "worker"

    def __init__(self, number, program, folder, options, inside=()):
        self.number, self.program, self.folder = number, program, folder
        self.options, self.inside = options, tuple(inside)
        self.name, self.life, self.process, self.expected = f"{self.kind}-{number}", 0, None, True
        self.records = []

    def start(self):
        self.life += 1
        label = self.name if self.life == 1 else f"{self.name}.{self.life}"
        seed = self.options.seed * 1000 + self.number * 10 + self.life
        command = [*self.inside, *self.command(label, seed)]
        self.records.append(self.folder / label)
        self.process = Process(label, command, self.folder / "log" / label,
                               env=environment(**self.options.environment))
        self.expected = True

    def command(self, label, seed):
        return [*command_of(self.program), *self.options.words_for(self.program),
                "--record", self.folder / label, "--label", label, "--seed", seed,
                *self.options.names_for(self.program)]

    def lines(self):
        """Of all its lives, each as it is now."""
        return [path.read_text(encoding="ascii").splitlines(keepends=True)
                for path in self.records if path.exists()]

    def check(self):
        """A worker ends only when we end it."""
        status = self.process.status()
        if self.expected and status is not None:
            raise Trouble(f"{self.process.name} ended early, with status {status}: {self.said()}")

    def said(self):
        log = self.folder / "log" / self.process.name
        return log.read_text(encoding="ascii", errors="replace")[-500:].strip()

    def has_begun(self):
        """From then on it knows what to do at SIGTERM, and has a record to be killed in."""
        record = self.folder / self.process.name
        return self.process.status() is not None or record.exists() and record.stat().st_size > 0

    def replace(self):
        """Steps, until the next process has taken its place."""
        self.start()
        yield from self.begins()

    def begins(self):
        yield from until(self.has_begun, f"{self.process.name} does not begin")

    def tell_to_end(self):
        """Steps, until the worker has the signal."""
        yield from self.begins()
        self.check()
        self.expected = False
        self.process.signal(signal.SIGTERM)

    def finish(self):
        """Steps, until it has ended in good order."""
        yield from self.process.ended()
        if self.process.status():
            raise Trouble(f"{self.process.name} ended with status {self.process.status()}: "
                          f"{self.said()}")


class Options:
    """The settings that all workers of a run share."""

    def __init__(self, given, nodes, register):
        """`nodes`: the variable that names the masters."""
        profile = given.profile
        self.seed, self.names, self.slots = given.seed, given.names, given.slots
        self.ttl_ms, self.max_ttl_ms, self.many = profile.ttl_ms, profile.max_ttl_ms, dict(profile.recipes)
        self.spare = profile.spare
        self.permits = ["--permits", profile.permits, "--fewer", profile.fewer,
                        "--whole", profile.whole]
        # The runner ends them; this is for the case that it cannot.
        self.words = ["--seconds", given.seconds + LEFT_S,
                      "--ttl", profile.ttl_ms, "--wait", profile.wait_ms,
                      "--max-ttl", profile.max_ttl_ms, "--skew", profile.skew_ms,
                      "--spare", profile.spare, "--readers", profile.readers,
                      "--tries", profile.tries, "--unfenced", profile.unfenced,
                      "--hold", profile.hold_us, "--long-every", profile.long_every]
        if profile.rest_ms:
            self.words += ["--rest", profile.rest_ms]
        self.environment = {"REDLOCK": REDLOCK, **nodes,
                            "REDLOCK_CHAOS_REGISTER": register,
                            "REDLOCK_MAX_TTL": f"{profile.max_ttl_ms}ms",
                            "REDLOCK_SPARE": str(profile.spare),
                            "REDLOCK_NODE_MODULES": os.environ.get("REDLOCK_NODE_MODULES")}

    def words_for(self, program):
        return self.words + (self.permits if program == "library" else [])

    def names_for(self, program):
        """A client of another kind knows no permits, and gets in their way."""
        return self.slots if self.slots and program in FOREIGN else self.names


# ---- faults ---------------------------------------------------------------------------------


def killed(worker, fault):
    worker.expected = False
    worker.process.kill()
    yield fault.lasts
    yield from worker.replace()


def ended(worker, fault):
    yield from worker.tell_to_end()
    yield from worker.finish()
    yield fault.lasts
    yield from worker.replace()


def stopped(worker, fault):
    yield from worker.process.stop()
    yield fault.lasts
    worker.process.resume()


FAULTS = {"killed": killed, "ended": ended, "stopped": stopped}
