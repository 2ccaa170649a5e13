"""`redlock run` in the command of a `redlock run` for the same lock."""

import os
import signal

from harness import REDLOCK, ClusterCase, until


class Nested(ClusterCase):
    masters = 3

    def nested(self, inner, *outer, status, names=None, **more):
        """In the command of an outer `run`: a shell gets the inner one as "$@"."""
        script = '"$@"; echo "inner $?"'
        return self.redlock("run", *outer, *(names or [self.name]), "--", "sh", "-c", script, "sh", REDLOCK,
                            *self.patience, *inner, status=status, **more)

    def test_it_does_not_wait_for_itself(self):
        for outer, inner in (([], []), ([], ["--wait", "forever"]), ([], ["--shared"]), (["--shared"], [])):
            with self.subTest(outer=outer, inner=inner):
                told = self.nested(["run", *inner, self.name, "--", "echo", "ran"], *outer, status=0)
                self.assertEqual(told.out, "inner 75\n")
                self.assertIn(f"cannot lock '{self.name}': the `redlock run` that started this command has "
                              "it", told.err)

    def test_it_joins(self):
        script = 'echo "$REDLOCK_TOKEN"'
        told = self.redlock("run", "--fence", self.name, "--", "sh", "-c",
                            f'{script}; "$@"', "sh", REDLOCK, *self.patience, "run", "--reentrant",
                            self.name, "--", "sh", "-c", f'{script}; exit 7', status=7)
        outer, inner = told.out.split()
        self.assertEqual(outer, inner)
        self.assertEqual(told.err, "")
        self.assert_free(self.name)

    def test_a_program_that_cannot_be_executed(self):
        told = self.nested(["run", "--reentrant", self.name, "--", "/nowhere"], status=0)
        self.assertEqual(told.out, "inner 127\n")
        self.assertIn("cannot execute /nowhere: No such file", told.err)

    def test_no_part_of_the_names(self):
        told = self.nested(["run", "--reentrant", self.name, "other", "--", "true"], status=0)
        self.assertEqual(told.out, "inner 75\n")
        self.assertIn("has only a part of the names", told.err)

    def test_others_are_taken_as_usual(self):
        self.assertEqual(self.nested(["run", "--reentrant", "other", "--", "true"], status=0).out,
                         "inner 0\n")
        self.assertEqual(self.nested(["run", "--shared", self.name, "--", "true"], "--shared",
                                     status=0).out, "inner 0\n")
        self.assertEqual(self.nested(["run", "--prefix", "p", self.name, "--", "true"], status=0).out,
                         "inner 0\n")

    def test_an_environment_that_is_old(self):
        env = self.env(REDLOCK_NAMES=self.name, REDLOCK_TOKEN="AAAAAAAAAAAAAAAAAAAAAA:x")
        self.redlock("run", self.name, "--", "true", env=env, status=0)
        self.lock("--ttl", "20s", self.name)
        told = self.redlock("run", self.name, "--", "true", env=env, status=75).err
        self.assertNotIn("started this command", told)

    def test_a_joined_command_has_the_usual_signals(self):
        pid = self.tmp / "pid"
        process = self.spawn("run", self.name, "--", REDLOCK, *self.patience, "run", "--reentrant", self.name,
                             "--", "sh", "-c", 'echo $$ > "$0"; exec sleep 60', str(pid))
        until(lambda: pid.exists() and pid.read_text().strip(), "it runs")
        with open(f"/proc/{pid.read_text().strip()}/status", encoding="ascii") as status:
            masks = dict(line.split(":\t") for line in status if line.startswith("Sig"))
        self.assertEqual(int(masks["SigBlk"], 16), 0)
        os.kill(process.pid, signal.SIGTERM)
        self.finish(process, 128 + signal.SIGTERM)
