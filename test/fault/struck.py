"""Masters of a run's own that are struck while something is tried on them: fewer than a quorum at a
time."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from chaos.process import Process, Trouble, end_all, environment, now_us

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "cluster-scripts" / "cluster"
REDLOCK = os.environ.get("REDLOCK") or str(ROOT / "build" / "bin" / "redlock")
PAUSE_US = (100000, 3000000)


class Masters:
    """They remember the longest `max_ttl` that they are told of, also by who adopts them when they start; None:
    the default."""

    def __init__(self, name, count, *options, max_ttl=None):
        self.folder, self.count = Path(tempfile.mkdtemp(prefix=f"redlock-{name}-")), count
        self.max_ttl = max_ttl
        self.data = self.folder / "masters"
        self.call("start", "-n", str(count), "-p", "free", *options)
        self.nodes = self.call("nodes").strip()

    def call(self, *words):
        done = subprocess.run([CLUSTER, *words, "--dir", self.data], check=False, text=True,
                              env=environment(REDLOCK=REDLOCK, REDLOCK_MAX_TTL=self.max_ttl),
                              capture_output=True)
        if done.returncode:
            raise Trouble(f"cluster {words[0]}: {done.stderr}")
        return done.stdout

    def begin(self, *words):
        return Process("cluster", [CLUSTER, *words, "--dir", self.data], self.folder / "log",
                       env=environment(REDLOCK=REDLOCK))

    def clean_up(self):
        end_all()
        self.call("stop")
        shutil.rmtree(self.folder, ignore_errors=True)


class Faults:
    """Masters that go and come back, killed or frozen, with their data or without.  A master that
    was killed counts as away until it has been back for `rest_us`."""

    def __init__(self, masters, chance, rest_us=0):
        self.masters, self.chance, self.rest_us = masters, chance, rest_us
        self.at, self.job, self.down, self.away_until = now_us(), None, {}, {}
        self.done = {"kill": 0, "pause": 0}

    def strike(self):
        here = [m for m in range(1, self.masters.count + 1)
                if m not in self.down and self.away_until.get(m, 0) <= now_us()]
        is_full = (self.masters.count - len(here)) * 2 >= self.masters.count - 1
        if self.down and (is_full or self.chance.random() < 0.5):
            self.bring_back(self.chance.choice(list(self.down)))
        elif not is_full:
            master, how = self.chance.choice(here), self.chance.choice(["kill", "pause"])
            self.down[master] = how
            self.done[how] += 1
            self.job = self.masters.begin(how, master)

    def bring_back(self, master):
        empty = ["--empty"] if self.chance.random() < 0.5 else []
        was_killed = self.down.pop(master) == "kill"
        if was_killed:
            self.away_until[master] = now_us() + self.rest_us
        self.job = self.masters.begin(*(["restart", master, *empty] if was_killed else ["resume", master]))

    def step(self):
        if self.job and self.job.status() is None:
            return
        if self.job and self.job.status():
            raise Trouble(f"cluster: {(self.masters.folder / 'log').read_text()[-500:]}")
        if now_us() >= self.at:
            self.strike()
            self.at = now_us() + self.chance.randrange(*PAUSE_US)
