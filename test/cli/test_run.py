"""run: the command's life under the lock."""

import os
import signal
import stat
import subprocess
import time

from harness import DEADLINE, REDLOCK, ClusterCase, until
from processes import alive

SOON = 5.0  # before anything ends with its ttl
# A waiter's grant lasts for 3.3 s. This client would lose it 2.75 s before, and a busy machine has little
# time to renew.
BRIEF = ("--kill-after", "500ms")


class Child(ClusterCase):
    """The command's environment and exit status."""

    def run_sh(self, script, *options, status=None, **more):
        return self.redlock("run", *options, self.name, "--", "sh", "-c", script, status=status,
                            **more)

    def test_exit_status(self):
        for status in (0, 1, 3, 75, 255):
            self.run_sh(f"exit {status}", status=status)
            until(lambda: self.is_free(self.name), "it is given back", SOON)
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGUSR1, signal.SIGPIPE):
            self.run_sh(f"kill -{int(number)} $$", status=128 + number)
        self.assert_free(self.name)

    def test_standard_streams(self):
        reader, writer = os.pipe()
        os.write(writer, b"something")
        os.close(writer)
        result = self.run_sh("cat; echo told >&2", stdin=reader, status=0)
        os.close(reader)
        self.assertEqual((result.out, result.err), ("something", "told\n"))

    def test_environment(self):
        result = self.redlock("run", "a name", "an\tother", "--", "sh", "-c",
                              'printf "%s|%s|%s|%s" "$REDLOCK_NAME" "$REDLOCK_NAMES" '
                              '"$REDLOCK_TOKEN" "$(redis-cli -p $0 GET "a name")"',
                              str(self.cluster.ports[0]), status=0,
                              env=self.env(REDISCLI_AUTH=self.cluster.passwords[0]))
        name, names, token, value = result.out.split("|")
        self.assertEqual((name, names), ("a name", "a name\nan\tother"))
        self.assertRegex(token, r"^[A-Za-z0-9_-]{22}:")
        self.assertIn(value, (token, ""))  # a slow master may still be on its way

    def test_name_that_the_command_would_take_for_two(self):
        for command in "run", "elect":
            told = self.redlock(command, "an\nother", "--", "true", status=64).err
            self.assertIn("a name has a newline, which separates the names in REDLOCK_NAMES", told)
        self.unlock(self.lock("an\nother"), "an\nother")

    def test_environment_of_a_run_in_a_run(self):
        result = self.redlock("run", "outer", "--", REDLOCK, *self.patience, "run", "inner", "--",
                              "sh", "-c", "env | grep -c ^REDLOCK_NAME=; echo $REDLOCK_NAMES", status=0)
        self.assertEqual(result.out, "1\ninner\n")

    def test_signals_and_descriptors_are_as_if_started_by_a_shell(self):
        result = self.run_sh("grep ^Sig /proc/self/status; ls /proc/self/fd", status=0)
        facts = dict(line.split(":\t") for line in result.out.splitlines() if ":" in line)
        self.assertEqual(int(facts["SigBlk"], 16), 0)
        self.assertEqual(int(facts["SigIgn"], 16), 0)
        # 3 is the folder that ls reads.
        self.assertEqual([line for line in result.out.splitlines() if line.isdigit()],
                         ["0", "1", "2", "3"])

    def test_broken_pipe_is_the_commands_own_affair(self):
        reader, writer = os.pipe()
        os.close(reader)
        self.redlock("run", self.name, "--", "yes", stdout=writer, status=128 + signal.SIGPIPE)
        os.close(writer)
        self.assert_free(self.name)

    def test_what_was_ignored_stays_ignored(self):
        process = self.held("grep SigIgn /proc/$$/status; read x; exit 5", stdin=subprocess.PIPE,
                            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        out = process.stdout.readline().decode()
        self.assertEqual(int(out.split()[1], 16), 1 << (signal.SIGHUP - 1))
        self.let_end(process, 5)

    def test_not_found(self):
        result = self.redlock("run", self.name, "--", "no-such-command-anywhere", status=127)
        self.assertIn("cannot run no-such-command-anywhere: No such file", result.err)
        self.assert_free(self.name)

    def test_not_executable(self):
        plain = self.tmp / "plain"
        plain.write_text("x")
        result = self.redlock("run", self.name, "--", str(plain), status=126)
        self.assertIn("Permission denied", result.err)
        self.redlock("run", self.name, "--", str(self.tmp), status=126)
        told = self.redlock("run", "--json", self.name, "--", str(plain), status=126).json_lines
        self.assertIn("not_executed", [line["event"] for line in told])
        self.assert_free(self.name)

    def test_script_without_interpreter_line(self):
        script = self.tmp / "script"
        script.write_text("exit 9\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        self.redlock("run", self.name, "--", str(script), status=9)

    def test_closed_standard_streams(self):
        done = subprocess.run(f"exec '{REDLOCK}' run x -- sh -c 'exit 4' <&- >&- 2>&-",
                              shell=True, env=self.env(), timeout=DEADLINE)
        self.assertEqual(done.returncode, 4)

    def test_without_a_terminal(self):
        self.redlock("run", self.name, "--", "sh", "-c", "exit 6", start_new_session=True,
                     status=6)

    def test_quiet_and_verbose(self):
        self.assertEqual(self.run_sh("true", "-q", status=0).err, "")
        self.assertEqual(self.run_sh("true", status=0).err, "")
        self.assertRegex(self.run_sh("true", "-v", status=0).err, r"(?m)^redlock: \S+ acquired, ")


class Contention(ClusterCase):
    def test_held_by_another(self):
        self.lock(self.name)
        marker = self.tmp / "ran"
        result = self.redlock("run", self.name, "--", "touch", str(marker), status=75)
        self.assertIn("held by ", result.err)
        self.assertFalse(marker.exists())
        told = self.redlock("run", "--json", self.name, "--", "true", status=75).json_lines
        self.assertEqual((told[0]["event"], told[0]["code"]), ("not_acquired", "REDLOCK_E_HELD"))

    def test_the_exit_status_as_asked(self):
        self.lock(self.name)
        for number in (1, 75, 255):
            for options in (("-E", str(number)), (f"-E{number}",), ("--conflict-exit-code", str(number)),
                            (f"--conflict-exit-code={number}", "--unavailable-exit-code", "9")):
                self.redlock("run", *options, self.name, "--", "true", status=number)
        self.redlock("run", "-E", "7", "--wait", "200ms", self.name, "--", "true", status=7)
        self.redlock("elect", "-E", "7", "--wait", "0", self.name, "--", "true", status=7)
        self.redlock("lock", "-qE", "7", self.name, status=7)
        told = self.redlock("run", "-E", "7", "--json", self.name, "--", "true", status=7).json_lines
        self.assertEqual(told[0]["code"], "REDLOCK_E_HELD")
        self.redlock("run", "-E", "7", f"{self.name}-free", "--", "sh", "-c", "exit 75", status=75)
        self.redlock("run", "--unavailable-exit-code", "7", self.name, "--", "true", status=75)

    def hold(self):
        """Holds the name on every master until its stdin ends."""
        holder = self.held("read x", stdin=subprocess.PIPE)
        until(lambda: all(self.cluster.values(self.name)), "every master has it")
        return holder

    def enqueue(self, number, command, *options):
        """One more waits then: that many in all."""
        waiter = self.spawn("run", *BRIEF, *options, "--wait", "forever", self.name, "--", *command)
        until(lambda: set(self.waiters()) == {number}, f"{number} are enqueued")
        return waiter

    def keys_of_waiting(self):
        return [key for pattern in ("queue", "waiter")
                for keys in self.cluster.each_cli("KEYS", f"redlock:{pattern}:*") for key in keys.split()]

    def assert_nobody_waits(self):
        until(lambda: not self.keys_of_waiting(), "nothing is left of those who waited", SOON)

    def test_first_come_first_served(self):
        told = self.tmp / "told"
        holder = self.hold()
        waiters = [self.enqueue(turn + 1, ["sh", "-c", f"echo {turn} >> '{told}'"]) for turn in range(3)]
        self.let_end(holder)
        for waiter in waiters:
            self.finish(waiter, 0)
        self.assertEqual(told.read_text().split(), ["0", "1", "2"])
        self.assert_free(self.name)
        self.assert_nobody_waits()

    def test_status_shows_who_waits(self):
        holder = self.hold()
        labels = ["first", "second"]
        waiters = [self.enqueue(number, ["true"], "--label", label) for number, label in enumerate(labels, 1)]
        told = self.found()
        self.assertEqual((told["waiting"], [it["label"] for it in told["waiters"]]), (2, labels))
        self.assertIn("\n  2 wait: first, second\n",
                      self.redlock("status", self.name, status=0).out)
        # A dead waiter is not shown, though it is still in the queue.
        waiters[1].kill()
        waiters[1].wait()
        self.cluster.each_cli("DEL", f"redlock:waiter:{told['waiters'][1]['token']}")
        self.cluster.each_cli("ZADD", f"redlock:queue:{self.name}", "0", "dead")
        told = self.found()
        self.assertEqual((told["waiting"], [it["label"] for it in told["waiters"]]),
                         (1, labels[:1]))
        self.let_end(holder)
        self.finish(waiters[0], 0)

    def test_interrupted_while_waiting(self):
        marker = self.tmp / "ran"
        holder = self.hold()
        for number in (signal.SIGINT, signal.SIGTERM):
            waiter = self.enqueue(1, ["touch", str(marker)])
            waiter.send_signal(number)
            self.finish(waiter, 128 + number)
            self.assert_nobody_waits()
        self.let_end(holder)
        self.assertFalse(marker.exists())
        self.assert_free(self.name)

    def test_the_wait_is_over(self):
        marker = self.tmp / "ran"
        holder = self.hold()
        begin = time.monotonic()
        result = self.redlock("run", "--wait", "700ms", self.name, "--", "touch", str(marker),
                              status=75)
        self.assertGreaterEqual(time.monotonic() - begin, 0.7)
        self.assertIn("held by ", result.err)
        self.assertFalse(marker.exists())
        self.assert_nobody_waits()
        self.let_end(holder)


class Signals(ClusterCase):
    def start(self, script, *options, **more):
        """The script tells that it runs by making the file $0."""
        marker = self.tmp / "started"
        process = self.spawn("run", *options, self.name, "--", "sh", "-c", script, str(marker),
                             **more)
        self.started(marker)
        return process

    def test_passed_on(self):
        for number, name in ((signal.SIGTERM, "TERM"), (signal.SIGINT, "INT"),
                             (signal.SIGHUP, "HUP"), (signal.SIGQUIT, "QUIT")):
            with self.subTest(name=name):
                process = self.start(f"trap 'echo got {name}; exit 7' {name}; echo > \"$0\"; "
                                     "while :; do sleep 0.01; done")
                process.send_signal(number)
                self.assertEqual(self.finish(process, 7).out, f"got {name}\n")
                self.assert_free(self.name)
                (self.tmp / "started").unlink()

    def test_none_ends_us_before_the_command(self):
        """Every signal that can be caught, even a fault, if another process sent it."""
        left_alone = (signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN,
                      signal.SIGTTOU, signal.SIGCONT, signal.SIGCHLD, signal.SIGPIPE,
                      signal.SIGURG, signal.SIGWINCH)
        last = (signal.SIGRTMIN, signal.SIGRTMAX)
        for number in (*(it for it in signal.valid_signals() - {*left_alone} if it < last[0]),
                       *last):
            with self.subTest(number=number):
                process = self.start('ulimit -c 0; echo > "$0"; exec sleep 60')
                process.send_signal(number)
                self.assertEqual(self.finish(process, 128 + number).err, "")
                self.assert_free(self.name)
                (self.tmp / "started").unlink()

    def test_what_asks_for_no_end_is_passed_on_and_no_more(self):
        names = ("HUP", "USR1", "USR2", "WINCH", "ALRM")
        traps = "; ".join(f"trap 'echo got {name}' {name}" for name in names)
        process = self.start(f'{traps}; echo > "$0"; while :; do sleep 0.01; done',
                             "--kill-after", "100ms")
        for name in names:
            process.send_signal(getattr(signal, f"SIG{name}"))
            self.assertEqual(process.stdout.readline(), f"got {name}\n".encode())
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(0.4)
        self.terminate(process)

    def test_to_the_whole_group(self):
        process = self.start('sleep 60 & echo $!; echo > "$0"; wait')
        sleeper = int(process.stdout.readline())
        self.terminate(process)
        until(lambda: not alive(sleeper), "the sleeper has ended")

    def test_ignored_and_then_killed(self):
        process = self.start("trap '' TERM; echo > \"$0\"; while :; do sleep 0.01; done",
                             "--kill-after", "300ms")
        begin = time.monotonic()
        process.send_signal(signal.SIGTERM)
        told = self.finish(process, 128 + signal.SIGKILL).err
        self.assertEqual(told, "redlock: the command had not ended 300 ms after it was asked to "
                               "(--kill-after), and got SIGKILL\n")
        self.assertGreater(time.monotonic() - begin, 0.29)
        self.assert_free(self.name)

    def test_a_message_does_not_end_the_wait(self):
        token = self.lock(self.name)
        waiter = self.spawn("run", *BRIEF, "-v", "--wait", "forever", self.name, "--", "echo", "my turn")
        waiter.stderr.readline()  # a master votes: it has begun
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH):
            waiter.send_signal(number)
        self.unlock(token)
        self.assertEqual(self.finish(waiter, 0).out, "my turn\n")


class FullPipe(ClusterCase):
    def test_nobody_reads_our_messages(self):
        """A full stderr must not keep us from renewing."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        os.set_blocking(writer, False)
        try:
            while True:
                os.write(writer, b"x" * 4096)
        except BlockingIOError:
            pass
        os.set_blocking(writer, True)
        holder = self.held("read x; exit 8", "--verbose", "--json", "--ttl", "2s", stdin=subprocess.PIPE,
                           stderr=writer)
        os.close(writer)
        self.redlock("run", "--wait", "4s", self.name, "--", "true", status=75)
        self.end_input(holder)
        self.assertEqual(holder.wait(DEADLINE), 8)
        # Our messages were dropped, and no other process's descriptor became non-blocking.
        self.assertTrue(set(os.read(reader, 1 << 20)) == {ord("x")})
