"""run: the lock is lost while the command runs.  The command is gone before the lease ends."""

import signal
import subprocess
import time
import unittest

from harness import Case, Cluster, ClusterCase, environment, until

TTL_MS = 2000

# Appends the wall clock in ms while it runs; $0 is the file.  2>/dev/null: the shell
# would report the date that got SIGTERM as well.
LOOP = "exec 2>/dev/null; echo > \"$0\"; while :; do date +%s%3N >> \"$0\"; done"
STUBBORN = "trap '' TERM; " + LOOP
POLITE = "trap 'echo cleaned up; exit 0' TERM; " + LOOP


class Witness:
    """Sees each command that a master carries out, with the time by its own clock."""

    def __init__(self, port, path):
        self.path = path
        with open(path, "w") as out:
            self.process = subprocess.Popen(["redis-cli", "-p", str(port), "MONITOR"],
                                            stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=subprocess.DEVNULL, env=environment())
        until(lambda: "OK" in path.read_text(), "the witness watches")

    def times(self, name):
        """When the name was taken or renewed, in ms."""
        return [float(line.split()[0]) * 1000 for line in self.path.read_text().splitlines()
                if f'"{name}"' in line]

    def end(self):
        self.process.kill()
        self.process.wait()


class Outage(Case):
    patience = ()

    def setUp(self):
        super().setUp()
        self.cluster = Cluster(5)
        self.addCleanup(self.cluster.stop)
        self.clock = self.tmp / "clock"
        self.witnesses = []
        for i, port in enumerate(self.cluster.ports):
            witness = Witness(port, self.tmp / f"witness-{i}")
            self.addCleanup(witness.end)
            self.witnesses.append(witness)

    def await_renewal(self):
        """Seen by its time: several lines may belong to one command."""
        until(lambda: all(times and times[-1] - times[0] > TTL_MS / 10
                          for times in (w.times(self.name) for w in self.witnesses[:3])),
              "the lease is renewed")

    def lease_end(self):
        """Of the masters 1 to 3, of which a quorum needs one, with all that they have
        carried out when they were stopped: then the last of them forgets the name."""
        return max(w.times(self.name)[-1] for w in self.witnesses[:3]) + TTL_MS

    def last_sign_of_life(self):
        return int(self.clock.read_text().split()[-1])

    def lose(self, how, script, *options):
        process = self.spawn("run", "--ttl", f"{TTL_MS}ms", *options, self.name, "--", "sh", "-c",
                             script, str(self.clock))
        self.started(self.clock)
        self.await_renewal()
        how(1, 2, 3)
        result = self.finish(process, 76)
        self.assertLess(self.last_sign_of_life(), self.lease_end())
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
        result = self.lose(self.cluster.pause, STUBBORN)
        self.assert_told(result)
        self.assertNotIn("cleaned up", result.out)

    def test_its_children_end_with_it(self):
        script = self.tmp / "stubborn"
        script.write_text(STUBBORN)
        self.assert_told(self.lose(self.cluster.pause, f"sh -c \". '{script}'\" \"$0\" & wait"))

    def test_kill_after_is_kept_if_it_is_short(self):
        result = self.lose(self.cluster.pause, STUBBORN, "--kill-after", "50ms")
        self.assertRegex(result.err, r"SIGKILL in ([1-4]?\d|50) ms")

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
        self.cluster.kill(1)
        self.cluster.pause(2)
        end = time.time() * 1000 + 2 * TTL_MS
        until(lambda: self.last_sign_of_life() > end, "two ttls have passed")
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
