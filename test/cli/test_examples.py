"""examples/blocking.c and threads.cpp: locks in threads that wait; nightly.c: once; batch.c: gives way."""

import os
import subprocess
from pathlib import Path

from harness import DEADLINE, REDLOCK, ClusterCase, until

BLOCKING, THREADS, NIGHTLY, BATCH = (str(Path(REDLOCK).with_name(f"example_{name}"))
                                     for name in ("blocking", "threads", "nightly", "batch"))


class Examples(ClusterCase):
    def run_it(self, program, *arguments, **more):
        if not os.path.exists(program):
            self.skipTest(f"{program} is not built")
        masters = {"REDLOCK_NODES": self.cluster.nodes, **more}
        done = subprocess.run([program, *arguments], env=self.env(**masters), text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=DEADLINE)
        return done.returncode, done.stdout, done.stderr

    def test_a_thread_takes_ten_steps(self):
        status, out, err = self.run_it(BLOCKING)
        self.assertEqual((status, err), (0, ""), out)
        self.assertEqual(out.count(" to go, valid for "), 10)
        self.assert_free("ten-steps")

    def test_threads_add_one_after_the_other(self):
        self.assertEqual(self.run_it(THREADS), (0, "12\n", ""))
        self.assert_free("number")

    def test_one_host_writes_the_report_of_a_night(self):
        wrote, other = self.run_it(NIGHTLY, "tonight"), self.run_it(NIGHTLY, "tonight")
        self.assertEqual((wrote[0], wrote[1].count("of the report")), (0, 3), wrote)
        self.assertRegex(other[1], r"^done by [^ ]+@\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n$")
        self.assertEqual(other[0], 0)
        self.assertEqual(self.run_it(NIGHTLY, "tomorrow")[1].count("of the report"), 3)
        self.assertIn("not known", self.run_it(NIGHTLY, "two words")[2])
        self.assert_free("nightly")

    def gives_way(self, batch):
        """A wish that comes as it begins to listen may be left out."""
        self.redlock("ask", "batch", "--text", "a deployment")
        return batch.poll() is not None

    def test_a_batch_gives_way_to_who_asks(self):
        batch = subprocess.Popen([BATCH], env=self.env(REDLOCK_NODES=self.cluster.nodes), text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end, batch)
        self.assertEqual(batch.stdout.readline(), "begins\n")
        until(lambda: self.gives_way(batch), "it gives way")
        out, err = batch.communicate()
        self.assertRegex(out, r"^[^ ]+ wants the lock: a deployment; \d+ parts are done\n\d+ of 600\n$")
        self.assertEqual((batch.returncode, err), (1, ""))
        self.assert_free("batch")

    def test_they_say_what_is_wrong(self):
        for program in BLOCKING, THREADS, BATCH:
            with self.subTest(program):
                status, _, err = self.run_it(program, REDLOCK_NODES="rubbish://x")
                self.assertEqual(status, 1)
                self.assertIn("rubbish", err)
