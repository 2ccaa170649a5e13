"""Clients of one fleet that count on different masters: the later one takes no lease, and says why.

A list that is not known to be unsafe is never refused."""
# rule: A1, A2, A3, A4, A5, A6, A7, A9, A10, A11

import re
import subprocess
from collections import Counter

from harness import ROOT, ClusterCase, until

DIFFERS, LOST = 78, 76
SAYS_PROCESSES = 40.0  # a client says them about 10 s after it has connected
KEPT = range(120_000, 180_000)  # ms: two minutes, and the longest lease with all allowances


class Lists(ClusterCase):
    """Each test has a prefix of its own, and so a fleet."""

    masters = 6

    def setUp(self):
        super().setUp()
        self.prefix = f"{self.name}:"
        self.key = f"redlock:lists:{self.prefix}"

    def of(self, *masters, host="127.0.0.1", **more):
        """The environment with a list of these masters, counted from 1."""
        uris = [self.cluster.uris[master - 1].replace("127.0.0.1", host) for master in masters]
        more.setdefault("REDLOCK_PREFIX", self.prefix)
        return self.env(REDLOCK_NODES=",".join(uris), REDLOCK_NODES_FILE="", **more)

    def spawn_told(self, told, *arguments, env):
        """A command with a stdin, which said(told) reads."""
        with open(self.tmp / told, "wb") as to:
            return self.spawn(*arguments, env=env, stdin=subprocess.PIPE, stderr=to)

    def said(self, told="held"):
        return (self.tmp / told).read_text()

    def hold(self, env, name="held", masters=6, options=()):
        """A client that holds a lease; each of its masters has its list."""
        known = self.known()
        holder = self.spawn_told(name, "run", "--label", f"label-of-{name}", *options, name, "--", "cat",
                                 env=env)
        until(lambda: sum(self.known()) >= sum(known) + masters, f"its list is known, for {name}")
        key = self.prefix + name
        until(lambda: sum(map(bool, self.cluster.values(key))) > masters // 2, f"{name} is held")
        return holder

    def known(self, key=None):
        """The number of lists that each master has of the fleet."""
        told = self.cluster.each_cli("KEYS", f"{key or self.key}:*")
        return [len(each.split()) for each in told]

    def run_once(self, env, *arguments, status=None):
        return self.redlock("run", *arguments, "other", "--", "true", env=env, status=status)

    def is_refused(self, env):
        return self.run_once(env).status == DIFFERS

    def goes_on(self, *holders):
        """They were neither refused nor lost their lease."""
        for holder in holders:
            self.let_end(holder, status=0)
        for said in self.tmp.iterdir():
            self.assertEqual(said.read_text(), "")

    def shown(self, *masters):
        return [self.cluster.shown[master - 1] for master in masters]


class Refused(Lists):
    def test_three_beside_five(self):
        holder = self.hold(self.of(1, 2, 3, 4, 5), masters=5)
        wrong = self.of(1, 2, 3)
        for _ in range(20):
            told = self.run_once(wrong, status=DIFFERS).err
            theirs, ours = re.search(r"masters: (\S+) \(quorum 3 of 5; 1 client since .* s ago: "
                                     r"label-of-held; told by .*\); this client: (\S+) \(quorum 2 of 3\)",
                                     told).groups()
            self.assertEqual(sorted(theirs.split(",")), sorted(self.shown(1, 2, 3, 4, 5)))
            self.assertEqual(ours.split(","), self.shown(1, 2, 3))
        for command in (["lock", "other"], ["elect", "other", "--", "true"],
                        ["run", "--wait", "forever", "other", "--", "true"]):
            told = self.redlock(*command, env=wrong, status=DIFFERS).err
            self.assertIn("other clients of the fleet count on other masters: 127.0.0.1:", told, command)
        self.assertEqual(self.cluster.values(f"{self.prefix}other"), [""] * 6)
        # A refused client takes its list back.
        until(lambda: self.known() == [1, 1, 1, 1, 1, 0], "the list of the holder alone is known")
        self.goes_on(holder)

    def beside(self, first, second):
        """The second list is refused until the client of the first one has closed in order."""
        holder = self.hold(self.of(*first), masters=len(first))
        for _ in range(20):
            self.run_once(self.of(*second), status=DIFFERS)
        self.goes_on(holder)
        self.run_once(self.of(*second), status=0)
        until(lambda: not any(self.known()), "nobody says a list")

    def test_taken_back_by_five(self):
        self.beside((1, 2, 3, 4, 5), (1, 2, 3))

    def test_five_beside_three(self):
        self.beside((1, 2, 3), (5, 4, 3, 2, 1))

    def test_one_beside_three(self):
        """Where 2 and 3 alone answer first, nothing tells of the other list."""
        holder = self.hold(self.of(1), masters=1)
        until(lambda: self.is_refused(self.of(1, 2, 3)), "the first master is heard in time")
        self.goes_on(holder)

    def test_killed(self):
        """Its lease may be in use, and its master may know that for longer than the lease lasts."""
        holder = self.hold(self.of(1, 2, 3, 4, 5), masters=5)
        holder.kill()
        holder.wait()
        self.run_once(self.of(1, 2, 3), status=DIFFERS)
        for master in 1, 2, 3, 4, 5:
            for key in self.key, *self.cluster.cli(master, "KEYS", f"{self.key}:*").split():
                self.assertIn(int(self.cluster.cli(master, "PTTL", key)), KEPT)

    def test_left_behind(self):
        """A lock that outlives its command takes nothing back."""
        token = self.redlock("lock", "left", env=self.of(1, 2, 3, 4, 5), status=0).out.strip()
        self.run_once(self.of(1, 2, 3), status=DIFFERS)
        self.redlock("unlock", "--token", token, "left", env=self.of(1, 2, 3, 4, 5), status=0)

    def test_masters_that_refuse_writes(self):
        """They note no list for a while. That the third one alone knows of the other list is enough."""
        holder = self.hold(self.of(1, 2, 3, 4, 5), masters=5)
        self.addCleanup(self.refuse_writes, 0)
        self.refuse_writes(1)
        five, three = self.of(1, 2, 3, 4, 5), self.of(1, 2, 3)
        first = self.spawn("run", "--ttl", "30s", self.name, "--", "cat", env=five, stdin=subprocess.PIPE)
        key = self.prefix + self.name
        until(lambda: sum(map(bool, self.cluster.values(key))) == 3, "the others are a quorum")
        second = self.spawn("run", "--wait", "1h", self.name, "--", "true", env=three)
        self.assertEqual(second.wait(10), DIFFERS)
        self.refuse_writes(0)
        self.goes_on(first, holder)

    def refuse_writes(self, replicas):
        for master in 1, 2:
            self.cluster.cli(master, "CONFIG", "SET", "min-replicas-to-write", str(replicas))

    def test_replaced_master(self):
        """Numbers and addresses do not show it: 6 may be a new address of 5, until both were heard."""
        until(lambda: all(int(re.search(r"uptime_in_seconds:(\d+)", told)[1]) > 4
                          for told in self.cluster.each_cli("INFO", "server")), "none has just begun")
        holder = self.hold(self.of(1, 2, 3, 4, 5), masters=5)
        other = self.of(1, 2, 3, 4, 6)
        later = self.hold(other, "later", 5, ["--verbose"])  # nothing is known yet
        self.run_once(other, status=0)
        self.assertEqual(later.wait(SAYS_PROCESSES), LOST)
        self.assertEqual((self.tmp / "later").read_text().count("count on other masters: 127.0.0.1:"), 1)
        for _ in range(20):
            self.run_once(other, status=DIFFERS)
        (self.tmp / "later").unlink()
        self.goes_on(holder)


class Accepted(Lists):
    def test_six_beside_five(self):
        holder = self.hold(self.of(1, 2, 3, 4, 5), masters=5)
        more = self.hold(self.of(1, 2, 3, 4, 5, 6), "more")
        for _ in range(5):
            self.run_once(self.of(1, 2, 3, 4, 5), status=0)
            self.run_once(self.of(1, 2, 3, 4, 5, 6), status=0)
        self.goes_on(holder, more)

    def test_other_counts(self):
        """A client with another spare or max_ttl is warned, once."""
        five = 1, 2, 3, 4, 5
        holder = self.hold(self.of(*five), masters=5)
        for more, told in (({"REDLOCK_SPARE": "1"}, "have spare 0, this one 1: two quorums may share only "
                                                    "2 x 3 - 5 = 1 masters, so 0 may be wrong."),
                           ({"REDLOCK_MAX_TTL": "60s"}, "have max_ttl_ms 30000, this one 60000: a master "
                                                        "that restarts may abstain for 31302 ms, not "
                                                        "61602."), ({}, "")):
            err = self.run_once(self.of(*five, **more), "--verbose", status=0).err
            self.assertEqual(err.count("other clients of the fleet have"), len(more), err)
            self.assertIn(told, err)
        self.goes_on(holder)

    def test_two_fleets(self):
        holder = self.hold(self.of(1, 2, 3, 4, 5), masters=5)
        for _ in range(3):
            self.run_once(self.of(1, 2, 3, REDLOCK_FLEET=f"{self.name}-2:"), status=0)
            self.run_once(self.of(1, 2, 3, REDLOCK_PREFIX=f"{self.name}-3:"), status=0)
            self.run_once(self.of(1, 2, 3, REDLOCK_FLEET=""), status=0)  # it is of none
        self.run_once(self.of(1, 2, 3, REDLOCK_PREFIX="", REDLOCK_FLEET=self.prefix), status=DIFFERS)
        self.goes_on(holder)

    def test_no_prefix(self):
        """A fleet, too; but an empty name is none."""
        self.prefix, self.key = "", "redlock:lists:"
        holder = self.hold(self.of(1, 2, 3, 4, 5), masters=5)
        self.run_once(self.of(1, 2, 3), status=DIFFERS)
        self.run_once(self.of(1, 2, 3, REDLOCK_FLEET=""), status=0)
        self.goes_on(holder)

    def test_only_looks(self):
        holder = self.hold(self.of(1, 2, 3), masters=3)
        self.assertIn("locks work", self.redlock("nodes", env=self.of(1, 2, 3, 4, 5), status=0).out)
        self.assertEqual(self.known(), [1, 1, 1, 0, 0, 0])
        self.goes_on(holder)


class Restarts(Lists):
    masters = 3
    TTL = {"REDLOCK_TTL": "3s"}

    def heard(self, process):
        """Some list names this process."""
        return all(process[master] in self.cluster.cli(master + 1, "GET", self.key)
                   for master in range(3))

    def processes(self):
        return [re.search(r"run_id:(\w+)", told)[1] for told in self.cluster.each_cli("INFO", "server")]

    def test_one_after_the_other(self):
        """The two lists have other addresses of the same masters, so their processes are compared."""
        lists = self.of(1, 2, 3, **self.TTL), self.of(3, 1, 2, host="localhost", **self.TTL)
        for how in (), ("--empty",):
            holders = [self.hold(env, f"{name}{len(how)}", 3) for env, name in zip(lists, ("a", "b"))]
            until(lambda: self.heard(self.processes()), "the processes are said", SAYS_PROCESSES)
            for master in 1, 2, 3:
                self.cluster.call("restart", str(master), *how)
                self.redlock("nodes", "--adopt", env=lists[0])
                for env in lists:
                    self.run_once(env, "--wait", "10s", status=0)
            for holder in holders:  # an empty master that votes at once may have lost the lease
                self.let_end(holder, status=None if how else 0)
        for told in self.tmp.iterdir():
            self.assertNotIn("other clients", told.read_text())


class Rights(Lists):
    def test_who_may_not_remember_locks_as_before(self):
        kinds = "queue", "holders", "permits", "shared", "released", "waiter"
        self.cluster.each_cli("ACL", "SETUSER", "plain", "on", ">pw", f"~{self.prefix}*", "~redlock:clock",
                              *(f"~redlock:{kind}:*" for kind in kinds), "&redlock:*", "+@all")
        nodes = ",".join(f"redis://plain:pw@{node}" for node in self.cluster.shown)
        env = self.env(REDLOCK_NODES=nodes, REDLOCK_NODES_FILE="", REDLOCK_PREFIX=self.prefix)
        for _ in range(3):
            self.assertEqual(self.run_once(env, status=0).err, "")
        self.assertEqual(self.known(), [0] * 6)
        denied = self.cluster.cli(1, "ACL", "LOG")
        self.assertIn(self.key, denied)


class Script(Lists):
    """Its answers, to clients that nobody checks."""

    masters = 1
    LUA = (ROOT / "lib/wire/scripts/agree.lua").read_text()

    def agree(self, says, client, *masters, kept=60_000_000, quorum=1, told=0):
        """Its lines: TIME is left out."""
        run_ids = [part for master in masters for part in (master, f"run-{master}" if told else "")]
        told = self.cluster.cli(1, "EVAL", self.LUA, "1", self.key, str(says), client, "a label", str(kept),
                                str(quorum), "0", "30000", str(told), *run_ids).splitlines()
        self.assertGreater(int(told[0]), 1 << 50)
        return told[1:]

    @staticmethod
    def places(lines):
        return Counter(line[0] for line in lines if line[0] in "=<>")

    def test_order(self):
        self.assertEqual(self.places(self.agree(1, "a", "m1", "m2")), {"=": 1})
        self.assertEqual(self.places(self.agree(1, "b", "m2", "m1")), {"=": 1})  # the same list
        self.assertEqual(self.places(self.agree(1, "c", "m1")), {"=": 1, "<": 1})
        self.assertEqual(self.places(self.agree(1, "a", "m1", "m2")), {"=": 1, ">": 1})
        self.assertEqual(self.places(self.agree(0, "d", "m9")), {"<": 2})
        self.assertEqual(self.places(self.agree(-1, "a", "m1", "m2")), {"=": 1, ">": 1})  # b says it
        self.assertEqual(self.places(self.agree(-1, "b", "m1", "m2")), {"<": 1})
        self.assertEqual(self.places(self.agree(1, "a", "m1", "m2")), {"=": 1, "<": 1})  # c was first

    def test_a_ninth(self):
        for i in range(8):
            self.agree(1, "c", f"m{i}")
        for _ in range(2):
            self.assertEqual(self.places(self.agree(1, "c", "m8")), {"<": 8})
        self.assertEqual(self.places(self.agree(1, "c", "m0")), {"=": 1, ">": 7})
        self.agree(-1, "c", "m0")
        self.assertEqual(self.places(self.agree(1, "c", "m8")), {"=": 1, "<": 7})

    def test_processes(self):
        self.agree(1, "a", "m1", told=0)
        self.assertEqual(self.agree(0, "b", "m2")[1], "0 0 - m1")
        now = int(self.cluster.cli(1, "TIME").split()[0]) * 1_000_000
        self.agree(1, "a", "m1", told=now)
        self.agree(1, "a", "m1", told=now - 9_000_000)  # an older answer changes nothing
        self.agree(1, "b", "m1")                        # nor who has not heard it
        since, lived, run_id, address = self.agree(0, "b", "m2")[1].split()
        self.assertEqual((run_id, address), ("run-m1", "m1"))
        self.assertLess(int(since), int(lived))
        self.assertLess(int(lived), 9_000_000)

    def test_space_in_a_path(self):
        self.agree(1, "a", "unix:/a b", "unix:/a c")
        self.assertEqual(self.agree(0, "b", "m")[1:], ["0 0 - unix:/a b", "0 0 - unix:/a c"])

    def test_forgotten(self):
        self.agree(1, "a", "m1", kept=50_000)
        until(lambda: not self.agree(0, "b", "m2"), "nobody said it for as long as it is kept")
        until(lambda: self.cluster.cli(1, "EXISTS", self.key) == "0", "nothing is left")

    def test_what_others_left(self):
        """Neither a future moment nor an unfinished record keeps a list for ever."""
        self.agree(1, "a", "m1")
        sayers = self.cluster.cli(1, "KEYS", f"{self.key}:*")
        self.cluster.cli(1, "ZADD", sayers, str(1 << 52), "a")
        self.assertEqual(self.places(self.agree(1, "b", "m2")), {"=": 1, "<": 1})
        self.agree(-1, "b", "m2")
        self.assertLess(float(self.cluster.cli(1, "ZSCORE", sayers, "a")), float(1 << 52))
        self.cluster.cli(1, "DEL", sayers)
        self.assertEqual(self.agree(0, "b", "m2"), [])
        self.assertEqual(self.known(), [0])

    def test_strange_keys(self):
        """Locks need no record."""
        env = self.of(1)
        for strange in ["SET", self.key, "x"], ["HSET", self.key, "x", "y"]:
            self.cluster.cli(1, "DEL", self.key)
            self.cluster.cli(1, *strange)
            self.run_once(env, status=0)
