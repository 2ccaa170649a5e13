"""examples/blocking.c and examples/threads.cpp: locks in threads that wait."""

import os
import subprocess
from pathlib import Path

from harness import DEADLINE, REDLOCK, ClusterCase

BLOCKING = str(Path(REDLOCK).with_name("example_blocking"))
THREADS = str(Path(REDLOCK).with_name("example_threads"))


class Examples(ClusterCase):
    def run_it(self, program, **more):
        if not os.path.exists(program):
            self.skipTest(f"{program} is not built")
        done = subprocess.run([program], env=self.env(**{"REDLOCK_NODES": self.cluster.nodes, **more}),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=DEADLINE)
        return done.returncode, done.stdout, done.stderr

    def test_a_thread_takes_ten_steps(self):
        status, out, err = self.run_it(BLOCKING)
        self.assertEqual((status, err), (0, ""), out)
        self.assertEqual(out.count(" to go, valid for "), 10)
        self.assert_free("ten-steps")

    def test_threads_add_one_after_the_other(self):
        self.assertEqual(self.run_it(THREADS), (0, "12\n", ""))
        self.assert_free("number")

    def test_they_say_what_is_wrong(self):
        for program in BLOCKING, THREADS:
            with self.subTest(program):
                status, _, err = self.run_it(program, REDLOCK_NODES="rubbish://x")
                self.assertEqual(status, 1)
                self.assertIn("rubbish", err)
