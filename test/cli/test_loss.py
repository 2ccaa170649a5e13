"""run: the lock is lost while the command runs.  The command is gone before the lease ends."""

import signal
import subprocess
import time

from harness import ClusterCase, FreshCase, environment, until

TTL_MS = 5000  # SIGKILL comes 250 ms before the end: a busy machine may be as late

# Appends the wall clock in ms while it runs; $0 is the file.  2>/dev/null: the shell
# would report the date that got SIGTERM as well.
LOOP = "exec 2>/dev/null; echo > \"$0\"; while :; do date +%s%3N >> \"$0\"; done"
STUBBORN = "trap '' TERM; " + LOOP
POLITE = "trap 'echo cleaned up; exit 0' TERM; " + LOOP


class Witness:
    """Sees each command that a master carries out, with the time by its own clock."""

    def __init__(self, port, password, path):
        self.path = path
        with open(path, "w") as out:
            self.process = subprocess.Popen(["redis-cli", "-p", str(port), "MONITOR"],
                                            stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=subprocess.DEVNULL,
                                            env=environment(REDISCLI_AUTH=password))
        until(lambda: "OK" in path.read_text(), "the witness watches")

    def times(self, name):
        """The times at which the name was taken or renewed, in ms."""
        return [float(line.split()[0]) * 1000 for line in self.path.read_text().splitlines()
                if f'"{name}"' in line]

    def end(self):
        self.process.kill()
        self.process.wait()


class Outage(FreshCase):
    masters = 5
    patience = ()

    def setUp(self):
        super().setUp()
        self.clock = self.tmp / "clock"
        self.witnesses = []
        for i, (port, password) in enumerate(zip(self.cluster.ports, self.cluster.passwords)):
            witness = Witness(port, password, self.tmp / f"witness-{i}")
            self.addCleanup(witness.end)
            self.witnesses.append(witness)

    def await_renewal(self):
        """A command is known by its time: it may have several lines."""
        until(lambda: all(times and times[-1] - times[0] > TTL_MS / 10
                          for times in (w.times(self.name) for w in self.witnesses[:3])),
              "the lease is renewed")

    def lease_end(self):
        """A quorum needs one of the masters 1 to 3: they are stopped after all that they had to
        carry out, and then the last of them forgets the name."""
        return max(w.times(self.name)[-1] for w in self.witnesses[:3]) + TTL_MS

    def last_sign_of_life(self):
        return int(self.clock.read_text().split()[-1])

    def start(self, script, *options):
        process = self.spawn("run", "--ttl", f"{TTL_MS}ms", *options, self.name, "--", "sh", "-c",
                             script, str(self.clock))
        self.started(self.clock)
        return process

    def lose(self, how, script, *options):
        process = self.start(script, *options)
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

    def test_two_restart_and_a_third_dies(self):
        """A master that abstains says that the name is free, as it may have forgotten it."""
        process = self.start(POLITE)
        self.await_renewal()
        self.cluster.call("restart", "1", "2", "--empty")
        self.cluster.kill(3)
        told = self.finish(process, 76).err
        reasons = dict(line.strip().split(": ", 1) for line in told.splitlines()
                       if line.startswith("  127.0.0.1:"))
        self.assertLessEqual(set(self.cluster.shown[:3]), set(reasons), told)
        for node in self.cluster.shown[:2]:
            self.assertRegex(reasons[node], r"^restarted, abstains \S+ s more$")
        self.assertRegex(reasons[self.cluster.shown[2]], r"\w")
        self.assertNotIn("held by nobody", told)

    def test_its_children_end_with_it(self):
        script = self.tmp / "stubborn"
        script.write_text(STUBBORN)
        self.assert_told(self.lose(self.cluster.pause, f"sh -c \". '{script}'\" \"$0\" & wait"))

    def test_kill_after_is_kept_if_it_is_short(self):
        result = self.lose(self.cluster.pause, STUBBORN, "--kill-after", "50ms", "--margin",
                           "1s")
        self.assertRegex(result.err, r"SIGKILL in ([1-4]?\d|50) ms")

    def test_json(self):
        result = self.lose(self.cluster.pause, POLITE, "--json")
        lost, ended = [line for line in result.json_lines if line["event"] in ("lost", "ended")]
        self.assertEqual((lost["event"], lost["code"]), ("lost", "REDLOCK_E_EXPIRED"))
        self.assertRegex(lost["text"], "^lost, \\d+ ms before its end: the lease was not renewed")
        self.assertEqual(ended["event"], "ended")
        self.assertGreater(ended["margin_ms"], 0)

    def test_a_minority_is_no_loss(self):
        process = self.start(POLITE, "-v")
        self.cluster.kill(1)
        self.cluster.pause(2)
        end = time.time() * 1000 + 2 * TTL_MS
        until(lambda: self.last_sign_of_life() > end, "two ttls have passed")
        self.assertIsNone(process.poll())
        result = self.terminate(process, 0)
        # "so far", if two masters had not answered yet when it was acquired by the other three.
        self.assertRegex(result.err, "at risk|so far: on 3 of 5 masters")


class Others(ClusterCase):
    def test_longest_hold_is_kept_whatever_the_ttl(self):
        begin = time.monotonic()
        result = self.redlock("run", "--max-hold", "500ms", "--ttl", "20s", self.name, "--", "sh",
                              "-c", "sleep 60; exit 0", status=76)
        self.assertGreater(time.monotonic() - begin, 0.5)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertRegex(result.err, r"the longest time allowed, 500 ms\n"
                                     r"redlock: the lease ends in 1\d{4} ms; ending the command: "
                                     r"SIGTERM now, SIGKILL in 5000 ms\n"
                                     r"redlock: the command was ended \d+ ms before the lease's")
        self.assert_free(self.name)

    def test_longest_hold_of_a_command_that_ignores_sigterm(self):
        result = self.redlock("run", "--json", "--max-hold", "300ms", "--kill-after", "200ms",
                              "--ttl", "20s", self.name, "--", "sh", "-c",
                              "trap '' TERM; while :; do sleep 0.01; done", status=76)
        told = {line["event"]: line for line in result.json_lines}
        self.assertGreater(told["max_hold"]["valid_ms"], 10000)
        self.assertEqual(told["max_hold"]["code"], "REDLOCK_E_MAX_HOLD")
        self.assertEqual(told["ended"]["status"], 128 + signal.SIGKILL)
        self.assertGreater(told["ended"]["margin_ms"], 10000)
        self.assert_free(self.name)

    def test_said_also_when_quiet(self):
        result = self.redlock("run", "-q", "--max-hold", "500ms", "--ttl", "1s", self.name, "--",
                              "sleep", "60", status=76)
        self.assertIn("longest time", result.err)

    def test_a_command_that_is_stopped_goes_on_to_clean_up(self):
        result = self.redlock("run", "--max-hold", "1s", self.name, "--", "sh", "-c",
                              "trap 'echo cleaned up; exit' TERM; kill -STOP $$; while :; do sleep 0.01; "
                              "done", status=76, start_new_session=True)
        self.assertEqual(result.out, "cleaned up\n")

    def test_frozen_past_the_end(self):
        """`redlock run` is stopped, not the command, for half a second past the lease's end."""
        process = self.held("exec sleep 60", "--ttl", "2s")
        process.send_signal(signal.SIGSTOP)
        self.assert_free(self.name)
        end = time.monotonic() + 0.5
        until(lambda: time.monotonic() > end, "half a second has passed")
        process.send_signal(signal.SIGCONT)
        told = self.finish(process, 76).err
        self.assertRegex(told, r"the lease ended \d{3,} ms ago; the guardian has ended the command\n"
                               r"redlock: this process did not run in time to renew the lease \(was it "
                               r"stopped\?\): the guardian ended the command\n"
                               r"redlock: the command was ended \d+ ms before the lease's end\n")

    def test_taken_away(self):
        """The lock was broken: the next renewal finds that."""
        process = self.held("exec sleep 60", "--ttl", "3s")
        self.cluster.each_cli("SET", self.name, "thief")
        result = self.finish(process, 76)
        self.assertIn("no quorum of masters has it any more: it expired, was given back or broken",
                      result.err)
        self.assertIn("redlock: the lease is gone; ending the command: SIGKILL now\n", result.err)
        self.assertRegex(result.err, r"was ended \d+ ms AFTER the lease was found gone: somebody")

    def test_taken_away_and_found_only_at_the_end(self):
        """By then each master has the lock: none is asked again before a renewal is due."""
        passwords = {f"PASSWORD_{i}": word for i, word in enumerate(self.cluster.passwords)}
        masters = [f"REDISCLI_AUTH=$PASSWORD_{i} redis-cli -p {port}"
                   for i, port in enumerate(self.cluster.ports)]
        lines = [f"until {it} EXISTS {self.name} | grep -q 1; do :; done" for it in masters]
        lines += [f"{it} SET {self.name} thief >&2" for it in masters]
        result = self.redlock("run", "--ttl", "20s", self.name, "--", "sh", "-c", "\n".join(lines),
                              env=self.env(**passwords), status=76)
        self.assertIn("no quorum of masters has it any more: it expired, was given back or broken",
                      result.err)
        self.assertEqual(self.cluster.values(self.name), ["thief"] * 5)
