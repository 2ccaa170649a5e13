"""redlock barrier: who passes, who leaves, and what each is told."""

import json
import signal
import unittest

from harness import ClusterCase, until


class Barrier(ClusterCase):
    def arrive(self, *options, parties=2, name=None):
        return self.spawn("barrier", "--parties", str(parties), *options, name or self.name)

    def counted(self, generation=0):
        """The number of parties on each master."""
        return [int(self.cluster.cli(i + 1, "ZCOUNT", f"redlock:barrier:{generation}:{self.name}", "1",
                                     "(+inf")) for i in range(self.masters)]

    def all_count(self, parties, generation=0):
        until(lambda: self.counted(generation) == [parties] * self.masters,
              f"{parties} parties are on all masters")

    def test_all_pass_together(self):
        for generation in (1, 2):
            first = [self.arrive("--generation", str(generation), parties=4) for _ in range(3)]
            self.all_count(3, generation)
            self.assertEqual([job.poll() for job in first], [None] * 3)
            self.redlock("barrier", "--parties", "4", "--generation", str(generation), self.name,
                         status=0)
            for job in first:
                result = self.finish(job, 0)
                self.assertEqual((result.out, result.err), ("", ""))

    def test_the_document(self):
        told = self.redlock("barrier", "--json", "--parties", "1", "--generation", "7", self.name,
                            status=0).json
        self.assertEqual((told["ok"], told["code"], told["name"], told["generation"]),
                         (True, "REDLOCK_OK", self.name, 7))
        self.assertEqual((told["passed"], told["undecided"], told["parties"], told["arrived"]),
                         (True, False, 1, 1))
        told = self.redlock("barrier", "--json", "--parties", "2", "--wait", "0", self.name,
                            status=75).json
        self.assertEqual((told["ok"], told["code"], told["passed"], told["undecided"]),
                         (False, "REDLOCK_E_NOT_PASSED", False, False))
        self.assertTrue(told["token"])

    def test_time_is_over(self):
        result = self.redlock("barrier", "--parties", "3", "--wait", "200ms", self.name, status=75)
        self.assertEqual(result.err, f"redlock: {self.name}: not passed: 1 of 3 parties arrived\n")
        self.all_count(0)

    def test_a_signal_leaves(self):
        job = self.arrive()
        self.all_count(1)
        job.send_signal(signal.SIGTERM)
        result = self.finish(job, 128 + signal.SIGTERM)
        self.assertIn("not passed: 1 of 2 parties arrived", result.err)
        self.all_count(0)
        job = self.arrive("--json")
        self.all_count(1)
        job.send_signal(signal.SIGINT)
        told = json.loads(self.finish(job, 128 + signal.SIGINT).out)
        self.assertEqual(told["code"], "REDLOCK_E_CANCELLED")

    def test_a_message_does_not_end_it(self):
        job = self.arrive()
        self.all_count(1)
        job.send_signal(signal.SIGWINCH)
        self.redlock("barrier", "--parties", "2", self.name, status=0)
        self.finish(job, 0)

    def test_who_is_killed_is_not_counted_for_long(self):
        job = self.arrive("--ttl", "1s")
        self.all_count(1)
        job.kill()
        job.wait()
        self.all_count(0)
        result = self.redlock("barrier", "--parties", "2", "--wait", "0", self.name, status=75)
        self.assertIn("1 of 2 parties", result.err)

    def test_another_number(self):
        job = self.arrive()
        self.all_count(1)
        result = self.redlock("barrier", "--parties", "3", self.name, status=75)
        self.assertIn("others wait for 2 parties, not for 3", result.err)
        self.redlock("barrier", "--parties", "2", self.name, status=0)
        self.finish(job, 0)

    def test_two_processes_with_one_token_are_one_party(self):
        jobs = [self.arrive("--token", "mine") for _ in range(2)]
        self.all_count(1)
        self.redlock("barrier", "--parties", "2", self.name, status=0)
        for job in jobs:
            self.finish(job, 0)

    def test_who_comes_back_is_undecided_or_passes(self):
        again = ("barrier", "--parties", "2", "--token", "mine")
        result = self.redlock(*again, "--wait", "0", self.name, status=69)
        self.assertIn("come back with --token mine", result.err)
        job = self.arrive()
        self.redlock(*again, self.name, status=0)
        self.finish(job, 0)

    def test_what_is_refused(self):
        for arguments, says in ((("--parties", "0", "a"), "'0' is not a number from 1 to 256"),
                                (("--parties", "257", "a"), "from 1 to 256"),
                                (("--parties", "2x", "a"), "'2x' is not a number"),
                                (("a",), "--parties is missing"),
                                (("--parties", "2"), "no name given"),
                                (("--parties", "2", "a", "b"), "a barrier has one name, not 2"),
                                (("--parties", "2", "--generation", "-1", "a"), "from 0 to"),
                                (("--parties", "2", "--token", "two words", "a"), "without spaces"),
                                (("--parties", "2", "--ttl", "1h", "a"), "above --max-ttl")):
            self.assertIn(says, self.redlock("barrier", *arguments, status=64).err)

    def test_no_masters(self):
        result = self.redlock("barrier", "--parties", "2", "--wait", "0", "--nodes",
                              "redis://127.0.0.1:1", self.name, status=69)
        self.assertIn("not passed: 0 of 1 masters answered", result.err)


if __name__ == "__main__":
    unittest.main()
