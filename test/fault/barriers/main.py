"""The command line of cluster-scripts/barriers."""

import argparse
import random
import signal
import sys
import time

from chaos.process import Process, Trouble, environment, now_us
from struck import REDLOCK, Faults, Masters

from . import judge, party
from .judge import Call

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
        self.output = self.run.masters.folder / f"{self.party}-{self.generation}-{now_us()}"
        command = party.command(REDLOCK, NAME, self.run.given.parties, self.generation, self.token)
        dies = self.run.chance.randrange(1000) < self.run.given.kill
        self.dies_at = now_us() + self.run.chance.randrange(200000) if dies else None
        self.begun = now_us()
        self.process = Process(self.party, command, self.output,
                               env=environment(REDLOCK_NODES=self.run.masters.nodes))

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


class Run:
    def __init__(self, given):
        self.given, self.chance, self.calls = given, random.Random(given.seed), []
        self.masters = Masters("barriers", given.masters, "--persist")
        self.faults = Faults(self.masters, self.chance)
        self.walkers = [Walker(number, self) for number in range(1, given.parties + 1)]

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
            run.masters.clean_up()
