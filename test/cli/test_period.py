"""redlock run --at-least: a job that many hosts start at about the same time runs once."""
# rule: T6

import os
import subprocess
import time

from harness import ClusterCase

HOSTS = 10
SPREAD = 1.5  # s, between the first start and the last
# REDLOCK_ROUNDS=50 takes longer.
ROUNDS = int(os.environ.get("REDLOCK_ROUNDS", "10"))
TOGETHER = 5  # rounds at once, each of a name of its own


class Period(ClusterCase):
    def start(self, name, *options):
        log = self.tmp / name
        return self.spawn("run", *options, name, "--",
                          "sh", "-c", 'echo "$$" >> "$0"; sleep 0.01', str(log))

    def rounds(self, first, count, *options):
        """Hosts whose clocks are off by seconds; counts the runs of each job."""
        names = [f"{self.name}-{first + i}" for i in range(count)]
        begin, jobs = time.monotonic(), []
        for host in range(HOSTS):
            time.sleep(max(0, begin + host * SPREAD / (HOSTS - 1) - time.monotonic()))
            jobs += [self.start(name, *options) for name in names]
        for job in jobs:
            self.assertIn(self.finish(job).status, (0, 75))
        return [len((self.tmp / name).read_text().split()) for name in names]

    def test_it_runs_once(self):
        ran = []
        while len(ran) < ROUNDS:
            ran += self.rounds(len(ran), min(TOGETHER, ROUNDS - len(ran)), "--at-least", "6s")
        self.assertEqual(ran, [1] * ROUNDS)
        print(f"{HOSTS} starts within {SPREAD} s: it ran once, {ran.count(1)} of {ROUNDS} times")

    def test_without_it_runs_again(self):
        self.assertGreater(self.rounds(0, 1)[0], 1)

    def test_it_does_not_wait_for_the_rest(self):
        begin = time.monotonic()
        self.redlock("run", "--at-least", "25s", self.name, "--", "true", status=0)
        self.assertLess(time.monotonic() - begin, 20)
        status = self.redlock("status", self.name, status=0).out
        self.assertIn("held by", status)

    def test_a_signal_ends_the_command_only(self):
        job = self.spawn("run", "--at-least", "20s", self.name, "--",
                         "sh", "-c", 'touch "$0"; exec sleep 60', str(self.tmp / "started"))
        self.started(self.tmp / "started")
        self.terminate(job)
        self.redlock("run", self.name, "--", "true", status=75)

    def test_the_command_keeps_its_status(self):
        self.redlock("run", "--at-least", "20s", self.name, "--", "sh", "-c", "exit 7", status=7)
        self.redlock("run", self.name, "--", "true", status=75)

    def test_verbose(self):
        told = self.redlock("run", "-v", "--at-least", "20s", self.name, "--", "true", status=0).err
        self.assertRegex(told, r"released, and kept from others for at least 1\d{4} ms more")

    def test_too_few_masters_keep_it(self):
        job = self.spawn("run", "--at-least", "20s", "--ttl", "20s", self.name, "--",
                         "sh", "-c", 'touch "$0"; cat', str(self.tmp / "started"),
                         stdin=subprocess.PIPE)
        self.started(self.tmp / "started")
        self.cluster.pause(1, 2, 3)
        try:
            told = self.let_end(job, status=0).err
        finally:
            self.cluster.resume(1, 2, 3)
        self.assertIn("--at-least is not kept, and others may come in sooner", told)

    def test_bad_times(self):
        told = self.redlock("run", "--at-least", "1m", self.name, "--", "true", status=64).err
        self.assertIn("--at-least 1 min 0 s is above --max-ttl 30.0 s", told)
        self.redlock("run", "--max-ttl", "1m", "--at-least", "1m", self.name, "--", "true", status=0)
        for wrong in ("-1s", "x", "", "forever"):
            self.redlock("run", "--at-least", wrong, self.name, "--", "true", status=64)
        self.redlock("lock", "--at-least", "1s", self.name, status=64)
