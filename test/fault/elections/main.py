"""The command line of cluster-scripts/elections."""

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

from chaos.process import Process, Trouble, drive, end_all, environment, now_us, until

from . import judge

ROOT = Path(__file__).resolve().parents[3]
BIN = ROOT / "build" / "bin"
CLUSTER = ROOT / "cluster-scripts" / "cluster"
REDLOCK = os.environ.get("REDLOCK") or str(BIN / "redlock")
ELECTOR = os.environ.get("REDLOCK_ELECTOR") or str(BIN / "redlock-elector")
NAME, USAGE = "elections", 64
HELP = """usage: elections [--strikes N] [--ttl MS] [--masters N] [--processes M]
                 [--seed X] [--most-takeover MS]
       elections --help

M processes stand for leader on N real masters. Again and again the leader is
killed, or stopped until another one has announced. Then the records that
all of them wrote are judged: no two leaders at once by their own reckoning of
validity, terms that grow, observers that are never told a smaller term after a
larger one, nor what nobody announced.

  --strikes N         at the leader (100)
  --ttl MS            of the leases (1000)
  --masters N         (5)          --processes M   (5)
  --seed X            draws which strikes kill (1)
  --most-takeover MS  most from a strike to the announcement of the next leader,
                      in the median (no limit)

Environment: REDLOCK, REDLOCK_ELECTOR (the programs, else those in build/bin).
Exit status: 0 all is well, 1 it is not, 64 usage.
"""


class Place:
    """One of the processes; after a death another takes its place."""

    def __init__(self, number, run):
        self.number, self.run, self.life, self.records = number, run, 0, []
        self.start()

    def start(self):
        self.life += 1
        name = f"p{self.number}.{self.life}"
        self.records.append(self.run.folder / name)
        self.process = Process(name, [ELECTOR, NAME, self.run.given.ttl, name, self.records[-1]],
                               self.run.folder / "log", env=environment(REDLOCK_NODES=self.run.nodes))

    def now(self):
        return read(self.records[-1])


def read(path):
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return judge.read(path.name, lines)


class Run:
    def __init__(self, given):
        self.given, self.chance, self.takeovers = given, random.Random(given.seed), []
        self.kills = self.stops = 0
        self.folder = Path(tempfile.mkdtemp(prefix="redlock-elections-"))
        self.cluster("start", "-n", str(given.masters), "-p", "free")
        self.nodes = self.cluster("nodes").strip()
        self.places = [Place(number, self) for number in range(1, given.processes + 1)]

    def cluster(self, *words):
        done = subprocess.run([CLUSTER, *words, "--dir", self.folder / "masters"], check=False,
                              env=environment(REDLOCK=REDLOCK), text=True, capture_output=True)
        if done.returncode:
            raise Trouble(f"cluster {words[0]}: {done.stderr}")
        return done.stdout

    def announced(self, but=None, after=0):
        """The place, and the term, of who has announced since, but not of that place."""
        for place in self.places:
            for term in place.now().terms if place is not but else ():
                if term.announced and term.announced > after and not term.over:
                    return place, term
        return None

    def strike(self):
        drive(until(lambda: self.announced(), "nobody leads"))
        time.sleep(self.chance.random() * self.given.ttl / 1000)  # at any moment of its term
        last = max((t for p in self.places for t in p.now().terms if t.announced), key=lambda t: t.term)
        place = next(p for p in self.places if p.process.name == last.process)
        at, kills = now_us(), self.chance.random() < 0.5
        if kills:
            place.process.kill()
            self.kills += 1
        else:
            drive(place.process.stop())
            self.stops += 1
        drive(until(lambda: self.announced(place, at), "nobody leads after a strike"))
        self.takeovers.append((self.announced(place, at)[1].announced - at) / 1000)
        if kills:
            place.start()
        else:
            place.process.resume()

    def records(self):
        return [read(path) for place in self.places for path in place.records]

    def end(self):
        for place in self.places:
            place.process.signal(signal.SIGTERM)
        for place in self.places:
            drive(place.process.ended())

    def clean_up(self):
        end_all()
        self.cluster("stop")
        shutil.rmtree(self.folder, ignore_errors=True)


def report(run):
    records = run.records()
    found = judge.violations(records)
    ordered = sorted(run.takeovers)
    middle = judge.median(ordered)
    print(f"elections: {sum(len(r.terms) for r in records)} terms; {run.kills} leaders killed, {run.stops} "
          f"stopped; {sum(len(r.told) for r in records)} answers to observers; {len(found)} violations")
    print(f"elections: from the strike to the next announcement {middle:.1f} ms in the median, "
          f"{ordered[len(ordered) * 9 // 10]:.1f} for nine of ten, {ordered[-1]:.1f} at most")
    for violation in found[:20]:
        print(f"elections: VIOLATION: {violation}")
    late = run.given.most_takeover and middle > run.given.most_takeover
    if late:
        print(f"elections: the median is above {run.given.most_takeover} ms")
    return 1 if found or late else 0


def parse():
    parser = argparse.ArgumentParser(usage="see --help", add_help=False)
    for option, default in (("strikes", 100), ("ttl", 1000), ("masters", 5), ("processes", 5),
                            ("seed", 1), ("most-takeover", 0)):
        parser.add_argument(f"--{option}", type=int, default=default)
    parser.add_argument("--help", action="store_true")
    parser.error = lambda text: (print(f"elections: {text}; `elections --help` explains", file=sys.stderr),
                                 sys.exit(USAGE))
    return parser.parse_args()


def main():
    given = parse()
    if given.help:
        print(HELP, end="")
        return 0
    run = None
    try:
        run = Run(given)
        for _ in range(given.strikes):
            run.strike()
        run.end()
        return report(run)
    except Trouble as trouble:
        print(f"elections: {trouble}", file=sys.stderr)
        return 1
    finally:
        if run:
            run.clean_up()
