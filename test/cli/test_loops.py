"""examples/loops: a lease on other event loops, by the descriptor that the client shows."""

import re
import subprocess
import sys
from pathlib import Path

from harness import DEADLINE, REDLOCK, ROOT, ClusterCase

FOLDER = ROOT / "examples" / "loops"
LIBRARY = Path(REDLOCK).parent.parent / "lib" / "libredlock.so"
MOST_LINES = 80


def command_of(source):
    """How to run the example; None: it was not built."""
    if source.suffix == ".py":
        return [sys.executable, str(source)] if LIBRARY.exists() else None
    program = Path(REDLOCK).with_name("example_loop_" + source.stem)
    return [str(program)] if program.exists() else None


class Loops(ClusterCase):
    def start(self, command, **more):
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=self.env(**{"REDLOCK_NODES": self.cluster.nodes, "REDLOCK_LIBRARY": str(LIBRARY), **more}))
        self.addCleanup(self.end, process)
        return process

    def run_it(self, command):
        process = self.start(command)
        out, err = process.communicate(timeout=DEADLINE)
        return process.returncode, out, err

    def each(self, check):
        for source in sorted(FOLDER.iterdir()):
            with self.subTest(source.name):
                command = command_of(source)
                if not command:
                    self.skipTest(f"{source.name} is not built")
                check(command)

    def test_they_are_short(self):
        names = set()
        for source in FOLDER.iterdir():
            names.add(source.name)
            self.assertLessEqual(len(source.read_text().splitlines()), MOST_LINES, source)
        self.assertEqual(names, {"poll.c", "libuv.c", "libevent.c", "glib.c", "sd-event.c",
                                 "asio.cpp", "asyncio_ctypes.py"})

    def works(self, command):
        status, out, err = self.run_it(command)
        lines = out.splitlines()
        self.assertEqual((status, err), (0, ""), out)
        self.assertRegex(lines[0], "^acquired")
        # Slow masters may add reports in between.
        self.assertEqual(re.findall(r"^\d+ to go", out, re.MULTILINE),
                         [f"{left} to go" for left in range(10, 0, -1)])
        self.assertRegex(lines[-1], "^released")

    def test_they_work(self):
        self.each(self.works)

    def is_refused(self, command):
        status, out, _ = self.run_it(command)
        self.assertEqual(status, 1)
        self.assertRegex(out, "^not acquired[^\n]*\n$")

    def test_they_are_refused(self):
        self.cluster.each_cli("SET", "ten-steps", "another", "PX", "60000")
        self.each(self.is_refused)
        self.cluster.each_cli("DEL", "ten-steps")

    def says_what_is_wrong(self, command):
        process = self.start(command, REDLOCK_NODES="rubbish://x")
        _, err = process.communicate(timeout=DEADLINE)
        self.assertEqual(process.returncode, 1)
        self.assertIn("rubbish", err)

    def test_they_say_what_is_wrong(self):
        self.each(self.says_what_is_wrong)
