"""A Redis hash guarded by examples/fenced/fenced_set.lua, on a server of its own."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from fences import (FENCE, FENCED, GARBAGE, LARGEST, NEWER, OLDER, at_once, hands, newest,
                    steps_back)
from harness import DEADLINE, environment, until

SCRIPT = (FENCED / "fenced_set.lua").read_text()


class Server:
    """Without a port.  Its append-only file tells every write, in the order of writing."""

    def __init__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="redlock-fence-"))
        self.socket = str(self.dir / "socket")
        self.process = subprocess.Popen(
            [os.environ.get("REDLOCK_SERVER") or "redis-server", "--port", "0", "--unixsocket", self.socket,
             "--dir", str(self.dir),
             "--save", "", "--appendonly", "yes", "--appendfsync", "no",
             "--auto-aof-rewrite-percentage", "0", "--aof-use-rdb-preamble", "no"],
            env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            until(self.answers, "redis-server answers")
            self.sha = self.call("SCRIPT", "LOAD", SCRIPT)
        except BaseException:
            self.stop()
            raise

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError(f"redis-server ended with {self.process.returncode}")
        return Path(self.socket).exists() and self.call("PING") == "PONG"

    def call(self, *arguments):
        return self.calls([arguments])[0]

    def calls(self, commands):
        """One connection, one line of reply for each command.  (After an error redis-cli writes an
        empty one too.)"""
        def quoted(argument):
            text = str(argument).encode()
            return '"' + "".join(f"\\x{byte:02x}" for byte in text) + '"'
        lines = "".join(" ".join(map(quoted, command)) + "\n" for command in commands)
        done = subprocess.run(["redis-cli", "-s", self.socket], input=lines, env=environment(),
                              text=True, stdout=subprocess.PIPE, timeout=DEADLINE)
        return [line for line in done.stdout.split("\n")[:-1] if line] or [""]

    def fenced_set(self, key, fence, *fields):
        return self.call("EVALSHA", self.sha, 1, key, fence, *fields)

    def written(self, key, field):
        """Every value that the field ever had, in order."""
        values = []
        for path in sorted(self.dir.glob("**/*.aof")):
            for command in commands(path.read_bytes()):
                if command[0].upper() in (b"HSET", b"HMSET") and command[1] == key.encode():
                    pairs = dict(zip(command[2::2], command[3::2]))
                    values += [int(pairs[field.encode()])] if field.encode() in pairs else []
        return values

    def stop(self):
        self.process.terminate()
        self.process.wait(DEADLINE)
        shutil.rmtree(self.dir)


def commands(data):
    """The commands of an append-only file: arrays of bulk strings."""
    at = 0

    def line():
        nonlocal at
        end = data.index(b"\r\n", at)
        text, at = data[at:end], end + 2
        return text

    while at < len(data):
        command = []
        for _ in range(int(line()[1:])):
            length = int(line()[1:])
            command.append(data[at:at + length])
            at += length + 2
        yield command


class FencedSet(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        self.key = self.id().rsplit(".", 1)[1]

    def set(self, fence, *fields):
        return self.server.fenced_set(self.key, fence, *fields)

    def get(self, field="value"):
        return self.server.call("HGET", self.key, field)

    def assert_fenced(self, reply, by):
        self.assertEqual(reply, f"FENCED a newer holder has been here, with fence {by}")

    def test_first_write(self):
        self.assertEqual(self.set(FENCE, "value", "a", "other", "b"), "OK")
        self.assertEqual([self.get(), self.get("other")], ["a", "b"])
        self.assertEqual(self.get("fence"), str(FENCE))

    def test_delayed_writer_is_refused(self):
        self.set(OLDER, "value", "of the older")
        self.set(FENCE, "value", "of the newer")
        self.assert_fenced(self.set(OLDER, "value", "late"), FENCE)
        self.assertEqual(self.get(), "of the newer")
        self.assertEqual(self.get("fence"), str(FENCE))
        self.assertEqual(self.set(NEWER, "value", "of the newest"), "OK")

    def test_same_holder_writes_again(self):
        for value in ("1", "2", "3"):
            self.assertEqual(self.set(FENCE, "value", value), "OK")
            self.assertEqual(self.get(), value)

    def test_claim_keeps_older_holders_out(self):
        self.set(OLDER, "value", "10")
        self.assertEqual(self.set(FENCE), "OK")
        self.assertEqual(self.get(), "10")
        self.assert_fenced(self.set(OLDER, "value", "11"), FENCE)
        self.assertEqual(self.set(FENCE, "value", "12"), "OK")

    def test_largest_fences_are_told_apart(self):
        self.assertEqual(self.set(LARGEST - 1, "value", "a"), "OK")
        self.assertEqual(self.set(LARGEST, "value", "b"), "OK")
        self.assertEqual(self.get("fence"), str(LARGEST))
        self.assert_fenced(self.set(LARGEST - 1, "value", "c"), LARGEST)

    def test_more_digits_is_larger(self):
        self.assertEqual(self.set(9, "value", "a"), "OK")
        self.assertEqual(self.set(10, "value", "b"), "OK")
        self.assert_fenced(self.set(9, "value", "c"), 10)

    def test_garbage_is_refused(self):
        for fence in GARBAGE:
            with self.subTest(fence=fence):
                self.assertIn("ERR fence must be an integer from 1 to 9007199254740991",
                              self.set(fence, "value", "a"))
                self.assertEqual(self.server.call("EXISTS", self.key), "0")
        without = self.server.call("EVALSHA", self.server.sha, 1, self.key)
        self.assertIn("ERR fence must be", without)

    def test_fields_that_cannot_be_written(self):
        self.assertIn("ERR a field without a value", self.set(FENCE, "value"))
        self.assertIn('ERR the field "fence" is kept', self.set(FENCE, "value", "a", "fence", "1"))
        self.assertEqual(self.server.call("EXISTS", self.key), "0")

    def test_damaged_fence_lets_nobody_in(self):
        for damaged in ("", "abc", "1.7850000001235e+15"):
            with self.subTest(damaged=damaged):
                self.server.call("HSET", self.key, "fence", damaged, "value", "a")
                self.assertIn("is not a fence", self.set(LARGEST, "value", "b"))
                self.assertEqual(self.get(), "a")

    def test_other_types_are_left_alone(self):
        self.server.call("SET", self.key, "a")
        self.assertIn("WRONGTYPE", self.set(FENCE, "value", "b"))
        self.assertEqual(self.server.call("GET", self.key), "a")

    def test_concurrent_writers_never_go_back(self):
        dealt = hands(writers=4, each=500)

        def write(hand):
            replies = self.server.calls([("EVALSHA", self.server.sha, 1, self.key, fence,
                                          "value", fence) for fence in hand])
            self.assertEqual(len(replies), len(hand))
            for reply in replies:
                self.assertRegex(reply, r"^(OK|FENCED .* with fence \d{16})$")

        at_once(write, dealt)
        self.assertEqual(self.get(), str(newest(dealt)))
        for field in ("value", "fence"):
            written = self.server.written(self.key, field)
            self.assertGreater(len(written), 1)
            self.assertEqual(written[-1], newest(dealt))
            self.assertEqual(steps_back(written), [])


if __name__ == "__main__":
    unittest.main()
