"""For scripts: statuses that answer a question, flock's letters, -q, and times."""

import time

from harness import Case, ClusterCase, FreshCase, until


class Slips(Case):
    def misused(self, *arguments, says):
        self.assertIn(says, self.redlock(*arguments, status=64).err)

    def test_the_word_that_was_meant(self):
        self.misused("stauts", "a", says="unknown command stauts (did you mean status?)")
        self.misused("lokc", says="(did you mean lock?)")
        self.misused("help", "latches", says="(did you mean latch?)")
        self.misused("run", "--wiat", "1s", "a", "--", "true",
                     says="unknown option --wiat (did you mean --wait?)")
        self.misused("lock", "--wiat=1s", "a", says="unknown option --wiat (did you mean --wait?)")
        self.misused("--nods", "x", "lock", "a", says="(did you mean --nodes?)")

    def test_no_word_is_near(self):
        for arguments in (["x"], ["frobnicate"], ["lock", "--x", "a"],
                          ["run", "--tokn", "t", "a", "--", "true"]):  # run has no --token
            with self.subTest(arguments):
                self.assertNotIn("did you mean", self.redlock(*arguments, status=64).err)

    def test_a_long_word(self):
        self.assertNotIn("did you mean", self.redlock("status" * 1000, status=64).err)


class Scripts(ClusterCase):
    masters = 3

    def test_check(self):
        self.redlock("status", "--check", self.name, status=0)
        token = self.lock("--ttl", "20s", self.name)
        self.assertIn("held", self.redlock("status", "--check", self.name, status=75).out)
        self.redlock("status", "--check", "other", self.name, status=75)
        self.assertTrue(self.redlock("status", "--check", "--json", self.name, status=75).json["ok"])
        self.redlock("status", self.name, status=0)
        self.unlock(token)
        until(lambda: self.redlock("status", "--check", "other", self.name).status == 0, "both are free")

    def test_check_of_readers_and_permits(self):
        self.lock("--ttl", "20s", "--shared", self.name)
        self.redlock("status", "--check", self.name, status=75)
        self.spawn("run", "--permits", "2", "pool", "--", "sleep", "60")
        until(lambda: self.redlock("status", "--check", "pool").status == 75, "a permit is out")

    def test_check_looks_once(self):
        self.redlock("status", "--check", "--watch", self.name, status=64)

    def test_the_letters_of_flock(self):
        self.lock("--ttl", "20s", self.name)
        began = time.monotonic()
        self.redlock("lock", "-w", "0.2", self.name, status=75)
        self.assertGreaterEqual(time.monotonic() - began, 0.2)
        self.redlock("run", "-w", "200ms", self.name, "--", "true", status=75)
        self.redlock("lock", "--wait", "forever", "-n", self.name, status=75)
        self.redlock("run", "-n", self.name, "--", "true", status=75)
        self.redlock("run", "-w", "30", "another", "--", "true", status=0)
        for wrong in ("", "x", "-1", "1.2.3"):
            with self.subTest(wrong):
                self.assertIn("--timeout", self.redlock("lock", "-w", wrong, self.name, status=64).err)

    def test_a_name_that_begins_with_a_dash(self):
        told = self.redlock("run", "--", "-x", "-y", "--", "sh", "-c", "printf '%s' \"$REDLOCK_NAMES\"",
                            status=0)
        self.assertEqual(told.out, "-x\n-y")
        self.assertIn("no name given", self.redlock("run", "--", "-x", "true", status=64).err)
        self.assertIn("no name given", self.redlock("run", "--", "sh", "--", "true", status=64).err)

    def test_quiet_is_silent_about_what_is_normal(self):
        self.lock("--ttl", "20s", self.name)
        self.assertEqual(self.redlock("run", "-q", self.name, "--", "true", status=75).err, "")
        self.assertEqual(self.redlock("leader", "-q", "nobody", status=1).err, "")
        told = self.redlock("unlock", "-q", "--token", "other", self.name, status=76).err
        self.assertIn("cannot unlock", told)

    def test_a_wrong_token_is_told_who_has_the_name(self):
        token = self.lock("--ttl", "20s", "--label", "the-holder", self.name)
        for command in ("extend", "unlock"):
            with self.subTest(command):
                told = self.redlock(command, "--token", "wrong", self.name, status=76).err
                self.assertRegex(told, rf"held by {token[:22]} \(the-holder\) on \d of 3 masters, ttl ")
                told = self.redlock(command, "--json", "--token", "wrong", self.name, status=76).json
                self.assertEqual(told["granted"], 0)
                self.assertIn(token, [vote["holder"] for vote in told["votes"]])
        self.unlock(token)

    def test_verbose_tells_the_time(self):
        told = self.redlock("run", "-v", self.name, "--", "true", status=0).err
        for line in filter(None, told.splitlines()):
            self.assertRegex(line, r"^redlock: \d\d:\d\d:\d\d\.\d\d\d \S")

    def test_a_leader_steps_down(self):
        led = self.tmp / "led"
        process = self.spawn("elect", "--again", "--max-hold", "300ms", "--ttl", "2s", self.name, "--", "sh",
                             "-c", 'echo $REDLOCK_TERM >> "$0"; exec sleep 60', str(led))
        until(lambda: led.exists() and len(led.read_text().split()) >= 3, "it leads three times")
        terms = [int(term) for term in led.read_text().split()]
        self.assertEqual(terms, sorted(set(terms)))
        self.assertIsNone(process.poll())
        told = self.redlock("elect", "--max-hold", "300ms", "--ttl", "2s", "another", "--", "sleep", "60",
                            status=76).err
        self.assertIn("held for the longest time allowed", told)


class Doctor(FreshCase):
    def test_all_must_vote(self):
        self.redlock("nodes", "--all", status=0)
        self.cluster.kill(1)
        self.redlock("nodes", status=0)
        self.assertIn("2 of 3 masters vote", self.redlock("nodes", "--all", status=1).out)
        self.cluster.kill(2)
        self.redlock("nodes", "--all", status=69)

    def test_it_waits_until_all_vote(self):
        self.cluster.kill(1, 2)
        waiting = self.spawn("nodes", "--all", "--wait", "forever")
        early = self.redlock("nodes", "--wait", "300ms", status=69)
        self.assertIn("1 of 3 masters vote", early.out)
        self.assertIsNone(waiting.poll())
        self.cluster.restart(1, 2)
        # They abstain, as they may have forgotten leases.
        self.redlock("nodes", "--wait", "300ms", status=69)
        self.assertIsNone(waiting.poll())
        self.redlock("nodes", "--adopt", status=0)
        told = self.finish(waiting, 0)
        self.assertIn("\n3 of 3 masters vote, 2 must: locks work\n", told.out)

    def test_what_is_not_known_has_a_cause(self):
        self.cluster.kill(1, 2)
        self.cluster.restart(1)
        for command in (["latch", "wait", "--wait", "1s", "a"], ["leader", "a"],
                        ["latch", "create", "--arrivals", "1", "--wait", "1s", "a"]):
            with self.subTest(command):
                told = self.redlock(*command, status=69).err
                self.assertIn(f"\n  {self.cluster.shown[0]}: restarted, abstains ", told)
                self.assertIn(f"\n  {self.cluster.shown[1]}: cannot connect: Connection refused", told)

    def test_a_wrong_list_is_not_waited_for(self):
        node = self.cluster.uris[0]
        self.redlock("--nodes", f"{node},{node}", "nodes", "--wait", "forever", status=78)
        self.cluster.cli(1, "REPLICAOF", "127.0.0.1", "1")
        self.cluster.cli(2, "REPLICAOF", "127.0.0.1", "1")
        self.redlock("nodes", "--wait", "forever", status=78)
