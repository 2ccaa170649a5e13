"""redlock barrier: passing and leaving, and the outcome of each party."""
# rule: B7

import json
import signal

from harness import ClusterCase, until


class Barrier(ClusterCase):
    def arrive(self, *options, parties=2, name=None):
        return self.spawn("barrier", "--parties", str(parties), *options, name or self.name)

    def counted_by(self, master, generation=0):
        return int(self.cluster.cli(master, "ZCOUNT", f"redlock:barrier:{generation}:{self.name}", "1",
                                    "(+inf"))

    def counted(self, generation=0):
        """The number of parties on each master."""
        return [self.counted_by(i + 1, generation) for i in range(self.masters)]

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
        told = self.redlock("barrier", "--json", "--parties", "2", "--generation", "8", "--wait", "0",
                            self.name, status=75).json
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
        result = self.terminate(job)
        self.assertIn("not passed: 1 of 2 parties arrived", result.err)
        self.all_count(0)
        job = self.arrive("--json")
        self.all_count(1)
        job.send_signal(signal.SIGINT)
        told = json.loads(self.finish(job, 128 + signal.SIGINT).out)
        self.assertEqual(told["code"], "REDLOCK_E_CANCELLED")

    def test_the_first_signal_is_told(self):
        job = self.arrive("--request-timeout", "20s")
        self.all_count(1)
        self.cluster.pause(*range(1, self.masters))
        job.send_signal(signal.SIGINT)
        until(lambda: self.counted_by(self.masters) == 0, "it leaves")
        job.send_signal(signal.SIGTERM)
        self.cluster.resume(*range(1, self.masters))
        self.finish(job, 128 + signal.SIGINT)

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
        self.assertEqual(result.err,
                         f"redlock: {self.name}: not passed: this generation is for 2 parties, not "
                         "for 3: use the same --parties everywhere, or an unused generation\n")
        quiet = self.redlock("barrier", "-q", "--parties", "3", self.name, status=75)
        self.assertEqual(quiet.err, result.err)
        back = self.redlock("barrier", "-q", "--parties", "3", "--token", "mine", self.name, status=69)
        self.assertIn("undecided, others may have passed: this generation is for 2 parties, not for 3; "
                      "use the same --parties everywhere, and come back with --token mine", back.err)
        self.redlock("barrier", "--parties", "2", self.name, status=0)
        self.finish(job, 0)

    def test_who_comes_back_is_undecided_or_passes(self):
        again = ("barrier", "--parties", "2", "--token", "mine")
        result = self.redlock(*again, "--wait", "0", self.name, status=69)
        self.assertIn("come back with --token mine", result.err)
        told = self.redlock(*again, "--wait", "0", "--json", self.name, status=69).json
        self.assertEqual((told["code"], told["undecided"], told["answered"]),
                         ("REDLOCK_E_UNDECIDED", True, self.masters))
        job = self.arrive()
        self.redlock(*again, self.name, status=0)
        self.finish(job, 0)

    def test_what_is_refused(self):
        for arguments, says in ((("--parties", "0", "a"), "'0' is not a number from 1 to 256"),
                                (("--parties", "257", "a"), "from 1 to 256"),
                                (("--parties", "2x", "a"), "'2x' is not a number"),
                                (("a",), "--parties is missing"),
                                (("--parties", "2"), "no name given"),
                                (("--parties", "2", "a", "b"), "`redlock barrier` takes one name, not 2"),
                                (("--parties", "2", "--generation", "-1", "a"), "from 0 to"),
                                (("--parties", "2", "--token", "two words", "a"), "without spaces"),
                                (("--parties", "2", "--ttl", "1h", "a"), "above --max-ttl"),
                                (("--parties", "2", "--ttl", "3ms", "--max-ttl", "4ms", "a"),
                                 "too short for barriers")):
            self.assertIn(says, self.redlock("barrier", *arguments, status=64).err)

    def test_no_masters(self):
        result = self.redlock("barrier", "--parties", "2", "--wait", "0", "--nodes",
                              "redis://127.0.0.1:1", self.name, status=69)
        self.assertIn("not passed: 0 of 1 masters answered; 127.0.0.1:1: ", result.err)

    def test_who_waits_for_masters_is_told(self):
        said = self.tmp / "said"
        with said.open("w") as file:
            job = self.spawn("barrier", "--parties", "2", "--nodes", "redis://127.0.0.1:1", self.name,
                             stderr=file)
        until(lambda: "still waiting, for too few masters answer: 127.0.0.1:1: " in said.read_text(),
              "it says so")
        self.terminate(job)
        self.assertIn("not passed: 0 of 2 parties arrived; 127.0.0.1:1: ", said.read_text())

    def user(self, name, *rules):
        """The list of masters for a user with these rights."""
        self.cluster.each_cli("ACL", "SETUSER", name, "on", ">pw", "~*", "&*", "+@all", *rules)
        return ",".join(f"redis://{name}:pw@{node}" for node in self.cluster.shown)

    def test_who_may_not_be_told_asks(self):
        nodes = self.user("deaf", "resetkeys", "~redlock:clock", "~redlock:barrier:*", "~redlock:passed:*",
                          f"~{self.name}")
        self.redlock("barrier", "--parties", "1", "--wait", "0", "--nodes", nodes, self.name, status=0)

    def test_who_has_no_rights_is_told(self):
        arguments = ("--parties", "1", "--wait", "0", "--nodes", self.user("poor", "-zadd"), self.name)
        result = self.redlock("barrier", *arguments, status=69)
        self.assertIn(f"not passed: 0 of {self.masters} masters answered; ", result.err)
        self.assertIn("NOPERM", result.err)
        told = self.redlock("barrier", "--json", *arguments, status=69).json
        self.assertIn("NOPERM", told["text"])
        self.assertEqual((told["undecided"], told["answered"]), (False, 0))


class Sleeper(ClusterCase):
    """Masters that know of no max_ttl above four seconds forget a party after eight."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.each_cli("HSET", "redlock:clock", "m", "4000")  # they were adopted with a longer one

    def barrier(self, generation, *options, parties="2"):
        return ("barrier", "--parties", parties, "--generation", str(generation), "--max-ttl", "4s", "--ttl",
                "3s", *options, self.name)

    def sets(self, generation):
        return list(map(int, self.cluster.each_cli("EXISTS", f"redlock:barrier:{generation}:{self.name}")))

    def forgotten(self, generation):
        until(lambda: not any(self.sets(generation)), f"generation {generation} is forgotten")

    def latest(self):
        return self.cluster.each_cli("GET", f"redlock:passed:{self.name}")

    def begin(self, *options):
        """A party that waits at generation 1, on all masters."""
        job = self.spawn(*self.barrier(1, *options))
        until(lambda: set(self.cluster.each_cli("ZCOUNT", f"redlock:barrier:1:{self.name}", "1", "(+inf")) ==
              {"1"}, "it is counted")
        return job

    def test_who_sleeps_through_the_passing_passes(self):
        sleeper = self.begin()
        sleeper.send_signal(signal.SIGSTOP)
        self.redlock(*self.barrier(1), status=0)
        self.forgotten(1)
        waits = self.spawn(*self.barrier(2))
        sleeper.send_signal(signal.SIGCONT)
        self.finish(sleeper, 0)
        self.redlock(*self.barrier(2), status=0)
        self.finish(waits, 0)

    def test_who_was_killed_comes_back_and_passes(self):
        dies = self.begin("--token", "mine")
        dies.kill()
        dies.wait()
        self.redlock(*self.barrier(1), status=0)
        self.forgotten(1)
        self.redlock(*self.barrier(1, "--token", "mine"), status=0)

    def assert_over(self, result, outcome):
        """Between the two parts it names the silent masters."""
        said = f"redlock: {self.name}: {outcome}: this generation is over, 2 was passed"
        advice = ": use a later generation\n"
        self.assertEqual((result.err[:len(said)], result.err[-len(advice):]), (said, advice))

    def test_a_generation_that_is_over(self):
        self.redlock(*self.barrier(2, parties="1"), status=0)
        self.assertGreater(self.latest().count("2 of 1"), self.masters // 2)
        for generation in (1, 2):
            self.forgotten(generation)
            over = self.redlock(*self.barrier(generation), status=75)
            self.assert_over(over, "not passed")
            told = self.redlock(*self.barrier(generation, "--json"), status=75).json
            self.assertEqual((told["code"], told["undecided"], told["latest"]), ("REDLOCK_E_OVER", False, 2))
        back = self.redlock(*self.barrier(1, "--token", "mine"), status=75)
        self.assert_over(back, "undecided, others may have passed")
        self.redlock(*self.barrier(3, parties="1"), status=0)

    def test_a_passing_of_another_number_is_not_its_own(self):
        sleeper = self.begin()
        sleeper.send_signal(signal.SIGSTOP)
        self.forgotten(1)
        self.redlock(*self.barrier(1, parties="1"), status=0)
        self.forgotten(1)
        sleeper.send_signal(signal.SIGCONT)
        self.finish(sleeper, 75)
        back = self.redlock(*self.barrier(1, "--token", "mine"), status=75)
        self.assertIn("undecided, others may have passed: this generation is over, 1 was passed", back.err)

    def test_the_last_generation(self):
        last = 2 ** 53
        self.redlock(*self.barrier(last, parties="1"), status=0)
        over = self.redlock(*self.barrier(1), status=75)
        self.assertIn("this generation is over, 9007199254740992 was passed", over.err)
        self.assertTrue(over.err.endswith(": use another name, for this is the last generation\n"), over.err)

    def test_what_was_passed_is_no_lock(self):
        self.redlock(*self.barrier(1, parties="1"), status=0)
        listed = self.redlock("list", "--foreign", status=None)
        self.assertNotIn(self.name, listed.out + listed.err)
