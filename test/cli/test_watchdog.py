"""run --watchdog: the device is fed only while the lease is valid, and early enough: a machine that stands
still is reset before the next holder begins. A pipe, or a terminal, stands in the device's place."""

import os
import pty
import select
import shutil
import signal
import subprocess
import termios
import threading
import time
import tty
from pathlib import Path

import test_loss
from harness import REDLOCK, ClusterCase, FreshCase, until
from processes import OtherUserCase, ProcessCase, alive, facts
from test_guardian import children

TTL_MS = 10000
TIMEOUT_MS = 4000
REACH_MS = 5290  # as test_watchdog_times has it
COARSE_MS = 1000
STUBBORN = "trap '' TERM; echo $$ > \"$0/command\"; while :; do sleep 0.05; done"
# Ends when its input does.
OBEDIENT = 'echo $$ > "$0/command"; read x; exit 3'
MAGIC_CLOSE, CAN_SET = 0x0100, 0x0080


class Device:
    """Reads what the device is fed with: each byte with the time of the wall clock, in ms."""

    def __init__(self, descriptor):
        self.descriptor, self.seen, self.going = descriptor, [], True
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        poll = select.poll()
        poll.register(self.descriptor, select.POLLIN)
        while self.going:
            ready = poll.poll(20)
            if ready and ready[0][1] & select.POLLIN:
                now = time.time() * 1000
                self.seen += [(now, chr(byte)) for byte in os.read(self.descriptor, 64)]
            elif ready:
                time.sleep(0.005)  # no writer: poll() returns at once

    def end(self):
        self.going = False
        self.thread.join()
        os.close(self.descriptor)

    @property
    def bytes(self):
        return "".join(byte for _, byte in self.seen)

    @property
    def feeds(self):
        return [at for at, byte in self.seen if byte == "."]

    @property
    def is_disarmed(self):
        return self.bytes.endswith("V")

    @property
    def disarmed_at(self):
        return next(at for at, byte in self.seen if byte == "V")

    def fed_again(self, times=1):
        before = len(self.feeds)
        until(lambda: len(self.feeds) >= before + times, "it is fed again")


class WatchdogCase(ProcessCase):
    def setUp(self):
        super().setUp()
        self.path = self.tmp / "watchdog"
        os.mkfifo(self.path)
        self.device = self.opened(os.open(self.path, os.O_RDONLY | os.O_NONBLOCK))

    def opened(self, descriptor):
        device = Device(descriptor)
        self.addCleanup(device.end)
        return device

    def options(self, *more):
        return ("--ttl", f"{TTL_MS}ms", "--watchdog", str(self.path), "--watchdog-timeout", f"{TIMEOUT_MS}ms",
                *more)

    def start(self, script, *options, command="run", **more):
        return self.spawn(command, *self.options(*options), self.name, "--", "sh", "-c", script,
                          str(self.tmp), stdin=subprocess.PIPE, **more)

    def started_and_fed(self, script, *options, **more):
        process = self.start(script, *options, **more)
        pid = self.pid("command")
        self.device.fed_again()
        return process, pid

    def disarmed(self):
        until(lambda: self.device.is_disarmed, "it is disarmed")
        self.assertEqual(self.device.bytes.count("V"), 1)

    def in_order(self):
        """All was gone before the machine could have been reset."""
        self.disarmed()
        self.assertLess(self.device.disarmed_at, max(self.device.feeds) + TIMEOUT_MS - COARSE_MS)


class Fed(WatchdogCase, ClusterCase):
    masters = 3

    def test_while_the_lease_is_valid(self):
        process, _ = self.started_and_fed(OBEDIENT)
        end = time.time() * 1000 + 1.5 * TTL_MS
        until(lambda: time.time() * 1000 > end, "it was renewed for longer than a ttl")
        feeds = self.device.feeds
        self.assertLess(max(b - a for a, b in zip(feeds, feeds[1:])), TIMEOUT_MS - COARSE_MS)
        # Each half a second, and more seldom where the machine is busy.
        self.assertTrue(15 <= len(feeds) <= 36, feeds)
        self.assertEqual(self.let_end(process, 3).err, "")
        self.disarmed()
        self.assert_free(self.name)

    def test_work_that_is_done_once(self):
        process, _ = self.started_and_fed(OBEDIENT.replace("exit 3", "exit 0"), "--key", "k", "--life", "1h",
                                          command="once")
        self.end_input(process)
        self.assertEqual(self.finish(process, 0).err, "")
        self.disarmed()
        fed = len(self.device.feeds)
        done = self.start("exit 1", "--key", "k", "--life", "1h", command="once")
        self.assertIn("done by", self.finish(done, 0).err)
        self.assertEqual(len(self.device.feeds), fed)

    def test_not_by_who_waits(self):
        token = self.lock_on_all("--ttl", "20s", self.name)
        process = self.start(OBEDIENT, "--wait", "forever")
        until(lambda: self.waiters().count(1) == self.masters, "it waits")
        held = [os.readlink(it) for it in Path(f"/proc/{process.pid}/fd").iterdir()]
        self.assertNotIn(str(self.path), held)
        self.assertEqual(self.device.bytes, "")
        self.unlock(token)
        self.pid("command")
        self.device.fed_again()
        self.let_end(process, 3)
        self.disarmed()

    def test_no_command(self):
        self.redlock("run", *self.options(), self.name, "--", "/no/such/program", status=127)
        self.disarmed()

    def test_the_command_does_not_have_it(self):
        """Else its daemons could feed it, and keep it open."""
        found = self.redlock("run", *self.options(), self.name, "--", "ls", "-l", "/proc/self/fd", status=0)
        self.assertNotIn(str(self.path), found.out)
        self.disarmed()

    def test_a_command_that_a_signal_ends(self):
        process, _ = self.started_and_fed("echo $$ > \"$0/command\"; exec sleep 60")
        self.terminate(process)
        self.disarmed()
        self.assert_free(self.name)

    def test_longest_hold(self):
        process, pid = self.started_and_fed(STUBBORN, "--max-hold", "2s", "--kill-after", "1s")
        self.finish(process, 76)
        self.assertFalse(alive(pid))
        self.in_order()

    def test_run_is_killed(self):
        process, pid = self.started_and_fed(STUBBORN, "--kill-after", "3s")
        process.kill()
        self.device.fed_again()
        self.gone([pid])
        self.in_order()
        self.assert_free(self.name)

    def test_the_guardian_is_killed(self):
        """`redlock run` has the device, too: it is not closed before all have ended."""
        process, pid = self.started_and_fed(STUBBORN)
        os.kill(facts(pid)[1], signal.SIGKILL)
        self.finish(process, 70)
        self.assertFalse(alive(pid))
        self.disarmed()
        self.assert_free(self.name)

    def test_run_and_the_guardian_are_killed(self):
        process, pid = self.started_and_fed(STUBBORN)
        guardian = facts(pid)[1]
        process.send_signal(signal.SIGSTOP)
        os.kill(guardian, signal.SIGKILL)
        process.kill()
        self.gone([pid])
        seen = self.device.bytes
        end = time.monotonic() + 1.5
        until(lambda: time.monotonic() > end, "three feeds would have come")
        self.assertEqual(self.device.bytes, seen)
        self.assertNotIn("V", seen)

    def test_the_guardian_is_stopped(self):
        process, pid = self.started_and_fed(OBEDIENT)
        guardian = facts(pid)[1]
        os.kill(guardian, signal.SIGSTOP)
        until(lambda: facts(guardian)[0] == "T", "it is stopped")
        seen = self.device.bytes
        end = time.monotonic() + 1.5
        until(lambda: time.monotonic() > end, "three feeds would have come")
        self.assertEqual(self.device.bytes, seen)
        os.kill(guardian, signal.SIGCONT)
        self.device.fed_again()
        self.let_end(process, 3)

    def test_run_is_stopped_when_the_command_ends(self):
        """The guardian disarms it."""
        process, _ = self.started_and_fed(OBEDIENT)
        process.send_signal(signal.SIGSTOP)
        self.end_input(process)
        self.disarmed()
        process.send_signal(signal.SIGCONT)
        self.finish(process, 3)

    def test_each_term(self):
        process = self.start("echo >> \"$0/terms\"; exec sleep 60", "--again", "--max-hold", "2s",
                             command="elect")
        until(lambda: self.device.bytes.count("V") >= 2, "it was disarmed twice")
        self.assertRegex(self.device.bytes, r"^\.+V\.+V")
        process.send_signal(signal.SIGTERM)
        self.finish(process)
        until(lambda: self.device.is_disarmed, "it is disarmed at the end, too")

    def test_armed_too_late_for_a_command(self):
        """Before it was armed `redlock run` stood still. There is time for a command, but not for a reset."""
        stands = ["strace", "-qq", "-o", "/dev/null", "-P", str(self.path), "-e", "trace=openat",
                  "-e", "inject=openat:delay_enter=9500000"]
        if not shutil.which("strace") or subprocess.run([*stands, "true"], check=False).returncode:
            self.skipTest("strace is not there, or may not trace")
        process = self.program(*stands, REDLOCK, *self.patience, "run", *self.options(), "--ttl", "20s",
                               "--watchdog-timeout", "10s", self.name, "--", "echo", "ran",
                               env=self.env(ASAN_OPTIONS="detect_leaks=0"))
        result = self.finish(process, 76)
        self.assertEqual(result.out, "")
        self.assertIn("cannot run echo: the lease was about to end", result.err)
        self.assertEqual(self.device.bytes, ".V")

    def test_nobody_reads_the_pipe(self):
        lonely = self.tmp / "lonely"
        os.mkfifo(lonely)
        result = self.redlock("run", "--watchdog", str(lonely), "--watchdog-timeout", "2s", self.name, "--",
                              "true", status=70)
        self.assertEqual(result.err, f"redlock: cannot use the watchdog {lonely}: it is a pipe that nobody "
                                     "reads\n")
        self.assert_free(self.name)


class NotTooLate(WatchdogCase, FreshCase):
    """A feed that comes later than `reach` before the lease's end might reset the next holder's machine."""
    patience = ()

    def setUp(self):
        super().setUp()
        self.witnesses = []
        for i, (port, password) in enumerate(zip(self.cluster.ports, self.cluster.passwords)):
            self.witnesses.append(test_loss.Witness(port, password, self.tmp / f"witness-{i}"))
            self.addCleanup(self.witnesses[-1].end)

    def lease_end(self):
        """The second of three masters to forget the name makes room for the next holder."""
        return sorted(it.times(self.name)[-1] for it in self.witnesses)[1] + TTL_MS

    def begin(self, script):
        """It has been renewed, and is fed."""
        process, pid = self.started_and_fed(script)
        until(lambda: all(times and times[-1] - times[0] > TTL_MS / 10
                          for times in (it.times(self.name) for it in self.witnesses)), "it is renewed")
        self.device.fed_again()
        return process, pid

    def assert_in_time(self, since):
        self.disarmed()
        self.assertGreater(max(self.device.feeds), since)
        self.assertLessEqual(max(self.device.feeds), self.lease_end() - REACH_MS)
        # Three seconds before the end, as the machine may be reset soon after; and this one is busy.
        self.assertLess(self.device.disarmed_at, self.lease_end() - 1500)

    def test_masters_hang(self):
        process, pid = self.begin(STUBBORN)
        since = time.time() * 1000
        self.cluster.pause(1, 2, 3)
        told = self.finish(process, 76).err
        self.assertFalse(alive(pid))
        self.assertIn("redlock: if it cannot be ended, the watchdog resets this machine\n", told)
        self.assertRegex(told, r"ended \d+ ms before the lease's end")
        self.assert_in_time(since)

    def test_run_is_stopped(self):
        process, pid = self.begin(STUBBORN)
        since = time.time() * 1000
        process.send_signal(signal.SIGSTOP)
        self.gone([pid])
        self.assert_in_time(since)
        process.send_signal(signal.SIGCONT)
        self.finish(process, 76)

    def test_run_is_stopped_before_its_masters_hang(self):
        """No renewal reaches the guardian, and it ends the command in order, with SIGTERM first."""
        process, pid = self.begin("trap 'echo cleaned up; exit 3' TERM; echo $$ > \"$0/command\"; "
                                  "while :; do sleep 0.05; done")
        since = time.time() * 1000
        self.cluster.pause(1, 2, 3)
        process.send_signal(signal.SIGSTOP)
        self.gone([pid])
        self.assert_in_time(since)
        process.send_signal(signal.SIGCONT)
        self.assertEqual(self.finish(process, 76).out, "cleaned up\n")


class CannotBeEnded(OtherUserCase, WatchdogCase, ClusterCase):
    """Processes of another user stand for those that the kernel holds."""
    masters = 3

    def setUp(self):
        super().setUp()
        self.path.chmod(0o666)

    def begin(self, *options, script='echo $$ > "$0/command"; become sleep 60 >/dev/null 2>&1',
              of="command"):
        process = self.start_as_nobody(script, *self.options("--kill-after", "200ms", *options))
        pid = self.other_users(of)
        self.device.fed_again()
        return process, pid

    def stays_armed(self, pid):
        """From now on nothing is fed, and it is not disarmed: the machine will be reset."""
        end = time.monotonic() + 3
        seen = self.device.bytes
        until(lambda: time.monotonic() > end, "six feeds would have come")
        self.assertEqual(self.device.bytes, seen)
        self.assertNotIn("V", seen)
        self.assertTrue(alive(pid))

    def test_and_the_lock_is_anothers(self):
        process, pid = self.begin("--ttl", "20s")
        taken = time.time() * 1000
        self.cluster.each_cli("SET", self.name, "thief")
        until(lambda: not self.device.feeds or time.time() * 1000 - self.device.feeds[-1] > 1500,
              "it is not fed any more")
        self.stays_armed(pid)
        # At the next renewal, and not only when the lease that was known would have ended.
        self.assertLess(self.device.feeds[-1], taken + 20000 / 3 + 1000)
        self.assertIsNone(process.poll())

    def test_and_run_is_killed(self):
        process, pid = self.begin()
        killed = time.time() * 1000
        process.kill()
        until(lambda: time.time() * 1000 > killed + TTL_MS, "the lease is over")
        self.stays_armed(pid)
        self.assertLessEqual(self.device.feeds[-1], killed + TTL_MS - REACH_MS)
        self.assertGreater(self.device.feeds[-1], killed)

    def test_and_the_lock_is_held(self):
        """A lease that is valid is held until all have ended."""
        process, pid = self.begin()
        process.send_signal(signal.SIGTERM)
        end = time.time() * 1000 + 1.2 * TTL_MS
        until(lambda: time.time() * 1000 > end, "it was renewed since")
        self.device.fed_again()
        os.kill(pid, signal.SIGKILL)
        told = self.finish(process).err
        self.assertEqual(told.count("processes of the command cannot be ended"), 1)
        self.disarmed()
        self.assert_free(self.name)

    def test_a_device_that_is_roots(self):
        self.path.chmod(0o600)
        told = self.finish(self.start_as_nobody("exit 0", *self.options()), 70).err
        self.assertIn(f"--watchdog: {self.path}: Permission denied", told)

    def test_and_the_guardian_is_killed(self):
        """The command dies with it. It had started another user's process."""
        process, pid = self.begin(script='(echo $(sh -c "echo \\$PPID") > "$0/daemon"; '
                                         "become sleep 60 >/dev/null 2>&1) & read x", of="daemon")
        os.kill(children(process.pid)[0], signal.SIGKILL)
        self.stays_armed(pid)
        os.kill(pid, signal.SIGKILL)
        self.finish(process, 70)
        self.disarmed()


class Refused(WatchdogCase):
    """Before a lock is asked for: there are no masters."""

    def refused(self, says, *options, status=64, command="run"):
        told = self.redlock("--nodes", "127.0.0.1:1", command, *options, self.name, "--", "true",
                            status=status).err
        self.assertIn(says, told)
        self.assertEqual(self.device.bytes, "")

    def test_wrong_use(self):
        pipe = ("--watchdog", str(self.path))
        self.refused("--watchdog-timeout goes with --watchdog", "--watchdog-timeout", "2s")
        self.refused("--watchdog: the path is empty", "--watchdog", "")
        self.refused("a pipe cannot be asked for its timeout: add --watchdog-timeout D", *pipe)
        for timeout, shown in ("2500ms", "2.5 s"), ("1s", "1.0 s"):
            self.refused(f"{shown} is not a number of whole seconds from 2 on", *pipe, "--watchdog-timeout",
                         timeout)
        self.refused("give one of them", *self.options(), "--leave-children")
        self.refused("give one of them", *self.options(), "--leave-children", command="elect")
        self.assertIn("takes no --watchdog",
                      self.redlock("lock", "--watchdog", "x", self.name, status=64).err)

    def test_a_lease_that_is_too_short(self):
        self.refused("--ttl 5.0 s leaves no time for a watchdog: even its shortest timeout, 2 s, needs --ttl "
                     "5800ms", "--watchdog", str(self.path), "--ttl", "5s")
        self.refused("--watchdog-timeout 5.0 s is too long for --ttl 10.0 s, which has room for 4 s: use a "
                     "shorter timeout, or --ttl 11000ms (and --max-ttl)",
                     "--watchdog", str(self.path), "--watchdog-timeout", "5s")

    def test_a_margin_that_does_not_fit(self):
        for margin in ("3289ms", "5735ms"):
            self.refused("does not fit a watchdog with --ttl 10.0 s: give 3290ms to 5734ms, or leave it out",
                         *self.options("--margin", margin))

    def test_no_device(self):
        plain = self.tmp / "plain"
        plain.touch()
        self.refused("is no device, and no pipe", "--watchdog", str(plain), status=70)
        self.refused("No such file or directory", "--watchdog", str(self.tmp / "none"), status=70)
        self.assertEqual(plain.read_text(), "")


class Ioctls(WatchdogCase, ClusterCase):
    """A library that is loaded before the C library answers the ioctls; the feeds come out of a terminal. No
    test knows a real device."""
    masters = 3

    def setUp(self):
        super().setUp()
        ours, theirs = pty.openpty()
        tty.setraw(theirs, termios.TCSANOW)
        self.addCleanup(os.close, theirs)
        self.path = os.ttyname(theirs)
        self.device = self.opened(ours)
        self.asked = self.tmp / "asked"
        self.library = self.tmp / "device.so"
        source = Path(__file__).with_name("watchdog_device.c")
        subprocess.run([os.environ.get("CC", "cc"), "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", self.library,
                        source, "-ldl"], check=True)

    def env_of(self, seconds, most=None, options=MAGIC_CLOSE | CAN_SET, **more):
        if most:
            more["WATCHDOG_MOST"] = str(most)
        return self.env(LD_PRELOAD=str(self.library), WATCHDOG_SECONDS=str(seconds),
                        WATCHDOG_OPTIONS=str(options), WATCHDOG_ASKED=str(self.asked), **more)

    def run_with(self, env, *options, status=0):
        return self.redlock("run", "--ttl", "10s", "--watchdog", self.path, *options, self.name, "--",
                            "sleep", "1.2", env=env, status=status).err

    def was_asked(self):
        return self.asked.read_text().splitlines() if self.asked.exists() else []

    def fed_and_disarmed(self):
        until(lambda: self.device.is_disarmed, "it is disarmed")
        self.assertRegex(self.device.bytes, r"^\.{3,}V$")

    def test_a_timeout_that_fits_is_left(self):
        self.assertEqual(self.run_with(self.env_of(3, most=100)), "")
        self.assertEqual(self.was_asked(), ["SETOPTIONS 1"])
        self.fed_and_disarmed()

    def test_a_longer_one_is_set(self):
        self.assertEqual(self.run_with(self.env_of(60, most=100)), "")
        self.assertEqual(self.was_asked(), ["SETTIMEOUT 4", "SETOPTIONS 1"])
        self.fed_and_disarmed()

    def test_one_that_is_wanted_is_set(self):
        self.assertEqual(self.run_with(self.env_of(3, most=100), "--watchdog-timeout", "2s"), "")
        self.assertEqual(self.was_asked(), ["SETTIMEOUT 2", "SETOPTIONS 1"])

    def test_one_that_cannot_be_set(self):
        told = self.run_with(self.env_of(60), status=70)
        self.assertEqual(told, f"redlock: cannot use the watchdog {self.path}: it has a timeout of 60 s, "
                               "which cannot be changed to fit: with --ttl 10.0 s it must be from 2 s to 4 "
                               "s; use --ttl 107900ms (and --max-ttl), or another device\n")
        until(lambda: self.device.bytes == "V", "it is disarmed")
        self.assert_free(self.name)

    def test_one_that_is_not_told(self):
        told = self.run_with(self.env_of(0), status=70)
        self.assertIn("it does not tell its timeout (WDIOC_GETTIMEOUT): use another device", told)
        self.assert_free(self.name)

    def test_a_driver_without_magic_close(self):
        told = self.run_with(self.env_of(3, options=CAN_SET))
        self.assertEqual(told, "redlock: the driver of the watchdog has no magic close: if this process and "
                               "the guardian are killed, it may not reset this machine\n")

    def test_a_device_that_cannot_be_stopped(self):
        told = self.run_with(self.env_of(3, WATCHDOG_STUCK="1"))
        self.assertEqual(told, f"redlock: the watchdog {self.path} cannot be stopped (nowayout): this "
                               "machine is reset within 3 s, unless another program feeds it\n")

    def test_a_device_that_is_in_use(self):
        told = self.run_with(self.env_of(3, WATCHDOG_BUSY="1"), status=70)
        self.assertEqual(told, f"redlock: cannot use the watchdog {self.path}: it is in use: only one "
                               "process can feed it, such as another `redlock run`, watchdogd, or systemd "
                               "with RuntimeWatchdogSec=\n")
        self.assertEqual(self.device.bytes, "")
        self.assert_free(self.name)

    def test_a_device_that_is_no_watchdog(self):
        told = self.run_with(self.env(), status=70)
        self.assertEqual(told, f"redlock: cannot use the watchdog {self.path}: it is no watchdog: it does "
                               "not answer WDIOC_GETSUPPORT (Inappropriate ioctl for device)\n")
        self.assertEqual(self.device.bytes, "")
        self.assert_free(self.name)
