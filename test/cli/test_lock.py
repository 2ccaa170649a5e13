"""lock, extend, unlock and status, alone and beside other software."""

import os
import signal
import subprocess
import time

from harness import DEADLINE, ClusterCase, until


class Lock(ClusterCase):
    def test_lock_prints_the_token_that_the_masters_have(self):
        token = self.lock(self.name)
        self.assertRegex(token, r"^[A-Za-z0-9_-]{22}:\S+$")
        self.assert_held(self.name, token)
        self.redlock("unlock", "--token", token, self.name, status=0)
        self.assert_free(self.name)

    def test_contended(self):
        token = self.lock("--label", "the-holder", self.name)
        result = self.redlock("lock", self.name, status=75)
        self.assertEqual(result.out, "")
        self.assertRegex(result.err, r"held by [A-Za-z0-9_-]{22} \(the-holder\) on \d of 5 masters, "
                                     r"ttl \d\.\d s unless renewed\n")
        told = self.redlock("lock", "--json", self.name, status=75).json
        self.assertEqual((told["ok"], told["code"]), (False, "REDLOCK_E_HELD"))
        holders = [v["holder"] for v in told["votes"] if v["vote"] == "held"]
        self.assertGreaterEqual(len(holders), 3)
        self.assertEqual(set(holders), {token})
        self.assertEqual({v["label"] for v in told["votes"] if v["vote"] == "held"},
                         {"the-holder"})
        self.assertEqual(self.redlock("lock", "-q", self.name, status=75).err, "")

    def test_json(self):
        locked = self.redlock("lock", "--json", self.name, "other", status=0).json
        self.assertEqual(locked["names"], [self.name, "other"])
        self.assertEqual((locked["ok"], locked["masters"], locked["quorum"]), (True, 5, 3))
        self.assertGreaterEqual(locked["granted"], 3)
        self.assertTrue(5000 < locked["valid_ms"] < 10000, locked["valid_ms"])
        self.assertEqual(len(locked["votes"]), 5)
        token = locked["token"]
        extended = self.redlock("extend", "--json", "--token", token, "--ttl", "20s", self.name,
                                "other", status=0).json
        self.assertTrue(10000 < extended["valid_ms"] < 20000, extended["valid_ms"])
        self.assertEqual(extended["token"], token)
        released = self.redlock("unlock", "--json", "--token", token, self.name, "other",
                                status=0).json
        self.assertTrue(released["ok"])
        gone = self.redlock("unlock", "--json", "--token", token, self.name, "other",
                            status=76).json
        self.assertEqual(gone["code"], "REDLOCK_E_GONE")

    def test_what_was_waited_for_lasts_for_its_ttl(self):
        # The masters hand over for 3 s at most, and nothing renews it later.
        for more in ([], ["--fence"], ["--shared"], ["--json"]):
            with self.subTest(more):
                token = self.lock_on_all(self.name)
                waiter = self.spawn("lock", "--ttl", "20s", "--wait", "forever", *more, self.name)
                until(lambda: sum(map(bool, self.waiters())) >= 3, "it waits on the masters")
                self.redlock("unlock", "--token", token, self.name, status=0)
                told = self.finish(waiter, 0)
                name = self.redlock("status", "--json", self.name, status=0).json["names"][0]
                self.assertGreater(name["remaining_ms"], 5000)
                if more == ["--json"]:
                    self.assertGreater(told.json["valid_ms"], 5000)
                    self.assertRegex(told.json["text"], r"^acquired, valid for \d{5} ms$")
                    mine = told.json["token"]
                else:
                    mine = told.out.strip()
                self.redlock("unlock", "--token", mine, self.name, status=0)

    def test_what_was_waited_for_and_cannot_last_is_told(self):
        def may_renew(word):
            self.cluster.each_cli("ACL", "SETUSER", "default", f"{word}pexpire")

        token = self.lock_on_all(self.name)
        waiter = self.spawn("lock", "--ttl", "20s", "--wait", "forever", self.name)
        until(lambda: sum(map(bool, self.waiters())) >= 3, "it waits on the masters")
        self.addCleanup(may_renew, "+")
        may_renew("-")
        self.redlock("unlock", "--token", token, self.name, status=0)
        told = self.finish(waiter, 0)
        self.assertRegex(told.err,
                         r"^redlock: locked for [0-2]\S* m?s only: too few masters renewed it to its ttl; "
                                   r"extend it, or unlock it\n$")
        self.redlock("unlock", "--token", told.out.strip(), self.name, status=0)

    def test_extend(self):
        token = self.lock("--ttl", "5s", self.name)
        told = self.redlock("extend", "--token", token, "--ttl", "25s", self.name, status=0)
        self.assertRegex(told.out, r"^extended, valid for at least 2\d\.\d s, on \d of 5 masters\n$")
        self.assertGreater(self.redlock("status", "--json", self.name,
                                        status=0).json["names"][0]["remaining_ms"], 10000)

    def test_extend_shortens_nothing(self):
        """The command has no --ttl, and the lease lasts longer than it says."""
        token = self.lock_on_all("--ttl", "28s", self.name)
        told = self.redlock("extend", "--token", token, self.name, status=0).out
        self.assertRegex(told, r"^extended, valid for at least 9\.\d s, on \d of 5 masters\n$")
        left = [int(text) for text in self.cluster.each_cli("PTTL", self.name)]
        self.assertGreater(min(left), 10000)

    def test_not_ours_any_more(self):
        token = self.lock(self.name)
        self.redlock("unlock", "--token", token, self.name, status=0)
        for command in ("extend", "unlock"):
            result = self.redlock(command, "--token", token, self.name, status=76)
            self.assertRegex(result.err, r"held by nobody on \d of 5 masters")
        theirs = self.lock(self.name)
        for command in ("extend", "unlock"):
            result = self.redlock(command, "--token", token, self.name, status=76)
            self.assertIn("held by ", result.err)
        self.assert_held(self.name, theirs)

    def test_all_names_or_none(self):
        first = self.lock("multi-b")
        self.redlock("lock", "multi-a", "multi-b", "multi-c", status=75)
        self.assert_free("multi-a")
        self.assert_free("multi-c")
        self.redlock("unlock", "--token", first, "multi-b", status=0)
        both = self.lock("multi-b", "multi-a")
        self.redlock("lock", "multi-a", status=75)
        self.redlock("unlock", "--token", both, "multi-a", "multi-b", status=0)
        self.assert_free("multi-a")
        self.assert_free("multi-b")

    def test_names_of_any_bytes(self):
        for name, as_json in (("with space", "with space"), ("ümläut/日本", "ümläut/日本"),
                              ("new\nline\t\x1b[31m", "new\nline\t\x1b[31m"),
                              ('quo"te\\', 'quo"te\\'), (os.fsdecode(b"\xff\xfe!"), "\xff\xfe!")):
            with self.subTest(name=ascii(name)):
                locked = self.redlock("lock", "--json", name, status=0).json
                self.assertEqual(locked["names"], [as_json])
                result = self.redlock("lock", name, status=75)
                self.assertNotIn("\x1b", result.err)
                self.assertEqual(result.err.count("\n"), 2)
                told = self.redlock("status", "--json", name, status=0).json["names"][0]
                self.assertEqual((told["name"], told["state"]), (as_json, "held"))
                self.assertEqual(self.redlock("status", name, status=0).out.count("\n"), 6)
                self.redlock("unlock", "--token", locked["token"], name, status=0)

    def test_bytes_that_are_no_utf8(self):
        names = [b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xe2\x82a",
                 b"\x80", b"\xf8\x88\x80\x80\x80", b"a\xffb"]
        told = self.redlock("status", "--json", *map(os.fsdecode, names), status=0).json["names"]
        self.assertEqual([t["name"] for t in told], [name.decode("latin1") for name in names])
        out = self.redlock("status", os.fsdecode(b"\xc2\x9b1m\xff\x7f"), status=0).out
        self.assertTrue(out.startswith("\\xc2\\x9b1m\\xff\\x7f: free\n"), out)

    def test_prefix(self):
        token = self.lock("--prefix", "app:", self.name)
        self.assert_held("app:" + self.name, token)
        self.assertTrue(self.is_free(self.name))
        self.redlock("unlock", "--prefix", "app:", "--token", token, self.name, status=0)
        self.assert_free("app:" + self.name)

    def test_without_label(self):
        self.assertRegex(self.lock("--label", "", self.name), r"^[A-Za-z0-9_-]{22}$")

    def test_the_lease_ends_with_its_ttl(self):
        self.lock("--ttl", "300ms", self.name)
        self.assert_free(self.name)
        self.lock(self.name)

    def test_a_token_that_nobody_got_to_see_is_given_back(self):
        with open("/dev/full", "w") as full:
            self.redlock("lock", self.name, status=74, stdout=full)
        self.assert_free(self.name)


class Wait(ClusterCase):
    def test_gets_it_when_the_holder_let_it_expire(self):
        self.lock("--ttl", "500ms", self.name)
        self.redlock("lock", "--wait", "forever", self.name, status=0)

    def test_all_masters_are_busy(self):
        """They say that the name is held, and then answer every request with an error."""
        busy = []

        def end_busy():
            while busy:
                self.cluster.cli(len(busy), "SCRIPT", "KILL")
                busy.pop().wait(DEADLINE)

        self.cluster.each_cli("CONFIG", "SET", "lua-time-limit", "10")
        self.lock_on_all("--ttl", "20s", self.name)
        waiter = self.spawn("run", "--wait", "4s", self.name, "--", "true")
        until(lambda: self.waiters() == [1] * self.masters, "it waits on all masters")
        self.addCleanup(end_busy)
        for port, password in zip(self.cluster.ports, self.cluster.passwords):
            busy.append(subprocess.Popen(["redis-cli", "-p", str(port), "EVAL", "while true do end", "0"],
                                         env=self.env(REDISCLI_AUTH=password), stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        result = self.finish(waiter, 69)
        self.assertIn(f"cannot lock '{self.name}': no quorum of masters", result.err)
        for node in self.cluster.shown:
            self.assertIn(f"  {node}: BUSY ", result.err)

    def test_a_signal_ends_it_and_leaves_nothing(self):
        token = self.lock(self.name)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(number=number):
                waiter = self.spawn("lock", "-v", "--wait", "forever", self.name)
                waiter.stderr.readline()  # a master votes: it has begun
                waiter.send_signal(number)
                self.finish(waiter, 128 + number)
        self.redlock("unlock", "--token", token, self.name, status=0)
        self.assert_free(self.name)


class Others(ClusterCase):
    """Plain SET name token NX PX, as other clients of the algorithm send it."""

    def take(self, *masters, ms=20000):
        return [self.cluster.cli(m, "SET", self.name, "their-token", "NX", "PX", str(ms))
                for m in masters]

    def test_theirs_excludes_ours(self):
        self.assertEqual(self.take(1, 3, 5), ["OK"] * 3)
        result = self.redlock("lock", self.name, status=75)
        self.assertRegex(result.err, r"held by their-token on 3 of 5 masters, ttl 1\d\.\d s ")
        # Our grants on the other two are released.
        until(lambda: self.cluster.values(self.name).count("") == 2, "the minority is free")

    def test_ours_excludes_theirs(self):
        self.assert_held(self.name, self.lock(self.name))
        self.assertLess(self.take(1, 2, 3, 4, 5).count("OK"), 3)

    def test_their_minority_does_not(self):
        self.take(2, 4)
        token = self.lock(self.name)
        self.assertEqual(sorted(self.cluster.values(self.name)),
                         sorted([token] * 3 + ["their-token"] * 2))

    def test_theirs_cannot_be_unlocked_by_ours(self):
        self.take(1, 2, 3, 4, 5)
        self.redlock("unlock", "--token", "another-token", self.name, status=76)
        self.assertEqual(self.cluster.values(self.name), ["their-token"] * 5)
        self.redlock("unlock", "--token", "their-token", self.name, status=0)
        self.assert_free(self.name)

    def test_a_key_without_ttl(self):
        self.cluster.each_cli("SET", self.name, "stuck")
        self.assertIn("for ever", self.redlock("lock", self.name, status=75).err)
        told = self.redlock("status", "--json", self.name, status=0).json["names"][0]
        self.assertEqual((told["state"], told["remaining_ms"], told["never_expires"]),
                         ("held", None, True))


class Status(ClusterCase):
    def ask(self, *names):
        return self.redlock("status", "--json", *names, status=0).json

    def finding(self):
        told = self.ask(self.name)["names"][0]
        return told["state"], told["on"], told["holder"]

    def test_free(self):
        self.assertTrue(self.redlock("status", self.name, status=0).out.startswith(
            f"{self.name}: free\n"))
        told = self.ask(self.name)["names"][0]
        self.assertEqual((told["state"], told["on"], told["holder"]), ("free", 0, None))

    def test_held(self):
        token = self.lock("--label", "web1:77", self.name)
        told = self.ask(self.name)["names"][0]
        self.assertEqual((told["state"], told["holder"], told["label"]),
                         ("held", token, "web1:77"))
        self.assertTrue(2000 < told["remaining_ms"] <= 10000)
        self.assertEqual([v["node"] for v in told["votes"]],
                         self.cluster.shown)
        out = self.redlock("status", self.name, status=0).out
        self.assertRegex(out, rf"^{self.name}: held by {token[:22]} \(web1:77\) on [345] of 5 "
                              r"masters, ttl \d\.\d s\n")
        self.assertGreater(out.count("web1:77"), 3)

    def test_partly_held(self):
        self.cluster.cli(2, "SET", self.name, "one", "PX", "20000")
        self.cluster.cli(3, "SET", self.name, "one", "PX", "20000")
        # A quorum says that the name is free: two slow masters are not waited for.
        until(lambda: self.finding() == ("partly_held", 2, "one"), "all five are heard")
        for master in (1, 4, 5):
            self.cluster.cli(master, "SET", self.name, f"other-{master}", "PX", "20000")
        told = self.ask(self.name)["names"][0]
        self.assertEqual((told["state"], told["on"]), ("partly_held", 2))

    def test_several_names(self):
        self.lock("several-1", "several-3")
        told = self.ask("several-1", "several-2", "several-3")
        self.assertEqual([t["state"] for t in told["names"]], ["held", "free", "held"])
        self.assertEqual([t["name"] for t in told["names"]],
                         ["several-1", "several-2", "several-3"])
        out = self.redlock("status", "several-1", "several-2", "several-3", status=0).out
        self.assertEqual(out.count("\n"), 18)

    def test_asking_changes_nothing(self):
        self.ask(self.name)
        self.assertTrue(self.is_free(self.name))


class Outages(ClusterCase):
    """One test, for the masters do not come back."""

    patience = ("--request-timeout", "2s")

    def lock_on(self, name, masters):
        """The token, if all these have it. A lock ends with a quorum, and asks no master that connects
        later."""
        token = self.lock(name)
        if all(self.cluster.cli(master, "GET", name) for master in masters):
            return token
        self.redlock("unlock", "--token", token, name, status=0)
        return None

    def test_masters_die(self):
        self.cluster.kill(1)
        token = until(lambda: self.lock_on("a", range(2, 6)), "every master that lives has it")
        self.cluster.pause(2)
        self.redlock("extend", "--token", token, "--ttl", "25s", "a", status=0)
        self.lock("b")
        told = self.redlock("status", "--json", "a", "c", status=0).json["names"]
        self.assertEqual([t["state"] for t in told], ["held", "free"])
        self.assertEqual(told[0]["on"], 3)
        self.cluster.kill(3)
        begin = time.monotonic()
        for command in (["lock", "c"], ["extend", "--token", token, "a"],
                        ["unlock", "--token", token, "a"], ["run", "c", "--", "true"]):
            with self.subTest(command=command):
                result = self.redlock(*command, status=69)
                self.assertRegex(result.err, f":{self.cluster.ports[0]}: .*refused")
                self.assertRegex(result.err, f":{self.cluster.ports[2]}: .*refused")
        self.assertLess(time.monotonic() - begin, DEADLINE)
        told = self.redlock("status", "--json", "a", status=69).json
        self.assertEqual((told["ok"], told["names"][0]["state"]), (False, "unknown"))
        self.assertIn("2 of 5 masters answered, 3 must",
                      self.redlock("status", "b", status=69).out)


class One(ClusterCase):
    masters = 1

    def test_a_single_master_works_too(self):
        token = self.lock("a")
        self.redlock("lock", "a", status=75)
        self.redlock("unlock", "--token", token, "a", status=0)
        self.assertIn("use 3 or 5", self.redlock("nodes", status=0).out)
