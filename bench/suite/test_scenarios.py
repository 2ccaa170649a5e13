"""Tests that the scenarios do what their figures say: python3 bench/suite/test_scenarios.py BIN

BIN is the folder of redlock-bench and redlock."""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from urllib.parse import urlsplit

from entrant import Entrant, once
from masters import Masters

HERE = os.path.dirname(os.path.abspath(__file__))
CLUSTER = os.path.join(HERE, "../../cluster-scripts/cluster")
BIN = os.path.abspath(sys.argv.pop(1))
FIVE = (1, 2, 3, 4, 5)
CLOSED_LOOPS = "floor-async", "floor-patient", "floor-epoll"
DEADLINE_S = 20


class Scenarios(unittest.TestCase):
    def setUp(self):
        os.environ["REDLOCK"] = os.path.join(BIN, "redlock")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.masters = Masters(CLUSTER, os.path.join(folder.name, "masters"), len(FIVE))
        self.addCleanup(self.masters.stop)
        self.environment = {"REDLOCK_NODES": self.masters.list(*FIVE)}

    def command(self, *arguments):
        return [os.path.join(BIN, "redlock-bench"), *arguments]

    def bench(self, *arguments):
        return once(self.command("--json", "--no-syscalls", *arguments), 60, self.environment)

    def ask(self, number, *words):
        node = urlsplit(self.masters.nodes[number - 1])
        done = subprocess.run(["redis-cli", "-h", node.hostname, "-p", str(node.port), *words], text=True,
                              check=True,
                              stdout=subprocess.PIPE, env={**os.environ, "REDISCLI_AUTH": node.password})
        return done.stdout

    def calls(self, number, command):
        for line in self.ask(number, "info", "commandstats").splitlines():
            if line.startswith(f"cmdstat_{command}:calls="):
                return int(line.split("=")[1].split(",")[0])
        return 0

    def await_no_locks(self, *patterns):
        until = time.monotonic() + DEADLINE_S
        while any(self.ask(number, "keys", pattern).strip() for number in FIVE
                  for pattern in patterns or ("fl:*",)):
            self.assertLess(time.monotonic(), until, "locks are left")
            time.sleep(0.02)

    def test_a_floor_sets_and_deletes_each_name_on_all_masters(self):
        for scenario, c in [(name, c) for name in CLOSED_LOOPS for c in (1, 64)] + [("floor-blocking", 1)]:
            with self.subTest(scenario=scenario, c=c):
                before = [self.calls(number, "set") for number in FIVE]
                result = self.bench("-c", str(c), "--pairs", "300", scenario)
                self.assertEqual((result.get("pairs"), result.get("failed"), result.get("note")),
                                 (300, 0, ""), result)
                self.await_no_locks()
                self.assertEqual([self.calls(number, "set") for number in FIVE],
                                 [sets + 300 for sets in before])

    def test_a_master_that_was_not_waited_for_gets_all_commands_too(self):
        """More than its connection has room for, and before the floor ends."""
        pairs = 20000
        entrant = Entrant("floor-async",
                          self.command("--warm", "0", "--slice", "1", "--pairs", str(pairs), "-c", "64",
                                       "floor-async"), self.environment)
        self.addCleanup(entrant.close)
        entrant.wait_until_ready()
        before = self.calls(5, "set")
        self.masters.pause(5)
        result = entrant.slice(1) or {}
        entrant.ask_to_end()
        self.masters.resume(5)
        self.assertEqual((result.get("pairs"), result.get("failed")), (pairs, 0), result)
        entrant.close()
        self.await_no_locks()
        self.assertEqual(self.calls(5, "set") - before, pairs)

    def test_one_floor_alone_waits_for_the_releases_of_all(self):
        entrants = {name: Entrant(name, self.command("--warm", "0", "--slice", "0.2", name), self.environment)
                    for name in CLOSED_LOOPS}
        for entrant in entrants.values():
            self.addCleanup(entrant.close)
            entrant.wait_until_ready()
        self.masters.pause(5)
        pairs = {name: (entrant.slice(0.2) or {}).get("pairs") for name, entrant in entrants.items()}
        self.masters.resume(5)
        self.assertEqual(pairs["floor-patient"], 0)
        self.assertTrue(pairs["floor-async"] and pairs["floor-epoll"], pairs)

    def test_redlock_goes_on_with_the_third_of_five_releases_too(self):
        entrant = Entrant("pairs", self.command("--warm", "0", "--slice", "0.2", "pairs"), self.environment)
        self.addCleanup(entrant.close)
        entrant.wait_until_ready()
        for number in 4, 5:
            self.masters.pause(number)
        result = entrant.slice(0.2) or {}
        for number in 4, 5:
            self.masters.resume(number)
        self.assertGreater(result.get("pairs", 0), 0, result)

    def test_a_pair_is_as_many_commands_as_a_floors(self):
        """One at a time: one SET and one script on each master."""
        told = {}
        for name in "pairs", "floor-async", "floor-epoll":
            before = [self.calls(number, command) for number in FIVE
                      for command in ("set", "evalsha", "eval")]
            result = self.bench("--pairs", "300", name)
            self.assertEqual((result.get("pairs"), result.get("failed")), (300, 0), result)
            self.await_no_locks("fl:*", "rb:*")
            after = [self.calls(number, command) for number in FIVE for command in ("set", "evalsha", "eval")]
            told[name] = [now - then for then, now in zip(before, after)]
        self.assertEqual(told["floor-async"], [300, 300, 0] * 5)
        self.assertEqual(told["floor-epoll"], [300, 300, 0] * 5)
        hello = [now - then for then, now in zip(told["floor-async"], told["pairs"])]
        self.assertTrue(all(0 <= more <= 3 for more in hello), hello)

    def test_the_handoff_floor_deletes_and_publishes_on_each_master(self):
        result = self.bench("--workers", "3", "--warm", "0.1", "--seconds", "1", "--hold", "2", "--count",
                            "del,publish",
                            "floor-handoff")
        self.assertGreater(result.get("pairs", 0), 10, result)
        self.assertAlmostEqual(result["commands_per_handoff"], 10, delta=2)

    def test_what_masters_refuse_is_no_pair(self):
        for number in FIVE[:3]:
            self.ask(number, "config", "set", "maxmemory", "1")
        for name in CLOSED_LOOPS:
            with self.subTest(scenario=name):
                entrant = Entrant(name, self.command("--warm", "0", "--slice", "0.2", name), self.environment)
                self.addCleanup(entrant.close)
                entrant.wait_until_ready()
                result = entrant.slice(0.2) or {}
                self.assertEqual((result.get("pairs"), result.get("acquire_histogram_ns")), (0, []), result)
                self.assertGreater(result["failed"], 0, result)

    def test_a_storm_is_of_all_connections(self):
        result = self.bench("--leases", "20", "storm")
        self.assertEqual((result.get("clients"), result.get("connections")), (20, 100), result)
        self.assertGreater(result["master_us_per_connection"], 0)

    def test_a_burst_asks_for_all_kinds_at_once(self):
        before = self.calls(1, "set")
        result = self.bench("--leases", "30", "--hold", "1", "--ttl", "60000", "burst")
        facts = "leases", "looks", "pairs", "not_acquired", "looks_failed", "lost"
        self.assertEqual([result.get(fact) for fact in facts], [30, 10, 30, 0, 0, 0], result)
        self.assertTrue(0 < result["leases_told_s"] <= result["seconds"], result)
        self.assertTrue(0 < result["looks_told_s"] <= result["seconds"], result)
        self.assertIn("resident_bytes_per_lease", result)
        self.assertGreaterEqual(self.calls(1, "set") - before, 20, "plain and fenced")
        self.await_no_locks("burst-*")

    def test_a_burst_tells_what_came_to_nothing(self):
        for number in FIVE[:3]:
            self.ask(number, "config", "set", "maxmemory", "1")
        result = self.bench("--leases", "9", "--hold", "1", "burst")
        self.assertEqual((result.get("pairs"), result.get("not_acquired"), result.get("overload")), (0, 9, 0),
                         result)

    def test_tasks_are_all_told(self):
        facts = "tasks", "untold", "tasks_failed"
        for kind in "observers", "parties", "surveys":
            result = self.bench("--leases", "25", kind)
            self.assertEqual([result.get(fact) for fact in facts], [25, 0, 0], result)
            self.assertGreater(result["cpu_us_per_task"], 0)
        for number in FIVE[:3]:
            self.ask(number, "config", "set", "maxmemory", "1")
        self.assertEqual(self.bench("--leases", "25", "surveys")["tasks_failed"], 0)

    def test_a_command_is_run_as_often_as_wanted(self):
        result = self.bench("--pairs", "3", "--worker", os.path.join(BIN, "redlock run bench-test -- true"),
                            "start")
        self.assertEqual((result.get("pairs"), result.get("note")), (3, ""), result)
        self.assertGreater(result["run_us"], 0)

    def test_the_processor_time_is_that_of_the_command(self):
        kernel_works = "dd if=/dev/zero of=/dev/null bs=64k count=20000 status=none"
        result = self.bench("--pairs", "2", "--worker", kernel_works, "start")
        self.assertGreater(result["system_us_per_pair"], result["user_us_per_pair"], result)

    def test_a_command_that_fails_is_told(self):
        result = self.bench("--pairs", "3", "--worker", "false", "start")
        self.assertEqual((result.get("pairs"), result.get("failed")), (0, 1), result)
        self.assertIn("false", result["note"])


class Network(unittest.TestCase):
    """The links of bench-network, as a command meets them."""

    def run_on(self, *words, status=0):
        done = subprocess.run([os.path.join(BIN, "bench-network"), *words], text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode == 77:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def round_trips(self, *links):
        """The answer times that `redlock nodes` tells, in us."""
        out = self.run_on(*links, "--", os.path.join(BIN, "redlock"), "nodes", "--adopt", "--json")
        return [node["rtt_us"] for node in json.loads(out)["nodes"]]

    def test_each_link_has_its_round_trip(self):
        """A busy machine makes some of them longer, and none shorter."""
        near, far, farther = map(min, zip(*(self.round_trips("0", "20", "50") for _ in range(5))))
        self.assertLess(near, 20000)
        self.assertGreaterEqual(far, 20000)
        self.assertGreaterEqual(farther, 50000)

    def sent_again(self, link):
        counts = "awk '/^Tcp:/ && ++line == 2 { print $13 }' /proc/net/snmp"
        return int(self.run_on(link, "--", "sh", "-c",
                               f"redis-cli -h 10.99.1.1 -r 40 ping > /dev/null; {counts}"))

    def test_packets_are_lost(self):
        """On a busy machine an answer may come so late that it looks lost, too."""
        self.assertGreater(self.sent_again("1/20"), 2 * self.sent_again("1"))

    def test_the_status_is_the_commands(self):
        self.run_on("0", "--", "sh", "-c", "exit 7", status=7)
        self.run_on("0", "--", "sh", "-c", "kill -TERM $$", status=128 + 15)

    def test_wrong_links_are_refused(self):
        for wrong in ("x", "1~", "-1", "1/101", "1/1x"):
            self.run_on(wrong, "--", "true", status=64)

    def test_scripts_reach_masters_that_are_far(self):
        """They take several round trips, and a new master has none."""
        runs = '"$0" nodes --adopt >/dev/null && exec "$0" run far -- true'
        self.run_on("200", "200", "200", "--", "sh", "-c", runs, os.path.join(BIN, "redlock"))


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
