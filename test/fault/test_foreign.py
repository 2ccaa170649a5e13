#!/usr/bin/env python3
"""Beside npm's redlock: two processes of it hold a name for 0.2 s and try again each 50 to 150 ms.
They hand over to no waiter, and one of our waiters still gets its turns. It keeps readers out, and
is kept out by them."""

import os
import random
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

from harness import DEADLINE, Case, Cluster, environment, until  # noqa: E402

ONCE = ("node", str(HERE / "node_redlock_once.mjs"))
CONTENDER = ("node", str(HERE / "node_redlock_turns.mjs"))
NEEDS_ARGUMENTS, SKIPPED = 64, 77
FOREIGNERS, SECONDS, SHARE, GAP_S = 2, 10, 1 / 5, 3
HOLD_S, PAUSE_S = 0.2, (0.05, 0.15)
# Fails if another holder is inside.
HOLD = f'set -C; : >"$0" && sleep {HOLD_S} && rm "$0"'
# Fails if a writer is inside.
READ = 'for _ in 1 2 3 4 5; do test ! -e "$0" || exit 1; sleep 0.03; done'


class Foreigner:
    """A process, and how many turns it has had so far."""

    def __init__(self, case, number):
        self.path = case.tmp / f"foreigner-{number}"
        with self.path.open("wb") as out:
            process = subprocess.Popen(
                [*CONTENDER, case.name, str(case.inside)], stdin=subprocess.DEVNULL, stdout=out,
                env=environment(REDLOCK_NODES=case.cluster.nodes, **modules()))
        case.addCleanup(Case.end, process)

    def said(self, word):
        return self.path.read_text(encoding="ascii").split().count(word)


class Beside(Case):
    def setUp(self):
        super().setUp()
        self.inside = self.tmp / "inside"
        self.cluster = Cluster(5)
        self.addCleanup(self.cluster.stop)


class Turns(Beside):
    def turn(self):
        """Our client; returns how long it waited."""
        since = time.monotonic()
        self.redlock("run", "--wait", "20s", self.name, "--", "sh", "-c", HOLD, str(self.inside),
                     status=0)
        return time.monotonic() - since - HOLD_S

    def test_one_of_ours_among_two_gets_its_turns(self):
        foreigners = [Foreigner(self, i) for i in range(FOREIGNERS)]
        until(lambda: all(each.said("turn") for each in foreigners), "each has had a turn")
        before = sum(each.said("turn") for each in foreigners)
        waits, end = [], time.monotonic() + SECONDS
        while time.monotonic() < end:
            waits.append(self.turn())
            time.sleep(random.uniform(*PAUSE_S))
        turns = len(waits) + sum(each.said("turn") for each in foreigners) - before
        told = f"ours {len(waits)} of {turns} turns, longest wait {max(waits):.1f} s"
        print(told)
        self.assertFalse(any(each.said("two") for each in foreigners), "two held the name at once")
        self.assertGreaterEqual(len(waits), SHARE * turns, told)
        self.assertLessEqual(max(waits), GAP_S, told)


class Readers(Beside):
    def once(self):
        process = subprocess.Popen(
            [*ONCE, self.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment(REDLOCK_NODES=self.cluster.nodes, **modules()))
        self.addCleanup(Case.end, process)
        return process

    def test_readers_keep_it_out(self):
        one, two = (self.lock("--shared", "--ttl", "20s", self.name) for _ in range(2))
        self.assertGreater(self.cluster.values(self.name).count("redlock:shared"), 2)
        told = self.once().communicate(timeout=DEADLINE)[0]
        self.assertEqual(told.splitlines(), ["refused", "not extended", "not released"])
        self.redlock("extend", "--shared", "--token", one, self.name, status=0)
        for token in one, two:
            self.redlock("unlock", "--token", token, self.name, status=0)
        until(lambda: not any(self.cluster.values(self.name)), "nobody has it")
        told = self.once().communicate(timeout=DEADLINE)[0]
        self.assertEqual(told.splitlines(), ["held", "extended", "released"])

    def test_it_keeps_readers_out(self):
        process = self.once()
        self.assertEqual([process.stdout.readline() for _ in range(2)], ["held\n", "extended\n"])
        self.redlock("lock", "--shared", self.name, status=75)
        self.assertNotIn("redlock:shared", self.cluster.values(self.name))
        waits = self.spawn("lock", "--shared", "--wait", "20s", self.name)
        until(lambda: self.cluster.cli(1, "EXISTS", "redlock:queue:" + self.name) == "1",
              "the reader waits")
        self.assertEqual(process.communicate(timeout=DEADLINE)[0], "released\n")
        self.finish(waits, status=0)

    def test_never_inside_together(self):
        foreigner = Foreigner(self, 0)
        until(lambda: foreigner.said("turn"), "it has had a turn")
        before, rounds, end = foreigner.said("turn"), 0, time.monotonic() + SECONDS / 2
        while time.monotonic() < end or foreigner.said("turn") == before:
            for reader in [self.spawn("run", "--shared", "--wait", "20s", self.name, "--", "sh",
                                      "-c", READ, str(self.inside)) for _ in range(3)]:
                self.finish(reader, status=0)
            rounds += 1
            time.sleep(random.uniform(*PAUSE_S))
        print(f"three readers {rounds} times, {foreigner.said('turn') - before} turns of the other")
        self.assertFalse(foreigner.said("two"))


def modules():
    return {key: value for key, value in os.environ.items() if key == "REDLOCK_NODE_MODULES"}


def missing():
    """Why no other library is there; None if one is."""
    if not shutil.which("node"):
        return "node is not installed"
    asked = subprocess.run(CONTENDER, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                           check=False)
    return None if asked.returncode == NEEDS_ARGUMENTS else asked.stderr.rpartition("skipped: ")[2].strip()


if __name__ == "__main__":
    why = missing()
    if why:
        print(f"skipped: {why}; test/run installs it where npm is, or set REDLOCK_NODE_MODULES")
        sys.exit(SKIPPED)
    unittest.main()
