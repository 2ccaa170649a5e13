"""list: holders and waiters, among many keys of other software; and keys that it cannot see."""
# rule: N3, N5

import os
import re
import subprocess

from harness import REDLOCK, Case, Cluster, ClusterCase, Terminal, until
from relay import Relay, through

PROCESSES = int(os.environ.get("LIST_PROCESSES", "60"))  # hold and wait in the test of all
FOREIGN = int(os.environ.get("LIST_FOREIGN", "20000"))   # keys of other software

HOLD = 'echo "$REDLOCK_TOKEN" > "$0.new"; mv "$0.new" "$0"; exec cat'

FILL = """
for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do
    local key = 'data:' .. i
    if i % 5 == 0 then redis.call('hset', key, 'a', 1)
    elseif i % 5 == 1 then redis.call('set', key, string.rep('x', 22) .. ':' .. i)
    elseif i % 5 == 2 then redis.call('set', key, i)
    elseif i % 5 == 3 then redis.call('rpush', key, 'x')
    else redis.call('set', key, 'c0ffee' .. i, 'px', 86400000) end
end"""


def holders(told):
    return {holder["holder"]: holder for holder in told["holders"]}


class Usage(Case):
    patience = ()

    def test_it_takes_no_names(self):
        told = self.redlock("list", "a", "--nodes", "redis://127.0.0.1:1", status=64).err
        self.assertIn("`redlock list` takes no names: use --prefix for their beginning", told)

    def test_only_list_takes_foreign(self):
        told = self.redlock("status", "--foreign", "a", "--nodes", "redis://127.0.0.1:1", status=64).err
        self.assertIn("`redlock status` takes no --foreign", told)


class Holding:
    """A process that holds names, or waits for them, until it is ended."""

    def __init__(self, case, label, *options, wait=True):
        self.case, self.label = case, label
        self.told = case.tmp / f"{label}.token"
        self.process = case.spawn("run", "--label", label, "--ttl", "30s", "--kill-after", "500ms",
                                  *(("--wait", "forever") if wait else ()), *options, "--",
                                  "sh", "-c", HOLD, str(self.told), stdin=subprocess.PIPE)

    def held(self):
        self.case.started(self.told, f"{self.label} holds")
        return self

    @property
    def token(self):
        return self.told.read_text().strip()


class Lists(ClusterCase):
    def setUp(self):
        super().setUp()
        self.cluster.each_cli("FLUSHDB")
        # Their clocks and quarantines are gone with the keys.
        self.redlock("nodes", "--adopt", status=0)

    def list(self, *options, status=0):
        return self.redlock("list", "--json", *options, status=status).json

    def until_list(self, condition, what, *options):
        def met():
            told = self.list(*options)
            return told if condition(told) else None
        return until(met, what)

    def test_nothing(self):
        told = self.redlock("list", status=0)
        self.assertEqual(told.out, "")
        self.assertIn("nothing is held or waited for", told.err)
        self.assertEqual(self.redlock("-q", "list", status=0).err, "")
        self.assertEqual(self.list()["holders"], [])

    def test_each_mode(self):
        writer = Holding(self, "writer", "plain", "also").held()
        readers = [Holding(self, f"reader-{i}", "--shared", "text").held() for i in range(2)]
        permits = [Holding(self, f"permit-{i}", "--permits", "3", "pool").held() for i in range(2)]
        waiter = Holding(self, "waiter", "plain")
        told = self.until_list(
            lambda told: holders(told).get("waiter", {}).get("waits") and
            all(it["on"] == 5 for holder in told["holders"] for it in holder["holds"]),
            "all are listed on all masters")
        found = holders(told)
        self.assertEqual(set(found), {"writer", "reader-0", "reader-1", "permit-0", "permit-1", "waiter"})
        self.assertEqual([(it["name"], it["mode"], it["state"], it["token"], it["waiting"])
                          for it in found["writer"]["holds"]],
                         [("also", "exclusive", "held", writer.token, 0),
                          ("plain", "exclusive", "held", writer.token, 1)])
        for reader in readers:
            (it,), waits = found[reader.label]["holds"], found[reader.label]["waits"]
            self.assertEqual((it["name"], it["mode"], it["state"], it["token"], it["reading"], waits),
                             ("text", "shared", "shared", reader.token, 2, []))
        for permit in permits:
            it, = found[permit.label]["holds"]
            self.assertEqual((it["name"], it["mode"], it["state"], it["token"], it["permits"], it["out"]),
                             ("pool", "permit", "permits", permit.token, 3, 2))
        it, = found["waiter"]["waits"]
        self.assertEqual((it["name"], it["place"], it["waiting"]), ("plain", 1, 1))
        self.assertEqual(found["waiter"]["holds"], [])
        self.assertFalse(any(holder["foreign"] for holder in told["holders"]))
        lines = ("writer\n", "  holds 'plain' on 5 of 5 masters, ", ", 1 waits, token ",
                     "  reads 'text' (2 read it) on 5 of 5 masters",
                     "  has a permit of 'pool' (2 of 3 are out) on 5 of 5 masters",
                     "waiter\n  waits for 'plain', place 1 of 1\n")

        def shown():
            text = self.redlock("list", status=0).out
            return all(line in text for line in lines)
        until(shown, "people can read it")
        waiter.process.kill()

    def test_partial_and_foreign(self):
        token = self.lock_on_all("--ttl", "30s", "--label", "rest", "partial")
        for master in 1, 2, 3:
            self.cluster.cli(master, "DEL", "partial")
        self.cluster.each_cli("SET", "theirs", "other-software-1", "PX", "30000")
        self.cluster.each_cli("SET", "odd", "redlock:permits", "PX", "30000")
        self.cluster.each_cli("SET", "data", "no lock")
        self.cluster.cli(1, "SET", "mixed", "other-software-2", "PX", "30000")
        self.cluster.cli(2, "SET", "mixed", f"{'A' * 22}:ours", "PX", "30000")
        found = holders(self.list())
        self.assertEqual(set(found), {"rest", "other-software-2", "ours"})
        it, = found["rest"]["holds"]
        self.assertEqual((it["token"], it["on"], it["partial"], it["state"]),
                         (token, 2, True, "partly_held"))
        self.assertTrue(found["other-software-2"]["foreign"])
        found = holders(self.list("--foreign"))
        self.assertEqual(set(found),
                         {"rest", "other-software-1", "other-software-2", "ours", "redlock:permits"})
        text = self.redlock("list", "--foreign", status=0).out
        self.assertIn("  holds 'partial' on 2 of 5 masters (partial: no quorum), ", text)
        self.assertIn("other-software-1 (foreign: not a value of redlock)\n  holds 'theirs' on 5 of 5",
                      text)
        self.assertNotIn("no lock", text)

    def test_what_is_partial_is_looked_at_again(self):
        """The lock may have changed hands meanwhile: each look reads the holder and its time anew."""
        self.cluster.cli(1, "SET", "partial", f"{'A' * 22}:rest", "PX", "30000")
        self.cluster.cli(1, "CONFIG", "RESETSTAT")
        self.assertTrue(holders(self.list())["rest"]["holds"][0]["partial"])
        looks = re.search(r"cmdstat_pttl:calls=(\d+)", self.cluster.cli(1, "INFO", "commandstats"))
        self.assertEqual(looks[1], "3")

    def test_who_waits_for_what_is_foreign(self):
        self.cluster.each_cli("SET", "theirs", "other-software", "PX", "60000")
        waiter = Holding(self, "waiter", "theirs")
        found = holders(self.until_list(lambda told: len(told["holders"]) == 2, "who waits is listed"))
        self.assertTrue(found["other-software"]["foreign"])
        self.assertEqual([it["name"] for it in found["waiter"]["waits"]], ["theirs"])
        waiter.process.kill()

    def test_the_prefix(self):
        self.lock_on_all("--ttl", "30s", "--label", "in", "jobs:a*b")
        self.lock_on_all("--ttl", "30s", "--label", "out", "jobx:c")
        Holding(self, "pool", "--prefix", "jobs:", "--permits", "2", "pool").held()
        waiter = Holding(self, "waiter", "jobs:a*b")
        told = self.until_list(lambda told: len(told["holders"]) == 3, "who waits is listed",
                               "--prefix", "jobs:")
        names = {it["name"] for holder in told["holders"] for it in holder["holds"] + holder["waits"]}
        self.assertEqual(names, {"a*b", "pool"})
        self.assertEqual(holders(self.list("--prefix", "jobs:a*"))["in"]["holds"][0]["name"], "b")
        self.assertEqual(self.list("--prefix", "job?:")["holders"], [])
        waiter.process.kill()

    def test_names_of_any_bytes(self):
        names = ["a b", "new\nline", "'\"\\", "ümlaut", "n" * 1000, "x:y:1:2", "12:3"]
        for name in names:
            self.lock_on_all("--ttl", "30s", "--label", "l", name)
        listed = [it["name"] for it in holders(self.list())["l"]["holds"]]
        self.assertEqual(sorted(listed), sorted(names))
        self.assertTrue(self.redlock("list", status=0).out.replace("\n", "").isprintable())

    def test_names_that_fill_an_answer(self):
        names = sorted(f"{i:03}{'n' * 1000}" for i in range(200))
        make = "for i, name in ipairs(KEYS) do redis.call('set', name, ARGV[1], 'px', 60000) end"
        self.cluster.each_cli("EVAL", make, str(len(names)), *names, f"{'A' * 22}:l")
        told = self.list()
        self.assertTrue(sorted(it["name"] for it in holders(told)["l"]["holds"]) == names)
        self.assertEqual({node["left_out"] for node in told["nodes"]}, {0})

    def test_keys_of_others_that_are_too_long_for_a_name(self):
        make = "redis.call('set', string.rep('k', ARGV[1]), ARGV[2], 'px', 60000)"
        for length in "1024", "1025", "200000":
            self.cluster.each_cli("EVAL", make, "0", length, f"{'A' * 22}:l{length}")
        told = self.list()
        self.assertEqual(set(holders(told)), {"l1024"})
        self.assertEqual({node["left_out"] for node in told["nodes"]}, {0})
        self.assertEqual(set(holders(self.list("--foreign", "--prefix", "kkk"))), {"l1024"})
        self.assertIn(f"  holds '{'k' * 100}...' on 5 of 5", self.redlock("list", status=0).out)

    def test_what_is_no_lock(self):
        self.redlock("latch", "create", "--arrivals", "3", "l", status=0)
        self.cluster.each_cli("RPUSH", "list", "x")
        self.cluster.each_cli("HSET", "hash", "x", "y")
        self.cluster.each_cli("SET", "redlock:waiter:junk", "x")
        self.cluster.each_cli("RPUSH", "redlock:waiter:list", "x")
        self.cluster.each_cli("SET", "redlock:permit:x", "x")
        self.cluster.each_cli("SET", "nearly", "A" * 21 + "B:label")  # no token ends so
        self.assertEqual(self.list()["holders"], [])

    def test_many_waiters(self):
        holder = Holding(self, "holder", "busy").held()
        waiters = [Holding(self, f"w{i}", "busy") for i in range(20)]
        told = self.until_list(lambda told: len(told["holders"]) == 21, "all who wait are listed")
        places = [holder["waits"][0]["place"] for holder in told["holders"] if holder["waits"]]
        self.assertEqual(sorted(places), list(range(1, 21)))
        self.assertEqual(holders(told)["holder"]["holds"][0]["waiting"], 20)
        for waiter in [holder, *waiters]:
            waiter.process.kill()

    def test_what_all_processes_hold_and_wait_for(self):
        """As they say themselves.  A third of them holds: two names, one that others read too, or a
        permit.  Each other one waits for a name that is held exclusively."""
        holding = PROCESSES // 3
        kinds = (lambda i: ("exclusive", [f"first-{i}", f"second-{i}"], []),
                 lambda i: ("shared", [f"text-{i // 12}"], ["--shared"]),
                 lambda i: ("permit", ["pool"], ["--permits", str(holding)]))
        having, said = [], set()
        for i in range(holding):
            mode, names, options = kinds[i % 3](i)
            having.append(Holding(self, f"has-{i}", *options, *names).held())
            said |= {(f"has-{i}", name, mode, having[-1].token) for name in names}
        awaited = {(f"waits-{i}", f"{'first' if i % 2 else 'second'}-{i // 2 % holding // 3 * 3}")
                   for i in range(PROCESSES - holding)}
        waiters = [Holding(self, label, name) for label, name in sorted(awaited)]

        def listed(told):
            return ({(h["holder"], it["name"], it["mode"], it["token"])
                     for h in told["holders"] for it in h["holds"]},
                    {(h["holder"], it["name"]) for h in told["holders"] for it in h["waits"]})
        told = self.until_list(lambda told: listed(told) == (said, awaited), "it is what they say")
        self.assertFalse(any(it["partial"] for h in told["holders"] for it in h["holds"]))
        for process in having + waiters:
            process.process.kill()


class AmongMany(Case):
    """Keys of other software, on which the masters spend little time at once.

    With a million of them, on two cores, the command took 6.4 s, 5 MB, and 2.0 s of each master's CPU. Its
    4,000 requests took 0.46 ms (median; longest 7.8 ms). With --foreign, where 200,000 may be locks: 15 s,
    104 MB, 3.8 s."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(3)
        cls.addClassCleanup(cls.cluster.stop)
        for master in range(1, 4):
            for start in range(1, FOREIGN + 1, 20000):
                cls.cluster.cli(master, "EVAL", FILL, "0", str(start), str(min(FOREIGN, start + 19999)))

    def test_all_is_found_in_small_steps(self):
        for i in range(20):
            self.lock_on_all("--max-ttl", "2m", "--ttl", "2m", "--label", f"host:{i}", f"name-{i}")
        self.cluster.each_cli("CONFIG", "RESETSTAT")
        told = self.redlock("list", "--json", status=0, deadline=600).json
        self.assertEqual({(h["holder"], h["holds"][0]["name"]) for h in told["holders"]},
                         {(f"host:{i}", f"name-{i}") for i in range(20)})
        for node in told["nodes"]:
            self.assertGreaterEqual(node["keys"], FOREIGN)
            self.assertEqual(node["looked_at"], node["keys"])
        for master in range(1, 4):
            stats = self.cluster.cli(master, "INFO", "commandstats")
            scans = int(re.search(r"cmdstat_scan:calls=(\d+)", stats)[1])
            # No type, and no value, is asked for that the scan itself leaves out.
            reads = int(re.search(r"cmdstat_getrange:calls=(\d+)", stats)[1])
            self.assertGreaterEqual(scans, FOREIGN // 300)
            self.assertLessEqual(reads, FOREIGN * 3 // 5 + 1000)
            self.assertNotIn("errorstat_WRONGTYPE", self.cluster.cli(master, "INFO", "errorstats"))

    def test_the_progress_is_shown_on_a_terminal(self):
        terminal = Terminal([REDLOCK, *self.patience, "list", "--foreign"], self.env())
        self.addCleanup(terminal.close)
        terminal.expect(b"redlock: looked at ")
        terminal.expect(b" keys on 3 masters, found ")
        until(terminal.has_ended, "it ends", 600)
        self.assertEqual(terminal.status, 0)


class Missing(Case):
    """Masters that `list` cannot read through."""

    def setUp(self):
        super().setUp()
        self.cluster = Cluster(5)
        self.addCleanup(self.cluster.stop)
        self.lock_on_all("--ttl", "30s", "--label", "me", "a")

    def test_two_are_dead(self):
        self.cluster.kill(1, 2)
        told = self.redlock("list", status=0)
        self.assertIn("  holds 'a' on 3 of 5 masters, ", told.out)
        self.assertEqual(told.err.count("names that only this master has are not shown"), 2)

    def list_through(self, change, *options):
        relay = Relay(self.cluster.ports[0], change=change)
        return self.redlock("list", *options, status=0,
                            env=self.env(REDLOCK_NODES=through(self.cluster, [relay])))

    def test_one_tells_names_that_are_none(self):
        """Shorter than the prefix, or with another one, or those of redlock's own keys."""
        self.lock_on_all("--ttl", "30s", "--label", "me", "jobs:aa")
        self.lock_on_all("--ttl", "30s", "--label", "me", "Redlock:aa")
        for names in b"3:abc2:xy", b"7:jobx:aa":
            told = self.list_through(lambda data, names=names: data.replace(b"7:jobs:aa", names),
                                     "--prefix", "jobs:")
            self.assertEqual(told.out.count("holds"), 1)
            self.assertIn("  holds 'aa' on 5 of 5 masters, ", told.out)
        told = self.list_through(lambda data: data.replace(b"10:Redlock:aa", b"10:redlock:aa"))
        self.assertEqual(told.out.count("holds"), 3)

    def test_names_that_are_left_out_are_counted(self):
        without = re.compile(rb"(\*4\r\n\$1\r\n0\r\n:\d+\r\n):0\r\n")
        told = self.list_through(lambda data: without.sub(rb"\1:3\r\n", data))
        self.assertIn(": 3 names are too long and not shown", told.err)

    def test_two_are_far_away(self):
        """A quorum has answered long before them."""
        far = [Relay(port, late_s=0.03) for port in self.cluster.ports[:2]]
        self.cluster.cli(1, "SET", "rest", f"{'A' * 22}:rest", "PX", "30000")
        told = self.redlock("list", status=0, env=self.env(REDLOCK_NODES=through(self.cluster, far))).out
        self.assertIn("  holds 'a' on 5 of 5 masters, ", told)
        self.assertIn("  holds 'rest' on 1 of 5 masters (partial: no quorum), ", told)

    def test_one_never_comes_to_its_end(self):
        last, goes_on = b"*4\r\n$1\r\n0\r\n:", b"*4\r\n$1\r\n7\r\n:"
        endless = Relay(self.cluster.ports[0], change=lambda data: data.replace(last, goes_on))
        env = self.env(REDLOCK_NODES=through(self.cluster, [endless]))
        told = self.redlock("list", status=0, env=env)
        self.assertIn("  holds 'a' on 5 of 5 masters, ", told.out)
        self.assertIn(f":{endless.port}: far slower than the others, so not waited for; names that only this "
                      "master has are not shown", told.err)
        nodes = self.redlock("list", "--json", status=0, env=env).json["nodes"]
        self.assertEqual([node["code"] for node in nodes], ["REDLOCK_E_UNAVAILABLE"] + ["REDLOCK_OK"] * 4)

    def test_three_are_dead(self):
        self.cluster.kill(1, 2, 3)
        told = self.redlock("list", status=69)
        self.assertIn("(too few masters answered)", told.out)
        self.assertIn("too few masters answered: names may be missing", told.err)
        told = self.redlock("list", "--json", status=69).json
        self.assertEqual((told["ok"], told["code"]), (False, "REDLOCK_E_UNAVAILABLE"))
        self.assertEqual([node["code"] for node in told["nodes"]].count("REDLOCK_OK"), 2)

    def test_one_hangs(self):
        self.patience = ()
        self.cluster.pause(1)
        try:  # another one may be late
            until(lambda: "on 4 of 5 masters" in self.redlock("list", status=0).out, "the others are listed")
        finally:
            self.cluster.resume(1)
