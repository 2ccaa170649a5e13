"""Shared by the workers in Python: their command line, and the record of their facts.

The facts are those of worker/worker.h.
"""

import argparse
import ctypes
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def die_with_parent():
    """In a child: a worker that is killed is gone altogether."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def document(output):
    """The answer to a command with --json, among its messages."""
    return next(told for told in map(json.loads, output.splitlines()) if told.get("event") != "log")


def now_us():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


def read_facts(lines):
    """(time, fact, words) of each line of a record. A line that a killed process left cut does not count."""
    for line in lines:
        if not line.endswith("\n"):
            return
        at, fact, *words = line.split()
        yield int(at), fact, words


class Record:
    """A line is one write to the end of the file: a killed process can only cut its last line."""

    def __init__(self, path, new=False):
        self.path = path
        flags = os.O_WRONLY | os.O_APPEND | (os.O_CREAT | os.O_TRUNC if new else 0)
        self.file = os.open(path, flags, 0o600)

    def put(self, fact, *words, at=None):
        line = " ".join(map(str, (now_us() if at is None else at, fact, *words))) + "\n"
        os.write(self.file, line.encode("ascii"))

    def put_usage(self):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        kilobytes = pages * os.sysconf("SC_PAGESIZE") // 1024
        self.put("usage", kilobytes, len(os.listdir("/proc/self/fd")) - 1)

    def put_end(self, acquired, rounds):
        with open(self.path, "rb") as file:
            lines = sum(1 for _ in file)
        self.put("end", lines, acquired, rounds, 0)


def parse(program):
    parser = argparse.ArgumentParser(prog=program, allow_abbrev=False)
    parser.error = lambda text: (print(f"{program}: {text}", file=sys.stderr), sys.exit(64))
    for name in ("record", "label"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--hold", type=float, default=1000)
    for name, standard in (("ttl", 1000), ("wait", 2000), ("rest", 4), ("max-ttl", 1000), ("skew", 50),
                           ("spare", 0), ("long-every", 0), ("readers", 0), ("tries", 0), ("unfenced", 0)):
        parser.add_argument(f"--{name}", type=int, default=standard)
    parser.add_argument("names", nargs="+", metavar="NAME")
    given = parser.parse_args()
    # Not arguments, which every user sees: they have passwords in them.
    given.nodes = os.environ.get("REDLOCK_NODES")
    given.register = os.environ.get("REDLOCK_CHAOS_REGISTER")
    if not given.nodes and not os.environ.get("REDLOCK_NODES_FILE"):
        parser.error("REDLOCK_NODES names no masters")
    if not all(0 <= it <= 100 for it in (given.readers, given.tries, given.unfenced)):
        parser.error("--readers, --tries and --unfenced take percents")
    if not 0 < given.ttl <= given.max_ttl:
        parser.error("--ttl must be above 0, and not above --max-ttl")
    return given


class Worker:
    """Asks for one name after the other until a signal ends it, or its time is over."""

    USAGE_S = 1.0
    FAILED_MOST_S = 0.02
    LONG_TTLS = 1.5
    STEP_S = 0.02

    def __init__(self, kind):
        self.given = parse(f"{kind}_worker")
        self.kind = kind
        self.random = random.Random(self.given.seed)
        self.record = Record(self.given.record, new=True)
        self.number = self.acquired = 0
        self.ending = False

    def take_turn(self, name):
        """One attempt; true if it got the name."""
        raise NotImplementedError

    def stop(self, *_):
        self.ending = True

    def hold_s(self):
        given = self.given
        if given.long_every and self.random.randrange(given.long_every) == 0:
            return self.LONG_TTLS * given.ttl / 1000
        return self.random.uniform(0, 2 * given.hold / 1e6)

    def sleep(self, seconds):
        """Shorter if the worker is to end."""
        end = time.monotonic() + seconds
        while not self.ending and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, self.STEP_S))

    def run(self):
        for number in (signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, self.stop)
        self.record.put("begin", self.kind, os.getpid())
        signal.setitimer(signal.ITIMER_REAL, self.given.seconds)
        usage_at = time.monotonic()
        while not self.ending:
            self.number += 1
            got = self.take_turn(self.random.choice(self.given.names))
            self.acquired += got
            if time.monotonic() >= usage_at:
                self.record.put_usage()
                usage_at = time.monotonic() + self.USAGE_S
            self.sleep(self.random.uniform(0, self.given.rest / 1000 if got else self.FAILED_MOST_S))
        self.record.put_end(self.acquired, self.number)
