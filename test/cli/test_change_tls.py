"""masters change from plain ports to those for TLS, of the same servers or of others, and back.

A login that was sent under TLS alone is never sent in the clear, unless the client's own list says so."""
# rule: D5, D13, D14

import subprocess
import tempfile
import unittest

from harness import DEADLINE, ROOT, until
from server import Server, free_port
from test_agree import DIFFERS
from test_change import Lead
from test_follow import LED
from test_tls import has_tls
from test_watch import Lines

PASSWORD = "secret"


class Doors:
    """Servers that each have a plain port, and one for TLS. Masters 1 to n are the plain ports, the others
    follow."""

    def __init__(self, count):
        self.dir = tempfile.mkdtemp(prefix="redlock-cli-")
        self.ca = f"{self.dir}/ca.crt"
        subprocess.run([ROOT / "cluster-scripts" / "certificates", self.dir, "localhost", "127.0.0.1", "::1"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=DEADLINE)
        self.servers = [Server(f"requirepass {PASSWORD}", f"tls-cert-file {self.dir}/master.crt",
                               f"tls-key-file {self.dir}/master.key", f"tls-ca-cert-file {self.ca}",
                               "tls-auth-clients no", login=("-a", PASSWORD)) for _ in range(count)]
        self.ports = [server.port for server in self.servers] + [self.open(server) for server in self.servers]
        self.shown = [f"127.0.0.1:{port}" for port in self.ports]
        schemes = ["redis"] * count + ["rediss"] * count
        self.uris = [f"{scheme}://:{PASSWORD}@{node}" for scheme, node in zip(schemes, self.shown)]

    @staticmethod
    def open(server):
        def opened():
            port = free_port()
            return port if server.cli("CONFIG", "SET", "tls-port", port, check=False) == "OK" else None
        return until(opened, "a port for TLS is open")

    def cli(self, master, *arguments):
        return self.servers[(master - 1) % len(self.servers)].cli(*arguments)

    def each_cli(self, *arguments):
        return [server.cli(*arguments) for server in self.servers]

    def values(self, name):
        return self.each_cli("GET", name)

    def stop(self):
        for server in self.servers:
            server.stop()
        subprocess.run(["rm", "-rf", self.dir], check=True)


@unittest.skipUnless(has_tls(), "this build has no TLS")
class ToTls(Lead):
    """1 to 4 are plain, 5 to 8 the same servers under TLS."""

    masters = 4

    @classmethod
    def setUpClass(cls):
        cls.cluster = Doors(cls.masters)
        cls.addClassCleanup(cls.cluster.stop)

    def setUp(self):
        super().setUp()
        self.redlock("nodes", "--adopt", env=self.of(1, 2, 3, 4), status=0)

    def env(self, **more):
        more.setdefault("REDLOCK_TLS_CA", self.cluster.ca)
        return super().env(**more)

    def is_held_on(self, *masters, **more):
        """By whichever port."""
        super().is_held_on(*((master - 1) % self.masters + 1 for master in masters), **more)

    def told(self, *masters):
        return ",".join("rediss://" * (master > 4) + self.shown(master)[0] for master in masters)

    def test_same_servers(self):
        """In one step: a server is one vote, by whichever port."""
        holder = self.begin_on(1, 2, 3, env=self.of(1, 2, 3))
        process, lines = self.begin((1, 2, 3), (5, 6, 7), "--patience", "0")
        lines.next(f"^step 1 of 1: .*quorum 2 of 3, with {self.names(5, 6, 7)}, "
                   f"without {self.names(1, 2, 3)}$")
        lines.next(f"^  {self.told(5, 6, 7)}$")
        lines.next("over on 3 of 3 masters, but 1 client says it")
        self.hears_now()
        lines.next("over on 3 of 3 masters, (and )?no client")
        lines.next(f"^no client uses these addresses of masters that stay: {self.names(1, 2, 3)}$")
        self.assertNotIn("you may stop", self.finish(process, 0).out)
        self.assertIn(f"in its place: {self.told(5, 6, 7)}",
                      self.lock_once(self.of(1, 2, 3), status=DIFFERS).err)
        self.is_held_on(1, 2, 3)
        self.redlock("lock", "held", env=self.of(5, 6, 7), status=75)
        self.let_end(holder, status=0)
        self.assertIn(LED + self.names(5, 6, 7), self.said())
        self.assertEqual(self.values("held"), [""] * 4)

    def test_file(self):
        """It moves there and back, as its own file says so."""
        path, env = self.from_file(1, 2, 3)
        holder = self.begin_on(1, 2, 3, env=env)
        for times, masters in enumerate([(5, 6, 7), (1, 2, 3), (5, 6, 7, 8)], 1):
            self.write(path, *masters)
            until(lambda: self.said().count("goes on with another list") == times, f"it goes to {masters}")
        self.is_held_on(1, 2, 3, 4)
        self.let_end(holder, status=0)
        self.assertNotIn("lost", self.said())

    def test_server_of_the_same_host(self):
        """Ports of one host that are not of one server: the lists do not meet."""
        path, env = self.from_file(1, 2)
        holder = self.begin_on(1, 2, env=env)
        self.write(path, 7, 8)
        until(lambda: "quorums of the masters of both clients need not meet" in self.said(), "it is said")
        self.write(path, 5, 6)
        until(lambda: "goes on with another list" in self.said(), "it goes on")
        self.let_end(holder, status=0)

    def test_other_servers(self):
        """A list may have both kinds, and each client knows which is which."""
        holder = self.begin_on(1, 2, 3, env=self.of(1, 2, 3))
        process, lines = self.begin((1, 2, 3), (1, 2, 8), "--patience", "0")
        for step in 3, 4:
            lines.next(f"over on {step} of {step} masters, but 1 client says it")
            self.hears_now()
            lines.next(f"over on {step} of {step} masters, (and )?no client")
        lines.next(f"^you may stop {self.names(3)}$")
        self.finish(process, 0)
        self.is_held_on(1, 2, 4)
        self.let_end(holder, status=0)
        self.assertIn(LED + self.names(1, 2, 3, 8), self.said())

    def test_back_to_plain(self):
        """Masters lead no client to a place where it would show its password."""
        ca = {"env": self.of(5, 6, 7)}
        self.change((5, 6, 7), (1, 2, 3))
        for command in ["run", "other", "--", "true"], ["lock", "other"]:
            told = self.redlock(*command, status=DIFFERS, **ca).err
            self.assertIn("give this client the one in its place, which has masters without TLS, so that it "
                          f"does not go there by itself: {self.shown(1)[0]},", told)
        path, env = self.from_file(1, 2, 3)
        self.run_once(env, status=0)
        self.write(path, 5, 6, 7)
        self.run_once(env, status=DIFFERS)
        self.assertIn("done: ", self.change((1, 2, 3), (5, 6, 7)).out)
        self.run_once(env, status=0)
        self.undo(1, 2, 3)
        self.run_once(self.of(1, 2, 3), status=0)

    def test_undo_whose_next_list_is_plain(self):
        """Clients may have that one, or a third list, which it does not see."""
        self.change((5, 6, 7), (6, 7, 4))
        told = self.redlock("masters", "change", "--undo", env=self.of(5, 6, 7), status=DIFFERS).err
        self.assertIn("has masters without TLS, which this command does not ask: begin a change with", told)

    def test_undo_beside_the_other_ports(self):
        """The clients of the next list have the same masters."""
        self.change((1, 2, 3), (5, 6, 7))
        holder = self.begin_on(5, 6, 7, env=self.of(5, 6, 7))
        told = [self.redlock("masters", "change", "--undo", env=self.of(1, 2, 3)).status]
        until(lambda: told.append(self.redlock("masters", "change", "--undo", env=self.of(1, 2, 3)).status) or
              told[-1] == 0, "its processes are known")
        self.let_end(holder, status=0)

    def test_not_the_same_host(self):
        to = self.uris(5, 6, 7).replace("127.0.0.1", "localhost")
        told = self.redlock("masters", "change", to, "--yes", env=self.of(1, 2, 3), status=DIFFERS).err
        self.assertRegex(told, "the new master localhost:.* is the same server as .*: write it as before")
