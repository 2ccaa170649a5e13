"""redlock latch: arriving and waiting, and the outcome of each."""

import os
import random
import re
import time

from harness import ClusterCase, until
from relay import Relay, through

ROUNDS = int(os.environ.get("REDLOCK_ROUNDS", "8"))


class Latch(ClusterCase):
    def make(self, arrivals, *options):
        return self.redlock("latch", "create", "--arrivals", str(arrivals), *options, self.name,
                            status=0).out.strip()

    def arrive(self, *options, status=0):
        return self.redlock("latch", "arrive", *options, self.name, status=status)

    def count(self):
        return self.redlock("latch", "count", self.name, status=0).out

    def waiters(self):
        """Channels that hear of a change, on each master."""
        return list(map(int, self.cluster.each_cli("ZCARD", f"redlock:observers:{self.name}")))

    def test_opens_when_all_have_arrived(self):
        self.make(3)
        waiter = self.spawn("latch", "wait", self.name)
        until(lambda: min(self.waiters()) >= 1, "it waits on all masters")
        self.assertEqual(self.count(), "0 3 shut\n")
        self.arrive()
        self.arrive()
        self.assertEqual(self.count(), "2 3 shut\n")
        self.assertIsNone(waiter.poll())
        self.assertEqual(self.arrive().out, "")
        self.finish(waiter, status=0)
        self.assertEqual(self.count(), "3 3 open\n")
        self.arrive()
        self.redlock("latch", "wait", "--wait", "0", self.name, status=0)
        self.assertEqual(self.count(), "3 3 open\n")

    def test_an_arrival_is_counted_once(self):
        self.make(2)
        for _ in range(3):
            self.arrive("--arrival", "part-7")
        self.assertEqual(self.count(), "1 2 shut\n")
        result = self.redlock("latch", "wait", "--wait", "100ms", self.name, status=75)
        self.assertEqual(result.err, f"redlock: {self.name}: not open: 1 of 2 have arrived\n")

    def test_a_name_has_one_latch(self):
        first = self.make(2)
        result = self.redlock("latch", "create", "--arrivals", "5", self.name, status=75)
        self.assertIn(f"a latch already: it waits for 2 arrivals, its id is {first}", result.err)
        self.arrive("--id", first)
        result = self.arrive("--id", "another", status=76)
        self.assertIn("there is no such latch", result.err)
        self.assertEqual(self.count(), "1 2 shut\n")

    def test_its_life_is_over(self):
        self.make(1, "--life", "1s")
        until(lambda: set(self.cluster.each_cli("EXISTS", f"redlock:latch:{self.name}")) == {"0"},
              "the latch is gone")
        for action in ("arrive", "wait", "count"):
            self.redlock("latch", action, self.name, status=76)
        self.make(1)

    def test_the_document(self):
        latch = self.make(1)
        told = self.redlock("latch", "count", "--json", self.name, status=0).json
        self.assertEqual((told["ok"], told["code"], told["action"], told["id"], told["arrival"]),
                         (True, "REDLOCK_OK", "count", latch, None))
        self.assertEqual((told["open"], told["arrived"], told["arrivals"], told["undecided"]),
                         (False, 0, 1, False))
        told = self.redlock("latch", "arrive", "--json", "--arrival", "me", self.name,
                            status=0).json
        self.assertEqual((told["action"], told["arrival"], told["open"], told["arrived"]),
                         ("arrive", "me", True, 1))
        told = self.redlock("latch", "create", "--json", "--arrivals", "2", self.name,
                            status=75).json
        self.assertEqual((told["ok"], told["code"], told["id"]), (False, "REDLOCK_E_HELD", latch))
        self.assertEqual(told["text"], "there is a latch already")

    def test_a_signal_ends_the_wait(self):
        self.make(1)
        waiter = self.spawn("latch", "wait", self.name)
        until(lambda: min(self.waiters()) >= 1, "it waits on all masters")
        self.terminate(waiter)
        self.assertEqual(self.count(), "0 1 shut\n")

    def test_bad_input(self):
        for says, arguments in (
                ("no latch command given", ()),
                ("unknown: latch open. Commands: create", ("open", "x")),
                ("no name given", ("wait",)),
                ("one name, not 2", ("wait", "x", "y")),
                ("--arrivals is missing", ("create", "x")),
                ("'0' is not a number from 1 to 1000", ("create", "--arrivals", "0", "x")),
                ("'1001' is not a number from 1 to 1000", ("create", "--arrivals", "1001", "x")),
                ("lives for 1 s to 30 days", ("create", "--arrivals", "1", "--life", "10ms", "x")),
                ("takes no --id", ("create", "--arrivals", "1", "--id", "i", "x")),
                ("takes no --arrivals", ("arrive", "--arrivals", "1", "x")),
                ("takes no --life", ("wait", "--life", "1h", "x")),
                ("takes no --arrival", ("wait", "--arrival", "a", "x")),
                ("takes no --wait", ("count", "--wait", "1s", "x")),
                ("printable ASCII without spaces", ("arrive", "--arrival", "a b", "x")),
                ("1 to 64 bytes", ("arrive", "--arrival", "a" * 65, "x")),
                ("cannot arrive at the latch 'x': an arrival has 1 to 64 bytes",
                 ("arrive", "--arrival", "", "x")),
                ("cannot make the latch 'x': a latch lives",
                 ("create", "--arrivals", "1", "--life", "999ms", "x")),
                ("--life: must be more than 0", ("create", "--arrivals", "1", "--life", "0", "x")),
                ("1 to 64 bytes", ("wait", "--id", "", "x"))):
            self.assertIn(says, self.redlock("latch", *arguments, status=64).err)

    def test_without_a_quorum(self):
        latch = self.make(1)
        self.arrive("--arrival", "early", "--id", latch)
        down = ",".join(self.cluster.uris[:1] + ["redis://127.0.0.1:1", "redis://127.0.0.1:2"])
        for action in ("arrive", "wait", "count"):
            limit = () if action == "count" else ("--wait", "0")
            result = self.redlock("latch", action, *limit, "--nodes", down, self.name, status=69)
            self.assertIn("masters answered", result.err)


class Left(ClusterCase):
    """Creators that died have left a latch each on two of five masters."""

    def leave(self, *masters):
        for master in masters:
            seconds, micros = self.cluster.cli(master, "TIME").split()
            now = int(seconds) * 1000 + int(micros) // 1000
            server = self.cluster.cli(master, "INFO", "server")
            run = re.search(r"run_id:(\w+)", server).group(1)
            facts = (f"id:left-{master}", "of:3", f"ends:{now + 3600000}", f"run:{run}", f"put:{now}")
            self.cluster.cli(master, "ZADD", f"redlock:latch:{self.name}",
                             *(word for fact in facts for word in ("1", fact)))

    def ids(self):
        records = self.cluster.each_cli("ZRANGE", f"redlock:latch:{self.name}", "0", "-1")
        return [fact[3:] for record in records for fact in record.split() if fact.startswith("id:")]

    def test_what_was_told_to_have_arrived_stays(self):
        self.leave(4, 5)
        latch = self.redlock("latch", "create", "--arrivals", "3", self.name, status=0).out.strip()
        counted = self.redlock("latch", "count", self.name, status=0).out
        self.assertEqual((counted, self.ids()), ("0 3 shut\n", [latch] * 3 + ["left-4", "left-5"]))

        def arrived_on_all():  # a master of a busy machine may answer one arrival too late
            self.redlock("latch", "arrive", "--arrival", "one", self.name, status=0)
            return self.ids() == [latch] * self.masters

        until(arrived_on_all, "the arrival takes away what was left on the masters that answer")
        self.cluster.call("restart", "3", "--empty")
        self.assertEqual(self.redlock("latch", "count", self.name, status=0).out, "1 3 shut\n")


class Makers(ClusterCase):
    """Eight make a latch of one name at one moment, over roads that take 0 to 120 ms each way."""
    # rule: L5, L10, L11, L12

    def scattered(self):
        """The environment with such roads."""
        def late(data):
            time.sleep(random.uniform(0, 0.12))
            return data

        relays = [Relay(port, change=late, asks=late) for port in self.cluster.ports]
        return self.env(REDLOCK_NODES=through(self.cluster, relays), REDLOCK_NODES_FILE="")

    def make(self, name, env):
        """Returns the id of the latch that one of them made."""
        makers = [self.spawn("latch", "create", "--arrivals", "1", name, env=env) for _ in range(8)]
        told = [self.finish(maker) for maker in makers]
        self.assertEqual(sorted(it.status for it in told), [0] + [75] * 7, [it.err for it in told])
        return next(it.out.strip() for it in told if it.status == 0)

    def test_one_makes_it_and_it_stays(self):
        env = self.scattered()
        made = {f"latch-{i}": self.make(f"latch-{i}", env) for i in range(ROUNDS)}
        for name, latch in made.items():
            ranks = self.cluster.each_cli("ZRANK", f"redlock:latch:{name}", f"id:{latch}")
            self.assertGreater(len([rank for rank in ranks if rank]), self.masters // 2, name)
