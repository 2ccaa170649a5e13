"""run: the lock is lost while the command runs.  The command is gone before the lease ends."""

import signal
import time
import unittest

from harness import Case, Cluster, ClusterCase, until

TTL_MS = 2000

# Appends the wall clock in ms while it runs, whatever it is told; $0 is the file.
CLOCK = ("trap '' TERM; echo > \"$0\"; "
         "while :; do date +%s%3N >> \"$0\"; done")
POLITE = ("trap 'echo cleaned up; exit 0' TERM; echo > \"$0\"; "
          "while :; do date +%s%3N >> \"$0\"; done")


class Outage(Case):
    def setUp(self):
        super().setUp()
        self.cluster = Cluster(5)
        self.addCleanup(self.cluster.stop)
        self.clock = self.tmp / "clock"

    def expiry(self, master):
        """When the key ends on that master, in ms of the wall clock."""
        return int(self.cluster.cli(master, "PEXPIRETIME", self.name))

    def just_renewed(self):
        """Waits for the next renewal; returns when the lease then ends at the latest.

        The next one is about ttl/3 away: time enough to stop the masters."""
        before = [self.expiry(master) for master in (1, 2, 3)]

        def renewed():
            now = [self.expiry(master) for master in (1, 2, 3)]
            return all(n > b for n, b in zip(now, before)) and now
        # A lease ends when the third of five masters forgets it, so at the latest
        # with the last of these three.
        return max(until(renewed, "the lease is renewed"))

    def last_sign_of_life(self):
        return int(self.clock.read_text().split()[-1])

    def lose(self, how, script, *options):
        process = self.spawn("run", "--ttl", f"{TTL_MS}ms", *options, self.name, "--", "sh", "-c",
                             script, str(self.clock))
        self.started(self.clock)
        lease_end = self.just_renewed()
        how(1, 2, 3)
        result = self.finish(process, 76)
        self.assertLess(self.last_sign_of_life(), lease_end)
        self.assertLess(time.time() * 1000, lease_end + 3000)
        return result

    def assert_told(self, result):
        self.assertRegex(result.err, f"redlock: lost '{self.name}': ")
        self.assertRegex(result.err, r"the lease ends in \d+ ms; ending the command: SIGTERM now, "
                                     r"SIGKILL in \d+ ms")
        self.assertRegex(result.err, r"the command was ended \d+ ms before the lease's end")

    def test_masters_hang(self):
        result = self.lose(self.cluster.pause, POLITE)
        self.assert_told(result)
        self.assertEqual(result.out, "cleaned up\n")
        for port in self.cluster.ports[:3]:
            self.assertIn(f"127.0.0.1:{port}: ", result.err)

    def test_masters_die(self):
        self.assert_told(self.lose(self.cluster.kill, POLITE))

    def test_command_ignores_sigterm(self):
        result = self.lose(self.cluster.pause, CLOCK)
        self.assert_told(result)
        self.assertNotIn("cleaned up", result.out)

    def test_its_children_end_with_it(self):
        self.assert_told(self.lose(self.cluster.pause,
                                   f"(sh -c '{CLOCK.replace(chr(39), chr(34) + chr(34))}' \"$0\") "
                                   "& wait"))

    def test_kill_after_is_kept_if_it_is_short(self):
        result = self.lose(self.cluster.pause, CLOCK, "--kill-after", "50ms")
        self.assertRegex(result.err, r"SIGKILL in (4\d|50) ms")

    def test_json(self):
        result = self.lose(self.cluster.pause, POLITE, "--json")
        lost, ended = [line for line in result.json_lines if line["event"] != "released"]
        self.assertEqual((lost["event"], lost["code"]), ("lost", "REDLOCK_E_EXPIRED"))
        self.assertEqual(ended["event"], "ended")
        self.assertGreater(ended["margin_ms"], 0)

    def test_a_minority_is_no_loss(self):
        process = self.spawn("run", "-v", "--ttl", f"{TTL_MS}ms", self.name, "--", "sh", "-c",
                             POLITE, str(self.clock))
        self.started(self.clock)
        lease_end = self.just_renewed()
        self.cluster.kill(1)
        self.cluster.pause(2)
        until(lambda: time.time() * 1000 > lease_end + TTL_MS, "two ttls have passed")
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        result = self.finish(process, 0)
        self.assertRegex(result.err, "at risk")


class Others(ClusterCase):
    def test_longest_hold(self):
        result = self.redlock("run", "--max-hold", "500ms", "--ttl", "1s", self.name, "--",
                              "sleep", "60", status=76)
        self.assertIn("longest time it may be held", result.err)
        self.assert_free(self.name)

    def test_said_also_when_quiet(self):
        result = self.redlock("run", "-q", "--max-hold", "500ms", "--ttl", "1s", self.name, "--",
                              "sleep", "60", status=76)
        self.assertIn("lost", result.err)

    def test_lost_but_ended_well(self):
        self.redlock("run", "--max-hold", "500ms", "--ttl", "1s", self.name, "--", "sh", "-c",
                     "trap 'exit 0' TERM; while :; do sleep 0.01; done", status=76)

    def delete(self):
        for master in range(1, 6):
            self.cluster.cli(master, "SET", self.name, "thief")

    def test_taken_away(self):
        """Somebody broke the lock: found by the next renewal."""
        marker = self.tmp / "started"
        process = self.spawn("run", "--ttl", "600ms", self.name, "--", "sh", "-c",
                             f"echo > '{marker}'; exec sleep 60")
        self.started(marker)
        self.delete()
        result = self.finish(process, 76)
        self.assertIn("a quorum of masters no longer has the lease", result.err)

    def test_taken_away_and_found_only_at_the_end(self):
        result = self.redlock("run", "--ttl", "20s", self.name, "--", "sh", "-c",
                              " ".join(f"redis-cli -p {port} SET {self.name} thief >&2;"
                                       for port in self.cluster.ports), status=76)
        self.assertIn("a quorum of masters no longer has the lease", result.err)
        self.assertEqual(self.cluster.values(self.name), ["thief"] * 5)


if __name__ == "__main__":
    unittest.main()
