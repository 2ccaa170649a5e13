"""A broken client is found out, and a sound one is not."""

import os
import subprocess
import tempfile
import unittest

from test_runner import chaos

CHANGE_S = 200  # one master is replaced; if things go wrong a step takes two minutes


class Broken(unittest.TestCase):
    """A client that counts no quorum, and one that has every name shared. These runs have no waiters:
    a queue would hand the name from one to the next, and leave few chances for two holders. So a second
    has some hundred violations."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.broken = {mutant: os.path.join(folder.name, mutant)
                      for mutant in ("QUORUM_HALF", "MODES_IGNORED", "FORMER_RELEASES")}
        for mutant, path in cls.broken.items():
            subprocess.run(["bash", os.environ["REDLOCK_CHAOS_MUTANTS"], "--build", mutant, path], check=True)

    def tries(self, *more, **env):
        with tempfile.TemporaryDirectory() as folder:
            return chaos("tries", "--seconds", "1", "--seed", "1", *more,
                         env={**os.environ, "TMPDIR": folder, **env})

    def is_condemned(self, mutant, *more):
        done = self.tries(*more, REDLOCK_CHAOS_WORKER=self.broken[mutant])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, "violations .* fence")
        self.assertRegex(done.stdout, "violations .* overlap")
        self.assertIn("the run is in", done.stderr)

    def test_one_without_a_quorum(self):
        self.is_condemned("QUORUM_HALF")

    def test_one_without_a_quorum_whose_leases_are_permits(self):
        self.is_condemned("QUORUM_HALF", "--permits", "2")

    def test_one_that_ignores_modes(self):
        self.is_condemned("MODES_IGNORED", "--readers", "50")

    def test_one_whose_former_client_gives_back_what_has_moved(self):
        with tempfile.TemporaryDirectory() as folder:
            done = chaos("change", "--seconds", "16", "--seed", "1", timeout=CHANGE_S,
                         env={**os.environ, "TMPDIR": folder,
                              "REDLOCK_CHAOS_WORKER": self.broken["FORMER_RELEASES"]})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, "violations .* overlap")

    def test_the_sound_one_is_not(self):
        done = self.tries()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
