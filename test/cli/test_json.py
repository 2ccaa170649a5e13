"""--json: a document for every outcome, as doc/json.schema.json has it, and `token` one thing."""

import unittest

import schema
from harness import Case, Cluster, ClusterCase

STEERS = "\x1b[31m \x85\x9b1m \u061c\u200e\u200f\u2028\u202a\u202e\u2066\u2069\x7f"


class Schema(unittest.TestCase):
    """Tests the checker itself: it must find errors."""

    def test_wrong_documents(self):
        good = {"event": "ended", "status": 0, "margin_ms": None}
        schema.check(good, "event")
        for wrong in ({**good, "status": "0"}, {**good, "status": -1}, {**good, "status": True},
                      {**good, "more": 1}, {**good, "event": "end"}, {"event": "ended"}, [], None,
                      {"event": "log", "level": "notice", "text": "x"},
                      {"event": "log", "level": "info", "text": ""},
                      {"event": "max_hold", "text": "x", "valid_ms": 1}):
            with self.subTest(wrong=wrong), self.assertRaises(AssertionError):
                schema.check(wrong, "event")


class Misuse(Case):
    patience = ()

    def refused(self, *arguments, status=64, code="REDLOCK_E_ARGUMENT", **more):
        result = self.redlock(*arguments, status=status, **more)
        if "run" in arguments:
            self.assertEqual(result.out, "")
            told, = result.json_lines
            self.assertEqual(told["event"], "refused")
        else:
            self.assertEqual(result.err, "")
            told = schema.check(result.json, "failure")
        self.assertEqual((told["ok"], told["code"]), (False, code))
        return told["text"]

    def test_command_lines(self):
        self.assertIn("no command given", self.refused("--json"))
        self.assertIn("unknown command", self.refused("--json", "frobnicate"))
        self.assertIn("unknown option", self.refused("lock", "--frobnicate", "--json", "a"))
        self.assertIn("takes no value", self.refused("lock", "--json", "--json=1", "a"))
        self.assertIn("no name", self.refused("run", "--json", "--", "true"))
        self.assertIn("no command", self.refused("--json", "run", "a"))
        self.assertIn("is no duration", self.refused("run", "--ttl", "x", "--json", "a", "--", "true"))
        self.assertIn("--token is missing", self.refused("unlock", "--json", "a"))
        for command in ("lock", "status", "nodes"):
            self.assertIn("no masters", self.refused(command, "--json", *["a"][:command != "nodes"]))
        self.assertIn("needs a value", self.refused("--json", "lock", "--ttl"))

    def test_not_the_commands_own_argument(self):
        told = self.redlock("run", "--frobnicate", "a", "--", "b", "--json", status=64)
        self.assertTrue(told.err.startswith("redlock: "))

    def test_lists_and_terms(self):
        self.refused("lock", "--json", "a", "--nodes", "redis://h:x", status=78,
                     code="REDLOCK_E_NODES")
        self.refused("run", "--json", "--nodes", "redis://h:x", "a", "--", "true", status=78,
                     code="REDLOCK_E_NODES")
        nodes = ("--nodes", "redis://127.0.0.1:1")
        self.refused("lock", "--json", *nodes, "--ttl", "40s", "a", code="REDLOCK_E_TTL")
        self.refused("lock", "--json", *nodes, "redlock:a", code="REDLOCK_E_NAME")
        self.refused("status", "--json", *nodes, "", code="REDLOCK_E_NAME")

    def test_what_steers_a_terminal_is_not_passed_on(self):
        for command in (["lock", f"--{STEERS}"], [STEERS], ["lock", "--ttl", STEERS, "a"],
                        ["--token" + STEERS]):
            plain = self.redlock(*command, status=64).err
            told = self.redlock("--json", *command, status=64)
            for text in (plain, told.out):
                self.assertTrue(text.isascii() and text[:-1].isprintable(), ascii(text))
            self.assertTrue(told.json["text"])


class Documents(ClusterCase):
    def test_token_is_one_thing(self):
        token = self.redlock("lock", "--json", self.name, status=0).json["token"]
        told = self.redlock("status", "--json", self.name, status=0).json["names"][0]
        held = [vote for vote in told["votes"] if vote["vote"] == "held"]
        self.assertEqual({token}, {told["token"], told["holder"], *(v["token"] for v in held),
                                   *(v["holder"] for v in held)})
        extended = self.redlock("extend", "--json", "--token", token, self.name, status=0).json
        self.assertEqual(extended["token"], token)
        self.redlock("unlock", "--token", token, self.name, status=0)
        result = self.redlock("run", "--json", self.name, "--", "sh", "-c",
                              'printf %s "$REDLOCK_TOKEN"', status=0)
        self.assertEqual({line["token"] for line in result.json_lines if "token" in line},
                         {result.out})

    def test_every_form_of_a_token(self):
        for label in ("web:1 ", "", None):
            for form in (lambda value, fence: value, lambda value, fence: f"{value} {fence}",
                         lambda value, fence: value[:22]):
                given = ("--label", label.strip()) if label is not None else ()
                names = (self.name, "other")
                value, fence = self.lock("--fence", *given, *names).split()
                token = form(value, fence)
                with self.subTest(token=token):
                    told = self.redlock("extend", "--json", "--token", token, *names, status=0)
                    self.assertEqual(told.json["token"], value)
                    self.redlock("unlock", "--token", token, *names, status=0)
                    self.assert_free(self.name)

    def test_a_bare_token_that_is_gone(self):
        token = self.lock(self.name)
        for command in ("extend", "unlock"):
            self.redlock(command, "--token", "A" * 22, self.name, "other", status=76)
        self.assert_held(self.name, token)
        self.cluster.each_cli("DEL", self.name)
        self.redlock("unlock", "--token", token[:22], self.name, status=76)

    def test_the_same_keys_whatever_comes_of_it(self):
        def told(*command, status):
            return self.redlock("--json", *command, status=status).json

        done = told("lock", self.name, status=0)
        token = ("--token", done["token"])
        others = [told("lock", self.name, status=75), told("lock", status=64),
                  told("extend", *token, self.name, status=0),
                  told("extend", *token, "other", status=76),
                  told("unlock", *token, self.name, status=0),
                  told("unlock", *token, self.name, status=76)]
        for document in others:
            self.assertEqual(set(document), set(done))
        self.assertEqual((others[0]["token"], others[0]["valid_ms"]), (None, None))
        self.assertRegex(others[2]["text"], r"^extended, valid for at least \d+ ms$")
        self.assertEqual(others[2]["code"], "REDLOCK_OK")

    def test_run_tells_all(self):
        lines = self.redlock("run", "--json", "--fence", self.name, "--", "sh", "-c", "exit 3",
                             status=3).json_lines
        events = [line["event"] for line in lines if line["event"] not in ("at_risk", "healthy")]
        self.assertEqual(events, ["acquired", "ended", "released"])
        self.assertGreater(lines[0]["fence"], 0)
        self.assertEqual((lines[-2]["status"], lines[-2]["margin_ms"]), (3, None))
        self.assertEqual(lines[-1]["code"], "REDLOCK_OK")

    def test_run_that_lost_it_tells_so_once(self):
        # On all at once: a renewal between two of them would heal the first.
        lines = self.redlock("run", "--json", "--ttl", "20s", self.name, "--", "sh", "-c",
                             " ".join(f"REDISCLI_AUTH={password} redis-cli -p {port} "
                                      f"DEL {self.name} >/dev/null &" for port, password in
                                      zip(self.cluster.ports, self.cluster.passwords)) + " wait",
                             status=76).json_lines
        self.assertEqual([line["code"] for line in lines if line["event"] == "released"],
                         ["REDLOCK_E_GONE"], lines)

    def test_messages_have_levels(self):
        for command in (["run", "a", "--", "true"], ["status", "a"], ["lock", "a"]):
            with self.subTest(command=command):
                result = self.redlock("-v", "--json", *command, status=0)
                self.assertIn("info", [line["level"] for line in result.events("log")])

    def test_ended_by_a_signal(self):
        self.lock(self.name)
        for command in (["lock", "--wait", "forever", self.name],
                        ["run", "--wait", "forever", self.name, "--", "true"]):
            with self.subTest(command=command):
                waiter = self.spawn("-v", "--json", *command)
                waiter.stderr.readline()  # a master votes: it has begun
                result = self.terminate(waiter)
                told = result.json if command[0] == "lock" else \
                    [line for line in result.json_lines if line["event"] != "log"][0]
                self.assertEqual((told["ok"], told["code"]), (False, "REDLOCK_E_CANCELLED"))
                self.assertEqual(told["text"], "ended by signal 15")

    def test_what_steers_a_terminal_is_escaped(self):
        """Texts of other programs too: a holder, or a name."""
        self.cluster.each_cli("SET", self.name, f"A:{STEERS}", "PX", "20000")
        for command in (["status", self.name], ["lock", self.name], ["status", STEERS]):
            for options in ((), ("--json",)):
                result = self.redlock(*options, *command)
                for text in (result.out, result.err):
                    self.assertTrue(text.isascii() and text.replace("\n", "").isprintable(),
                                    ascii(text))
        told = self.redlock("status", "--json", self.name, STEERS, status=0).json["names"]
        self.assertEqual((told[0]["token"], told[1]["name"]), (f"A:{STEERS}", STEERS))


class Outages(Case):
    def test_every_node_has_the_same_keys(self):
        self.cluster = Cluster(3)
        self.addCleanup(self.cluster.stop)
        self.cluster.kill(2)
        nodes = self.redlock("nodes", "--json", status=0).json["nodes"]
        self.assertEqual([node["state"] for node in nodes], ["up", "down", "up"])
        self.assertEqual(len({tuple(node) for node in nodes}), 1)
        self.assertEqual((nodes[1]["uptime_s"], nodes[1]["rtt_us"], nodes[1]["aof"]), (None,) * 3)
        told = self.redlock("lock", "--json", "a", status=0).json
        self.assertEqual(len({tuple(vote) for vote in told["votes"]}), 1)
