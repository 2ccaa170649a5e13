"""nodes: findings and advice; lists of masters that are refused."""

import os
import re

from harness import REDLOCK, Case, Cluster, ClusterCase, environment, until
from server import Server


class Healthy(ClusterCase):
    def test_all_is_well(self):
        result = self.redlock("nodes", status=0)
        self.assertIn("5 of 5 masters vote, 3 must: locks work", result.out)
        self.assertNotIn("->", result.out)
        for port in self.cluster.ports:
            self.assertRegex(result.out, rf"127\.0\.0\.1:{port}  up  (valkey )?\d+\.\d+\.\d+, master, run ")

    def test_json(self):
        told = self.redlock("nodes", "--json", status=0).json
        self.assertEqual((told["ok"], told["up"], told["masters"], told["quorum"]),
                         (True, 5, 5, 3))
        for node in told["nodes"]:
            self.assertEqual((node["state"], node["role"], node["advice"]), ("up", "master", []))
            self.assertEqual(len(node["run_id"]), 40)
            self.assertLess(abs(node["clock_offset_us"]), 500000)
            self.assertGreater(node["rtt_us"], 0)
            self.assertEqual((node["grants"], node["refusal"], node["no_queue"]),
                             (True, None, None))
        self.assertEqual(told["grant"], 5)

    def test_nothing_is_left_of_the_trial(self):
        self.redlock("nodes", status=0)
        until(lambda: set(self.cluster.each_cli("KEYS", "*")) == {"redlock:clock"}, "it is gone")

    def test_even_number(self):
        nodes = ",".join(self.cluster.uris[:4])
        told = self.redlock("nodes", "--nodes", nodes, status=0).out
        self.assertIn("4 masters survive no more deaths than 3: use an odd number, or --spare 1", told)
        told = self.redlock("nodes", "--json", "--nodes", nodes, status=0).json
        self.assertEqual(len(told["advice"]), 1)

    def test_tolerance(self):
        told = self.redlock("nodes", status=0).out
        self.assertIn("a quorum is 3 of 5: 2 may be down, none may lie or lose data\n", told)
        told = self.redlock("nodes", status=0, env=self.env(REDLOCK_SPARE="1")).out
        self.assertIn("5 of 5 masters vote, 4 must: locks work", told)
        self.assertIn("a quorum is 4 of 5: 1 may be down, at most one holder while no more than 2 lie or "
                      "lose data (1 beside clients without --spare), fences grow while no more than 1 do\n",
                      told)
        self.assertNotIn("->", told)
        told = self.redlock("nodes", "--spare", "2", "--json", status=0).json
        self.assertEqual([told[key] for key in ("quorum", "stands_dead", "stands_wrong",
                                                "stands_wrong_mixed")], [4, 1, 2, 1])
        self.assertEqual(told["advice"], ["2 wrong masters that refuse stop all locks: use 7 masters "
                                          "with --spare 2"])

    def test_eviction(self):
        self.cluster.cli(2, "CONFIG", "SET", "maxmemory", "100mb")
        self.assertNotIn("->", self.redlock("nodes", status=0).out)
        self.cluster.cli(2, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        told = self.redlock("nodes", status=0).out
        self.cluster.cli(2, "CONFIG", "SET", "maxmemory", "0")
        self.assertIn("evicts keys under memory pressure (allkeys-lru): a lock may vanish; set "
                      "maxmemory-policy noeviction", told)
        self.assertEqual(told.count("->"), 1)

    def test_append_only_files(self):
        self.cluster.cli(2, "CONFIG", "SET", "appendonly", "yes")
        told = self.redlock("nodes", "--json", status=0).json
        self.cluster.cli(2, "CONFIG", "SET", "appendonly", "no")
        self.assertEqual([node["aof"] for node in told["nodes"]].count(True), 1)

    def test_one_master_twice(self):
        # There is no quorum without it: otherwise a slow master may be noticed too late.
        uri = self.cluster.uris[1]
        twice = f"{uri},{uri.replace('127.0.0.1', 'localhost')}"
        result = self.redlock("nodes", "--nodes", twice, status=78)
        self.assertRegex(result.out, "refused.*is the same server as master [12] of the list")
        self.assertIn("1 of 2 masters vote, 2 must: no locks, because one master is listed twice",
                      result.out)
        self.assertNotIn("locks work", result.out)
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
        self.assertEqual(told.count("`redlock nodes --adopt` lets it vote now"), 3)
        self.assertRegex(told, r"abstains \d+\.\d s more")
        node = self.redlock("nodes", "--json", status=69).json["nodes"][0]
        self.assertEqual(node["state"], "abstains")
        self.assertTrue(0 < node["abstains_ms"] < 40000)
        result = self.redlock("lock", "a", status=69)
        self.assertRegex(result.err, r"restarted, abstains \d+\.\d s more")
        told = self.redlock("nodes", "--adopt", "--json", status=0).json
        self.assertEqual([n["state"] for n in told["nodes"]], ["up"] * 3)
        self.assertEqual((told["code"], told["text"]), ("REDLOCK_OK", "ok"))
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

    def test_what_masters_that_abstain_have_forgotten_is_not_free(self):
        told = self.redlock("status", "a", status=69).out
        self.assertIn("a: unknown; 0 of 3 masters answered, 2 must; a master that abstains "
                      "may have forgotten a holder\n", told)
        self.assertRegex(told, r"  restarted, abstains [0-9.]+ s more\n")
        told = self.redlock("status", "--json", "a", status=69).json["names"][0]
        self.assertEqual((told["state"], told["code"], told["answered"]),
                         ("unknown", "REDLOCK_E_UNAVAILABLE", 0))
        self.assertIn("may have forgotten a holder", told["text"])
        left = [vote["remaining_ms"] for vote in told["votes"] if vote["vote"] == "abstains"]
        self.assertGreaterEqual(len(left), 2)  # a late master is not waited for
        self.assertGreater(min(left), 0)

    def test_status_beside_a_master_that_abstains(self):
        self.redlock("nodes", "--adopt", status=0)
        self.lock_on_all("--ttl", "30s", "b")
        self.cluster.restart(1, "--empty")
        until(lambda: re.search("a: free\n.*restarted, abstains",
                                self.redlock("status", "a", status=0).out),
              "a master that is late is heard, too")
        told = self.redlock("status", "--json", "b", status=0).json["names"][0]
        self.assertEqual(told["state"], "held")
        self.cluster.restart(2, "--empty")
        self.assertIn("a: unknown; 1 of 3", self.redlock("status", "a", status=69).out)
        self.assertIn("b: unknown; held by", self.redlock("status", "b", status=69).out)

    def clocks(self):
        return self.cluster.each_cli("HGETALL", "redlock:clock")

    def test_who_looks_is_not_remembered(self):
        looks = (["status", "a"], ["nodes"], ["status", "a", "--max-ttl", "10m"],
                 ["nodes", "--max-ttl", "10m"])
        for look in looks:
            self.redlock(*look, status=69)
        self.assertEqual(self.clocks(), [""] * 3)
        left = [node["abstains_ms"] for node in
                self.redlock("nodes", "--json", "--max-ttl", "10m", status=69).json["nodes"]]
        self.assertGreater(min(left), 500000)
        self.assertIn("a: unknown", self.redlock("status", "a", "--max-ttl", "10m", status=69).out)

        self.redlock("nodes", "--adopt", status=0)
        before = self.clocks()
        for look in looks:
            self.redlock(*look, status=0)
        for clock, was in zip(self.clocks(), before):
            self.assertIn("\nm\n30000", clock)
            self.assertEqual(clock.split("\nh\n")[0], was.split("\nh\n")[0])

    def test_who_looks_believes_what_others_told(self):
        def all_told():
            """A lock ends once a quorum is out of reach; a late master hears of the next one."""
            self.redlock("lock", "a", "--max-ttl", "10m", status=69)
            return all("\nm\n600000" in clock for clock in self.clocks())

        until(all_told, "each was told")
        for node in self.redlock("nodes", "--json", "--max-ttl", "1s", status=69).json["nodes"]:
            self.assertEqual((node["state"], node["max_ttl_ms"]), ("abstains", 600000))
            self.assertGreater(node["abstains_ms"], 500000)

    def test_a_hung_master(self):
        self.redlock("nodes", "--adopt", status=0)
        self.cluster.pause(3)
        told = self.redlock("nodes", "--connect-timeout", "1s", status=0).out
        self.assertIn("2 of 3 masters vote", told)
        self.assertNotRegex(told, f"{self.cluster.ports[2]}  up")


class Replica(ClusterCase):
    masters = 2  # no quorum without it

    def test_it_is_refused(self):
        self.cluster.cli(2, "CONFIG", "SET", "masterauth", self.cluster.passwords[0])
        self.cluster.cli(2, "REPLICAOF", "127.0.0.1", str(self.cluster.ports[0]))
        until(lambda: "master_link_status:up" in self.cluster.cli(2, "INFO", "replication"),
              "it replicates")
        told = self.redlock("nodes", status=78).out
        self.assertRegex(told, f"{self.cluster.ports[1]}  refused.*is a replica")
        self.assertIn("no locks, because a listed master is a replica", told)
        for command in (["lock", "a"], ["status", "a"]):
            result = self.redlock(*command, status=78)
            self.assertIn(str(self.cluster.ports[1]), result.err)
            self.assertIn("replica", result.err)
        marker = self.tmp / "ran"
        self.redlock("run", "a", "--", "touch", str(marker), status=78)
        self.assertFalse(marker.exists())
        told = self.redlock("nodes", "--json", status=78).json
        self.assertEqual((told["code"], told["nodes"][1]["state"]),
                         ("REDLOCK_E_REPLICA", "refused"))


class Passwords(ClusterCase):
    masters = 3

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.cli(1, "CONFIG", "SET", "requirepass", "Secret")
        cls.cluster.passwords[0] = "Secret"

    def with_login(self, login):
        return ",".join([f"redis://{login}127.0.0.1:{self.cluster.ports[0]}",
                         *self.cluster.uris[1:]])

    def test_right(self):
        self.assertIn("3 of 3", self.redlock("nodes", "--nodes", self.with_login(":Secret@"),
                                             status=0).out)

    def file(self, text):
        path = self.tmp / "nodes"
        path.write_bytes(text.encode())
        return str(path)

    def test_from_a_file(self):
        path = self.file(self.with_login(":Secret@").replace(",", "\n") + ",\n")
        told = self.redlock("nodes", "--nodes-file", path, status=0)
        self.assertIn("3 of 3", told.out)
        self.assertNotIn("Secret", told.out)
        told = self.redlock("nodes", env=environment(REDLOCK_NODES_FILE=path), status=0)
        self.assertIn("3 of 3", told.out)
        # A list in the environment itself comes first.
        self.redlock("nodes", env=self.env(REDLOCK_NODES=self.cluster.nodes,
                                       REDLOCK_NODES_FILE="/nowhere"), status=0)

    def test_comments_and_empty_lines(self):
        masters = self.with_login(":Secret@").split(",")
        path = self.file("# of the site, redis://nowhere\n\n" + masters[0]
                         + " # the first\n \n\t# redis://x\n"
                         + masters[1] + ",#\n#\n" + masters[2] + "\n# no newline")
        told = self.redlock("nodes", "--json", "--nodes-file", path, status=0).json
        self.assertEqual([node["grants"] for node in told["nodes"]], [True] * 3)
        path = self.file(masters[0] + "#\n")  # in a word it is none
        self.assertIn("the port must be a number",
                      self.redlock("lock", "a", "--nodes-file", path, status=78).err)
        path = self.file("# redis://a")
        self.assertIn("no masters are given",
                      self.redlock("lock", "a", "--nodes-file", path, status=78).err)

    def test_the_command_does_not_inherit_it(self):
        path = self.file(self.with_login(":Secret@"))
        look = ["--", "sh", "-c", "cat /proc/$PPID/cmdline; env; ls -l /proc/$$/fd"]
        for more, env in ((["--nodes-file", path], environment()),
                          ([], environment(REDLOCK_NODES_FILE=path)),
                          ([], environment(REDLOCK_NODES=self.with_login(":Secret@")))):
            with self.subTest(more=more):
                told = self.redlock("run", *more, "a", *look, env=env, status=0).out
                self.assertNotIn("Secret", told)
                self.assertIn("REDLOCK_TOKEN=", told)
                self.assertNotRegex(told, f"-> {path}")
        told = self.redlock("run", "a", "--", REDLOCK, *self.patience, "run", "b", "--", "echo", "in",
                            env=environment(REDLOCK_NODES_FILE=path), status=0).out
        self.assertEqual(told, "in\n")

    def test_a_redlock_within_has_the_same_masters_or_none(self):
        """With any other environment."""
        path = self.file(self.with_login(":Secret@"))
        others = environment(REDLOCK_NODES="redlock://others", REDLOCK_NODES_FILE="/others")
        inner = [REDLOCK, *self.patience, "run", "b", "--", "sh", "-c",
                 'echo "$REDLOCK_NODES, $REDLOCK_NODES_FILE"']
        for given in (path, "nodes"):
            with self.subTest(given=given):
                told = self.redlock("run", "--nodes-file", given, "a", "--", "sh", "-c",
                                    'cd /; exec "$@"', "-", *inner, env=others, status=0,
                                    cwd=self.tmp).out
                self.assertEqual(os.path.realpath(told.removeprefix(", ").strip()),
                                 os.path.realpath(path))
        for nodes, env in ((["--nodes", self.with_login(":Secret@")], others),
                           ([], {**others, "REDLOCK_NODES": self.with_login(":Secret@")})):
            told = self.redlock("run", *nodes, "a", "--", *inner, env=env, status=64).err
            self.assertIn("no masters given: `redlock run` passes on neither", told)
        read_end, write_end = os.pipe()
        os.write(write_end, self.with_login(":Secret@").encode())
        os.close(write_end)
        told = self.redlock("run", "--nodes-file", "/dev/stdin", "a", "--", *inner, env=others, status=64,
                            stdin=read_end).err
        os.close(read_end)
        self.assertIn("no masters given", told)
        open_to_all = Server()
        self.addCleanup(open_to_all.stop)
        plain = open_to_all.uri()
        self.redlock("nodes", "--adopt", "--nodes", plain, status=0)
        told = self.redlock("run", "--nodes", plain, "a", "--", *inner, env=others, status=0).out
        self.assertEqual(told, f"{plain}, \n")

    def test_a_redlock_within_has_the_same_spare_and_max_ttl(self):
        """They must be equal in all clients of the same masters."""
        look = ["a", "--", "sh", "-c", 'echo "$REDLOCK_SPARE, $REDLOCK_MAX_TTL"']
        path = self.file(self.with_login(":Secret@"))
        for options, more, told in ((["--max-ttl", "2m"], {}, "0, 120000ms\n"),
                                    (["--spare", "0"], {"REDLOCK_SPARE": "1"}, "0, \n"),
                                    ([], {"REDLOCK_MAX_TTL": "20s"}, "0, 20000ms\n")):
            with self.subTest(options=options, more=more):
                env = environment(REDLOCK_NODES_FILE=path, **more)
                self.assertEqual(self.redlock("run", *options, *look, env=env, status=0).out, told)

    def test_files_that_are_no_list(self):
        for text, says in (("", "it is empty"), ("redis://a\0", "zero byte"),
                           ("redis://a " * 7000, "too long"), (" \n", "no masters are given")):
            result = self.redlock("lock", "--nodes-file", self.file(text), "a", status=78)
            self.assertIn(says, result.err)
        for path, says in (("/nowhere", "No such file"), (str(self.tmp), "Is a directory")):
            result = self.redlock("lock", "--nodes-file", path, "a", status=78)
            self.assertIn(f"cannot be read from {path}: {says}", result.err)
        result = self.redlock("lock", "--nodes", "redis://a", "--nodes-file", "b", "a", status=64)
        self.assertIn("not both", result.err)

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
