#!/usr/bin/env python3
"""The workers of chaos runs, on real masters: their records are whole and true."""

import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

from facts import now_us  # noqa: E402
from harness import Case, Cluster, environment, until  # noqa: E402

BIN = HERE.parents[1] / "build" / "bin"
LIBRARY = os.environ.get("REDLOCK_CHAOS_WORKER") or str(BIN / "redlock-chaos-worker")
MUTANTS = os.environ.get("REDLOCK_CHAOS_MUTANTS") or str(BIN / "redlock-chaos-worker.mutants")
COMMAND, PLAIN = str(HERE / "command_worker"), str(HERE / "plain_worker")
NODE_REDLOCK = str(HERE / "node_redlock_worker.mjs")
MODULES = {key: value for key, value in os.environ.items() if key == "REDLOCK_NODE_MODULES"}
SKIPPED = 77  # its status without its packages
TTL_MS = 1000
FOREVER_MS = 2 ** 63 - 1
FOR_LONG_US = 10 ** 9

LEASE = r"name-\d \d+"
FACTS = {
    "begin": r"(library|command|plain|node-redlock) \d+",
    "attempt": LEASE + r"( shared)?( tries)?( unfenced)?( permits=\d+)?",
    "acquired": LEASE + r" \d+ \S+ \d+( \d+)?",
    **dict.fromkeys(("valid", "at_risk", "healthy", "moving", "moved", "unmoved", "lost", "act", "releasing"),
                    LEASE + r" \d+"),
    "acted": LEASE + r" (accepted fresh|refused stale|unfenced fresh)",
    "refrained": LEASE,
    **dict.fromkeys(("released", "failed"), LEASE + r" REDLOCK_\w+"),
    "usage": r"\d+ \d+",
    "end": r"\d+ \d+ \d+ \d+",
}


def node_redlock_if_there():
    """Without masters to connect to it ends by its usage, if it gets as far as that."""
    if not shutil.which("node"):
        return ()
    done = subprocess.run([NODE_REDLOCK], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False)
    return (NODE_REDLOCK,) if done.returncode == 64 else ()


NODE_REDLOCK_IF_THERE = node_redlock_if_there()


class Worker:
    """A process, and its record so far."""

    numbers = itertools.count(1)

    def __init__(self, case, program, *names, seconds=60, env=(), **options):
        self.label = f"worker-{next(self.numbers)}"
        self.path = case.tmp / self.label
        options = {"ttl": TTL_MS, "max_ttl": TTL_MS, **options}
        words = [word for key, value in options.items()
                 for word in (f"--{key.replace('_', '-')}", str(value))]
        self.process = subprocess.Popen(
            [program, "--record", str(self.path), "--label", self.label, "--seconds", str(seconds),
             "--seed", "7", *words, *names],
            env=environment(REDLOCK_NODES=case.masters.nodes,
                            REDLOCK_CHAOS_REGISTER=case.register.nodes.removeprefix("redis://"),
                            **MODULES, **dict(env)), stdin=subprocess.DEVNULL)
        case.addCleanup(Case.end, self.process)

    def lines(self):
        text = self.path.read_text(encoding="ascii") if self.path.exists() else ""
        return [line.split() for line in text.splitlines() if text.endswith("\n")]

    def facts(self, *wanted):
        return [line for line in self.lines() if line[1] in wanted]

    def await_fact(self, wanted, after=0):
        """The first such fact beyond `after` of them."""
        return until(lambda: self.facts(wanted)[after:], f"{self.label} has recorded {wanted}")[0]

    def finish(self):
        return self.process.wait(30)

    def end(self):
        self.process.terminate()
        return self.finish()


class WorkersCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.masters = Cluster(5)
        cls.addClassCleanup(cls.masters.stop)
        cls.register = Cluster(1, "--no-adopt")
        cls.addClassCleanup(cls.register.stop)

    def assert_whole(self, worker):
        lines = worker.lines()
        for line in lines:
            self.assertRegex(line[0], r"^\d+$")
            self.assertRegex(" ".join(line[2:]), f"^({FACTS[line[1]]})$", line)
        self.assertEqual(lines[0][1], "begin")
        self.assertEqual([line[1] for line in lines].count("end"), 1)
        self.assertEqual(lines[-1][1:3], ["end", str(len(lines) - 1)])
        self.assertEqual(int(lines[-1][3]), len(worker.facts("acquired")))
        self.assertEqual(len(worker.facts("attempt")), len(worker.facts("released", "failed")))

    def assert_ends(self, *workers, end=Worker.end):
        """In good order, with a whole record."""
        for worker in workers:
            self.assertEqual(end(worker), 0)
            self.assert_whole(worker)

    def register_log(self):
        return [line.split() for line in self.register.cli(1, "LRANGE", "register", "0", "-1")
                .splitlines()]


class Kinds(WorkersCase):
    def test_all_kinds_at_once(self):
        workers = [Worker(self, program, "name-1", "name-2", seconds=2, long_every=20)
                   for program in (LIBRARY, LIBRARY, COMMAND, PLAIN)]
        self.assert_ends(*workers, end=Worker.finish)
        self.assertTrue(any(worker.facts("acted") for worker in workers))

    def test_each_kind_acts_on_the_register(self):
        for program in (LIBRARY, COMMAND, PLAIN, *NODE_REDLOCK_IF_THERE):
            worker = Worker(self, program, "name-1", seconds=2)
            self.assert_ends(worker, end=Worker.finish)
            told = [line[2:] for line in worker.facts("acted")]
            log = [[name, number, checked, unchecked] for _, name, _, label, number, _, checked,
                   unchecked in self.register_log() if label == worker.label]
            # It waits for no answer that is late, on a busy machine.
            tried = [line[2:4] for line in worker.facts("act")]
            written = iter(log)
            self.assertTrue(all(answer in written for answer in told), (told, log))
            self.assertLessEqual(len(log), len(tried))
            self.assertTrue(all(entry[:2] in tried for entry in log), (tried, log))
            self.assertTrue(told)

    @unittest.skipIf(NODE_REDLOCK_IF_THERE, "its packages are installed")
    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_node_redlock_says_that_its_packages_are_missing(self):
        self.assertEqual(Worker(self, NODE_REDLOCK, "name-1").finish(), SKIPPED)

    def test_what_they_ask_for_is_drawn(self):
        for program in (LIBRARY, COMMAND):
            worker = Worker(self, program, "name-1", readers=50, tries=50, unfenced=50)
            worker.await_fact("attempt", 39)
            self.assert_ends(worker)
            wishes = {line[3]: line[4:] for line in worker.facts("attempt")}
            self.assertEqual({word for wish in wishes.values() for word in wish},
                             {"shared", "tries", "unfenced"})
            self.assertIn([], wishes.values())
            for line in worker.facts("acquired"):
                self.assertEqual(line[6] == "0", "unfenced" in wishes[line[3]], line)
            acts = {number: act for *_, label, number, act, _, _ in self.register_log()
                    if label == worker.label}
            self.assertEqual(set(acts.values()), {"read", "write"})
            for number, act in acts.items():
                self.assertEqual(act == "read", "shared" in wishes[number], number)

    def test_permits_that_they_ask_for(self):
        """Each slot has a resource and fences of its own."""
        worker = Worker(self, LIBRARY, "name-1", permits=3, fewer=50, whole=30, unfenced=30)
        worker.await_fact("attempt", 59)
        self.assert_ends(worker)
        asked = {line[3]: line[-1] if line[-1].startswith("permits=") else ""
                 for line in worker.facts("attempt")}
        self.assertEqual(set(asked.values()), {"", "permits=1", "permits=2", "permits=3"})
        resources = {}
        for line in worker.facts("acquired"):
            self.assertEqual(len(line) == 8, asked[line[3]] != "", line)
            if len(line) == 8:
                self.assertLess(int(line[7]), int(asked[line[3]].removeprefix("permits=")))
            resources[line[3]] = f"redlock:permit:{line[7]}:name-1" if len(line) == 8 else "name-1"
        acts = [(name, number) for _, name, _, label, number, *_ in self.register_log()
                if label == worker.label]
        self.assertTrue(acts)
        for name, number in acts:
            self.assertEqual(name, resources[number])

    def test_permits_are_held_side_by_side_and_no_more_of_them(self):
        workers = [Worker(self, LIBRARY, "name-1", permits=3, long_every=1, ttl=10 * TTL_MS,
                          max_ttl=10 * TTL_MS, wait=FOREVER_MS) for _ in range(4)]
        until(lambda: sum(map(bool, map(is_holding, workers))) == 3, "three of them hold a permit")
        slots = [line[7] for worker in workers for line in worker.facts("acquired")]
        self.assertEqual(sorted(slots), ["0", "1", "2"])
        self.assert_ends(*workers)

    def test_percents(self):
        for program in (LIBRARY, COMMAND, PLAIN):
            self.assertEqual(Worker(self, program, "name-1", readers=101).finish(), 64)
        for wrong in ({"permits": 1025}, {"permits": -1}, {"fewer": 101}, {"whole": 101}):
            self.assertEqual(Worker(self, LIBRARY, "name-1", **wrong).finish(), 64)

    def test_readers_hold_a_name_side_by_side(self):
        workers = [Worker(self, program, "name-1", readers=100, long_every=1, wait=FOREVER_MS)
                   for program in (LIBRARY, COMMAND)]
        until(lambda: all(is_holding(worker) for worker in workers), "both hold the name")
        self.assert_ends(*workers)

    def test_a_plain_ttl_beyond_the_longest_is_refused(self):
        worker = Worker(self, PLAIN, "name-1", ttl=2 * TTL_MS)
        self.assertEqual(worker.finish(), 64)

    def test_a_worker_can_be_broken(self):
        with tempfile.TemporaryDirectory() as folder:
            broken = os.path.join(folder, "worker")
            for rule in ("", "NONE", "BARGING", "READERS_BARGE", "quorum"):
                self.assertEqual(subprocess.run(["bash", MUTANTS, "--build", rule, broken], check=False,
                                                stderr=subprocess.DEVNULL).returncode, 64)
            for rule in ("QUORUM_HALF", "MODES_IGNORED"):
                subprocess.run(["bash", MUTANTS, "--build", rule, broken], check=True)
                worker = Worker(self, broken, "name-1", seconds=0.5)
                self.assert_ends(worker, end=Worker.finish)


class Ends(WorkersCase):
    def test_sigterm_ends_holders_and_waiters_in_good_order(self):
        for program in (LIBRARY, COMMAND, PLAIN, *NODE_REDLOCK_IF_THERE):
            workers = [Worker(self, program, "name-1", long_every=1, wait=FOREVER_MS)
                       for _ in range(2)]
            for worker in workers:
                worker.await_fact("attempt")
            until(lambda: any(worker.facts("acted") for worker in workers), "one of them acts")
            self.assert_ends(*workers)

    def test_a_killed_command_takes_its_job_along(self):
        worker = Worker(self, COMMAND, "name-1", hold=FOR_LONG_US)
        worker.await_fact("acted")
        job = next(pid for pid in pids() if command_line(pid)[3:5] ==
                   [str(HERE / "command_job"), str(worker.path)])
        worker.process.kill()
        until(lambda: not command_line(job), "the job is gone")


class Stopped(WorkersCase):
    def stop_a_holder(self, worker):
        """The lease that it has; a slow test may come too late for one."""
        while True:
            number = worker.await_fact("acquired", len(worker.facts("acquired")))[3]
            worker.process.send_signal(signal.SIGSTOP)
            until(lambda: is_stopped(worker.process.pid), "it is stopped")
            if not [line for line in worker.facts("releasing", "lost") if line[3] == number]:
                return number
            worker.process.send_signal(signal.SIGCONT)

    def test_who_slept_past_his_lease_does_not_act(self):
        worker = Worker(self, LIBRARY, "name-1", long_every=1)
        for _ in range(2):
            number = self.stop_a_holder(worker)
            ends = max(int(line[4]) for line in worker.facts("acquired", "valid", "act"))
            until(lambda: now_us() > ends, "its lease has ended")
            before = len(worker.lines())
            worker.process.send_signal(signal.SIGCONT)
            worker.await_fact("released", len(worker.facts("released")))
            since = [line[1] for line in worker.lines()[before:]
                     if line[2:4] == ["name-1", number] and line[1] != "acted"]
            self.assertIn(since[0], ("lost", "refrained"))
            self.assertNotIn("act", since)
        self.assert_ends(worker)


class Lost(WorkersCase):
    def tearDown(self):
        self.masters.resume(1, 2, 3)

    def test_a_quorum_away_is_a_loss_told_in_time(self):
        for program in (LIBRARY, COMMAND):
            worker = Worker(self, program, "name-1", hold=FOR_LONG_US)
            worker.await_fact("acted")
            self.masters.pause(1, 2, 3)
            lost = worker.await_fact("lost")
            self.masters.resume(1, 2, 3)
            number = lost[3]
            released = until(lambda: [line for line in worker.facts("released")
                                      if line[3] == number], "it is given back")[0]
            self.assertEqual(released[4], "REDLOCK_E_GONE")
            acts = [line for line in worker.facts("act") if line[3] == number]
            self.assertLessEqual(int(acts[-1][0]), int(lost[0]))
            self.assert_ends(worker)

    def test_no_quorum_is_told_as_such_and_gets_over(self):
        for program in (LIBRARY, COMMAND, PLAIN, *NODE_REDLOCK_IF_THERE):
            worker = Worker(self, program, "name-1", wait=200)
            worker.await_fact("acquired")
            self.masters.pause(1, 2, 3)
            until(lambda: [line for line in worker.facts("failed")
                           if line[4] == "REDLOCK_E_UNAVAILABLE"], "it has found no quorum")
            self.masters.resume(1, 2, 3)
            worker.await_fact("acquired", len(worker.facts("acquired")))
            self.assert_ends(worker)


class Register(WorkersCase):
    def test_a_register_that_hangs_holds_up_nobody(self):
        for program in (LIBRARY, COMMAND, PLAIN, *NODE_REDLOCK_IF_THERE):
            worker = Worker(self, program, "name-1")
            worker.await_fact("acted")
            self.register.pause(1)
            worker.await_fact("released", len(worker.facts("released")) + 2)
            self.register.resume(1)
            worker.await_fact("acted", len(worker.facts("acted")))
            self.assert_ends(worker)

    def test_an_older_fence_is_refused_by_the_checked_one_alone(self):
        good, late, unfenced = "accepted fresh", "refused stale", "unfenced fresh"
        self.assertEqual(self.verdicts("log", ("write", "5"), ("write", "7"), ("write", "5"),
                                       ("write", "7"), ("write", "0"), ("write", "8")),
                         [good, good, late, good, unfenced, good])
        self.assertEqual(self.register.cli(1, "LINDEX", "log", "2"),
                         "3 name 5 worker-1 1 write refused stale")

    def test_a_read_needs_the_fence_of_writes_and_a_write_that_of_all(self):
        good, late, unfenced = "accepted fresh", "refused stale", "unfenced fresh"
        self.assertEqual(self.verdicts("acts", ("write", "5"), ("read", "4"), ("read", "9"),
                                       ("read", "6"), ("write", "8"), ("read", "0"),
                                       ("write", "9"), ("read", "8"), ("read", "9")),
                         [good, late, good, good, late, unfenced, good, late, good])

    def verdicts(self, log, *acts):
        script = (HERE / "register.lua").read_text(encoding="ascii")
        return [self.register.cli(1, "EVAL", script, "2", log, f"{log}:fences", "name", fence,
                                  "worker-1", "1", act) for act, fence in acts]


def pids():
    return [name for name in os.listdir("/proc") if name.isdigit()]


def command_line(pid):
    try:
        return Path("/proc", pid, "cmdline").read_text(encoding="utf-8").split("\0")
    except OSError:
        return []


def is_holding(worker):
    facts = worker.facts("acted", "lost", "releasing", "failed")
    return facts and facts[-1][1] == "acted"


def is_stopped(pid):
    return re.search(r"^State:\s+T", Path(f"/proc/{pid}/status").read_text(encoding="ascii"), re.M)


if __name__ == "__main__":
    unittest.main()
