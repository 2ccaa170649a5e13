"""run: the guardian ends the command and all that came of it when `redlock run` cannot.

REDLOCK_ROUNDS=50 python3 -m unittest test_guardian.Rounds     # the same 50 times; else 2
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from harness import REDLOCK, ClusterCase, until
from processes import NOBODY, OtherUserCase, ProcessCase, alive, facts

ROUNDS = int(os.environ.get("REDLOCK_ROUNDS", "2"))
UNGUARDED = 70

# Both write their pid and ignore SIGTERM; the second leaves its parents, group and session.  $0 is
# the folder.
STUBBORN = "trap '' TERM HUP; echo $$ > \"$0/{}\"; while :; do sleep 0.05; done"
DAEMON = "(setsid sh -c '" + STUBBORN.format("daemon").replace("'", "'\\''") + "' \"$0\" >/dev/null 2>&1 &); "
FAMILY = DAEMON + STUBBORN.format("command")
# A daemon that ends when it is asked.
POLITE = "(setsid sh -c 'echo $$ > \"$0/daemon\"; exec sleep 60' \"$0\" >/dev/null 2>&1 &); "


def children(pid):
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [it for it in pids if (facts(it) or (0, 0, 0))[1] == pid]


def target(link):
    """The target of the link; None after its removal."""
    try:
        return os.readlink(link)
    except FileNotFoundError:
        return None


def cgroup2():
    """The folder of cgroups of version 2, if we may make some; else None."""
    for place in (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified")):
        if (place / "cgroup.procs").exists() and os.access(place, os.W_OK):
            return place
    return None


class GuardianCase(ProcessCase, ClusterCase):
    masters = 3

    def start(self, script=FAMILY, *options, command="run", **more):
        return self.spawn(command, *options, self.name, "--", "sh", "-c", script, str(self.tmp), **more)

    def env_without_leaks(self):
        """The leak sanitizer needs /proc, and cannot do its work in a process that is traced."""
        return self.env(ASAN_OPTIONS="detect_leaks=0")

    def slow_down(self, pid, call, ms):
        """Delays each such call of that process."""
        slow = ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e"]
        if not shutil.which("strace") or subprocess.run([*slow, "inject=chdir:delay_exit=1", "true"],
                                                        check=False).returncode:
            self.skipTest("strace is not there, or may not trace")
        self.addCleanup(self.end,
                        subprocess.Popen([*slow, f"inject={call}:delay_exit={ms}000", "-p", str(pid)]))
        until(lambda: "TracerPid:\t0" not in Path(f"/proc/{pid}/status").read_text(), "it is slow")

    def guardian(self, process):
        return until(lambda: children(process.pid), "there is a guardian")[0]

    def kill_guardian(self, process):
        os.kill(self.guardian(process), signal.SIGKILL)
        return self.finish(process, UNGUARDED)

    def lose(self, process):
        self.cluster.each_cli("SET", self.name, "thief")
        return self.finish(process, 76).err

    def stop_until_gone(self, process, pids):
        """The guardian ends these while `redlock run` is stopped."""
        process.send_signal(signal.SIGSTOP)
        self.gone(pids)
        process.send_signal(signal.SIGCONT)
        return self.finish(process, 76)

    def family(self):
        return [self.pid("command"), self.pid("daemon")]

    def forget_family(self):
        for of in ("command", "daemon"):
            (self.tmp / of).unlink()

    def successor(self, pids):
        """Waits for the lock, and then says which of the processes are still there."""
        script = "for pid; do grep -sq '^State:.[^ZX]' /proc/$pid/status && echo $pid lives; done; true"
        return self.spawn("run", "--ttl", "3s", "--kill-after", "500ms", "--wait", "forever", self.name, "--",
                          "sh", "-c", script, "-", *map(str, pids))

    def ended_before_the_next(self, strike, *options, **more):
        """The strike at `redlock run` keeps the tree from reaching into the next holder's time."""
        process = self.start(FAMILY, "--ttl", "3s", *options, **more)
        pids = self.family()
        next_one = self.successor(pids)
        until(lambda: self.waiters().count(1) == self.masters, "the next one waits")
        strike(process)
        self.assertEqual(self.finish(next_one, 0).out, "")
        self.forget_family()
        return process

    def cgroup(self):
        place = cgroup2()
        if not place:
            self.skipTest("no cgroups of version 2 that we may make")
        return self.make_cgroup(place / f"redlock-test-{os.getpid()}")

    def make_cgroup(self, folder):
        folder.mkdir()
        self.addCleanup(self.remove, folder)
        return folder

    @staticmethod
    def remove(folder):
        """The cgroup, if it is there, once its processes are gone."""
        def removed():
            try:
                folder.rmdir()
            except FileNotFoundError:
                pass
            except OSError:
                return False
            return True
        until(removed, "the cgroup is empty")


class Rounds(GuardianCase):
    def test_stopped(self):
        for _ in range(ROUNDS):
            process = self.ended_before_the_next(lambda it: it.send_signal(signal.SIGSTOP))
            process.send_signal(signal.SIGCONT)
            self.finish(process, 76)

    def test_killed(self):
        for _ in range(ROUNDS):
            process = self.ended_before_the_next(lambda it: it.kill())
            self.finish(process, -signal.SIGKILL)


class Cgroups(GuardianCase):
    """The command has a cgroup, or cannot have one."""

    def setUp(self):
        super().setUp()
        self.folder = self.cgroup()

    def enter(self):
        (self.folder / "cgroup.procs").write_text("0")

    def delegate(self):
        os.setxattr(self.folder, "user.delegate", b"1")

    def made(self):
        return [it for it in self.folder.iterdir() if it.is_dir()]

    def strike(self):
        """Returns what cgroups there were."""
        made = []

        def stop(process):
            made.extend(self.made())
            process.send_signal(signal.SIGSTOP)
        process = self.ended_before_the_next(stop, preexec_fn=self.enter)
        process.send_signal(signal.SIGCONT)
        self.finish(process, 76)
        return made

    def test_one_of_its_own(self):
        self.delegate()
        self.assertEqual(len(self.strike()), 1)
        self.assertEqual(self.made(), [])

    def test_none_where_they_are_another_managers(self):
        self.assertEqual(self.strike(), [])

    def test_none_where_children_are_left(self):
        self.delegate()
        process = self.start(STUBBORN.format("command"), "--leave-children", "--kill-after", "0",
                             preexec_fn=self.enter)
        command = self.pid("command")
        self.assertEqual(self.made(), [])
        self.assertIn(str(command), (self.folder / "cgroup.procs").read_text().split())
        process.send_signal(signal.SIGTERM)
        self.finish(process, 128 + signal.SIGKILL)

    def test_is_removed_when_run_is_stopped_and_then_gone(self):
        self.delegate()
        process = self.start(FAMILY, "--ttl", "3s", preexec_fn=self.enter)
        self.family()
        until(self.made, "there is a cgroup")
        process.send_signal(signal.SIGSTOP)
        until(lambda: self.made() == [], "the cgroup is removed")
        process.kill()

    def test_is_removed_when_run_is_gone(self):
        self.delegate()
        process = self.start(FAMILY, "--kill-after", "0", preexec_fn=self.enter)
        pids = self.family()
        until(self.made, "there is a cgroup")
        process.kill()
        self.gone(pids)
        until(lambda: self.made() == [], "the cgroup is removed")

    def test_the_guardian_is_killed(self):
        """Without one, and then with one, which is removed."""
        for prepare in (lambda: None), self.delegate:
            prepare()
            process = self.start(FAMILY, preexec_fn=self.enter)
            pids = self.family()
            self.kill_guardian(process)
            self.gone(pids)
            self.assertEqual(self.made(), [])
            self.forget_family()


class Frozen(GuardianCase):
    def test_stopped_for_three_ttls(self):
        began = time.monotonic()
        process = self.start(FAMILY, "--ttl", "4s", "--json")
        pids = self.family()
        end = time.monotonic() + 12
        process.send_signal(signal.SIGSTOP)
        self.gone(pids)
        until(lambda: time.monotonic() > end, "three ttls are over")
        process.send_signal(signal.SIGCONT)
        told = self.finish(process, 76)
        most = (time.monotonic() - began - 3.9) * 1000  # it ended a ttl after the begin, less the drift
        late = re.match(r"lost, (\d+) ms after its end: ", told.events("lost")[0]["text"])
        self.assertTrue(7900 <= int(late[1]) <= most, (late[1], most))
        ended = told.events("ended")[0]
        self.assertEqual(ended["status"], 128 + signal.SIGKILL)
        self.assertGreater(ended["margin_ms"], 0)
        self.assertIn("the guardian ended the command", told.events("log")[-1]["text"])
        self.assert_free(self.name)

    def test_it_is_asked_first(self):
        """SIGTERM comes as late as the margin lets it."""
        process = self.start("trap 'echo cleaned up; exit 3' TERM; echo $$ > \"$0/command\"; "
                             "while :; do sleep 0.01; done", "--ttl", "3s")
        pid = self.pid("command")
        told = self.stop_until_gone(process, [pid])
        self.assertEqual(told.out, "cleaned up\n")
        self.assertIn("(was it stopped?): the guardian ended the command\n", told.err)
        self.assertRegex(told.err, r"ended \d+ ms before the lease's end")

    def test_a_short_stop_does_no_harm(self):
        process = self.start("echo $$ > \"$0/command\"; read x; exit 3", "--ttl", "4s",
                             stdin=subprocess.PIPE)
        self.pid("command")
        process.send_signal(signal.SIGSTOP)
        end = time.monotonic() + 0.5
        until(lambda: time.monotonic() > end, "half a second has passed")
        process.send_signal(signal.SIGCONT)
        end = time.monotonic() + 6
        until(lambda: time.monotonic() > end, "it is renewed for longer than a ttl")
        self.assertEqual(self.let_end(process, 3).err, "")

    def stopped_before_the_start(self, *arguments, script, status):
        """Between the lease and the command `redlock run` stands still for longer than the ttl."""
        stands = ["strace", "-qq", "-o", "/dev/null", "-e", "trace=socketpair",
                  "-e", "inject=socketpair:delay_exit=2200000:when=1"]
        if not shutil.which("strace") or subprocess.run([*stands, "true"], check=False).returncode:
            self.skipTest("strace is not there, or may not trace")
        done = subprocess.run([*stands, REDLOCK, *self.patience, *arguments, "--ttl", "2s", self.name, "--",
                               "sh", "-c", script], env=self.env_without_leaks(), text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn("cannot run sh: the lease was about to end, as this process did not run in time",
                      done.stderr)
        self.assertNotIn("AFTER the lease", done.stderr)
        return done.stdout

    def test_stopped_before_the_start(self):
        """No command is begun with a lease that is over."""
        for arguments in (("run",), ("run", "--json"), ("elect",)):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.stopped_before_the_start(*arguments, script="echo ran", status=76), "")

    def test_stopped_before_the_start_of_who_stands_again(self):
        out = self.stopped_before_the_start("elect", "--again", script="echo led; exit 3", status=3)
        self.assertEqual(out, "led\n")

    def test_a_command_that_is_stopped_goes_on_to_clean_up(self):
        process = self.start("trap 'echo cleaned up; exit' TERM; echo $$ > \"$0/command\"; kill -STOP $$; "
                             "while :; do sleep 0.01; done", "--ttl", "3s")
        pid = self.pid("command")
        until(lambda: facts(pid)[0] == "T", "the command is stopped")
        self.assertEqual(self.stop_until_gone(process, [pid]).out, "cleaned up\n")

    def test_many_in_the_tree(self):
        """Chains of daemons, each of a session of its own."""
        chain = ('echo $$ >> "$0/all"; [ $1 -gt 0 ] && (setsid sh "$0/chain" "$0" $(($1 - 1)) &); '
                 "exec sleep 60")
        (self.tmp / "chain").write_text(chain.replace("$1", "$2").replace("$0", "$1"))
        process = self.start("sh \"$0/chain\" \"$0\" 20 & sh \"$0/chain\" \"$0\" 20 & wait", "--ttl", "3s")
        everyone = self.tmp / "all"
        until(lambda: everyone.exists() and len(everyone.read_text().split()) == 42, "all are there")
        self.stop_until_gone(process, list(map(int, everyone.read_text().split())))


class Killed(GuardianCase):
    def test_asked_and_then_killed(self):
        """There is time until the lease ends, and the command gets --kill-after of it."""
        process = self.start("trap 'echo cleaned up > \"$0/told\"; exit' TERM; echo $$ > \"$0/command\"; "
                             "while :; do sleep 0.01; done")
        pid = self.pid("command")
        process.kill()
        self.gone([pid])
        self.assertEqual((self.tmp / "told").read_text(), "cleaned up\n")

    def test_at_once(self):
        """Not only when its lease is nearly over."""
        process = self.start("echo $$ > \"$0/command\"; exec sleep 60", "--ttl", "30s")
        pid = self.pid("command")
        began = time.monotonic()
        process.kill()
        self.gone([pid])
        self.assertLess(time.monotonic() - began, 15)

    def test_the_leader_and_its_children(self):
        process = self.start(FAMILY, "--kill-after", "200ms", command="elect")
        pids = self.family()
        process.kill()
        self.gone(pids)

    def memory_group(self):
        """A folder whose processes share what memory we say."""
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            first = Path(f"/sys/fs/cgroup/memory{path}")
            if controllers == "memory" and os.access(first, os.W_OK):
                return first / f"redlock-test-{os.getpid()}", "memory.limit_in_bytes"
        place = cgroup2()
        if place and "memory" in (place / "cgroup.subtree_control").read_text().split():
            return place / f"redlock-test-{os.getpid()}", "memory.max"
        return self.skipTest("no memory controller; test_killed does the same by SIGKILL")

    def test_killed_for_want_of_memory(self):
        folder, limit = self.memory_group()
        self.make_cgroup(folder)
        (folder / limit).write_text(str(100 << 20))
        enter = lambda: (folder / "cgroup.procs").write_text("0")
        process = self.start(FAMILY, "--kill-after", "200ms", preexec_fn=enter)
        pids = self.family()
        # The first that the kernel kills, before any of four that take all memory, and end so.
        Path(f"/proc/{process.pid}/oom_score_adj").write_text("1000")
        hog = subprocess.Popen([sys.executable, "-c", "import os; os.fork(); os.fork(); a = []\n"
                                "while True: a.append(b'x' * (1 << 20))"], preexec_fn=enter)
        self.addCleanup(self.end, hog)
        self.assertEqual([process.wait(30), hog.wait(30)], [-signal.SIGKILL] * 2)
        self.gone(pids)


class TheGuardian(GuardianCase):
    def quiet_job(self, *options, **more):
        process = self.start("echo $$ > \"$0/command\"; read x; exit 5", *options, stdin=subprocess.PIPE,
                             **more)
        return process, self.pid("command"), self.guardian(process)

    def test_holds_no_connection(self):
        process, command, guardian = self.quiet_job()
        self.assertEqual(facts(command)[1], guardian)
        held = lambda: sorted(filter(None, map(target, Path(f"/proc/{guardian}/fd").iterdir())))
        kinds = lambda: [it.split(":")[0] for it in held() if not it.startswith("/sys/fs/cgroup")]
        until(lambda: kinds() == ["anon_inode", "anon_inode", "socket"],
              "it has closed what it does not need")
        inode = next(it for it in held() if it.startswith("socket"))[8:-1]
        self.assertIn(inode, [line.split()[6] for line in
                              Path("/proc/net/unix").read_text().splitlines()[1:]])
        self.let_end(process, 5)

    def test_ends_with_run(self):
        process, _, guardian = self.quiet_job()
        self.let_end(process, 5)
        until(lambda: facts(guardian) is None, "it is gone")

    def test_is_out_of_reach_of_the_terminal_and_of_signals(self):
        process, command, guardian = self.quiet_job()
        groups = {facts(it)[2] for it in (process.pid, guardian, command)}
        self.assertEqual(len(groups), 3)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
                       signal.SIGTSTP, signal.SIGTTIN):
            os.kill(guardian, number)
        self.let_end(process, 5)

    def test_is_spared_when_memory_is_short(self):
        if subprocess.run(["sh", "-c", "echo -1000 > /proc/self/oom_score_adj"], check=False,
                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest("we may not say so (CAP_SYS_RESOURCE)")
        process, command, guardian = self.quiet_job()
        score = lambda pid: Path(f"/proc/{pid}/oom_score_adj").read_text()
        until(lambda: score(guardian) == "-1000\n", "it is spared")
        self.assertEqual([score(process.pid), score(command)], [score("self")] * 2)
        self.let_end(process, 5)

    def test_leaves_no_zombies(self):
        process = self.start("for i in 1 2 3; do (setsid true &); done; echo $$ > \"$0/command\"; read x",
                             stdin=subprocess.PIPE)
        command, guardian = self.pid("command"), self.guardian(process)
        until(lambda: children(guardian) == [command], "the orphans are buried")
        self.assertEqual(children(process.pid), [guardian])
        self.end(process)

    def test_is_killed(self):
        process = self.start()
        pids = self.family()
        told = self.kill_guardian(process).err
        self.assertEqual(told, "redlock: the guardian of the command was killed, so the command was ended\n")
        self.assertFalse(any(map(alive, pids)))
        self.assert_free(self.name)

    def test_is_killed_where_there_were_children_before(self):
        """A shell that became `redlock run` had some: these are not the command's."""
        become = f"sleep 60 >/dev/null 2>&1 & echo $! > '{self.tmp}/before'; exec \"$@\""
        process = self.program("sh", "-c", become, "-", REDLOCK, *self.patience, "run", self.name, "--",
                               "sh", "-c", FAMILY, str(self.tmp))
        pids, before = self.family(), self.pid("before")
        os.kill(facts(pids[0])[1], signal.SIGKILL)
        self.finish(process, UNGUARDED)
        self.assertFalse(any(map(alive, pids)))
        self.assertTrue(alive(before))

    def test_is_killed_as_json(self):
        process = self.start(FAMILY, "--json")
        self.family()
        told = self.kill_guardian(process)
        self.assertEqual(told.events("ended")[0]["status"], 128 + signal.SIGKILL)
        self.assertIn("guardian", told.events("log")[0]["text"])

    def test_is_killed_and_run_as_well(self):
        """Then the kernel ends the command alone."""
        process = self.start(STUBBORN.format("command"))
        command, guardian = self.pid("command"), self.guardian(process)
        process.send_signal(signal.SIGSTOP)
        os.kill(guardian, signal.SIGKILL)
        process.kill()
        self.gone([command])
        if cgroup2():
            self.addCleanup(self.remove, cgroup2() / f"redlock-{process.pid}")

    def test_is_stopped_while_the_lock_is_lost(self):
        process = self.start(FAMILY, "--ttl", "3s")
        pids = self.family()
        os.kill(self.guardian(process), signal.SIGSTOP)
        self.lose(process)
        self.assertFalse(any(map(alive, pids)))

    def test_is_stopped_and_continued(self):
        process, _, guardian = self.quiet_job()
        os.kill(guardian, signal.SIGSTOP)
        self.end_input(process)
        os.kill(guardian, signal.SIGCONT)
        self.finish(process, 5)


class Left(GuardianCase):
    """Background processes that the command leaves."""

    def test_is_asked_to_end(self):
        result = self.redlock("run", self.name, "--", "sh", "-c",
                              POLITE + 'until [ -s "$0/daemon" ]; do :; done; exit 4', str(self.tmp),
                              status=4)
        self.assertFalse(alive(self.pid("daemon")))
        self.assertEqual(result.err, "redlock: what the command left behind was ended: --leave-children "
                                     "lets it run on\n")
        self.assert_free(self.name)

    def test_has_a_moment_to_end_by_itself(self):
        """As `exec > >(tee log)` needs it."""
        script = ("(setsid sh -c 'trap \"date +%s%3N; exit\" TERM; echo $$ > \"$0/daemon\"; "
                  "while :; do sleep 0.01; done' \"$0\" &); until [ -s \"$0/daemon\" ]; do :; done; date "
                  "+%s%3N")
        out = self.redlock("run", self.name, "--", "sh", "-c", script, str(self.tmp), status=0).out
        ended, asked = map(int, out.split())
        self.assertGreaterEqual(asked - ended, 190)

    def test_what_it_starts_to_end_itself_is_not_asked(self):
        """A handler's own commands, such as `rm` or `date`, must do their work."""
        (self.tmp / "daemon").write_text("trap 'for i in 1 2 3 4 5 6 7 8 9; do /bin/true || exit; done; "
                                         "echo done; exit' TERM\necho $$ >> \"$0.pids\"\nwhile :; do :; "
                                         "done\n")
        script = ('for i in 1 2 3 4; do setsid sh "$0/daemon" & done; for i in $(seq 300); do sleep 60 & '
                  'done; until [ "$(cat "$0"/daemon.pids | wc -l)" = 4 ]; do :; done')
        out = self.redlock("run", self.name, "--", "sh", "-c", script, str(self.tmp), status=0).out
        self.assertEqual(out, 4 * "done\n")

    def test_what_ends_by_itself_is_not_worth_a_word(self):
        result = self.redlock("run", self.name, "--", "sh", "-c", "(setsid true &)", status=0)
        self.assertEqual(result.err, "")

    def test_many_that_end_by_themselves(self):
        """All are buried, though the guardian hears of them together."""
        process = self.start("echo $$ > \"$0/command\"; read x; for i in $(seq 40); do (setsid true &); "
                             "done; exit 5", stdin=subprocess.PIPE)
        self.pid("command")
        guardian = self.guardian(process)
        os.kill(guardian, signal.SIGSTOP)
        self.end_input(process)
        until(lambda: [facts(it)[0] for it in children(guardian)] == ["Z"] * 41, "they have ended")
        os.kill(guardian, signal.SIGCONT)
        self.assertEqual(self.finish(process, 5).err, "")

    def test_is_killed_before_the_lock_is_free(self):
        process = self.start(DAEMON + 'until [ -s "$0/daemon" ]; do :; done; echo $$ > "$0/command"; read x',
                             "--kill-after", "300ms", stdin=subprocess.PIPE)
        pids = self.family()
        next_one = self.successor(pids)
        until(lambda: self.waiters().count(1) == self.masters, "the next one waits")
        told = self.let_end(process, 1).err
        self.assertEqual(told, "redlock: what the command left behind had not ended 300 ms after it was "
                               "asked to (--kill-after), and got SIGKILL\n")
        self.assertEqual(self.finish(next_one, 0).out, "")

    def test_one_whose_main_thread_has_ended(self):
        """It is shown as a zombie, and runs."""
        daemon = ("import ctypes, os, threading, time\n"
                  "if os.fork(): os._exit(0)\n"
                  "os.setsid()\n"
                  "def tell():\n"
                  "    while ' Z ' not in open(f'/proc/{os.getpid()}/stat').read(): time.sleep(0.01)\n"
                  "    print(os.getpid(), file=open(os.environ['D'] + '/daemon', 'w'))\n"
                  "    time.sleep(60)\n"
                  "threading.Thread(target=tell).start()\n"
                  "ctypes.CDLL(None).pthread_exit(None)\n")
        process = self.start(f"\"{sys.executable}\" -c \"$P\" >/dev/null 2>&1; until [ -s \"$0/daemon\" ]; "
                             "do sleep 0.01; done; exit 4", env=self.env(D=str(self.tmp), P=daemon))
        pid = self.pid("daemon")
        told = self.finish(process, 4).err
        self.assertNotIn("cannot be ended", told)
        self.assertFalse(Path(f"/proc/{pid}").exists())

    def test_one_that_forks_without_end(self):
        """There is no time to bury all of them, and due work does not wait for that."""
        forks = ("trap '' TERM; echo $$ > \"$0/daemon\"; i=0; while [ $i -lt 600 ]; do (true &); sleep "
                 "0.005; i=$((i + 1)); done")
        process = self.start("(setsid sh -c \"$FORKS\" \"$0\" >/dev/null 2>&1 &); echo $$ > \"$0/command\"; "
                             "read x", "--kill-after", "300ms", stdin=subprocess.PIPE,
                             env=self.env(FORKS=forks))
        self.family()
        self.slow_down(self.guardian(process), "wait4", 10)
        self.assertIn("had not ended 300 ms after it was asked to", self.let_end(process, 1).err)

    def test_is_told_by_who_is_late(self):
        """All are gone while `run` still looks at how the command ended. It reads no faster from masters, and
        has time for that."""
        process = self.start(POLITE
                             + 'until [ -s "$0/daemon" ]; do :; done; echo $$ > "$0/command"; read x; exit 4',
                             "--ttl", "30s", "--request-timeout", "7s", stdin=subprocess.PIPE,
                             env=self.env_without_leaks())
        self.family()
        self.slow_down(process.pid, "read", 1000)
        self.assertIn("what the command left behind was ended", self.let_end(process, 4).err)

    def test_is_killed_with_a_command_that_is_ended(self):
        process = self.start(FAMILY, "--kill-after", "300ms")
        pids = self.family()
        process.send_signal(signal.SIGTERM)
        self.finish(process, 128 + signal.SIGKILL)
        self.assertFalse(any(map(alive, pids)))

    def test_lives_on_if_it_is_left(self):
        result = self.redlock("run", "--leave-children", self.name, "--", "sh", "-c",
                              POLITE + 'sleep 60 >/dev/null 2>&1 & echo $! > "$0/group"; '
                              'until [ -s "$0/daemon" ]; do :; done; exit 4', str(self.tmp), status=4)
        self.assertEqual(result.err, "")
        self.assertTrue(all(map(alive, [self.pid("daemon"), self.pid("group")])))
        self.assert_free(self.name)

    def frozen_and_left(self):
        process = self.start(DAEMON + 'sleep 60 >/dev/null 2>&1 & echo $! > "$0/group"; '
                             + STUBBORN.format("command"), "--leave-children", "--ttl", "3s")
        return process, [self.pid("command"), self.pid("group")], self.pid("daemon")

    def test_its_group_is_guarded_all_the_same(self):
        process, group, daemon = self.frozen_and_left()
        self.assertNotIn("cannot be ended", self.stop_until_gone(process, group).err)
        self.assertTrue(alive(daemon))

    def test_its_group_is_ended_without_a_guardian(self):
        process, group, daemon = self.frozen_and_left()
        self.kill_guardian(process)
        self.gone(group)
        self.assertTrue(alive(daemon))


class Proc(GuardianCase):
    """There is no /proc, or it is another pid namespace's: a process that has left the group is not found
    there."""

    def ends_with(self, script):
        """/proc is an empty folder for the command and the guardian, and there are no cgroups."""
        private = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                   "if [ -d /sys/fs/cgroup ]; then mount -t tmpfs none /sys/fs/cgroup; fi && exec \"$@\"",
                   "-"]
        if subprocess.run([*private, "mount", "-t", "tmpfs", "none", "/proc"], check=False,
                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no mount namespaces that we may make")
        process = self.program(*private, REDLOCK, *self.patience, "run", "--kill-after", "200ms", self.name,
                               "--", "sh", "-c", f"{DAEMON} until [ -s \"$0/daemon\" ]; do sleep 0.01; done; "
                               f"mount -t tmpfs none /proc && {script} exit 3", str(self.tmp),
                               env=self.env_without_leaks())
        pid = self.pid("daemon")
        self.assertIn("redlock: processes of the command run on, as /proc does not show them and they cannot "
                      "be ended\n", self.finish(process, 3).err)
        self.assertTrue(alive(pid))

    def test_there_is_none(self):
        self.ends_with("")

    def test_it_is_of_another_namespace(self):
        """A pid in it means another process, which is none of ours."""
        bystander = subprocess.Popen(["sleep", "60"])
        self.addCleanup(self.end, bystander)
        folder = f"/proc/{bystander.pid}"
        self.ends_with(f"ln -s 1 /proc/self; mkdir {folder}; "
                       f"echo \"7 (other) S $PPID 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0\" > {folder}/stat;")
        self.assertIsNone(bystander.poll())


class Setuid(OtherUserCase, GuardianCase):
    """The command changes to a user to whom we may send no signal."""

    def test_what_cannot_be_ended_is_told(self):
        process = self.start_as_nobody('echo $$ > "$0/command"; become sleep 60 >/dev/null 2>&1', "--ttl",
                                       "3s")
        pid = self.other_users("command")
        told = self.lose(process)
        self.assertIn("redlock: processes of the command run on, as they belong to another user and cannot "
                      f"be ended: 1, one of them {pid}\n", told)
        self.assertTrue(alive(pid))

    def test_what_is_ours_below_it_is_ended(self):
        inner = (f"echo $$ > \"$0/command\"; setsid setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups "
                 "sleep 60 & echo $! > \"$0/daemon\"; wait; exec sleep 60")
        process = self.start_as_nobody(f"become sh -c '{inner}' \"$0\" >/dev/null 2>&1", "--ttl", "3s")
        ours = self.pid("pids/daemon")
        until(lambda: Path(f"/proc/{ours}").stat().st_uid == NOBODY, "it is ours")
        self.pid("pids/command")
        self.assertIn("cannot be ended", self.lose(process))
        self.assertFalse(alive(ours))

    def test_what_it_leaves(self):
        process = self.start_as_nobody('(echo $(sh -c "echo \\$PPID") > "$0/daemon"; '
                                       "become sleep 60 >/dev/null 2>&1) & read x; exit 3", "--kill-after",
                                       "200ms")
        pid = self.other_users("daemon")
        told = self.let_end(process, 3).err
        self.assertIn(f"cannot be ended: 1, one of them {pid}\n", told)
        self.assert_free(self.name)

    def test_a_cgroup_reaches_it(self):
        folder = self.cgroup()
        os.setxattr(folder, "user.delegate", b"1")
        for it in (folder, folder / "cgroup.procs"):
            os.chown(it, NOBODY, NOBODY)
        process = self.start_as_nobody('echo $$ > "$0/command"; become sleep 60 >/dev/null 2>&1', "--ttl",
                                       "3s", preexec_fn=lambda: (folder / "cgroup.procs").write_text("0"))
        pid = self.other_users("command")
        told = self.lose(process)
        self.assertNotIn("cannot be ended", told)
        self.assertFalse(alive(pid))
