"""A password changes on the masters and in the file: long-running commands go on, without a restart."""
# rule: K18

import os
import subprocess
import time

from harness import Case, environment, until
from server import Server


class Rotation(Case):
    """The masters begin without a password. So the client's first one is wanted (NOAUTH), later wrong
    (WRONGPASS)."""

    count = 3

    def setUp(self):
        super().setUp()
        self.servers = []
        for _ in range(self.count):
            self.servers.append(Server())
            self.addCleanup(self.servers[-1].stop)
        self.path, self.told = self.tmp / "nodes", self.tmp / "told"
        self.write("")
        self.redlock("nodes", "--adopt", status=0)

    def env(self, **more):
        return environment(REDLOCK_NODES_FILE=str(self.path), **more)

    def each(self, *command):
        return [server.cli(*command) for server in self.servers]

    def change(self, password, servers=None):
        for server in servers or self.servers:
            server.cli("CONFIG", "SET", "requirepass", password)
            server.login = ("-a", password) if password else ()

    def list(self, login=""):
        return [server.uri(login) for server in self.servers]

    def write(self, login, others=()):
        """As a user should replace a file that others read."""
        new = self.tmp / "new"
        new.write_text("\n".join([*self.list(login)[len(others):], *others]))
        os.rename(new, self.path)

    def cut_off(self, *kinds):
        """Waits until each master has denied somebody the login."""
        self.each("ACL", "LOG", "RESET")
        self.each("CONFIG", "RESETSTAT")
        for kind in kinds or ("normal", "pubsub"):
            self.each("CLIENT", "KILL", "TYPE", kind)
        until(lambda: all(self.denied()), "each master denies the login")

    def denied(self):
        """WRONGPASS is in the log; NOAUTH in the statistics alone."""
        return [log or "errorstat_NOAUTH" in stats
                for log, stats in zip(self.each("ACL", "LOG"), self.each("INFO", "errorstats"))]

    def clients(self):
        return [told.count("name=redlock:") for told in self.each("CLIENT", "LIST")]

    def start(self, *arguments):
        with self.told.open("ab") as told:
            return self.spawn(*arguments, stdout=told, stderr=told)

    def alive(self, process):
        self.assertIsNone(process.poll(), self.told.read_text())
        return True

    def await_renewal(self, process):
        """Waits until the key on each master ends later than before."""
        def ends():
            return [time.monotonic() + int(left) / 1000 for left in self.each("PTTL", self.name)]

        before = max(ends())
        until(lambda: self.alive(process) and min(ends()) > before + 1, "it is renewed on each master")

    def test_a_holder_renews_on(self):
        process = self.start("run", "-v", "--ttl", "25s", self.name, "--", "sleep", "1000")
        until(lambda: self.each("EXISTS", self.name) == ["1"] * self.count, "it is held on each master")
        for login in ":first@", ":second%20&@", "default:third@":
            with self.subTest(login=login):
                self.change(login.split(":")[1][:-1].replace("%20", " "))
                self.cut_off()
                self.write(login)
                self.await_renewal(process)
        told = self.told.read_text()
        self.assertIn(f"trying the new login that {self.path} has for it", told)
        for secret in "first", "second", "third":
            self.assertNotIn(secret, told)

    def test_a_user_takes_the_place_of_another(self):
        process = self.start("run", "--ttl", "25s", self.name, "--", "sleep", "1000")
        until(lambda: self.each("EXISTS", self.name) == ["1"] * self.count, "it is held on each master")
        self.each("ACL", "SETUSER", "ann", "on", ">secret", "~*", "&*", "+@all")
        self.write("ann:secret@")
        self.change("other")
        self.cut_off()
        self.await_renewal(process)
        self.assertTrue(all("user=ann" in told for told in self.each("CLIENT", "LIST")))

    def test_a_waiter_gets_its_turn_and_hears_of_it(self):
        ran = self.tmp / "ran"
        holder = self.start("run", "--ttl", "25s", self.name, "--", "sleep", "1000")
        until(lambda: self.each("EXISTS", self.name) == ["1"] * self.count, "it is held on each master")
        waiter = self.start("run", "--wait", "1h", self.name, "--", "touch", str(ran))
        until(lambda: min(self.clients()) == 4, "both are there, and listen")
        for password, cut_off in ("other", ()), ("third", ["pubsub"]):
            self.change(password)
            self.cut_off(*cut_off)
            self.write(f":{password}@")
            until(lambda: self.alive(holder) and min(self.clients()) == 4, "both are back, and listen")
        self.assertFalse(ran.exists())
        holder.terminate()
        self.started(ran)
        waiter.wait()

    def test_one_master_after_the_other(self):
        """The client does not give up a login that still works for the one in the file."""
        process = self.start("run", "--ttl", "25s", self.name, "--", "sleep", "1000")
        until(lambda: self.each("EXISTS", self.name) == ["1"] * self.count, "it is held on each master")
        self.change("former")
        self.write(":former@")
        self.cut_off()
        self.await_renewal(process)
        self.write(":other@")
        for server in self.servers:
            self.change("other", [server])
            self.each("CLIENT", "KILL", "TYPE", "normal")
            self.await_renewal(process)

    def test_of_the_file_nothing_else_is_taken(self):
        """The client goes on unchanged with another list in the file, and with an unreadable one."""
        process = self.start("run", "-v", "--ttl", "25s", self.name, "--", "sleep", "1000")
        until(lambda: self.each("EXISTS", self.name) == ["1"] * self.count, "it is held on each master")
        self.change("other")
        self.write(":other@", ["redis://:other@127.0.0.1:1"])  # of a quorum
        self.cut_off()
        gone = self.servers[0]
        until(lambda: f"{gone.node}: denies the login, and there is no other: {self.path} does not list it"
              in self.told.read_text(), "it is told")
        until(lambda: all(f"{server.node}: trying the new login" in self.told.read_text()
                          for server in self.servers[1:]), "the others had one in the file")
        for text, why in (("redis://:other@", "the host is missing"), (None, "No such file"),
                          ("pipe", "no plain file")):
            new = self.tmp / "new"
            if text == "pipe":
                os.mkfifo(new)
            elif text:
                new.write_text(text)
            if text:
                new.rename(self.path)  # at once: the client may read it just now
            else:
                self.path.unlink()
            denied = gone.cli("INFO", "errorstats")
            until(lambda: self.alive(process) and gone.cli("INFO", "errorstats") != denied,
                  f"it tries on beside: {why}")
        self.assertEqual(self.told.read_text().count("denies the login, and there is no other"), 1)
        self.path.unlink()
        self.write(":other@")
        self.await_renewal(process)

    def test_a_list_from_a_pipe(self):
        """The client reads the pipe once, and leaves all later bytes in it."""
        read_end, write_end = os.pipe()
        os.write(write_end, "\n".join(self.list()).encode())
        os.close(write_end)
        with self.told.open("ab") as told:
            process = self.spawn("run", "-v", "--ttl", "25s", "--nodes-file", "/dev/stdin", self.name, "--",
                                 "sleep", "1000", stdin=read_end, stdout=told, stderr=subprocess.STDOUT)
        os.close(read_end)
        until(lambda: self.each("EXISTS", self.name) == ["1"] * self.count, "it is held on each master")
        self.change("other")
        self.cut_off()
        until(lambda: "it is no plain file, so it was read once" in self.told.read_text(), "it is told")
        self.change("")
        self.await_renewal(process)
