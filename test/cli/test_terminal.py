"""run on a terminal: the command is in the foreground, and gives it back."""

import json
import signal

import schema
from harness import REDLOCK, ClusterCase, until

ASK = 'echo ready; read x; echo "got $x"'
IN_FOREGROUND = ("import os, time\n"
                 "print('foreground', os.tcgetpgrp(0) == os.getpgrp() == os.getpid())")


class Opened(ClusterCase):
    def open(self, *arguments):
        return self.terminal(*arguments, R=REDLOCK, NAME=self.name)

    def run_sh(self, script, *options):
        return self.open(REDLOCK, "run", *options, self.name, "--", "sh", "-c", script)

    def shell(self, script):
        """With job control, as an interactive shell has it."""
        return self.open("bash", "-c", "set -m; " + script)


class OnTerminal(Opened):
    def test_is_in_the_foreground(self):
        self.open(REDLOCK, "run", self.name, "--", "python3", "-c", IN_FOREGROUND) \
            .talk("foreground True", status=0)

    def test_reads(self):
        self.run_sh(ASK).talk("ready", b"it\n", "got it", status=0)

    def test_keys_that_end(self):
        for key, number in ((b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT)):
            with self.subTest(number=number):
                self.run_sh("ulimit -c 0; echo ready; exec sleep 60").talk("ready", key, status=128 + number)
                self.assert_free(self.name)

    def test_key_that_the_command_handles(self):
        self.run_sh("trap 'echo not yet' INT; " + ASK.replace("read x", "read x; read x")) \
            .talk("ready", b"\x03", "not yet", b"one\ntwo\n", "got ", status=0)

    def test_is_given_back(self):
        """Without job control the caller is in our group and reads on afterwards."""
        self.open("sh", "-c", '"$R" run "$NAME" -- sleep 0.1; echo "status $?"; ' + ASK) \
            .talk("status 0", b"it\n", "got it", status=0)

    def test_is_given_back_in_its_old_mode(self):
        terminal = self.open("sh", "-c",
                             '"$R" run --ttl 1s --max-hold 400ms "$NAME" -- '
                             "sh -c 'stty raw -echo; exec sleep 60'; "
                             'echo "status $?"; stty -a; echo end')
        modes = terminal.talk("status 76", "end").split()
        self.assertIn(b"icanon", modes)
        self.assertIn(b"echo", modes)

    def test_stopped_and_continued(self):
        self.shell(f"\"$R\" run --ttl 20s \"$NAME\" -- sh -c '{ASK}'; "
                   "echo stopped $?.; fg; echo status $?.") \
            .talk("ready", b"\x1a", "stopped 148.", b"it\n", "got it", "status 0.")

    def test_stopped_for_too_long(self):
        terminal = self.shell("\"$R\" run --ttl 2s \"$NAME\" -- "
                              "sh -c 'echo ready; read x; echo wr\"\"ong'; "
                              "echo stopped $?.; read y; fg; echo status $?.")
        terminal.talk("ready", b"\x1a", "stopped 148.")
        self.assert_free(self.name)
        self.assertNotIn(b"wrong", terminal.talk(b"go on\n", "status 76."))

    def test_in_the_background_until_it_wants_the_terminal(self):
        self.shell(f"\"$R\" run --ttl 20s \"$NAME\" -- sh -c '{ASK}' & "
                   'while [ -z "$(jobs -s)" ]; do sleep 0.02; done; '
                   "echo stopped.; fg; echo status $?.") \
            .talk("ready", "stopped.", b"it\n", "got it", "status 0.")

    def test_before_a_pipe_it_gets_the_terminal_when_it_wants_it(self):
        self.shell("\"$R\" run --ttl 20s \"$NAME\" -- "
                   "sh -c 'echo ready >/dev/tty; read x; echo \"got $x\"' | cat; "
                   "echo status $?.").talk("ready", b"it\n", "got it", "status 0.")

    def test_before_a_pipe_its_reader_keeps_the_terminal(self):
        self.shell("\"$R\" run --ttl 20s \"$NAME\" -- sh -c 'echo x; exec sleep 60' | "
                   "sh -c 'read a; echo ready; read b </dev/tty; echo \"got $b\"; "
                   "kill -INT 0'; echo end.").talk("ready", b"it\n", "got it")


class Waiting(Opened):
    def hold(self):
        """One process has the name, and another waits."""
        token = self.lock("--ttl", "20s", "--label", "the-holder", self.name)
        waiter = self.spawn("run", "--kill-after", "500ms", "--label", "other", "--wait", "forever",
                            self.name, "--", "true")
        # `lock` may have ended before its last vote; a master that gave it none has no waiter.
        until(lambda: self.waiters().count(1) > self.masters // 2, "the other one is enqueued")
        return token, waiter

    def read_until(self, waiter, words):
        """The printed lines, up to one with these words."""
        told = []
        while not told or words not in told[-1]:
            line = waiter.stderr.readline()
            self.assertTrue(line, told)
            told.append(line)
        return told

    def give_back(self, token, waiter):
        self.unlock(token)
        self.finish(waiter, 0)

    def test_shows_the_line_in_one_line(self):
        held = self.hold()
        terminal = self.run_sh("echo my turn", "--wait", "forever")
        before = terminal.expect(b"1 ahead of us")  # on a busy machine not yet at the first look
        _, _, seen = before.rpartition(b"redlock: waiting ")
        self.assertRegex(seen, rb"^[\d.]+ m?s, $")
        again = terminal.expect(b"1 ahead of us")
        self.assertRegex(again, rb"^, held by the-holder \(ttl \S+ s\): 'test\w*'? *"
                                rb"\rredlock: waiting \d+\.\d s, $")
        self.give_back(*held)
        rest = terminal.expect(b"my turn")
        self.assertNotIn(b"\n", before + again + rest)
        self.assertRegex(rest, rb"\r {40,}\r$")
        self.assertEqual(terminal.wait(), 0)

    def test_says_that_the_holder_renews(self):
        holder = self.held("exec sleep 60", "--ttl", "6s", "--label", "the-holder")
        terminal = self.run_sh("echo my turn", "--wait", "forever")
        self.assertIn(b"held by the-holder (ttl ", terminal.expect(b" s, renewed)"))
        self.terminate(holder)
        terminal.talk("my turn", status=0)

    def test_is_cut_where_the_terminal_ends(self):
        held = self.hold()
        terminal = self.open("sh", "-c", 'stty cols 40; exec "$R" lock --wait forever "$NAME"')
        self.assertLess(len(terminal.talk("redlock: ", "\r")) + len("redlock: "), 40)
        terminal.talk(b"\x03", status=128 + signal.SIGINT)
        self.give_back(*held)

    def test_in_the_background_it_is_quiet(self):
        held = self.hold()
        terminal = self.shell('"$R" run --wait 1500ms "$NAME" -- true & wait; echo end.')
        self.assertNotIn(b"waiting", terminal.expect(b"end."))
        self.give_back(*held)

    def test_verbose_tells_changes_in_lines(self):
        held = self.hold()
        waiter = self.spawn("run", "-v", "--kill-after", "500ms", "--wait", "forever", self.name,
                            "--", "true")
        told = self.read_until(waiter, b" waiting: held by the-holder, 1 ahead of us\n")
        self.give_back(*held)
        told += self.finish(waiter, 0).err.encode().splitlines(True)
        waits = [line.split(b" ", 2)[2] for line in told if b" waiting: " in line]
        self.assertTrue(all(one != next for one, next in zip(waits, waits[1:])), waits)

    def test_verbose_as_json(self):
        held = self.hold()
        waiter = self.spawn("lock", "-v", "--json", "--wait", "forever", self.name)
        told = self.read_until(waiter, b"1 ahead of us")
        self.terminate(waiter)
        last = schema.check(json.loads(told[-1]), "event")
        self.assertEqual((last["event"], last["text"]),
                         ("log", "waiting: held by the-holder, 1 ahead of us"))
        self.give_back(*held)
