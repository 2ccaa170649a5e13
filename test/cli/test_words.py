"""Messages to people are true, come once, and fit the terminal."""

import re
import signal
import time

import told as helps
from harness import Case, ClusterCase, FreshCase, until
from relay import Relay


class Help(Case):
    def test_fits_a_terminal(self):
        for command in ((), *((command,) for command in helps.commands())):
            with self.subTest(command=command):
                lines = helps.text(*command).splitlines()
                self.assertEqual([line for line in lines if len(line) > 80], [])
                self.assertLessEqual(len(lines), 50)


class ManyNames(Case):
    def test_a_line_has_the_first_ones_and_their_number(self):
        names = [f"name-{i}" for i in range(3000)]
        told = self.redlock("lock", "--nodes", "redis://127.0.0.1:1", *names, status=64).err
        said = "redlock: cannot lock 'name-0', 'name-1', 'name-2', ... (3000 names): "
        self.assertEqual(told[:len(said)], said)
        self.assertEqual(told.count("\n"), 1)


class Waiting(FreshCase):
    def test_no_place_without_a_quorum(self):
        self.lock("--ttl", "30s", "a")
        _, told = self.told_while("lock", "-v", "--wait", "forever", "a")
        until(lambda: re.search("waiting: held by .*, we are next", told()), "it is enqueued")
        self.cluster.kill(2, 3)
        found = until(lambda: re.search("waiting: no quorum.*\n", told()), "there is no quorum")
        self.assertNotIn("next", found.group())


class Words(ClusterCase):
    masters = 3

    def test_nothing_twice(self):
        told = self.redlock("run", "-v", self.name, "--", "true", status=0).err
        self.assertRegex(told, r"(?m)^redlock: \S+ acquired, valid for \d+ ms$")
        self.assertRegex(told, r"(?m)^redlock: \S+ released")
        process = self.spawn("run", "--ttl", "5s", self.name, "--", "sh", "-c", "echo; exec sleep 60")
        self.freeze(process)
        told = self.finish(process, status=76).err
        self.assertIn(f"redlock: lost '{self.name}': the lease was not renewed before its "
                      "validity ended\n", told)

    def freeze(self, process):
        """Stops `redlock run` until its lease is over."""
        process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        until(lambda: not any(self.cluster.values(self.name)), "the lease is over")
        process.send_signal(signal.SIGCONT)

    def test_released_after_it_was_lost(self):
        for how in ("taken", "frozen"):
            process = self.spawn("run", "--json", "--ttl", "5s", self.name, "--", "sh", "-c",
                                 "echo; exec sleep 60")
            if how == "taken":
                process.stdout.readline()
                self.cluster.each_cli("DEL", self.name)
                self.cluster.each_cli("SET", self.name, "thief", "PX", "2000")
            else:
                self.freeze(process)
            told = {line["event"]: line for line in self.finish(process, 76).json_lines}
            with self.subTest(code=told["lost"]["code"]):
                since = "not known since when" if how == "taken" else r"\d+ ms after its end"
                self.assertRegex(told["lost"]["text"], f"^lost, {since}: ")
                self.assertIn("it was lost before", told["released"]["text"])
            until(lambda: not any(self.cluster.values(self.name)), "the thief has gone")

    def test_a_master_that_refuses_us_answers_nothing(self):
        self.cluster.cli(1, "ACL", "SETUSER", "poor", "on", ">pw", "~*", "+@all", "-eval",
                         "-evalsha")
        nodes = f"redis://poor:pw@127.0.0.1:{self.cluster.ports[0]},{','.join(self.cluster.uris[1:])}"
        told = self.redlock("nodes", "--nodes", nodes, status=0).out
        self.assertRegex(told, r"  down  .*NOPERM")

    def slow(self, delay, connect_timeout):
        """The last master's first answer is late by so much."""
        answers = []

        def late(answer):
            answers.append(time.monotonic())
            time.sleep(max(0.0, answers[0] + delay - time.monotonic()))
            return answer
        return "--connect-timeout", connect_timeout, *self.through(change=late)

    def test_what_only_begins_is_not_at_risk(self):
        told = self.redlock("run", "-v", *self.slow(0.3, "10s"), self.name, "--", "sleep", "0.5",
                            status=0).err
        self.assertIn("acquired", told)
        self.assertNotIn("at risk", told)
        self.assertNotIn("not connected", told)

    def test_a_mute_master_is_connected(self):
        told = self.redlock("status", *self.slow(20, "1s"), self.name, status=0).out
        self.assertRegex(told, "  connected, ")
        self.assertNotIn("unreachable", told)
        told = self.redlock("lock", "--json", *self.slow(20, "1s"), self.name, status=0).json
        self.redlock("unlock", "-v", *self.slow(20, "1s"), "--token", told["token"], self.name, status=0)
        told = self.redlock("run", "--json", *self.slow(20, "1s"), self.name, "--", "true", status=0)
        for event in told.json_lines:
            for vote in event.get("votes", ()):
                if vote["vote"] == "unreachable":
                    self.assertRegex(vote["text"], "^connected, ")

    def through(self, **how):
        """The masters, the last one behind a relay."""
        port = self.cluster.ports[2]
        return "--nodes", self.cluster.nodes.replace(f":{port}", f":{Relay(port, **how).port}")

    def test_what_a_server_says_of_itself_steers_no_terminal(self):
        node = self.redlock("nodes", "--json", status=0).json["nodes"][2]
        version = node["version"].split()[-1].encode()
        nodes = self.through(change=lambda data: data.replace(version, "\u202e".encode() + version[3:]))
        for options in ((), ("--json",)):
            told = self.redlock("nodes", *nodes, *options, status=0).out
            self.assertIn("???" + version[3:].decode(), told)
            self.assertTrue(told.isascii(), ascii(told))

    def test_a_master_that_was_not_waited_for(self):
        nodes = self.through(asks=lambda data: b"" if self.name.encode() in data else data)
        told = until(lambda: re.search(r"  not waited for\n|  none\n",
                                       self.redlock("status", *nodes, self.name, status=0).out),
                     "all were asked, and one has not answered")
        self.assertIn("not waited for", told.group())

    def test_status_that_knows_too_little(self):
        self.cluster.cli(1, "SET", self.name, "somebody", "PX", "20000")
        nodes = f"{self.cluster.uris[0]},redis://127.0.0.1:1,redis://127.0.0.1:2"
        told = self.redlock("status", "--nodes", nodes, self.name, status=69).out
        self.assertRegex(told, rf"^{self.name}: unknown; held by ")
