"""One master that is connected and silent, or dead, delays no command."""

import statistics
import time

from harness import Case, Cluster, until

PAIRS = 40
WAITED_FOR_S = 0.2  # so much at least it costs to wait for a master
NOISE_S = 0.02  # of starting a process
# status shows all masters: late ones have as long again as the quorum took.
MOST = {"run": 1.5, "lock": 1.5, "extend": 1.5, "status": 2.0, "unlock": 1.5}


def quick(times):
    """The first quarter: a master that is waited for holds up every run, other work of the
    machine some of them."""
    return statistics.quantiles(times, n=4)[0]


class Silent(Case):
    # A busy machine does not look like a silent master.
    patience = ("--request-timeout", "2s")

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
            well, ill = (quick(times[c]) for c in (self.well, self.ill))
            print(f"    {command}: {well * 1e3:.1f} ms with five, {ill * 1e3:.1f} ms with one "
                  f"{what}: {ill / well:.2f} times")
            self.assertLessEqual(ill, MOST[command] * well + NOISE_S, command)

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

    def nothing_is_owed(self):
        """On a busy machine a master may be late; but the client waited for each connected one."""
        token = self.redlock("lock", "paid", env=self.of(self.well), status=0).out.strip()
        begin = time.monotonic()
        each = [self.redlock("-v", command, "--token", token, "paid", env=self.of(self.well),
                             status=0).err for command in ("extend", "unlock")]
        told, connected = "".join(each), all(err.count(": votes") == 5 for err in each)
        if connected and time.monotonic() - begin < WAITED_FOR_S:
            self.assertNotIn("confirmed", told)
        return "confirmed" not in told

    def test_where_all_are_well_nothing_is_owed(self):
        until(self.nothing_is_owed, "all have confirmed the release")
