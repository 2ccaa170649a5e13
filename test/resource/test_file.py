"""A file guarded by examples/fenced/fenced-write."""

import fcntl
import os
import shutil
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from fences import (FENCE, FENCED, GARBAGE, LARGEST, NEWER, OLDER, at_once, hands, newest,
                    steps_back)
from harness import DEADLINE, until

FENCED_WRITE = str(FENCED / "fenced-write")
WRITTEN, TROUBLE, NO_FENCE, REFUSED = 0, 1, 64, 76


class FencedWrite(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="redlock-fence-"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.file = self.dir / "a file"

    def start(self, fence):
        writer = subprocess.Popen([FENCED_WRITE, str(self.file), str(fence)], text=True,
                                  stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end, writer)
        return writer

    @staticmethod
    def end(writer):
        if writer.poll() is None:
            writer.kill()
        writer.wait(DEADLINE)
        writer.stdin.close()
        writer.stderr.close()

    def write(self, fence, text):
        writer = self.start(fence)
        self.told = writer.communicate(text, DEADLINE)[1]
        return writer.returncode

    def kept(self, of=""):
        return self.file.with_name(self.file.name + of).read_text()

    def names(self):
        return sorted(path.name for path in self.dir.iterdir())

    def test_first_write(self):
        self.assertEqual(self.write(FENCE, "a\nb"), WRITTEN)
        self.assertEqual(self.kept(), "a\nb")
        self.assertEqual(self.kept(".fence"), f"{FENCE}\n")
        self.assertEqual(self.names(), ["a file", "a file.fence", "a file.lock"])

    def test_delayed_writer_is_refused(self):
        delayed = self.start(OLDER)
        delayed.stdin.write("of the older")
        delayed.stdin.flush()
        until(lambda: any(".new." in name for name in self.names()), "the older one has begun")
        self.assertEqual(self.write(FENCE, "of the newer"), WRITTEN)
        told = delayed.communicate(" one, late", DEADLINE)[1]
        self.assertEqual(delayed.returncode, REFUSED)
        self.assertIn(f"a newer holder has been here, with fence {FENCE}", told)
        self.assertEqual(self.kept(), "of the newer")
        self.assertEqual(self.names(), ["a file", "a file.fence", "a file.lock"])
        self.assertEqual(self.write(NEWER, "of the newest"), WRITTEN)

    def test_same_holder_writes_again(self):
        for text in ("1", "2", ""):
            self.assertEqual(self.write(FENCE, text), WRITTEN)
            self.assertEqual(self.kept(), text)

    def test_largest_fences_are_told_apart(self):
        self.assertEqual(self.write(LARGEST - 1, "a"), WRITTEN)
        self.assertEqual(self.write(LARGEST, "b"), WRITTEN)
        self.assertEqual(self.write(LARGEST - 1, "c"), REFUSED)
        self.assertEqual(self.kept(), "b")

    def test_more_digits_is_larger(self):
        self.assertEqual(self.write(9, "a"), WRITTEN)
        self.assertEqual(self.write(10, "b"), WRITTEN)
        self.assertEqual(self.write(9, "c"), REFUSED)

    def test_garbage_is_refused(self):
        for fence in GARBAGE:
            with self.subTest(fence=fence):
                self.assertEqual(self.write(fence, "a"), NO_FENCE)
                self.assertIn(f"not a fence: '{fence}'", self.told)
                self.assertEqual(self.names(), [])

    def test_damaged_fence_lets_nobody_in(self):
        for damaged in ("", "abc\n", "1.7850000001235e+15\n"):
            with self.subTest(damaged=damaged):
                self.write(FENCE, "a")
                (self.dir / "a file.fence").write_text(damaged)
                self.assertEqual(self.write(LARGEST, "b"), TROUBLE)
                self.assertIn("is damaged", self.told)
                self.assertEqual(self.kept(), "a")
                (self.dir / "a file.fence").unlink()

    def test_nobody_comes_between_check_and_write(self):
        self.write(OLDER, "of the oldest")
        with (self.dir / "a file.lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            inode = os.fstat(lock.fileno()).st_ino
            waiting = self.start(FENCE)
            waiting.stdin.close()

            def waits():
                self.assertIsNone(waiting.poll(), "it did not wait")
                return any("->" in line and f":{inode} " in line
                           for line in Path("/proc/locks").read_text().splitlines())

            until(waits, "the writer waits for its turn")
            self.assertEqual(self.kept(), "of the oldest")
            (self.dir / "a file.fence").write_text(f"{NEWER}\n")
        self.assertEqual(waiting.wait(DEADLINE), REFUSED)
        self.assertEqual(self.kept(), "of the oldest")

    def test_concurrent_writers_never_go_back(self):
        dealt = hands(writers=4, each=15)
        seen, done = [], threading.Event()

        def look():
            while not done.is_set():
                if self.file.exists():
                    seen.append(int(self.kept()))

        def write(hand):
            for fence in hand:
                writer = self.start(fence)
                writer.communicate(str(fence), DEADLINE)
                self.assertIn(writer.returncode, (WRITTEN, REFUSED))

        reader = threading.Thread(target=look)
        reader.start()
        try:
            at_once(write, dealt)
        finally:
            done.set()
            reader.join()
        self.assertEqual(self.kept(), str(newest(dealt)))
        self.assertEqual(self.kept(".fence"), f"{newest(dealt)}\n")
        self.assertGreater(len(set(seen)), 1)
        self.assertEqual(steps_back(seen), [])


if __name__ == "__main__":
    unittest.main()
