"""`redlock ask`, and what holders and waiters do with wishes.

REDLOCK_ROUNDS=100 python3 -m unittest test_ask.Ask.test_the_lock_goes_to_the_one_who_asked    # else once
"""

import os
import re
import signal
import statistics
import subprocess
import time

from harness import ClusterCase, FreshCase, until
from processes import ProcessCase

HEEDS = ("--on-wanted", 'echo "$REDLOCK_WANTED_BY|$REDLOCK_WANTED_TEXT|$REDLOCK_WANTED_WAITING" >> $D/wanted')
ROUNDS = int(os.environ.get("REDLOCK_ROUNDS", "1"))
DONE, CONTENDED, LOST, USAGE, UNAVAILABLE = 0, 75, 76, 64, 69


class AskCase(ProcessCase):
    def ask(self, *options, status=DONE, **more):
        return self.redlock("ask", *options, self.name, status=status, **more)

    def holder(self, *options, script="echo > $D/began; exec sleep 60", label="holder", **more):
        """It holds the lock, and its command has begun."""
        began = self.tmp / "began"
        began.unlink(missing_ok=True)
        process = self.spawn("run", "--label", label, *options, self.name, "--", "sh", "-c", script,
                             env=self.env(D=str(self.tmp)), **more)
        self.started(began)
        return process

    def heeding_holder(self, *options, **more):
        """The masters know already to whom they tell wishes."""
        process = self.holder(*options, **more)
        until(self.is_heeded, "the holder heeds")
        return process

    def is_heeded(self):
        return all(self.cluster.cli(i, "ZCARD", f"redlock:observers:redlock:wish:{self.name}") == "1"
                   for i in range(self.masters))

    def wanted(self):
        path = self.tmp / "wanted"
        return path.read_text().splitlines() if path.exists() else []


class Ask(AskCase, ClusterCase):
    masters = 3

    def test_the_holder_learns_who_asks_and_why(self):
        self.heeding_holder(*HEEDS)
        told = self.ask("--text", "a fix, $(now) \"quoted\"", "--label", "web-3")
        self.assertEqual(told.out, "held by holder, which hears it\n")
        until(self.wanted, "the command of --on-wanted ran")
        self.assertEqual(self.wanted(), ['web-3|a fix, $(now) "quoted"|0'])

    def test_each_wish_is_told_once(self):
        self.heeding_holder(*HEEDS)
        for i in range(5):
            self.ask("--text", f"wish {i}", "--label", "a")
        until(lambda: len(self.wanted()) == 5, "all wishes are told")
        self.ask("--text", "last", "--label", "a")
        until(lambda: len(self.wanted()) > 5, "the last one is told")
        self.assertEqual(sorted(self.wanted()), ["a|last|0"] + [f"a|wish {i}|0" for i in range(5)])

    def hands_over(self):
        (self.tmp / "asked").unlink(missing_ok=True)
        holder = self.holder("--yield-when-wanted", script="trap 'echo > $D/asked; exit 7' TERM; "
                             "echo > $D/began; while :; do sleep 0.02; done")
        until(self.is_heeded, "the holder heeds")
        asks = self.spawn("run", "--wait", "forever", "--ask", "my turn", "--label", "b", self.name, "--",
                          "sh", "-c", "echo in")
        self.assertEqual(self.finish(asks, DONE).out, "in\n")
        result = self.finish(holder, LOST)
        self.assertTrue((self.tmp / "asked").exists())
        self.assertIn("b asks for the lock (1 waiting): my turn", result.err)
        self.assertIn("the lock goes to the next one, as b asked for it", result.err)

    def test_the_lock_goes_to_the_one_who_asked(self):
        for _ in range(ROUNDS):
            self.hands_over()

    def test_one_that_does_not_heed_keeps_it(self):
        """rule: H8: no key of its lease changes, and no ttl."""
        holder = self.holder("--ttl", "29s")
        token = self.found()["token"]
        told = self.ask(status=CONTENDED)
        self.assertEqual(told.out, "held by holder, which does not heed wishes\n")
        waits = self.redlock("run", "--wait", "1s", "--ask", "", self.name, "--", "true", status=CONTENDED)
        self.assertNotIn("asks", waits.err)
        self.assert_held(self.name, token)
        self.assertIsNone(holder.poll())

    def test_a_wish_is_for_the_present_holder(self):
        first = self.heeding_holder(*HEEDS)
        self.ask("--text", "old", "--label", "a")
        until(self.wanted, "the wish is told")
        (self.tmp / "wanted").unlink()
        self.terminate(first)
        self.heeding_holder(*HEEDS)
        self.ask("--text", "new", "--label", "a")
        until(self.wanted, "the wish is told")
        self.assertEqual(self.wanted(), ["a|new|0"])

    def test_a_waiter_asks_each_holder(self):
        """It asks the next one within seconds, and no holder more than once."""
        first = self.heeding_holder(*HEEDS)
        self.spawn("run", "--wait", "1m", *HEEDS, self.name, "--", "sleep", "60",
                   env=self.env(D=str(self.tmp)))
        until(lambda: min(self.waiters()) == 1, "the next holder waits")
        self.spawn("run", "--wait", "1m", "--ask", "soon", "--label", "third", self.name, "--", "true")
        until(self.wanted, "the first holder is told")
        until(lambda: min(self.waiters()) == 2, "both wait")
        self.terminate(first)
        until(lambda: len(self.wanted()) == 2, "the second holder is told")
        self.ask("--text", "stop", "--label", "a")
        until(lambda: len(self.wanted()) > 2, "the last wish is told")
        told = [line.rsplit("|", 1)[0] for line in self.wanted()]
        self.assertEqual(told, ["third|soon", "third|soon", "a|stop"])

    def test_its_command_reads_nothing(self):
        """The command under the lock has what comes in."""
        self.heeding_holder("--on-wanted", "cat > $D/wanted; echo end >> $D/wanted", stdin=subprocess.PIPE)
        self.ask()
        until(lambda: self.wanted() == ["end"], "it reads the end")

    def test_its_command_is_killed_at_the_end(self):
        holder = self.heeding_holder("--on-wanted", "sleep 60 & echo $! > $D/wanted; wait",
                                     script="echo > $D/began; while ! [ -s $D/wanted ]; do sleep 0.02; done")
        self.ask()
        self.finish(holder, DONE)
        self.gone([self.pid("wanted")])

    def test_few_of_its_commands_run_at_once(self):
        holder = self.heeding_holder("--on-wanted", "echo $$ >> $D/wanted; exec sleep 60")
        for i in range(12):
            self.ask("--text", str(i))
        until(lambda: len(self.wanted()) == 8, "eight run")
        os.kill(int(self.wanted()[0]), signal.SIGKILL)
        until(lambda: self.ask() and len(self.wanted()) == 9, "the place of one that ended is free")
        self.terminate(holder)
        self.assertEqual(len(self.wanted()), 9)

    def test_a_wish_is_for_its_command_alone(self):
        began = self.tmp / "began"
        self.redlock("run", self.name, "--", "sh", "-c", f"env > {began}",
                     env=self.env(REDLOCK_WANTED_BY="x", REDLOCK_WANTED_TEXT="x", REDLOCK_WANTED_WAITING="1"))
        self.assertNotIn("WANTED", began.read_text())

    def test_how_many_wait(self):
        self.holder()
        for _ in range(2):
            self.spawn("run", "--wait", "1m", self.name, "--", "true")
        until(lambda: min(self.waiters()) == 2, "two wait")
        told = self.ask(status=CONTENDED)
        self.assertEqual(told.out, "held by holder, which does not heed wishes; 2 waiting\n")

    def test_nobody_holds_it(self):
        self.assertEqual(self.ask(status=LOST).out, "nobody holds it\n")

    def test_as_json(self):
        self.holder()
        told = self.ask("--json", status=CONTENDED).json
        self.assertEqual((told["ok"], told["name"], told["heard_by"], told["waiting"], told["masters"]),
                         (True, self.name, 0, 0, 3))
        self.assertTrue(told["holder"].endswith(":holder"))

    def test_events_as_json(self):
        holder = self.heeding_holder("--yield-when-wanted", "--json")
        self.ask("--text", "x", "--label", "a")
        result = self.finish(holder, LOST)
        [wanted] = result.events("wanted")
        self.assertEqual((wanted["who"], wanted["text"], wanted["waiting"]), ("a", "x", 0))
        self.assertEqual(len(result.events("yields")), 1)

    def test_nobody_is_in_before_at_least_is_over(self):
        """To end the command sooner would give the lock to nobody."""
        began = time.monotonic()
        holder = self.heeding_holder("--yield-when-wanted", "--at-least", "6s", "--json")
        for who in "a", "b":
            self.ask("--text", "x", "--label", who)
        result = self.finish(holder, LOST)
        self.assertGreater(time.monotonic() - began, 6)
        [yields] = result.events("yields")
        self.assertIn("as a asked for it", yields["text"])
        self.assertEqual([it["event"] for it in result.json_lines if it["event"] in ("wanted", "yields")],
                         ["wanted", "wanted", "yields"])

    def test_a_command_that_ends_before_at_least_is_over(self):
        holder = self.heeding_holder("--yield-when-wanted", "--at-least", "25s", stdin=subprocess.PIPE,
                                     script="echo > $D/began; read x; exit 7")
        self.ask("--text", "x", "--label", "a")
        self.end_input(holder)
        self.finish(holder, 7)

    def test_bytes_for_no_terminal(self):
        for text in ("two\nlines", "\x1b[31mred", "\x7f", "x" * 201):
            self.assertIn("the text of a wish has", self.ask("--text", text, status=USAGE).err)
        self.heeding_holder(*HEEDS)
        self.ask("--text", "für dich", "--label", "a")
        until(self.wanted, "the wish is told")
        self.assertEqual(self.wanted(), ["a|für dich|0"])

    def test_what_does_not_go_together(self):
        for options in (("--shared",), ("--permits", "2"), ("other",)):
            for heeds in (("--on-wanted", "true"), ("--yield-when-wanted",)):
                told = self.redlock("run", *heeds, *options, self.name, "--", "true", status=USAGE)
                self.assertIn("need one name", told.err)
        for options in (("--permits", "2", "--wait", "1s"), ("other", "--wait", "1s"), ()):
            told = self.redlock("run", "--ask", "x", *options, self.name, "--", "true", status=USAGE)
            self.assertIn("--ask", told.err)

    def test_readers_are_not_asked(self):
        began = self.tmp / "began"
        self.spawn("run", "--shared", self.name, "--", "sh", "-c", f"echo > {began}; exec sleep 60")
        self.started(began)
        self.assertIn("does not heed", self.ask(status=CONTENDED).out)


class Broken(AskCase, ClusterCase):
    """rule: H9: `run` hears on its channel that its lock is broken; its next renewal is 9 s away."""
    masters = 3

    def is_watched(self):
        return all(self.cluster.cli(i, "ZCARD", f"redlock:observers:redlock:taken:{self.name}") == "1"
                   for i in range(self.masters))

    def ends_soon(self, holder):
        token = self.found()["token"]
        self.redlock("break", "--yes", "--holder", token, self.name, status=DONE)
        broken = time.monotonic()
        result = self.finish(holder, LOST)
        self.assertLess(time.monotonic() - broken, 1)
        self.assertNotIn("asks", result.err)

    def test_one_that_heeds_wishes(self):
        self.ends_soon(self.heeding_holder("--ttl", "29s", "--yield-when-wanted"))

    def test_one_that_does_not(self):
        holder = self.holder("--ttl", "29s")
        until(self.is_watched, "the masters know its channel")
        self.assertEqual(self.ask(status=CONTENDED).out, "held by holder, which does not heed wishes\n")
        self.ends_soon(holder)

    def test_a_reader(self):
        holder = self.holder("--ttl", "29s", "--shared")
        until(self.is_watched, "the masters know its channel")
        [reader] = self.found()["readers"]
        self.redlock("unlock", "--token", reader["token"], self.name, status=DONE)
        given_back = time.monotonic()
        self.finish(holder, LOST)
        self.assertLess(time.monotonic() - given_back, 1)

    def test_a_short_command_costs_nothing_more(self):
        def subscribed():
            told = [self.cluster.cli(i, "INFO", "commandstats") for i in range(self.masters)]
            return [re.findall(r"cmdstat_subscribe:calls=(\d+)", stats) for stats in told]
        before = subscribed()
        self.redlock("run", self.name, "--", "true", status=DONE)
        self.assertEqual(subscribed(), before)


class Lost(AskCase, FreshCase):
    masters = 3

    def test_a_wish_is_told_with_a_master_less(self):
        self.heeding_holder(*HEEDS)
        self.cluster.kill(1)
        self.ask("--label", "a")
        until(self.wanted, "the wish is told")

    def test_no_quorum(self):
        self.cluster.kill(1, 2)
        self.assertIn("cannot ask", self.ask(status=UNAVAILABLE).err)
