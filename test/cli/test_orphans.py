"""`redlock run` is killed: the guardian ends the command, and then releases in its place."""

import os
import signal
import time

from harness import ClusterCase, until

JOB = """trap 'date +%s%N > "$1"; exit 0' TERM
echo $$ > "$0"
while :; do sleep 0.01; done"""


class Killed(ClusterCase):
    def job(self, *options, script=JOB, **more):
        """A command that has begun under the lock, and the file of its end."""
        began, ended = self.tmp / "began", self.tmp / "ended"
        for path in (began, ended):
            path.unlink(missing_ok=True)
        process = self.spawn("run", *options, self.name, "--", "sh", "-c", script, str(began), str(ended),
                             **more)
        until(lambda: began.exists() and began.read_text().strip(), "the command has begun")
        return process, ended

    def waiter(self):
        """It writes when it has got the lock."""
        got = self.tmp / "got"
        got.unlink(missing_ok=True)
        process = self.spawn("run", "--wait", "forever", self.name, "--", "sh", "-c", 'date +%s%N > "$0"',
                             str(got))
        until(lambda: sum(map(bool, self.waiters())) > self.masters // 2, "it is enqueued")
        return process, got

    @staticmethod
    def written(path):
        until(lambda: path.exists() and path.read_text().strip(), f"{path.name} is written")
        return int(path.read_text()) / 1e9

    def kill(self, process):
        process.kill()
        self.assertEqual(process.wait(30), -signal.SIGKILL)

    def hands_over(self, *options, **more):
        process, ended = self.job("--ttl", "25s", *options, **more)
        waiter, got = self.waiter()
        began = time.monotonic()
        self.kill(process)
        late = self.written(got) - self.written(ended)
        self.assertGreater(late, 0)
        self.assertLess(time.monotonic() - began, 15)  # the ttl is 25 s
        self.finish(waiter, 0)
        return late

    def test_the_next_one_need_not_wait_for_the_ttl(self):
        self.hands_over()

    def test_a_late_renewal_heals_nothing(self):
        """A renewal that the dead one had sent may come after the release, which leaves marks against it."""
        process, ended = self.job("--ttl", "25s")
        self.kill(process)
        self.written(ended)
        marks = lambda: sum(map(bool, self.cluster.each_cli("KEYS", "redlock:released:*")))
        until(lambda: marks() > self.masters // 2, "a quorum has the mark")

    def test_with_a_fence(self):
        self.hands_over("--fence")

    def test_readers(self):
        self.hands_over("--shared")

    def test_masters_with_logins_given_as_an_option(self):
        self.hands_over("--nodes", self.cluster.nodes, env=self.env(REDLOCK_NODES_FILE=""))

    def test_the_term_of_a_leader(self):
        began, got = self.tmp / "began", self.tmp / "got"
        leader = self.spawn("elect", "--ttl", "25s", self.name, "--", "sh", "-c", JOB, str(began),
                            str(self.tmp / "ended"))
        self.written(began)
        self.spawn("elect", "--ttl", "25s", self.name, "--", "sh", "-c", 'echo 1 > "$0"; exec sleep 60',
                   str(got))
        until(lambda: sum(map(bool, self.waiters())) > self.masters // 2, "it is enqueued")
        start = time.monotonic()
        self.kill(leader)
        self.written(got)
        self.assertLess(time.monotonic() - start, 15)

    def test_what_does_not_end_when_it_is_asked(self):
        """The lock is free when it was killed, and not before."""
        stubborn = """trap '' TERM; echo $$ > "$0"
                      while :; do date +%s%N > "$1.new"; mv "$1.new" "$1"; done"""
        process, alive = self.job("--ttl", "25s", "--kill-after", "500ms", script=stubborn)
        waiter, got = self.waiter()
        self.kill(process)
        self.assertGreater(self.written(got), self.written(alive))
        self.finish(waiter, 0)

    def test_at_least_is_kept(self):
        process, ended = self.job("--ttl", "25s", "--at-least", "20s")
        self.kill(process)
        self.written(ended)
        guardian_is_gone = lambda: not [it for it in os.listdir("/proc") if self.is_guardian_of(it)]
        until(guardian_is_gone, "the guardian has ended")
        self.assertGreater(sum(map(bool, self.cluster.values(self.name))), self.masters // 2)

    def is_guardian_of(self, pid):
        """Ours: its environment has our folder's masters."""
        try:
            with open(f"/proc/{pid}/comm", encoding="ascii") as comm, \
                    open(f"/proc/{pid}/environ", "rb") as env:
                return comm.read() == "redlock-guard\n" and self.cluster.dir.encode() in env.read()
        except (OSError, UnicodeDecodeError):
            return False
