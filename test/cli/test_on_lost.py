"""--on-lost: what is run when the lock is lost, beside SIGTERM to the command, and for how long."""

import signal
import subprocess
import time
from pathlib import Path

from harness import Cluster, ClusterCase, until
from processes import ProcessCase, alive

# It is held for too long when the command has had time to begin, with many seconds left: the same as a loss.
SOON = ("--max-hold", "2s", "--ttl", "20s")
# $0 is the folder.  A shell with a trap gets to it after each short sleep.
WAITS = "while :; do sleep 0.02; done"
STUBBORN = "trap \"\" TERM HUP; echo $$ > {}; " + WAITS


class OnLostCase(ProcessCase):
    def start(self, on_lost, script, *options, command="run", **more):
        """Both have the folder as $D."""
        more.setdefault("env", self.env(D=str(self.tmp)))
        return self.spawn(command, "--on-lost", on_lost, *options, self.name, "--", "sh", "-c", script,
                          **more)


class OnLost(OnLostCase, ClusterCase):
    masters = 3

    def test_beside_sigterm(self):
        """Each waits for the other: the program runs while the command cleans up."""
        process = self.start("until [ -e $D/asked ]; do sleep 0.02; done; echo > $D/told",
                             "trap 'echo > $D/asked; until [ -e $D/told ]; do sleep 0.02; done; echo both; "
                             f"exit' TERM; {WAITS}", *SOON)
        result = self.finish(process, 76)
        self.assertEqual(result.out, "both\n")
        self.assertNotIn("--on-lost", result.err)

    def test_what_it_finds(self):
        show = "env | grep ^REDLOCK | sort > $D/{}"
        process = self.start(show.format("lost") + "; readlink /proc/self/fd/0; echo err >&2",
                             show.format("held") + "; exec sleep 60", *SOON, "--fence", stdin=subprocess.PIPE)
        result = self.finish(process, 76)
        held = (self.tmp / "held").read_text()
        self.assertEqual((self.tmp / "lost").read_text(), held)
        for variable in ("REDLOCK_NAME=" + self.name, "REDLOCK_TOKEN=", "REDLOCK_FENCE="):
            self.assertIn(variable, held)
        self.assertEqual(result.out, "/dev/null\n")
        self.assertIn("err\n", result.err)

    def test_a_command_that_ends_at_once(self):
        """`run` neither forgets the program then, nor asks it to end with the rest of the command."""
        process = self.start("trap 'echo asked' TERM; i=0; while [ $i -lt 20 ]; do sleep 0.02; i=$((i + 1)); "
                             "done; echo done", "exec sleep 60", *SOON)
        self.assertEqual(self.finish(process, 76).out, "done\n")
        self.assert_free(self.name)

    def hangs(self, *options):
        background = [f"sh -c '{STUBBORN.format('$D/member')}' >/dev/null 2>&1 &",
                      f"(setsid sh -c '{STUBBORN.format('$D/daemon')}' >/dev/null 2>&1 &);"]
        process = self.start(" ".join(background) + STUBBORN.format("$D/hangs"),
                             STUBBORN.format("$D/command"), *SOON, "--kill-after", "1s", "--json", *options)
        pids = [self.pid(of) for of in ("command", "hangs", "member", "daemon")]
        return self.finish(process, 76), pids

    def test_one_that_hangs_is_killed(self):
        result, pids = self.hangs()
        self.assertFalse(any(map(alive, pids)))
        self.assertGreater(result.events("ended")[0]["margin_ms"], 12000)  # of 18 s, after kill-after
        self.assertIn("was ended by signal 9: it has no more time than the command",
                      result.events("log")[-1]["text"])

    def test_it_is_killed_where_children_are_left(self):
        _, pids = self.hangs("--leave-children")
        self.assertFalse(any(map(alive, pids[:3])))

    def test_where_children_are_left_it_is_waited_for(self):
        process = self.start("sleep 0.3; echo done", "exec sleep 60", *SOON, "--leave-children")
        self.assertEqual(self.finish(process, 76).out, "done\n")

    def test_run_is_stopped(self):
        """The guardian starts it, and it is gone before another one has the lock."""
        process = self.start(STUBBORN.format("$D/hangs"), STUBBORN.format("$D/command"), "--ttl", "3s")
        command = self.pid("command")
        process.send_signal(signal.SIGSTOP)
        hangs = self.pid("hangs")
        self.redlock("run", "--wait", "forever", self.name, "--", "sh", "-c",
                     "for pid; do grep -sq '^State:.[^ZX]' /proc/$pid/status && exit 1; done; true", "-",
                     str(command), str(hangs), status=0)
        process.send_signal(signal.SIGCONT)
        self.assertIn("was ended by signal 9", self.finish(process, 76).err)

    def test_run_is_killed(self):
        process = self.start("kill -0 $(cat $D/command) && echo told > $D/told",
                             STUBBORN.format("$D/command"), "--kill-after", "2s")
        command = self.pid("command")
        process.kill()
        self.assertEqual(self.told("told"), "told\n")
        self.gone([command])

    def test_each_term(self):
        process = self.start("echo $REDLOCK_TERM >> $D/lost", "echo $REDLOCK_TERM >> $D/led; exec sleep 60",
                             "--again", "--ttl", "4s", command="elect")
        lines = lambda of: (self.tmp / of).read_text().split() if (self.tmp / of).exists() else []
        for terms in (1, 2):
            until(lambda: len(lines("led")) == terms, "it leads")
            process.send_signal(signal.SIGSTOP)
            until(lambda: len(lines("lost")) == terms, "the loss is told")
            process.send_signal(signal.SIGCONT)
        until(lambda: len(lines("led")) == 3, "it leads again")
        self.assertEqual(lines("lost"), lines("led")[:2])
        self.terminate(process)
        self.assertEqual(len(lines("lost")), 2)

    def test_not_without_a_loss(self):
        for script, ends in (("exit 0", None), ("exit 3", None),
                             ("echo > $D/here; exec sleep 60", signal.SIGTERM)):
            with self.subTest(script=script):
                process = self.start("echo > $D/told", script)
                if ends:
                    self.told("here")
                    process.send_signal(ends)
                self.assertNotIn("--on-lost", self.finish(process).err)
                self.assertFalse((self.tmp / "told").exists())

    def test_one_that_fails(self):
        for on_lost, says in (("exit 3", "ended with status 3"),
                              ("/no/such/program", "ended with status 127"),
                              ("kill -SEGV $$", "was ended by signal 11"), ("if", "ended with status 2")):
            with self.subTest(on_lost=on_lost):
                self.assertIn(f"redlock: the command of --on-lost {says}\n",
                              self.finish(self.start(on_lost, "exec sleep 60", *SOON), 76).err)

    def test_no_time(self):
        """The lock belongs to another: nothing that we started may run on."""
        process = self.start("echo > $D/told", "echo > $D/here; exec sleep 60", "--ttl", "2s")
        self.told("here")
        self.cluster.each_cli("SET", self.name, "thief", "PX", "3000")
        self.assertIn("the command of --on-lost was not run, as there was no time for it",
                      self.finish(process, 76).err)
        self.assertFalse((self.tmp / "told").exists())

    def test_it_is_not_spared_as_the_guardian_is(self):
        own = Path("/proc/self/oom_score_adj").read_text()
        process = self.start("cat /proc/self/oom_score_adj", "exec sleep 60", *SOON)
        self.assertEqual(self.finish(process, 76).out, own)

    def test_bad_input(self):
        for options, says in ((("--on-lost", ""), "the command is empty"),
                              (("--on-lost", "true", "--kill-after", "0"),
                               "has no time to run with --kill-after 0")):
            for command in ("run", "elect"):
                told = self.redlock(command, *options, self.name, "--", "true", status=64).err
                self.assertIn(says, told)
        self.assertIn("takes no --on-lost", self.redlock("lock", "--on-lost", "true", "a", status=64).err)


class Outage(OnLostCase):
    patience = ()

    def test_masters_hang(self):
        """Within the margin: the lease has not ended when the program runs."""
        self.cluster = Cluster(3)
        self.addCleanup(self.cluster.stop)
        process = self.start("date +%s%3N > $D/lost", "date +%s%3N > $D/held; exec sleep 60", "--ttl", "4s",
                             "--json")
        self.told("held")
        before = time.time() * 1000
        self.cluster.pause(1, 2)
        result = self.finish(process, 76)
        # It was renewed a third of the ttl before the pause, at the earliest.
        self.assertLess(int(self.told("lost")), before + 4000)
        self.assertGreater(int(self.told("lost")), before)
        self.assertGreater(result.events("ended")[0]["margin_ms"], 0)
        self.assertEqual(result.events("log"), [])
