"""nodes: masters on which locks do not work, each for its own reason, and the advice."""

import contextlib
import socket
import ssl
import threading

from harness import Case, environment, until
from server import ACL, Server

ADMIN = ("--user", "admin", "--pass", "change-this")
LOGIN = "redlock:change-this-too@"


class Doctor(Case):
    def server(self, *lines, **more):
        server = Server(*lines, **more)
        self.addCleanup(server.stop)
        return server

    def examine(self, *nodes, status, more=()):
        """The report on the first master."""
        env = environment(REDLOCK_NODES=",".join(nodes))
        self.told = self.redlock("nodes", *more, env=env, status=status).out
        told = self.redlock("nodes", "--json", *more, env=env, status=status).json
        self.assertEqual(told["ok"], status == 0)
        self.text = told["text"]
        return told["nodes"][0]

    def refused(self, node, text, advice):
        """The entry is wrong: no quorum of such a list can vote."""
        self.down(node, text, advice, status=78, state="refused")

    def down(self, node, text, advice, status=69, state="down"):
        """The master is not up; people and programs learn the reason and the advice."""
        found = self.examine(node, status=status)
        self.assertEqual((found["state"], found["grants"]), (state, None))
        self.assertIn(text, found["text"])
        self.assertIn(advice, "\n".join(found["advice"]))
        self.assertIn(text, self.told)
        self.assertIn("-> " + found["advice"][0], self.told)
        self.assertIn("no locks", self.told)
        self.assertRegex(found["text"], r"[\w.)'\]]$")  # no half of a word behind a space

    def refuses(self, server, text, advice, node=None):
        """The master votes, as far as its hello shows, but refuses writes."""
        found = self.examine(node or server.uri(), status=69)
        self.assertEqual((found["state"], found["grants"]), ("up", False))
        self.assertIn(text, found["refusal"])
        self.assertIn(advice, "\n".join(found["advice"]))
        self.assertIn("but refuses locks: " + text, self.told)
        self.assertIn("0 of 1 masters vote, 1 must: no locks", self.told)


class Down(Doctor):
    def test_cluster_mode(self):
        server = self.server("cluster-enabled yes")
        self.refused(server.uri(), "is in cluster mode", "use independent masters")
        server.cli("CLUSTER", "ADDSLOTS", *range(16384))
        until(lambda: "cluster_state:ok" in server.cli("CLUSTER", "INFO"), "it serves all slots")
        self.refused(server.uri(), "is in cluster mode", "use independent masters")
        told = self.redlock("lock", "a", "--nodes", server.uri(), status=78).err
        self.assertIn("is in cluster mode: list independent masters only", told)

    def test_a_renamed_command(self):
        server = self.server("rename-command PEXPIRE else")
        found = self.examine(server.uri(), status=0, more=["--adopt"])
        self.assertEqual(found["no_queue"], "ERR unknown command 'pexpire' in a script")
        self.assertIn("if the command was renamed (rename-command)", "\n".join(found["advice"]))

    def test_a_tls_port(self):
        """The greeting of a server that shares no TLS version with us and closes the connection."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

        def shake_hands(connection):
            with contextlib.suppress(OSError):
                context.wrap_socket(connection, server_side=True)

        found = self.examine(self.somebody(shake_hands), status=69)
        self.assertEqual(found["state"], "down")
        self.assertIn("write rediss://", found["advice"][0])

    def test_a_sentinel(self):
        server = self.server("sentinel monitor m 127.0.0.1 1 1", arguments=["--sentinel"])
        self.down(server.uri(), "ERR unknown command", "if it is a sentinel, list the masters")

    def test_not_reached(self):
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            port = nobody.getsockname()[1]
            self.down(f"redis://127.0.0.1:{port}", "Connection refused", "see that it runs, that host")
            nobody.listen()
            self.down(f"redis://127.0.0.1:{port}", "no answer within", "see whether it hangs")
        self.down("redis://nobody.invalid", "cannot look up", "correct the name")
        self.down(f"unix://{self.tmp}/none", "No such file", "see unixsocket in its configuration")

    def test_scripts_that_do_not_arrive(self):
        """The connection of a master that lacks them has four times as long."""
        def lack(listener):
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    self.addCleanup(connection.close)
                    connection.recv(1000)
                    connection.sendall(b"+OK\r\n:1\r\n-NOSCRIPT\r\n")

        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=lack, args=(listener,), daemon=True).start()
            found = self.examine(f"redis://127.0.0.1:{listener.getsockname()[1]}", status=69,
                                 more=("--connect-timeout", "500ms"))
        self.assertEqual(found["text"], "connected, but it has not taken the scripts within 2000 ms")
        self.assertIn("give it time (--connect-timeout)", found["advice"][0])

    def test_a_script_of_another_program(self):
        server = self.server()
        self.redlock("nodes", "--adopt", "--nodes", server.uri(), status=0)
        server.cli("CONFIG", "SET", "lua-time-limit", "50")
        self.program("redis-cli", "-s", str(server.dir / "cli.sock"), "EVAL", "while true do end", "0")
        until(lambda: "BUSY" in server.cli("PING", check=False), "its script runs")
        self.down(server.uri(), "BUSY ", "SCRIPT KILL ends one that has written nothing yet")
        told = self.redlock("lock", "a", "--nodes", server.uri(), status=69).err
        self.assertIn("\n  -> a script of some program runs there too long", told)
        server.cli("SCRIPT", "KILL")
        until(lambda: self.redlock("nodes", "--nodes", server.uri()).status == 0, "it votes again")

    def test_another_database(self):
        server = self.server(f"aclfile {ACL}", "databases 2", login=ADMIN)
        self.down(server.uri(LOGIN) + "/1", "the 'select' command", "leave out the /DB behind the port")
        self.down(server.uri("admin:change-this@") + "/2", "DB index is out of range",
                  "correct the /DB behind its port, in all clients")

    def test_all_commands_say_what_to_do_once(self):
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            node = f"127.0.0.1:{nobody.getsockname()[1]}"
            env = environment(REDLOCK_NODES=f"{node},{node.replace('127.0.0.1', '127.0.0.2')}")
            for command in (["lock", "a"], ["run", "a", "--", "true"], ["status", "a"], ["list"],
                            ["leader", "a"], ["masters"], ["latch", "count", "a"],
                            ["barrier", "--parties", "1", "--wait", "0", "a"]):
                with self.subTest(command=command):
                    result = self.redlock(*command, env=env, status=69)
                    told = result.out + result.err
                    self.assertEqual(told.count("-> no server takes connections there"), 1, told)

    def test_no_room_for_connections(self):
        server = self.server("maxclients 1")
        last = until(lambda: self.connect(server), "there is room for one")
        self.addCleanup(last.close)
        self.down(server.uri(), "ERR max number of clients reached", "raise its maxclients")

    @staticmethod
    def connect(server):
        connection = socket.create_connection(("127.0.0.1", server.port))
        connection.sendall(b"PING\r\n")
        if connection.recv(100) == b"+PONG\r\n":
            return connection
        connection.close()
        return None

    def test_protected_mode(self):
        """Only connections from other machines get this error, so a stand-in sends it here."""
        says = (b"-DENIED Redis is running in protected mode because protected mode is enabled and "
                b"no password is set for the default user. In this mode connections are only "
                b"accepted from the loopback interface.\r\n")

        def say(connection):
            connection.sendall(says)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass

        self.down(self.somebody(say), "DENIED Redis is running", "set a password or an ACL there")

    def somebody(self, serve):
        """The address of a server that is no Redis; it serves one connection after the other."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def serve_all():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection, contextlib.suppress(OSError):
                    serve(connection)

        threading.Thread(target=serve_all, daemon=True).start()
        return f"redis://127.0.0.1:{listener.getsockname()[1]}"

    def test_a_password_where_none_is_set(self):
        self.down(self.server().uri(":secret@"), "without any password configured",
                  "no password is set there")

    def test_an_acl_without_info(self):
        server = self.server(f"aclfile {ACL}", login=ADMIN)
        server.cli("ACL", "SETUSER", "redlock", "-info")
        self.down(server.uri(LOGIN), "has no permissions to run the 'info' command",
                  "examples/users.acl")


class Refuses(Doctor):
    def adopted(self, *lines, **more):
        server = self.server(*lines, **more)
        self.redlock("nodes", "--adopt", "--nodes", server.uri(), status=0)
        return server

    def test_out_of_memory(self):
        server = self.adopted()
        server.cli("CONFIG", "SET", "maxmemory", "1")
        self.refuses(server, "OOM", "raise maxmemory")

    def test_no_replicas(self):
        server = self.adopted()
        server.cli("CONFIG", "SET", "min-replicas-to-write", "1")
        self.refuses(server, "NOREPLICAS", "min-replicas-to-write 0")

    def test_writes_stopped_after_a_failed_save(self):
        server = self.adopted("save 900 1")
        (server.dir / "dump.rdb" / "in the way").mkdir(parents=True)
        server.cli("BGSAVE")
        until(lambda: "rdb_last_bgsave_status:err" in server.cli("INFO", "persistence"),
              "the save has failed")
        self.refuses(server, "MISCONF", "see its log and its disk")

    def test_a_minority_that_refuses(self):
        servers = [self.adopted() for _ in range(3)]
        servers[0].cli("CONFIG", "SET", "maxmemory", "1")
        found = self.examine(*(server.uri() for server in servers), status=0)
        self.assertFalse(found["grants"])
        self.assertIn("2 of 3 masters vote, 2 must: locks work", self.told)

    def test_an_acl(self):
        server = self.server(f"aclfile {ACL}", login=ADMIN)
        self.redlock("nodes", "--adopt", "--nodes", server.uri(LOGIN), status=0)
        found = self.examine(server.uri(LOGIN), status=0)
        self.assertEqual((found["state"], found["grants"]), ("up", None))
        self.assertIn("use --prefix with a prefix that the user may use", found["advice"][0])
        self.assertIn("1 of 1 masters vote, 1 must: whether locks work is not known, for", self.told)
        self.assertIn("whether locks work is not known", self.text)
        self.assertNotIn("locks work\n", self.told)
        found = self.examine(server.uri(LOGIN), status=0, more=("--prefix", "lock:"))
        self.assertEqual((found["grants"], found["advice"], self.text), (True, [], "ok"))
        self.assertIn("1 must: locks work\n", self.told)
        server.cli("ACL", "SETUSER", "redlock", "-zadd")
        found = self.examine(server.uri(LOGIN), status=0, more=("--prefix", "lock:"))
        self.assertTrue(found["grants"])
        self.assertIn("run the 'zadd' command", found["no_queue"])
        self.assertIn("locks work, but waiting for one does not: NOPERM", self.told)
        server.cli("ACL", "SETUSER", "redlock", "-hset")
        found = self.examine(server.uri(LOGIN), status=69, more=("--prefix", "lock:"))
        self.assertIn("run the 'hset' command", found["refusal"])
