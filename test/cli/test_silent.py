"""One master that is connected and silent, or dead, delays no command."""

import statistics
import time
import unittest

from harness import Case, Cluster

PAIRS = 40
MOST = 1.5


class Silent(Case):
    patience = ()  # as it is used

    def setUp(self):
        super().setUp()
        self.well = self.start()
        self.ill = self.start()
        self.times = {}

    def start(self):
        cluster = Cluster(5)
        self.addCleanup(cluster.stop)
        self.redlock("nodes", "--adopt", env=self.of(cluster), status=0)
        return cluster

    def of(self, cluster):
        return self.env(REDLOCK_NODES=cluster.nodes)

    def timed(self, cluster, *arguments):
        begin = time.monotonic()
        result = self.redlock(*arguments, env=self.of(cluster), status=0)
        took = time.monotonic() - begin
        self.times.setdefault(arguments[0], {}).setdefault(cluster, []).append(took)
        return result

    def all_commands(self, cluster):
        self.timed(cluster, "run", "job", "--", "true")
        token = self.timed(cluster, "lock", "by-hand").out.strip()
        self.timed(cluster, "extend", "--token", token, "by-hand")
        self.timed(cluster, "status", "by-hand")
        self.timed(cluster, "unlock", "--token", token, "by-hand")

    def compare(self, what):
        """The runs alternate, so that a busy machine is busy for both."""
        for _ in range(PAIRS):
            self.all_commands(self.well)
            self.all_commands(self.ill)
        for command, times in self.times.items():
            well, ill = (statistics.median(times[c]) for c in (self.well, self.ill))
            print(f"    {command}: {well * 1e3:.1f} ms with five, {ill * 1e3:.1f} ms with one "
                  f"{what}: {ill / well:.2f} times")
            self.assertLessEqual(ill, MOST * well, command)

    def test_stopped(self):
        self.ill.pause(5)
        self.addCleanup(self.ill.resume, 5)
        self.compare("stopped")

    def test_dead(self):
        self.ill.kill(5)
        self.compare("dead")

    def test_an_owed_release_is_told(self):
        token = self.redlock("lock", "owed", env=self.of(self.ill), status=0).out.strip()
        self.ill.kill(5)
        told = self.redlock("-v", "unlock", "--token", token, "owed", env=self.of(self.ill),
                            status=0)
        self.assertIn("not every master has confirmed the release", told.err)

    def test_where_all_are_well_nothing_is_owed(self):
        token = self.redlock("lock", "paid", env=self.of(self.well), status=0).out.strip()
        for command in "extend", "unlock":
            told = self.redlock("-v", command, "--token", token, "paid", env=self.of(self.well),
                                status=0)
            self.assertNotIn("confirmed", told.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
