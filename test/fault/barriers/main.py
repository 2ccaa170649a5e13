"""The command line of cluster-scripts/barriers."""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from chaos.process import Process, Trouble, end_all, environment, now_us

from . import judge, party
from .judge import Call

ROOT = Path(__file__).resolve().parents[3]
CLUSTER = ROOT / "cluster-scripts" / "cluster"
REDLOCK = os.environ.get("REDLOCK") or str(ROOT / "build" / "bin" / "redlock")
NAME, USAGE, POLL_S, LONGEST_S = "barriers", 64, 0.002, 120
HELP = """usage: barriers [--generations G] [--parties N] [--masters M] [--pause MS]
                [--kill P] [--seed X]
       barriers --help

N parties meet at one barrier after the other, each a `redlock barrier` of its own,
while masters are killed, frozen and restarted, with their data or without: two of
five at a time. A party that is told that it is undecided comes back with its token;
some are killed, and another one takes the place. Then it is judged that nobody
passed early, nobody was told that it did not pass while the others did with it, and
nobody was left behind.

  --generations G   (200)
  --parties N       (8)
  --masters M       (5)
  --pause MS        most between two barriers, for each party (300)
  --kill P          per mille of the parties are killed while they wait (20)
  --seed X          draws all that (1)

Environment: REDLOCK (the program, else that in build/bin).
Exit status: 0 all is well, 1 it is not, 64 usage.
"""


class Walker:
    """One worker: goes from one generation to the next."""

    def __init__(self, number, run):
        self.name, self.run, self.generation, self.life = f"w{number}", run, 0, 0
        self.process, self.token, self.dies_at = None, None, None
        self.rest()

    def rest(self):
        self.begins_at = now_us() + self.run.chance.randrange(1 + self.run.given.pause * 1000)

    def begin(self):
        if not self.token:
            self.life += 1
        self.party = f"{self.name}.{self.life}"
        self.output = self.run.folder / f"{self.party}-{self.generation}-{now_us()}"
        command = party.command(REDLOCK, NAME, self.run.given.parties, self.generation, self.token)
        dies = self.run.chance.randrange(1000) < self.run.given.kill
        self.dies_at = now_us() + self.run.chance.randrange(200000) if dies else None
        self.begun = now_us()
        self.process = Process(self.party, command, self.output,
                               env=environment(REDLOCK_NODES=self.run.nodes))

    def ended(self, outcome):
        at = None if outcome == "killed" else now_us()
        self.run.calls.append(Call(self.generation, self.party, self.begun, at, outcome))
        self.process = None

    def step(self):
        if self.process is None:
            if self.generation < self.run.given.generations and now_us() >= self.begins_at:
                self.begin()
            return
        status = self.process.status()
        if status is None and self.dies_at and now_us() >= self.dies_at:
            self.process.kill()
            self.token = None
            self.ended("killed")
        elif status is not None:
            self.hears(party.outcome(status, self.output.read_text()), status)

    def hears(self, told, status):
        if told is None:
            raise Trouble(f"{self.party} ended with {status}: {self.output.read_text()}")
        outcome, self.token = told
        self.ended(outcome)
        if outcome == "passed":
            self.generation += 1
            self.rest()


class Faults:
    """Masters that go and come back: fewer than a quorum at a time."""

    def __init__(self, run):
        self.run, self.at, self.job, self.down = run, now_us(), None, {}
        self.done = {"kill": 0, "pause": 0}

    def begin(self, *words):
        self.job = Process("cluster", [CLUSTER, *words, "--dir", self.run.masters],
                           self.run.folder / "log", env=environment(REDLOCK=REDLOCK))

    def strike(self):
        chance = self.run.chance
        up = [m for m in range(1, self.run.given.masters + 1) if m not in self.down]
        if self.down and (chance.random() < 0.5 or len(self.down) * 2 >= self.run.given.masters - 1):
            master = chance.choice(list(self.down))
            how = self.down.pop(master)
            empty = ["--empty"] if chance.random() < 0.5 else []
            self.begin(*(["restart", master, *empty] if how == "kill" else ["resume", master]))
        else:
            master, how = chance.choice(up), chance.choice(["kill", "pause"])
            self.down[master] = how
            self.done[how] += 1
            self.begin(how, master)

    def step(self):
        if self.job and self.job.status() is None:
            return
        if self.job and self.job.status():
            raise Trouble(f"cluster: {(self.run.folder / 'log').read_text()[-500:]}")
        if now_us() >= self.at:
            self.strike()
            self.at = now_us() + self.run.chance.randrange(100000, 3000000)


class Run:
    def __init__(self, given):
        self.given, self.chance, self.calls = given, random.Random(given.seed), []
        self.folder = Path(tempfile.mkdtemp(prefix="redlock-barriers-"))
        self.masters = self.folder / "masters"
        self.cluster("start", "-n", str(given.masters), "-p", "free", "--persist")
        self.nodes = self.cluster("nodes").strip()
        self.faults = Faults(self)
        self.walkers = [Walker(number, self) for number in range(1, given.parties + 1)]

    def cluster(self, *words):
        done = subprocess.run([CLUSTER, *words, "--dir", self.masters], check=False, text=True,
                              env=environment(REDLOCK=REDLOCK), capture_output=True)
        if done.returncode:
            raise Trouble(f"cluster {words[0]}: {done.stderr}")
        return done.stdout

    def is_over(self):
        return all(w.generation == self.given.generations for w in self.walkers)

    def go(self):
        """A generation that takes too long has left somebody behind."""
        slowest, since = -1, time.monotonic()
        while not self.is_over() and time.monotonic() < since + LONGEST_S:
            for walker in self.walkers:
                walker.step()
            self.faults.step()
            now = min(walker.generation for walker in self.walkers)
            if now > slowest:
                slowest, since = now, time.monotonic()
            time.sleep(POLL_S)

    def clean_up(self):
        end_all()
        self.cluster("stop")
        shutil.rmtree(self.folder, ignore_errors=True)


def report(run):
    given, of = run.given, {}
    for call in run.calls:
        of[call.outcome] = of.get(call.outcome, 0) + 1
    found = judge.violations(run.calls, given.parties, given.generations,
                             {walker.name for walker in run.walkers})
    print(f"barriers: {given.parties} parties, {given.generations} generations: "
          f"{of.get('passed', 0)} passed, {of.get('undecided', 0)} undecided, "
          f"{of.get('not-passed', 0)} not passed, {of.get('killed', 0)} killed; masters: "
          f"{run.faults.done['kill']} killed, {run.faults.done['pause']} frozen; "
          f"{len(found)} violations")
    for violation in found[:20]:
        print(f"barriers: VIOLATION: {violation}")
    return 1 if found else 0


def parse():
    parser = argparse.ArgumentParser(usage="see --help", add_help=False)
    for option, default in (("generations", 200), ("parties", 8), ("masters", 5), ("pause", 300),
                            ("kill", 20), ("seed", 1)):
        parser.add_argument(f"--{option}", type=int, default=default)
    parser.add_argument("--help", action="store_true")
    parser.error = lambda text: (print(f"barriers: {text}; `barriers --help` explains", file=sys.stderr),
                                 sys.exit(USAGE))
    return parser.parse_args()


def main():
    given = parse()
    if given.help:
        print(HELP, end="")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    run = None
    try:
        run = Run(given)
        run.go()
        return report(run)
    except Trouble as trouble:
        print(f"barriers: {trouble}", file=sys.stderr)
        return 1
    finally:
        if run:
            run.clean_up()
