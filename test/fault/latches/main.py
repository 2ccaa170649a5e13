"""The command line of cluster-scripts/latches."""

import argparse
import random
import signal
import sys
import time

from chaos.process import Process, Trouble, environment, now_us
from struck import REDLOCK, Faults, Masters

from . import judge
from .call import MAX_TTL, command, outcome
from .judge import Call

USAGE, POLL_S, LONGEST_S = 64, 0.002, 120
BACK_US = 6000000  # a master that has restarted abstains for up to 4.1 s, and is given the latch then
HELP = """usage: latches [--latches L] [--arrivals N] [--processes P] [--pause MS]
               [--waiters W] [--counters C] [--after S] [--masters M] [--kill K]
               [--seed X]
       latches --help

P processes arrive at one latch after the other, N times in all, each time by a
`redlock latch arrive` of its own, while masters are killed, frozen and restarted,
with their data or without: two of five at a time. Who is undecided, or was killed,
arrives again as the same. Others wait, or ask how it stands all the while, and for
some time after it was opened. Then it is judged that nobody was told that it is open
too early, nor that it is not after somebody was told that it is; that nobody counted
too many or too few; and that nobody was left behind.

  --latches L     (3)              --arrivals N    of each (100)
  --processes P   that arrive (10) --waiters W     (3)
  --counters C    (2)              --masters M     (5)
  --pause MS      most between two arrivals of a process (2000)
  --after S       seconds for which they ask on once it is open (5)
  --kill K        per mille of the arrivals are killed while they are asked for (20)
  --seed X        draws all that (1)

Environment: REDLOCK (the program, else that in build/bin).
Exit status: 0 all is well, 1 it is not, 64 usage.
"""


class Caller:
    """Somebody who makes one call after the other about the latch of now."""

    def __init__(self, run, who):
        self.run, self.who, self.process, self.dies_at = run, who, None, None

    def call(self, action, who, *options, dies=False):
        self.action, self.asks_as = action, who
        self.output = self.run.masters.folder / f"{self.who}-{now_us()}"
        self.dies_at = now_us() + self.run.chance.randrange(20000) if dies else None
        self.begun = now_us()
        self.process = Process(self.who, command(REDLOCK, action, self.run.latch, *options), self.output,
                               env=environment(REDLOCK_NODES=self.run.masters.nodes))

    def step(self):
        if self.process is None:
            self.begin()
            return
        status = self.process.status()
        if status is None and self.dies_at and now_us() >= self.dies_at:
            self.process.kill()
            self.put(None, "killed", None)
        elif status is not None:
            told, arrived = outcome(self.action, status, self.output.read_text())
            if told is None:
                raise Trouble(f"{self.who} ended with {status}: {self.output.read_text()}")
            self.put(now_us(), told, arrived)
            self.hears(told)

    def put(self, ended, told, arrived):
        self.process = None
        self.output.unlink()
        self.run.calls.append(Call(self.run.latch, self.action, self.asks_as, self.begun, ended, told,
                                   arrived))


class Maker(Caller):
    is_done = False

    def begin(self):
        if not self.is_done:
            self.call("create", self.who, "--arrivals", self.run.given.arrivals, "--wait", "2s")

    def hears(self, told):
        self.is_done = told in ("made", "there")


class Arriver(Caller):
    """Has a share of the arrivals; each is repeated until it is known to be counted."""

    def __init__(self, run, number):
        super().__init__(run, f"p{number}")
        self.rest()
        self.left = [f"{self.who}.{i}" for i in range(number, run.given.arrivals, run.given.processes)]

    @property
    def is_done(self):
        return not self.left

    def rest(self):
        self.begins_at = now_us() + self.run.chance.randrange(1 + self.run.given.pause * 1000)

    def begin(self):
        if self.left and now_us() >= self.begins_at:
            dies = self.run.chance.randrange(1000) < self.run.given.kill
            self.call("arrive", self.left[0], "--arrival", self.left[0], "--wait", "1s", dies=dies)

    def hears(self, told):
        if told in ("arrived", "open"):
            self.left.pop(0)
            self.rest()


class Waiter(Caller):
    """Now and then it waits for a short time, and is told that it is not open yet."""

    is_done = False

    def begin(self):
        if not self.is_done:
            wait = self.run.chance.choice(["100ms", "2s", "forever"])
            self.call("wait", self.who, "--wait", wait)

    def hears(self, told):
        self.is_done = told == "open"


class Counter(Caller):
    is_done = True  # it asks for as long as the others need

    def begin(self):
        self.call("count", self.who)

    def hears(self, told):
        pass


class Run:
    def __init__(self, given):
        self.given, self.chance, self.calls = given, random.Random(given.seed), []
        self.masters = Masters("latches", given.masters, "--persist", max_ttl=MAX_TTL)
        self.faults = Faults(self.masters, self.chance, BACK_US)

    def waiters(self):
        return {f"w{number}" for number in range(self.given.waiters)}

    def drive(self, callers, over):
        """Until all are done, or nobody has been told anything for too long."""
        last, since = len(self.calls), time.monotonic()
        done = {id(caller): caller.is_done for caller in callers}
        while not over() and time.monotonic() < since + LONGEST_S:
            for caller in callers:
                caller.step()
            self.faults.step()
            now = {id(caller): caller.is_done for caller in callers}
            if now != done or len(self.calls) > last + 10000:
                done, last, since = now, len(self.calls), time.monotonic()
            time.sleep(POLL_S)

    def one(self, number):
        self.latch = f"latch-{number}"
        maker = Maker(self, "maker")
        self.drive([maker], lambda: maker.is_done)
        callers = [*(Arriver(self, n) for n in range(self.given.processes)),
                   *(Waiter(self, who) for who in sorted(self.waiters())),
                   *(Counter(self, f"c{n}") for n in range(self.given.counters))]
        self.drive(callers, lambda: all(caller.is_done for caller in callers))
        end = time.monotonic() + self.given.after
        self.drive(callers, lambda: time.monotonic() >= end)
        self.finish([caller for caller in callers if caller.process])

    def finish(self, callers):
        """Lets the calls that are out end, so that no call of one latch is told in the next."""
        self.drive(callers, lambda: not [c for c in callers if c.process and c.process.status() is None])
        for caller in callers:
            if caller.process:
                caller.step()


def report(run):
    given, of = run.given, {}
    for call in run.calls:
        of[call.action, call.outcome] = of.get((call.action, call.outcome), 0) + 1
    found = judge.violations(run.calls, given.arrivals, run.waiters())
    arrived = of.get(("arrive", "arrived"), 0) + of.get(("arrive", "open"), 0)
    print(f"latches: {given.latches} of {given.arrivals} arrivals: {arrived} told to be counted, "
          f"{of.get(('arrive', 'undecided'), 0)} undecided, {of.get(('arrive', 'killed'), 0)} killed; "
          f"{sum(n for (action, _), n in of.items() if action in ('wait', 'count'))} answers to others, "
          f"{of.get(('count', 'open'), 0) + of.get(('wait', 'open'), 0)} of them open; masters: "
          f"{run.faults.done['kill']} killed, {run.faults.done['pause']} frozen; {len(found)} violations")
    for violation in found[:20]:
        print(f"latches: VIOLATION: {violation}")
    return 1 if found else 0


def parse():
    parser = argparse.ArgumentParser(usage="see --help", add_help=False)
    for option, default in (("latches", 3), ("arrivals", 100), ("processes", 10), ("pause", 2000),
                            ("waiters", 3), ("counters", 2), ("after", 5), ("masters", 5), ("kill", 20),
                            ("seed", 1)):
        parser.add_argument(f"--{option}", type=int, default=default)
    parser.add_argument("--help", action="store_true")
    parser.error = lambda text: (print(f"latches: {text}; `latches --help` explains", file=sys.stderr),
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
        for number in range(given.latches):
            run.one(number)
        return report(run)
    except Trouble as trouble:
        print(f"latches: {trouble}", file=sys.stderr)
        return 1
    finally:
        if run:
            run.masters.clean_up()
