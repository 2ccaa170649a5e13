"""The runner lists what it can do, refuses all else, and leaves no process or file behind."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from chaos import network
from chaos.masters import Server
from chaos.redis import encode

ROOT = Path(__file__).resolve().parents[2]
CHAOS = [sys.executable, "-B", str(ROOT / "cluster-scripts" / "chaos")]
PATIENCE_S = 30


def chaos(*words, timeout=PATIENCE_S, **more):
    return subprocess.run([*CHAOS, *words], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=timeout, check=False, **more)


def processes_with(text):
    """Processes whose command line or folder names it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if text in os.readlink(process / "cwd") or \
                    text.encode() in (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


class Usage(unittest.TestCase):
    def refused(self, text, *words):
        done = chaos(*words)
        self.assertEqual(done.returncode, 64, done.stderr)
        self.assertIn(text, done.stderr)

    def test_misuse(self):
        self.refused("which profile")
        self.refused("no profile sleepy", "sleepy")
        self.refused("--masters takes 3 to 9", "calm", "--masters", "1")
        self.refused("--readers takes 0 to 100", "calm", "--readers", "101")
        self.refused("--hold takes 0 to", "calm", "--hold", "-1")
        self.refused("--permits takes 1 to 1024", "calm", "--permits", "0")
        self.refused("times --names", "calm", "--permits", "1024", "--names", "2")
        self.refused("--least-use takes 0 to 100", "calm", "--permits", "3", "--least-use", "101")
        for option in ("--fewer", "--whole", "--least-use"):
            self.refused(f"{option} is about permits", "calm", option, "10")
        self.refused("odd number", "calm", "--masters", "4")
        self.refused("--seconds", "calm", "--seconds", "long")
        self.refused("five", "moving", "--masters", "3")
        self.refused("five", "recipes", "--masters", "3")
        self.refused("--unheard-of", "calm", "--unheard-of")
        self.refused("no program that can be run", "calm", "--server", "/nowhere/redis-server")
        self.refused("cannot be written", "calm", "--picture", "/nowhere/run.svg")

    def test_help_and_list(self):
        self.assertIn("--seed", chaos("--help").stdout)
        listed = chaos("--list").stdout
        for word in ("quick", "moving", "rolled-back", "stopped", "half-cut"):
            self.assertIn(f"\n  {word} ", listed)

    def test_no_namespaces_is_no_failure(self):
        done = chaos("cut", env={**os.environ, "PATH": "/nowhere"})
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn("skipped: cut: ip is not installed", done.stderr)


class Small(unittest.TestCase):
    def test_it_draws_two_deaths_and_a_handover(self):
        with tempfile.TemporaryDirectory() as folder:
            drawn = Path(folder) / "small.svg"
            done = chaos("small", "--seed", "4", "--picture", str(drawn))
            self.assertEqual(done.returncode, 0, done.stderr)
            told = drawn.read_text()
        self.assertEqual(told.count(": crashed (fault"), 2)
        for words in ("held by worker 1", "held by worker 2", "the lock", "no violations"):
            self.assertIn(f">{words}<", told)


class Masters(unittest.TestCase):
    """Other users of this machine are kept out."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.server = Server("master-1", Path(folder.name) / "master-1")
        self.addCleanup(lambda: self.server.process.kill())
        self.server.first_start()

    def ask(self, *words):
        with socket.create_connection((self.server.host, self.server.port), PATIENCE_S) as plain:
            plain.sendall(encode(words))
            return plain.recv(100)

    def test_who_has_no_password_is_refused(self):
        self.assertRegex(self.ask("PING"), b"^-NOAUTH ")
        self.assertRegex(self.ask("AUTH", "guessed"), b"^-WRONGPASS ")
        self.assertEqual(self.ask("AUTH", self.server.password), b"+OK\r\n")
        with self.server.connect() as connection:
            self.assertEqual(connection.do("PING"), "PONG")

    def test_its_password_is_not_shown(self):
        secret = self.server.password
        self.assertEqual(processes_with(secret), [])
        with_it = [path for path in self.server.folder.iterdir()
                   if path.is_file() and secret in path.read_text(errors="replace")]
        self.assertTrue(with_it)
        for path in with_it:
            self.assertEqual(path.parent.stat().st_mode & 0o077, 0)


class Interrupted(unittest.TestCase):
    def ends_in_order(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            with subprocess.Popen([*CHAOS, *words], stdin=subprocess.DEVNULL, text=True,
                                  stderr=subprocess.PIPE,
                                  env={**os.environ, "TMPDIR": folder}) as runner:
                self.await_load(runner, Path(folder))
                self.assert_no_argument_tells_of_passwords(Path(folder))
                runner.send_signal(signal.SIGINT)
                _, said = runner.communicate(timeout=PATIENCE_S)
            self.assertEqual(runner.returncode, 1, said)
            self.assertIn("ended by SIGINT", said)
            self.assertEqual(os.listdir(folder), [])
            self.await_nobody(folder)

    def assert_no_argument_tells_of_passwords(self, folder):
        passwords = [path.read_text() for path in folder.glob("*/*/password")]
        self.assertTrue(passwords)
        for password in passwords:
            self.assertEqual(processes_with(password), [])

    def test_even_a_runner_that_is_killed_leaves_no_process(self):
        with tempfile.TemporaryDirectory() as folder:
            with subprocess.Popen([*CHAOS, "quick"], stdin=subprocess.DEVNULL,
                                  env={**os.environ, "TMPDIR": folder}) as runner:
                self.await_load(runner, Path(folder))
                runner.kill()
            self.await_nobody(folder)

    def await_nobody(self, folder):
        """Grandchildren end with their parents, but a moment later."""
        end = time.monotonic() + PATIENCE_S
        while left := processes_with(folder):
            self.assertLess(time.monotonic(), end, left)
            time.sleep(0.01)

    def await_load(self, runner, folder):
        end = time.monotonic() + PATIENCE_S
        while not [path for path in folder.glob("*/worker-*") if path.stat().st_size]:
            self.assertIsNone(runner.poll())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_on_this_machine(self):
        self.ends_in_order("quick", "--seconds", "30")

    def test_in_namespaces(self):
        if why := network.missing():
            self.skipTest(why)
        self.ends_in_order("cut", "--seconds", "30")


if __name__ == "__main__":
    unittest.main()
