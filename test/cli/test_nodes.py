"""nodes: what it finds and advises; lists of masters that are refused."""

import unittest

from harness import Case, Cluster, ClusterCase, until


class Healthy(ClusterCase):
    def test_all_is_well(self):
        result = self.redlock("nodes", status=0)
        self.assertIn("5 of 5 masters vote, 3 must: locks work", result.out)
        self.assertNotIn("->", result.out)
        for port in self.cluster.ports:
            self.assertRegex(result.out, rf"127\.0\.0\.1:{port}  up  \d+\.\d+\.\d+, master, run ")

    def test_json(self):
        told = self.redlock("nodes", "--json", status=0).json
        self.assertEqual((told["ok"], told["up"], told["masters"], told["quorum"]),
                         (True, 5, 5, 3))
        for node in told["nodes"]:
            self.assertEqual((node["state"], node["role"], node["advice"]), ("up", "master", []))
            self.assertEqual(len(node["run_id"]), 40)
            self.assertLess(abs(node["clock_offset_us"]), 500000)
            self.assertGreater(node["rtt_us"], 0)

    def test_even_number(self):
        nodes = ",".join(self.cluster.uris[:4])
        told = self.redlock("nodes", "--nodes", nodes, status=0).out
        self.assertIn("4 masters stand no more failures than 3 do", told)
        told = self.redlock("nodes", "--json", "--nodes", nodes, status=0).json
        self.assertEqual(len(told["advice"]), 1)

    def test_eviction(self):
        self.cluster.cli(2, "CONFIG", "SET", "maxmemory", "100mb")
        self.assertNotIn("->", self.redlock("nodes", status=0).out)
        self.cluster.cli(2, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        told = self.redlock("nodes", status=0).out
        self.cluster.cli(2, "CONFIG", "SET", "maxmemory", "0")
        self.assertIn("evicts keys under memory pressure (allkeys-lru): a lock may vanish; set "
                      "maxmemory-policy noeviction", told)
        self.assertEqual(told.count("->"), 1)

    def test_one_master_twice(self):
        twice = f"{self.cluster.nodes},redis://localhost:{self.cluster.ports[1]}"
        result = self.redlock("nodes", "--nodes", twice, status=78)
        self.assertRegex(result.out, "refused.*is the same server as master [26] of the list")
        for command in (["lock", "a"], ["run", "a", "--", "true"], ["status", "a"],
                        ["unlock", "--token", "t", "a"]):
            with self.subTest(command=command):
                result = self.redlock("--nodes", twice, *command, status=78)
                self.assertRegex(result.err, rf"localhost:{self.cluster.ports[1]}|"
                                             rf"127\.0\.0\.1:{self.cluster.ports[1]}")
        told = self.redlock("lock", "a", "--json", "--nodes", twice, status=78).json
        self.assertEqual(told["code"], "REDLOCK_E_SAME_MASTER")


class Adopt(Case):
    def setUp(self):
        super().setUp()
        self.cluster = Cluster(3, "--no-adopt")
        self.addCleanup(self.cluster.stop)

    def test_new_masters_abstain_until_adopted(self):
        told = self.redlock("nodes", status=69).out
        self.assertEqual(told.count("`redlock nodes --adopt` lifts that"), 3)
        self.assertRegex(told, r"abstains \d+\.\d s more")
        node = self.redlock("nodes", "--json", status=69).json["nodes"][0]
        self.assertEqual(node["state"], "abstains")
        self.assertTrue(0 < node["abstains_ms"] < 40000)
        result = self.redlock("lock", "a", status=69)
        self.assertRegex(result.err, r"restarted, abstains \d+\.\d s more")
        told = self.redlock("nodes", "--adopt", "--json", status=0).json
        self.assertEqual([n["state"] for n in told["nodes"]], ["up"] * 3)
        self.assertIn("3 of 3", self.redlock("nodes", status=0).out)
        self.lock("a")

    def test_a_restarted_master_abstains(self):
        self.redlock("nodes", "--adopt", status=0)
        self.cluster.kill(2)
        self.assertRegex(self.redlock("nodes", status=0).out,
                         f"{self.cluster.ports[1]}  down  .*refused")
        self.cluster.restart(2)
        told = self.redlock("nodes", status=0).out
        self.assertRegex(told, f"{self.cluster.ports[1]}  abstains")
        self.assertIn("2 of 3 masters vote", told)
        self.assertIn("3 of 3 masters vote", self.redlock("nodes", "--adopt", status=0).out)

    def test_a_hung_master(self):
        self.redlock("nodes", "--adopt", status=0)
        self.cluster.pause(3)
        told = self.redlock("nodes", "--connect-timeout", "200ms", status=0).out
        self.assertIn("2 of 3 masters vote", told)
        self.assertNotRegex(told, f"{self.cluster.ports[2]}  up")


class Replica(ClusterCase):
    masters = 4

    def test_it_is_refused(self):
        self.cluster.cli(4, "REPLICAOF", "127.0.0.1", str(self.cluster.ports[0]))
        until(lambda: "master_link_status:up" in self.cluster.cli(4, "INFO", "replication"),
              "it replicates")
        told = self.redlock("nodes", status=78).out
        self.assertRegex(told, f"{self.cluster.ports[3]}  refused.*is a replica")
        for command in (["lock", "a"], ["status", "a"]):
            result = self.redlock(*command, status=78)
            self.assertIn(str(self.cluster.ports[3]), result.err)
            self.assertIn("replica", result.err)
        marker = self.tmp / "ran"
        self.redlock("run", "a", "--", "touch", str(marker), status=78)
        self.assertFalse(marker.exists())
        told = self.redlock("nodes", "--json", status=78).json
        self.assertEqual((told["code"], told["nodes"][3]["state"]),
                         ("REDLOCK_E_REPLICA", "refused"))


class Passwords(ClusterCase):
    masters = 3

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.cli(1, "CONFIG", "SET", "requirepass", "Secret")

    def with_login(self, login):
        return ",".join([f"redis://{login}127.0.0.1:{self.cluster.ports[0]}",
                         *self.cluster.uris[1:]])

    def test_right(self):
        self.assertIn("3 of 3", self.redlock("nodes", "--nodes", self.with_login(":Secret@"),
                                             status=0).out)

    def test_wrong_or_missing(self):
        for login, says, advice in ((":Wrong1@", "WRONGPASS", "user or password are wrong"),
                                    ("me:Wrong1@", "WRONGPASS", "user or password are wrong"),
                                    ("", "NOAUTH", "it wants a password")):
            with self.subTest(login=login):
                told = self.redlock("nodes", "--nodes", self.with_login(login), status=0).out
                self.assertIn(says, told)
                self.assertIn(advice, told)
                self.assertNotIn("Wrong1", told)
                self.assertIn("2 of 3 masters vote", told)

    def test_named_as_the_reason(self):
        login = self.with_login(":Wrong1@").rsplit(",", 1)[0] + ",redis://127.0.0.1:1"
        result = self.redlock("lock", "a", "--nodes", login, status=69)
        self.assertRegex(result.err, f"127.0.0.1:{self.cluster.ports[0]}: .*WRONGPASS")
        self.assertRegex(result.err, "127.0.0.1:1: .*refused")
        self.assertNotIn("Wrong1", result.err)


if __name__ == "__main__":
    unittest.main()
