"""A server in the place of another behind one address, which had begun before that one ended.

A client that knew the former tells the new one, which then abstains for those that cannot know."""
# rule: Q14

import subprocess
from itertools import cycle

from harness import Case, until
from relay import Balancer
from server import Server

MAX_TTL = 6
OLD = MAX_TTL + 4  # s, of a server that votes at once: the quarantine, and uptime cut to seconds
UNAVAILABLE = 75


class Swapped(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.servers = [Server() for _ in range(6)]
        for server in cls.servers:
            cls.addClassCleanup(server.stop)
        until(lambda: all(cls.uptime(server) >= OLD for server in cls.servers), "they are old")

    def setUp(self):
        super().setUp()
        for server in self.servers:
            server.cli("FLUSHALL")
        self.masters, self.standbys = self.servers[:3], self.servers[3:]

    @staticmethod
    def uptime(server):
        words = server.cli("INFO", "server").split()
        return next(int(word.partition(":")[2]) for word in words if word.startswith("uptime_in_seconds:"))

    @staticmethod
    def ways(servers):
        return [Balancer([server.port]) for server in servers]

    @staticmethod
    def lead(way, server):
        way.next = cycle([server.port])
        way.cut()

    def of(self, ways):
        return self.env(REDLOCK_NODES=",".join(f"redis://127.0.0.1:{way.port}" for way in ways),
                        REDLOCK_MAX_TTL=f"{MAX_TTL}s")

    def known_by(self, ways, name):
        """A client that goes on, and has met all masters; gives what tells what it has said."""
        process, said = self.told_while("run", name, "--", "cat", env=self.of(ways), stdin=subprocess.PIPE)
        until(lambda: all(server.cli("GET", name) for server in self.masters), f"{name} is held on all")
        return process, said

    def field(self, server, name):
        return server.cli("HGET", "redlock:clock", name)

    def hellos(self, server):
        words = server.cli("INFO", "commandstats").split()
        return sum(int(word.split("calls=")[1].split(",")[0]) for word in words
                   if word.startswith(("cmdstat_eval:", "cmdstat_evalsha:")))

    def says_more(self, server):
        before = self.hellos(server)
        until(lambda: self.hellos(server) > before + 2, "it has said what it knows")

    def lock_on_two(self, env):
        """The first two have it, and nobody renews it."""
        self.masters[2].pause()
        self.redlock("lock", "--ttl", f"{MAX_TTL}s", "a", env=env, status=0)
        self.masters[2].resume()

    def test_who_knew_tells(self):
        ways, standby = self.ways(self.masters), self.standbys[0]
        env = self.of(ways)
        self.known_by(ways, "other")
        self.lock_on_two(env)
        later = "9000000000000000"  # what the data of another process say counts no more
        standby.cli("HSET", "redlock:clock", "r", "another", "w", later)
        self.lead(ways[0], standby)
        until(lambda: self.field(standby, "w") not in ("", later), "it was told")
        told = self.redlock("run", "a", "--", "true", env=env, status=UNAVAILABLE).err
        self.assertIn("abstains", told)
        self.redlock("run", "--wait", "30s", "a", "--", "true", env=env, status=0)

    def test_once(self):
        """Another one that notices later silences nobody again; nor does the first one, though it goes on."""
        ways, standby = self.ways(self.masters), self.standbys[0]
        late = [Balancer([self.masters[0].port]), *ways[1:]]
        self.known_by(ways, "first")
        _, said = self.known_by(late, "later")
        self.lead(ways[0], standby)
        until(lambda: self.field(standby, "w"), "it was told")
        end = self.field(standby, "q")
        self.lead(late[0], standby)
        until(lambda: "an address of several servers" in said(), "it notices, too")
        self.says_more(standby)
        self.assertEqual(self.field(standby, "q"), end)

    def test_all_at_once(self):
        """More addresses than a quorum can do without may lead elsewhere for one client alone. Its words cost
        only a minority, the first ones that it notices."""
        ways = self.ways(self.masters)
        self.known_by(ways, "other")
        for way, standby in zip(ways, self.standbys):
            way.next = cycle([standby.port])
        for way in ways:
            way.cut()
        for standby in self.standbys:
            self.says_more(standby)
        self.redlock("run", "a", "--", "true", env=self.of(ways), status=0)
        self.assertLessEqual(sum(self.field(standby, "w") != "" for standby in self.standbys), 1)

    def test_restarted(self):
        """It abstains as ever, from its start on: nobody tells it that it took a place."""
        ways = self.ways(self.masters)
        self.known_by(ways, "other")
        self.masters[0].pause()
        self.addCleanup(self.masters[0].resume)
        young = Server()
        self.addCleanup(young.stop)
        self.lead(ways[0], young)
        until(lambda: self.field(young, "q"), "it was met")
        self.says_more(young)
        self.assertEqual(self.field(young, "w"), "")

    def test_first_lock(self):
        self.redlock("run", "a", "--", "true", env=self.of(self.ways(self.masters)), status=0)
