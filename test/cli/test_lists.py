"""Lists with wrong entries: a replica, one server twice, a node of a cluster, several servers at one address.

For every command each such entry counts as a master that is down, with a message. The status is 78 where the
others are no quorum."""
# rule: M1, Q11

import subprocess

from harness import Case, ClusterCase, until
from relay import Balancer
from server import Server

NOBODY = "0123456789abcdef0123456789abcdef"
WRONG = {"replica": "is a replica: list independent masters only",
         "twice": "is the same server as master",
         "cluster": "is in cluster mode: list independent masters only"}


class Wrong(ClusterCase):
    masters = 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        first = cls.cluster.ports[0]
        cls.replicas = [cls.server(f"replicaof 127.0.0.1 {first}") for _ in range(2)]
        cls.nodes = [cls.server("cluster-enabled yes") for _ in range(2)]
        password = cls.cluster.passwords[0]
        cls.entries = {"replica": [it.uri() for it in cls.replicas],
                       "cluster": [it.uri() for it in cls.nodes],
                       "twice": [f"redis://:{password}@localhost:{first}",
                                 f"unix://:{password}@{cls.cluster.dir}/master-1/redis.sock"]}

    @classmethod
    def server(cls, *lines):
        server = Server(*lines)
        cls.addClassCleanup(server.stop)
        return server

    def each(self, right):
        """Lists of that many masters with one kind of wrong entry, three in all."""
        for kind, entries in self.entries.items():
            with self.subTest(kind=kind):
                yield kind, ",".join(self.cluster.uris[:right] + entries[:3 - right])

    def said_while_it_runs(self, said, env):
        """The others may be heard, and a command at its end, before the wrong one."""
        process, told = self.told_while("run", "a", "--", "cat", env=env, stdin=subprocess.PIPE)
        until(lambda: said in told(), "it is said")
        self.let_end(process, 0)

    def test_others_are_enough(self):
        for kind, nodes in self.each(2):
            env, said = self.env(REDLOCK_NODES=nodes), f"has no vote: it {WRONG[kind]}"
            with self.subTest(kind=kind):
                self.said_while_it_runs(said, env)
                self.assertNotIn("no vote",
                                 self.redlock("run", "-q", "a", "--", "true", env=env, status=0).err)
                token = self.redlock("lock", "a", env=env, status=0).out.strip()
                self.assertIn("a", self.redlock("status", "a", env=env, status=0).out)
                self.assertIn("a", self.redlock("list", env=env).out)
                self.redlock("run", "--wait", "0", "a", "--", "true", env=env, status=75)
                self.redlock("extend", "--token", token, "a", env=env, status=0)
                self.redlock("unlock", "--token", token, "a", env=env, status=0)
                token = self.redlock("lock", "b", env=env, status=0).out.strip()
                self.redlock("break", "--yes", "--holder", token, "b", env=env, status=0)
                self.redlock("elect", "a", "--", "true", env=env, status=0)
                self.redlock("leader", "a", env=env, status=1)
                self.redlock("latch", "create", "--arrivals", "1", kind, env=env, status=0)
                self.redlock("latch", "arrive", kind, env=env, status=0)
                self.redlock("latch", "wait", kind, env=env, status=0)
                self.redlock("barrier", "--parties", "1", kind, env=env, status=0)
                told = self.redlock("nodes", env=env, status=0).out
                self.assertRegex(told, f"refused  .*{WRONG[kind]}")
                self.assertIn("2 of 3 masters vote, 2 must: locks work", told)
                told = self.redlock("nodes", "--json", env=env, status=0).json
                self.assertEqual([node["state"] for node in told["nodes"]].count("refused"), 1)

    def test_others_are_no_quorum(self):
        for kind, nodes in self.each(1):
            env = self.env(REDLOCK_NODES=nodes)
            for command in (["run", "a", "--", "false"], ["run", "--wait", "forever", "a", "--", "false"],
                            ["lock", "a"], ["extend", "--token", NOBODY, "a"],
                            ["unlock", "--token", NOBODY, "a"],
                            ["elect", "a", "--", "false"], ["status", "a"], ["list"],
                            ["break", "--yes", "--holder", NOBODY, "a"], ["leader", "a"],
                            ["latch", "create", "--arrivals", "1", "a"], ["latch", "arrive", "a"],
                            ["latch", "wait", "a"], ["latch", "count", "a"],
                            ["barrier", "--parties", "1", "a"]):
                with self.subTest(kind=kind, command=command):
                    told = self.redlock(*command, env=env, status=78).err
                    self.assertIn(WRONG[kind], told)
            told = self.redlock("nodes", env=env, status=78).out
            self.assertIn("no locks, because ", told)

    def test_alone(self):
        for kind in ("replica", "cluster"):
            env = self.env(REDLOCK_NODES=self.entries[kind][0])
            for command in (["barrier", "--parties", "2", "a"], ["latch", "wait", "a"], ["leader", "a"],
                            ["leader", "--watch", "a"], ["elect", "a", "--", "false"],
                            ["run", "--wait", "forever", "a", "--", "false"]):
                with self.subTest(kind=kind, command=command):
                    self.redlock(*command, env=env, status=78)

    def test_becomes_a_master(self):
        server = self.server()
        env = self.env(REDLOCK_NODES=",".join([*self.cluster.uris, server.uri()]))
        server.cli("REPLICAOF", "127.0.0.1", str(self.cluster.ports[0]))
        self.redlock("run", "c", "--", "true", env=env, status=0)
        server.cli("REPLICAOF", "NO", "ONE")
        told = self.redlock("nodes", env=env, status=0).out
        self.assertNotIn("refused", told)


class Promoted(Case):
    def start(self):
        self.servers = [Server("repl-diskless-sync-delay 0") for _ in range(4)]
        for server in self.servers:
            self.addCleanup(server.stop)
        self.list = self.of(*self.servers[:3])
        self.redlock("nodes", "--adopt", env=self.list, status=0)

    def of(self, *servers):
        return self.env(REDLOCK_NODES=",".join(server.uri() for server in servers), REDLOCK_MAX_TTL="12s")

    def all_vote(self):
        until(lambda: "3 of 3 masters vote" in self.redlock("nodes", env=self.list).out, "all of them vote")

    @staticmethod
    def follow(server, source):
        server.cli("REPLICAOF", "127.0.0.1", source.port)
        until(lambda: "master_link_status:up" in server.cli("INFO", "replication").split(), "it is synced")

    def lock_on_bare_quorum(self):
        self.servers[0].pause()
        self.redlock("lock", "--ttl", "12s", "a", env=self.list, status=0)
        self.servers[0].resume()

    def comes_back_from(self, source):
        """The third master lost the lock without a restart, so it abstains: the first one alone is no
        quorum."""
        self.follow(self.servers[2], source)
        self.servers[2].cli("REPLICAOF", "NO", "ONE")
        told = self.redlock("run", "a", "--", "true", env=self.list, status=75).err
        self.assertIn("abstains", told)
        self.all_vote()

    def test_was_a_replica(self):
        self.start()
        self.lock_on_bare_quorum()
        self.comes_back_from(self.servers[0])

    def test_was_a_replica_of_its_own_data(self):
        """Its replica took over for a while, and has the record that names the former master."""
        self.start()
        standby = self.servers[3]
        for _ in range(2):
            self.follow(standby, self.servers[2])
            standby.cli("REPLICAOF", "NO", "ONE")
            self.lock_on_bare_quorum()
            self.comes_back_from(standby)

    def test_was_adopted(self):
        """The word about a process does not hold for the data of another."""
        self.start()
        standby = self.servers[3]
        self.follow(standby, self.servers[2])
        standby.cli("REPLICAOF", "NO", "ONE")
        until(lambda: self.redlock("run", "b", "--", "true", env=self.of(standby)).status == 0,
              "its own quarantine is over")
        self.lock_on_bare_quorum()
        self.comes_back_from(standby)


class Balanced(ClusterCase):
    masters = 5

    def test_nodes_finds_it(self):
        ways = [Balancer(self.cluster.ports) for _ in range(3)]
        env = self.env(REDLOCK_NODES=",".join(f"redis://:{self.cluster.passwords[0]}@127.0.0.1:{way.port}"
                                              for way in ways))
        self.cluster.each_cli("CONFIG", "SET", "requirepass", self.cluster.passwords[0])
        self.cluster.passwords = [self.cluster.passwords[0]] * self.masters
        told = self.redlock("nodes", env=env, status=78).out
        self.assertIn("refused", told)
        self.assertIn("is an address of several servers", told)
        told = self.redlock("nodes", "--json", env=env, status=78).json
        self.assertIn(told["code"], ("REDLOCK_E_NO_MASTER", "REDLOCK_E_SAME_MASTER"))

    def test_another_connection(self):
        """One address of three is a balancer; its connection ends, and the next one is to another server."""
        password = self.cluster.passwords[0]
        for master in (3, 4, 5):
            self.cluster.cli(master, "CONFIG", "SET", "requirepass", password)
            self.cluster.passwords[master - 1] = password
        way = Balancer(self.cluster.ports[2:])
        nodes = [*self.cluster.uris[:2], f"redis://:{password}@127.0.0.1:{way.port}"]
        env, err = self.env(REDLOCK_NODES=",".join(nodes)), self.tmp / "err"
        until(lambda: all("uptime_in_seconds:%d" % s not in self.cluster.cli(master, "INFO", "server").split()
                          for master in (3, 4, 5) for s in range(4)), "none has just begun")
        with open(err, "wb") as to:
            held = self.spawn("run", "--ttl", "10s", self.name, "--", "cat", env=env, stderr=to,
                              stdin=-1, stdout=-1)
        def said():
            return "has no vote: it is an address of several servers" in err.read_text()

        # On a busy machine a connection may end by itself before that.
        until(lambda: any(self.cluster.values(self.name)[2:]) or said(), "it is held there, too")
        way.cut()
        until(said, "it is said")
        held.stdin.close()
        held.wait(30)
        self.assertEqual(held.returncode, 0)
        # It told each of them that another one answered there, so they abstain.
        told = ",".join(f"redis://:{password}@127.0.0.1:{port}" for port in self.cluster.ports[2:])
        self.redlock("nodes", "--adopt", env=self.env(REDLOCK_NODES=told), status=0)
