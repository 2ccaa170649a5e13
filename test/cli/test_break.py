"""break: exactly the given holder, and no other; how long it may still write; masters that are down."""

import re
import socket
import threading
import time

from harness import DEADLINE, REDLOCK, Case, ClusterCase, FreshCase, until
from relay import Relay, through

NOBODY = "A" * 22
TTL = "6s"  # it outlives the start of a slow command, and the third of it that is watched


class Usage(Case):
    patience = ()

    def refused(self, *arguments, says):
        told = self.redlock("break", *arguments, "--nodes", "redis://127.0.0.1:1", status=64).err
        self.assertIn(says, told)

    def test_what_is_missing(self):
        self.refused("a", "--yes", says="--holder is missing")
        self.refused("--holder", NOBODY, "--yes", says="no name given")
        self.refused("--holder", NOBODY, "--yes", "a", "b", says="`redlock break` takes one name, not 2")
        self.refused("--holder", "", "--yes", "a", says="'' is no token")

    def test_nobody_is_there_to_ask(self):
        self.refused("--holder", NOBODY, "a", says="add --yes")


PROLONG = """
    if redis.call('get', KEYS[1]) then
        return redis.call('pexpire', KEYS[1], ARGV[2])
    end
    return 0"""


class BreakCase(ClusterCase):
    def one_that_is_gone(self):
        """Its token. Masters agree about its end: else a late answer to a look may be like a renewal."""
        token = self.lock_on_all("--ttl", TTL, "--label", "host:1", self.name)
        self.cluster.each_cli("PEXPIREAT", self.name, str(int(time.time() * 1000) + 6000))
        return token

    def one_that_lives(self, ttl, *names):
        """A process that renews, and its token."""
        run = self.spawn("run", "--ttl", ttl, "--label", "alive", "--wait", "1m", *names, self.name, "--",
                         "sleep", "60")
        return run, until(lambda: self.cluster.cli(1, "GET", self.name), "it is held")


class Breaks(BreakCase):
    def broken(self, token, *options, status=0, name=None):
        return self.redlock("break", "--json", "--yes", "--holder", token, *options,
                            name or self.name, status=status).json

    def outcomes(self, told):
        return [node["outcome"] for node in told["nodes"]]

    def test_one_that_is_not_renewed(self):
        token = self.one_that_is_gone()
        told = self.broken(token)
        self.assertTrue(told["ok"])
        self.assertEqual((told["token"], told["label"], told["mode"]), (token, "host:1", "exclusive"))
        self.assertEqual((told["alive"], told["next"]), (False, None))
        self.assertLess(told["may_write_ms"], 6000)
        self.assertEqual(self.outcomes(told), ["deleted"] * 5)
        self.assert_free(self.name)

    def test_what_people_read(self):
        token = self.one_that_is_gone()
        told = self.redlock("break", "--yes", "--holder", token[:22], self.name, status=0).out
        for line in (f"'{self.name}': broken; it was held by {token[:22]} (host:1)\n",
                     f"  {self.cluster.shown[0]}  deleted\n",
                     "  its holder did not renew it within ",
                     "  the process host:1 may still be writing until it gets LOST: for at most ",
                     "  only a fence keeps its late writes out: man 7 redlock\n",
                     "  now held by nobody\n"):
            self.assertIn(line, told)
        self.assert_free(self.name)

    def test_a_wrong_holder(self):
        token = self.lock_on_all("--ttl", "30s", self.name)
        for wrong in NOBODY, NOBODY + ":host:1", token[:21] + ("A" if token[21] != "A" else "Q"):
            told = self.redlock("break", "--yes", "--holder", wrong, self.name, status=75).err
            self.assertIn("that holder does not have it; nothing was deleted", told)
            self.assertIn(f"held by {token[:22]} (", told)
            self.assertEqual(self.broken(wrong, status=75)["code"], "REDLOCK_E_HELD")
        self.assertEqual(self.cluster.values(self.name), [token] * 5)

    def test_nobody_has_it(self):
        token = self.lock_on_all("--ttl", "30s", self.name)
        self.unlock(token)
        self.assert_free(self.name)
        told = self.redlock("break", "--yes", "--holder", token, self.name, status=76).err
        self.assertIn("nobody has it any more; nothing was deleted", told)

    def broken_while_it_lives(self, relays=()):
        """How long a holder with a ttl of 4.5 s may still write. No renewal is late by a sixth of it."""
        run, token = self.one_that_lives("4500ms")
        told = self.broken_through(relays, token)
        self.assertEqual((told["ok"], told["alive"], told["label"]), (True, True, "alive"), told)
        self.assertGreaterEqual(told["may_write_ms"], 4500)
        self.finish(run, status=76)
        self.assert_free(self.name)
        return told["may_write_ms"]

    def test_a_holder_that_renews(self):
        """The time of its last renewal is as exact as the masters are punctual."""
        until(lambda: self.broken_while_it_lives() <= 4650, "it is known within a look")

    def test_a_holder_that_renews_and_is_looked_at_slowly(self):
        far = [Relay(port, late_s=0.3) for port in self.cluster.ports]
        for _ in range(3):
            self.broken_while_it_lives(far)

    def connected(self, master):
        its = socket.create_connection(("127.0.0.1", self.cluster.ports[master]))
        self.addCleanup(its.close)
        its.sendall(f"AUTH {self.cluster.passwords[master]}\r\n".encode())
        self.assertEqual(its.recv(100), b"+OK\r\n")
        return its

    def renew_until_it_is_gone(self, token, masters):
        """Then it sets the key once more, as a late renewal does: on all at a time."""
        while set(self.cluster.each_cli("EVAL", PROLONG, "1", self.name, token, "9000")) == {"1"}:
            pass
        for its in masters:
            its.sendall(f"SET {self.name} {token} PX 9000\r\n".encode())
        for its in masters:
            its.recv(100)

    def test_a_holder_that_sets_it_again_before_it_knows(self):
        token = f"{NOBODY}:host:1"
        self.cluster.each_cli("SET", self.name, token, "PX", "9000")
        masters = [self.connected(master) for master in range(5)]
        holder = threading.Thread(target=self.renew_until_it_is_gone, args=(token, masters))
        holder.start()
        told = self.broken(token)
        holder.join()
        self.assertEqual((told["ok"], told["alive"]), (True, True))
        self.assertEqual(self.cluster.values(self.name), [""] * 5)

    def relay_of_one_who_sets_it(self, master, token):
        """Before each answer of the master the holder sets the key again if it is absent."""
        its, one_by_one = self.connected(master), threading.Lock()

        def set_it_first(answer):
            with one_by_one:
                its.sendall(f"SET {self.name} {token} NX PX 20000\r\n".encode())
                its.recv(100)
            return answer

        return Relay(self.cluster.ports[master], change=set_it_first)

    def test_a_holder_that_sets_it_again_each_time(self):
        token = f"{NOBODY}:host:1"
        self.cluster.each_cli("SET", self.name, token, "PX", "1800")
        relays = [self.relay_of_one_who_sets_it(master, token) for master in range(5)]
        told = self.broken_through(relays, token, status=75)
        self.assertEqual((told["text"], told["alive"]),
                         ("not broken: its holder sets it again each time", True))
        self.assertIn("back", self.outcomes(told))
        self.assertGreater(told["may_write_ms"], 19000)

    def one_that_is_late(self, until_heard, change):
        """Relays: the first master is silent until `until_heard` holds; `change` gets the answers of the
        second one."""
        heard = threading.Event()

        def late(answer):
            heard.wait(DEADLINE)
            return answer

        def other(answer):
            answer = change(answer)
            if until_heard():
                heard.set()
            return answer

        return [Relay(port, change=change) for port, change in zip(self.cluster.ports, (late, other))]

    def broken_through(self, relays, token, status=0):
        return self.redlock("break", "--json", "--yes", "--holder", token, self.name, status=status,
                            env=self.env(REDLOCK_NODES=through(self.cluster, relays))).json

    def test_one_that_is_connected_late(self):
        """It answers only after the others were asked, which takes no time where nobody waits for a
        holder."""
        tokens, answers = self.two_readers(), []
        relays = self.one_that_is_late(lambda: len(answers) >= 3,
                                       lambda answer: answers.append(answer) or answer)
        told = self.broken_through(relays, tokens[0])
        self.assertEqual((told["mode"], self.outcomes(told)), ("shared", ["deleted"] * 5))

    def test_masters_that_are_late_by_turns(self):
        """The last answer of each counts: when the first one finally answers, the second one is silent."""
        token, said = self.lock_on_all("--ttl", TTL, self.name), []

        def no_more(answer):
            if self.cluster.cli(2, "GET", self.name) == token:
                return answer
            said.append(answer)
            return answer if len(said) <= 2 else b""

        told = self.broken_through(self.one_that_is_late(lambda: len(said) > 2, no_more), token)
        self.assertEqual((told["alive"], self.outcomes(told)), (False, ["absent"] + ["deleted"] * 4))
        self.assert_free(self.name)

    def test_what_lasts_for_long_is_not_called_dead(self):
        """A holder with this ttl renews each 10 s, and `break` does not watch for that time."""
        token = self.lock_on_all("--ttl", "30s", self.name)
        told = self.redlock("break", "--yes", "--holder", token, self.name, status=0).out
        self.assertIn("not known whether its holder is alive: no renewal was due within 4.0 s", told)
        token = self.lock_on_all("--ttl", "30s", self.name)
        self.assertIsNone(self.broken(token)["alive"])

    def test_who_waits_gets_it(self):
        token = self.lock_on_all("--ttl", "30s", self.name)
        waiter = self.spawn("lock", "--wait", "60s", "--label", "next", self.name)
        until(lambda: self.waiters() == [1] * 5, "one waits everywhere")
        told = self.broken(token)
        self.assertTrue(told["ok"])
        new = self.finish(waiter, status=0).out.strip()
        self.assertEqual(told["next"], new)
        self.assert_held(self.name, new)

    def two_readers(self):
        """Their tokens, when both read it on all masters; one that was late is asked in another try."""
        tokens = []

        def read():
            tokens[:] = [self.lock("--ttl", "30s", "--shared", "--label", f"r{i}", self.name)
                         for i in range(2)]
            readers = self.cluster.each_cli("ZCARD", f"redlock:holders:{self.name}")
            if readers == ["2"] * 5:
                return True
            for token in tokens:
                self.unlock(token)
            self.cluster.each_cli("DEL", self.name, f"redlock:holders:{self.name}")
            return False

        until(read, "both read it everywhere")
        return tokens

    def test_a_reader(self):
        tokens = self.two_readers()
        told = self.broken(tokens[0][:22])
        self.assertEqual((told["ok"], told["mode"], told["label"], told["next"]),
                         (True, "shared", "r0", "redlock:shared"))
        self.assertEqual(self.outcomes(told), ["deleted"] * 5)
        self.assertEqual([reader["token"] for reader in self.found()["readers"]], [tokens[1]])

    def test_a_permit(self):
        runs = [self.spawn("run", "--permits", "3", "--ttl", "20s", "--label", f"p{i}", self.name, "--",
                           "sleep", "60") for i in range(3)]

        def out():
            return {it["label"]: it["token"] for it in self.found()["holders"]}
        slots = [f"redlock:permit:{slot}:{self.name}" for slot in range(3)]
        until(lambda: self.cluster.each_cli("EXISTS", *slots) == ["3"] * 5, "all have one")
        told = self.broken(out()["p1"])
        self.assertEqual((told["ok"], told["mode"], told["label"]), (True, "permit", "p1"))
        self.assertEqual(self.outcomes(told), ["deleted"] * 5)
        until(lambda: set(out()) == {"p0", "p2"}, "the others have theirs")
        told = self.redlock("break", "--yes", "--holder", out()["p0"], self.name, status=0).out
        self.assertIn(f"'{self.name}': broken; a permit of it was held by ", told)
        for run in runs:
            run.kill()

    def test_the_rest_of_an_attempt(self):
        token = self.lock_on_all("--ttl", "30s", self.name)
        for master in 1, 2, 3:
            self.cluster.cli(master, "DEL", self.name)
        told = self.broken(token)
        self.assertTrue(told["ok"])
        self.assertEqual(self.outcomes(told), ["absent"] * 3 + ["deleted"] * 2)
        self.assert_free(self.name)

    def test_what_no_quorum_has_afterwards(self):
        token = self.lock_on_all("--ttl", TTL, self.name)
        self.cluster.cli(1, "SET", self.name, f"{NOBODY}:rest", "PX", "30000")
        told = self.redlock("break", "--yes", "--holder", token, self.name, status=0).out
        self.assertIn(f"  {self.cluster.shown[0]}  did not have it any more\n", told)
        self.assertIn(f"  now partly held by {NOBODY} (rest) on 1 of 5 masters\n", told)
        self.assertEqual(self.cluster.values(self.name), [f"{NOBODY}:rest"] + [""] * 4)

    def test_one_of_several_names(self):
        """The others stay with a dead holder; a living one gives them back when it learns of the break."""
        names = ("other", self.name)
        token = self.lock_on_all("--ttl", TTL, "--label", "two", *names, names=names)
        self.assertTrue(self.broken(token)["ok"])
        self.assertEqual(set(self.cluster.values("other")) - {""}, {token})
        run, token = self.one_that_lives("4500ms", "other")
        self.assertTrue(self.broken(token)["ok"])
        self.finish(run, status=76)
        self.assert_free("other")
        self.assert_free(self.name)

    def test_one_that_never_ends(self):
        self.cluster.each_cli("SET", self.name, f"{NOBODY}:host:1")
        told = self.redlock("break", "--yes", "--holder", NOBODY, self.name, status=0).out
        self.assertIn("not known whether its holder is alive", told)
        self.assertIn("may still be writing until it gets LOST;", told)
        self.assert_free(self.name)

    def test_other_software(self):
        self.cluster.each_cli("SET", self.name, "value-of-others", "PX", "1500")
        told = self.redlock("break", "--yes", "--holder", "value-of-others", self.name, status=0).out
        self.assertIn("may still be writing without an end: it is other software", told)
        self.assert_free(self.name)
        self.cluster.each_cli("RPUSH", self.name, "x")
        self.redlock("break", "--yes", "--holder", "x", self.name, status=75)
        self.assertEqual(self.cluster.cli(1, "LLEN", self.name), "1")

    def test_any_value_of_other_software(self):
        """Blanks, control characters and texts like a fence belong to the label."""
        for value in "a b", "other 4711", "line\nbreak\t", "\x1b[31mred", "redlock:permits", "\u00fc" * 40:
            self.cluster.each_cli("SET", self.name, value, "PX", "3000")
            if " " in value:
                first = value.partition(" ")[0]
                self.redlock("break", "--yes", "--holder", first, self.name, status=75)
            self.assertEqual(self.outcomes(self.broken(value)), ["deleted"] * 5)
            self.assert_free(self.name)

    def test_what_looks_like_a_fence_is_part_of_the_value(self):
        self.cluster.each_cli("SET", self.name, "other", "PX", "30000")
        self.redlock("break", "--yes", "--holder", "other 4711", self.name, status=75)
        self.assertEqual(set(self.cluster.values(self.name)), {"other"})

    def test_the_fence_behind_a_token(self):
        printed = self.lock("--ttl", TTL, "--fence", self.name)
        self.assertRegex(printed, r" \d+$")
        told = self.broken(printed)
        self.assertEqual((told["ok"], told["token"]), (True, printed.split()[0]))
        self.assert_free(self.name)


class Asked(BreakCase):
    """On a terminal."""

    ASKS = "break it? [y/N] "

    def breaking(self, token):
        return self.terminal(REDLOCK, *self.patience, "break", "--holder", token, self.name)

    def test_no_is_the_default(self):
        for answer in b"\n", b"n\n", b"\x04":
            token = self.one_that_is_gone()
            self.breaking(token).talk(f"'{self.name}': held by {token[:22]} (host:1)",
                                      "its holder did not renew it within ", self.ASKS, answer,
                                      "nothing was deleted", status=1)
            self.redlock("unlock", "--token", token, self.name)

    def test_yes(self):
        self.cluster.each_cli("SET", self.name, f"{NOBODY}:host:1")
        terminal = self.breaking(NOBODY)
        terminal.talk("for ever (no ttl); not known whether its holder is alive", self.ASKS)
        self.assertNotIn("", self.cluster.values(self.name))
        terminal.talk(b"y\n", ": broken; it was held by ", status=0)
        self.assert_free(self.name)

    def test_what_was_typed_before_the_question_is_no_answer(self):
        token = self.lock_on_all("--ttl", TTL, self.name)
        self.breaking(token).talk("looking whether its holder renews", b"y\n", self.ASKS, b"\n",
                                  "nothing was deleted", status=1)
        self.assertIn(token, self.cluster.values(self.name))

    def assert_may_write(self, terminal, at_least):
        told = terminal.talk(b"y\n", "if it is stopped, until it wakes")
        self.assertGreaterEqual(float(re.findall(rb"at most ([0-9.]+) s", told)[-1]), at_least)

    def test_how_long_a_holder_that_lives_may_write(self):
        """It may have renewed the lock just before the deletion, whatever time was left at the user's yes."""
        run, token = self.one_that_lives("6s")
        terminal = self.breaking(token)
        terminal.talk("ALIVE", self.ASKS)
        until(lambda: 4000 < int(self.cluster.cli(1, "PTTL", self.name)) < 4900, "it is to be renewed soon")
        self.assert_may_write(terminal, 5.8)
        self.finish(run, status=76)

    def test_a_holder_that_renews_while_the_user_thinks(self):
        token = self.lock_on_all("--ttl", "3s", self.name)
        terminal = self.breaking(token)
        terminal.talk("did not renew it", self.ASKS)
        self.cluster.each_cli("SET", self.name, token, "PX", "6000")
        until(lambda: int(self.cluster.cli(1, "PTTL", self.name)) < 4500, "that was long ago")
        self.assert_may_write(terminal, 5.9)

    def test_another_one_has_it_by_then(self):
        self.cluster.each_cli("SET", self.name, f"{NOBODY}:host:1")
        terminal = self.breaking(NOBODY)
        terminal.talk(self.ASKS)
        self.cluster.each_cli("SET", self.name, f"{'B' * 21}A:host:2")
        terminal.talk(b"y\n", "nothing was deleted", status=75)
        self.assertEqual(set(self.cluster.values(self.name)), {f"{'B' * 21}A:host:2"})


class Missing(FreshCase):
    masters = 5

    def setUp(self):
        super().setUp()
        self.token = self.lock_on_all("--ttl", TTL, "--label", "host:1", "a")

    def test_two_are_dead(self):
        self.cluster.kill(1, 2)
        told = self.redlock("break", "--yes", "--holder", self.token, "a", status=0).out
        self.assertEqual(told.count("  deleted\n"), 3)
        self.assertEqual(told.count("; a key there expires within "), 2)
        self.assertEqual([self.cluster.cli(i, "GET", "a") for i in (3, 4, 5)], [""] * 3)

    def test_a_holder_that_lives_may_reach_who_is_not_reached_from_here(self):
        """The holder may renew the lock there until its lease is over, and leave it behind."""
        run = self.spawn("run", "--ttl", "4500ms", "b", "--", "sleep", "60")
        token = until(lambda: self.cluster.cli(5, "GET", "b"), "it is held")
        self.cluster.kill(1, 2)
        told = self.redlock("break", "--yes", "--holder", token, "b", status=0).out
        self.assertIn("ALIVE", told)
        for ends in re.findall(r"ends by itself within ([0-9.]+) s", told):
            self.assertGreaterEqual(float(ends), 9.0)
        self.finish(run, status=76)

    def test_three_are_dead(self):
        self.cluster.kill(1, 2, 3)
        told = self.redlock("break", "--json", "--yes", "--holder", self.token, "a", status=69).json
        self.assertEqual((told["ok"], told["code"]), (False, "REDLOCK_E_UNAVAILABLE"))
        self.assertEqual([node["outcome"] for node in told["nodes"]], ["unknown"] * 3 + ["deleted"] * 2)
        self.assertEqual([self.cluster.cli(i, "GET", "a") for i in (4, 5)], [""] * 2)
