"""Old tokens after another process gave them back: a restarted master may come up with older data."""
import os

from harness import Case, Cluster, until

ROUNDS = int(os.environ.get("REDLOCK_ROUNDS", "3"))


class OlderData(Case):
    """Three masters. The first one missed a release, and still votes; the third restarts with the old
    token."""

    def setUp(self):
        super().setUp()
        self.cluster = Cluster(3)
        self.addCleanup(self.cluster.stop)

    def have(self, master, token, ttl_ms=20000):
        self.cluster.cli(master, "SET", self.name, token, "PX", str(ttl_ms))

    def given_back(self, *older):
        """A token that was given back, and a later holder on the second master and the former processes of
        the others."""
        token = self.lock("--ttl", "20s", self.name)
        self.redlock("unlock", "--token", token, self.name, status=0)
        until(lambda: not any(self.cluster.values(self.name)), "it is given back")
        holder = self.lock_on_all("--ttl", "20s", self.name)
        self.cluster.restart(*older)
        for master in older:
            self.have(master, token)
        return token, holder

    def test_an_extend_makes_no_second_holder(self):
        for _ in range(ROUNDS):
            token, holder = self.given_back(3)
            self.have(1, token)
            self.cluster.cli(1, "DEL", "redlock:released:" + token)
            left = int(self.cluster.cli(3, "PTTL", self.name))
            result = self.redlock("extend", "--ttl", "29s", "--token", token, self.name, status=69)
            self.assertIn("abstains", result.err)
            self.assertLessEqual(int(self.cluster.cli(3, "PTTL", self.name)), left)
            self.assertEqual(self.cluster.values(self.name)[1], holder)
            for master in (1, 2, 3):
                self.cluster.cli(master, "DEL", self.name)
            self.redlock("nodes", "--adopt")

    def test_an_unlock_does_not_say_released(self):
        token, _ = self.given_back(2, 3)
        result = self.redlock("unlock", "--token", token, self.name, status=69)
        self.assertIn("abstains", result.err)
        self.assertNotIn("released", result.out)
        self.assertNotIn(token, self.cluster.values(self.name))

    def test_what_masters_forgot_was_not_gone(self):
        token = self.lock_on_all("--ttl", "20s", self.name)
        self.cluster.restart(2, 3)
        for master in (2, 3):
            self.cluster.cli(master, "DEL", self.name)
        result = self.redlock("unlock", "--token", token, self.name, status=69)
        self.assertIn("abstains", result.err)
        self.assertFalse(any(self.cluster.values(self.name)))

    def test_a_broken_holder_is_told_though_two_masters_have_its_token_again(self):
        process = self.spawn("run", "--ttl", "6s", self.name, "--", "sleep", "100")
        until(lambda: len(set(self.cluster.values(self.name))) == 1 and all(self.cluster.values(self.name)),
              "each master has it")
        token = self.cluster.values(self.name)[0]
        self.cluster.cli(3, "SET", self.name, "another", "PX", "60000")
        self.cluster.restart(1, 2)
        for master in (1, 2):
            self.have(master, token, 60000)
        result = self.finish(process)
        self.assertIn("lost", result.err)
