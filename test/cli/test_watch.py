"""status --watch: each change once, until a signal; one look a second."""

import json
import re
import select
import signal
import socket
import threading
import time

import schema
from harness import DEADLINE, ClusterCase, FreshCase, until
from relay import Relay, through


class Lines:
    """The output of a command, line by line."""

    def __init__(self, process):
        self.process, self.seen, self.passed = process, b"", []

    def next(self, pattern):
        """Reads until a line matches, and forgets all up to its end."""
        end = time.monotonic() + DEADLINE
        while True:
            line, newline, rest = self.seen.partition(b"\n")
            if newline:
                self.seen = rest
                if re.search(pattern, line.decode()):
                    return line.decode()
                self.passed.append(line.decode())
                continue
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))
            more = self.process.stdout.read1(65536) if ready else b""
            if not more:
                raise AssertionError(f"no {pattern!r}; seen: {self.passed + [self.seen]}")
            self.seen += more


class Watches(ClusterCase):
    def watch(self, *options):
        process = self.spawn("status", "--watch", *options)
        return process, Lines(process)

    def test_each_change(self):
        process, lines = self.watch(self.name)
        self.assertRegex(lines.next("free"), rf"^\d\d:\d\d:\d\d {self.name}: free$")
        token = self.lock_on_all("--ttl", "30s", "--label", "one", self.name)
        lines.next(f"held by {token[:22]} \\(one\\) on ")
        waiter = self.spawn("lock", "--wait", "60s", "--label", "two", self.name)
        lines.next("held by")
        lines.next("^  1 waits: two$")
        self.unlock(token)
        new = self.finish(waiter, status=0).out.strip()
        self.assertIn(f"held by {new[:22]} (two)", lines.next(r"\(two\)"))
        process.send_signal(signal.SIGINT)
        self.finish(process, 128 + signal.SIGINT)

    def test_one_document_a_line(self):
        process, lines = self.watch("--json", self.name, "other")
        answered = {}
        while list(answered.values()) != [5, 5]:  # a first look may miss one that is late
            for it in schema.check(json.loads(lines.next("")))["names"]:
                self.assertEqual(it["state"], "free")
                answered[it["name"]] = it["answered"]
        self.lock_on_all("--ttl", "30s", "other")
        told = schema.check(json.loads(lines.next("held")))
        self.assertEqual([it["name"] for it in told["names"]], ["other"])
        process.send_signal(signal.SIGTERM)
        self.assertIn("ended by signal 15", lines.next("signal"))
        self.assertEqual(process.wait(DEADLINE), 128 + signal.SIGTERM)

    def test_one_look_a_second(self):
        self.lock_on_all("--ttl", "30s", self.name)
        process, lines = self.watch(self.name)
        lines.next("held by .* on 5 of 5 ")  # a first look may miss one that is late
        began = time.monotonic()
        self.cluster.cli(1, "CONFIG", "RESETSTAT")

        def looks():
            """Each look reads the holder and its time anew."""
            return int((re.search(r"cmdstat_pttl:calls=(\d+)", self.cluster.cli(1, "INFO", "commandstats"))
                        or [0, 0])[1])
        until(lambda: looks() >= 4, "it goes on looking")
        self.assertLessEqual(looks(), time.monotonic() - began + 2)
        self.assertIsNone(process.poll())
        # Nothing has changed, so nothing more was said.
        self.assertEqual(self.terminate(process).out, "")

    def test_a_master_that_was_not_waited_for_is_heard_later(self):
        process, lines = self.watch(self.name)
        lines.next("free")
        hold = ("SET", self.name, "A" * 22 + ":one", "PX", "30000")
        self.cluster.cli(5, *hold)
        self.cluster.pause(5)
        try:
            for master in range(1, 5):
                self.cluster.cli(master, *hold)
            lines.next("held by .* on 4 of 5 ")
        finally:
            self.cluster.resume(5)
        lines.next("held by .* on 5 of 5 ")
        self.terminate(process)

    def late_by_turns(self, token):
        """Relays: the first master answers when `shown` is set, the second one a look later, the third at
        once."""
        shown, heard, looks = threading.Event(), threading.Event(), []

        def first(answer):
            if token in answer:
                shown.wait(DEADLINE)
            return answer

        def second(answer):
            if token in answer and shown.is_set():
                heard.wait(DEADLINE)
            return answer

        def third(answer):
            looks.extend([answer] if token in answer and shown.is_set() else [])
            if len(looks) > 1:
                heard.set()
            return answer

        return shown, [Relay(port, change=change)
                       for port, change in zip(self.cluster.ports, (first, second, third))]

    def test_masters_that_are_late_by_turns(self):
        """No master's answer is missed for good."""
        shown, relays = self.late_by_turns(self.lock_on_all("--ttl", "30s", self.name).encode())
        process = self.spawn("status", "--watch", self.name,
                             env=self.env(REDLOCK_NODES=through(self.cluster, relays)))
        lines = Lines(process)
        lines.next("held by .* on 4 of 5 ")
        shown.set()
        lines.next("held by .* on 5 of 5 ")
        self.terminate(process)

    def test_a_master_that_is_not_waited_for_any_more_is_no_news(self):
        hold = ("A" * 22 + ":one", "PX", "30000")
        other = self.name + "-other"
        self.cluster.each_cli("SET", self.name, *hold)
        process, lines = self.watch(self.name, other)
        lines.next("held by .* on 5 of 5 ")
        if not any("-other: free" in line for line in lines.passed):
            lines.next("-other: free")
        lines.passed.clear()
        self.cluster.pause(5)
        try:
            for master in range(1, 5):
                self.cluster.cli(master, "SET", other, *hold)
            lines.next("-other.* held by .* on 4 of 5 ")
        finally:
            self.cluster.resume(5)
        self.assertEqual([line for line in lines.passed if "-other" not in line], [])
        self.terminate(process)

    def test_nobody_reads_it(self):
        process, lines = self.watch(self.name)
        lines.next("free")
        process.stdout.close()
        process.stdout = None
        self.lock_on_all("--ttl", "30s", self.name)
        self.assertEqual(process.wait(DEADLINE), 74)


class Unread(ClusterCase):
    """One master alone repeats itself, so no print could fail."""

    masters = 1

    def watch(self, **more):
        return self.spawn("status", "--watch", "--request-timeout", "20s", "a", **more)

    def test_a_pipe(self):
        process = self.watch()
        Lines(process).next("free")
        process.stdout.close()
        process.stdout = None
        self.assertEqual(process.wait(DEADLINE), 74)

    def test_a_socket(self):
        ours, its = socket.socketpair()
        process = self.watch(stdout=its)
        its.close()
        with ours:
            self.assertTrue(ours.recv(1000))
        self.assertEqual(process.wait(DEADLINE), 74)


class Masters(FreshCase):
    patience = ()

    def watch(self, *options):
        self.lock_on_all("--ttl", "30s", "a")
        process = self.spawn("status", "--watch", *options, "a")
        return process, Lines(process)

    def test_masters_that_go_and_come(self):
        process, lines = self.watch()
        lines.next("held by")
        self.cluster.kill(1, 2)
        lines.next("unknown; held by .* 1 of 3 masters answered, 2 must")
        self.assertIsNone(process.poll())
        self.terminate(process)

    def test_all_is_well_again(self):
        process, lines = self.watch("--json")
        for ok in "true", "false", "true":
            lines.next(f'"ok":{ok}')
            if ok == "true":
                self.cluster.pause(1, 2)
            else:
                self.cluster.resume(1, 2)
        self.cluster.resume(1, 2)
        process.send_signal(signal.SIGTERM)
        process.wait(DEADLINE)
