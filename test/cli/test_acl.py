"""The smallest user that deploy/users.acl makes: all works, no right is spare, and an error
names each right that is taken away."""
# rule: K17

import re
import shlex

from harness import ROOT, Case, environment, until
from server import ACL, Server

SCRIPTS = ROOT / "lib" / "wire" / "scripts"
ADMIN = ("--user", "admin", "--pass", "change-this")
LOGIN = "redlock:change-this-too@"


def rules():
    """The rules of the user, but for its password."""
    return re.search(r"^user redlock on \S+ (.*)", ACL.read_text(), re.M).group(1).split()


def script(name):
    """With the files that it uses, as the build makes it."""
    return re.sub(r"^ *-- uses (\S+)$", lambda used: script(used[1]),
                  (SCRIPTS / name).read_text(), flags=re.M)


RENEW = script("renew_shared.lua"), 1, "lock:r"


def given():
    return {rule[1:] for rule in rules() if rule.startswith("+")}


class Masters(Case):
    count = 3

    @classmethod
    def setUpClass(cls):
        cls.servers = []
        for _ in range(cls.count):
            server = Server(f"aclfile {ACL}", login=ADMIN)
            cls.servers.append(server)
            cls.addClassCleanup(server.stop)

    def setUp(self):
        super().setUp()
        self.each("CONFIG", "RESETSTAT")

    def each(self, *command):
        return [server.cli(*command) for server in self.servers]

    def user(self, name, *changes, rules=rules):
        """The environment of a user with the rules, changed."""
        self.each("ACL", "SETUSER", name, "on", ">pw", *rules(), *changes)
        return self.env(REDLOCK_NODES=",".join(server.uri(f"{name}:pw@") for server in self.servers))

    def keys(self):
        return {(server.port, key) for server in self.servers for key in server.cli("KEYS", "*").splitlines()}

    def env(self, **more):
        more.setdefault("REDLOCK_NODES", ",".join(s.uri(LOGIN) for s in self.servers))
        return environment(**more)

    def stats(self):
        """The commands that each master has carried out, in scripts too."""
        return [set(re.findall(r"^cmdstat_([^:]*):", told, re.M))
                for told in self.each("INFO", "commandstats")]


class All(Masters):
    def test_all_works_and_nothing_is_spare(self):
        told = self.redlock("nodes", "--adopt", "--prefix", "lock:", status=0).out
        self.assertIn("locks work", told)
        self.assertNotIn("->", told)
        token = self.lock("lock:a")
        self.assertIn(token.split(":")[0], self.redlock("status", "lock:a", status=0).out)
        self.redlock("extend", "--token", token, "lock:a", status=0)
        waiter = self.spawn("run", "--wait", "1h", "lock:a", "--", "true")
        # A notification connection that was quiet for 3 s is asked whether it lives.
        until(lambda: self.pings_of_listeners() >= self.count, "the waiter listens, and pings")
        self.redlock("unlock", "--token", token, "lock:a", status=0)
        self.finish(waiter, status=0)
        self.redlock("run", "--fence", "lock:b", "lock:c", "--", "true", status=0)
        self.redlock("elect", "lock:e", "--", "true", status=0)
        self.redlock("barrier", "--parties", "1", "lock:e", status=0)
        self.redlock("latch", "create", "--arrivals", "1", "lock:f", status=0)
        self.redlock("latch", "arrive", "lock:f", status=0)
        self.redlock("latch", "wait", "lock:f", status=0)
        self.redlock("once", "--key", "k", "--life", "1h", "lock:g", "--", "true", status=0)
        self.each("RPUSH", "lock:list", "no lock")
        self.assertIn("a list", self.redlock("status", "lock:list", status=0).out)
        self.each("DEL", "lock:list")
        self.readers_come_and_go()
        self.leases_are_released_together()
        if "client|id" in self.stats()[0]:  # before Redis 7 subcommands are not counted
            self.hang_and_come_back()

        self.assertEqual(self.each("ACL", "LOG"), [""] * self.count)
        used = set().union(*self.stats())
        self.assertEqual({command for command in given()
                          if command not in used and command.split("|")[0] not in used}, set())

    def readers_come_and_go(self):
        for reader, ttl in ("short", 5000), ("long", 90000):
            healed = self.each("--user", "redlock", "--pass", "change-this-too",
                               "EVAL", *RENEW, reader, ttl, 1, 0, "s")
            self.assertEqual(healed, ["2"] * self.count)
        self.assertIn("2 read", self.redlock("status", "lock:r", status=0).out)
        self.redlock("unlock", "--token", "long", "lock:r", status=0)
        self.redlock("unlock", "--token", "short", "lock:r", status=0)
        # A quorum is enough for the command; the last master may be a moment later.
        until(lambda: self.each("EXISTS", "lock:r").count("0") > self.count // 2, "a quorum has no reader")
        until(self.nobody_reads, "nobody reads it")

    def nobody_reads(self):
        """Another unlock asks a master that was connected too late."""
        if self.each("EXISTS", "lock:r") == ["0"] * self.count:
            return True
        self.redlock("unlock", "--token", "long", "lock:r")
        return False

    def leases_are_released_together(self):
        self.each("MSET", "lock:g", "one", "lock:h", "other")
        told = self.each("--user", "redlock", "--pass", "change-this-too",
                         "EVAL", script("release_each.lua"), 2, "lock:g", "lock:h", "one", "other")
        self.assertEqual([reply.split() for reply in told], [["1", "1"]] * self.count)

    def pings_of_listeners(self):
        found = 0
        for server in self.servers:
            # cmd=ping is the last command of a connection that is subscribed.
            found += len(re.findall(r"sub=1 .*cmd=ping", server.cli("CLIENT", "LIST")))
        return found

    def hang_and_come_back(self):
        """A master that hung gets CLIENT KILL for the former connection."""
        stop, self.patience = self.tmp / "stop", ()
        run, told = self.told_while("run", "-v", "--ttl", "3s", "lock:d", "--", "sh", "-c",
                                    f"until [ -e {stop} ]; do sleep 0.05; done")
        until(lambda: all(self.each("GET", "lock:d")), "it is held, and each master connected")
        self.servers[0].pause()
        until(lambda: "hangs" in told(), "the hang is noticed")
        self.servers[0].resume()
        until(lambda: "client|kill" in self.stats()[0], "the former connection is ended")
        stop.touch()
        self.finish(run)


class Denied(Masters):
    count = 1

    def setUp(self):
        super().setUp()
        self.redlock("nodes", "--adopt", status=0)

    def test_each_is_named(self):
        needed_by = {
            ("lock", "ITS"): "set info hmget time",
            ("lock", "--fence", "ITS", "lock:more"): "hget hset exists",
            ("lock", "--wait", "2s", "HELD"): "zadd zrange pttl",
            ("extend", "--token", "TOKEN", "HELD"): "pexpire",
            ("unlock", "--token", "TOKEN", "HELD"): "get del evalsha",
        }
        shared = "zscore zrem pexpireat"
        # These only decide how soon a waiter hears, what a batch costs, and what CLIENT LIST and status show.
        # Without eval see below.  Barriers, latches and observers alone need zremrangebyscore.
        others = ("eval mget type zcount zremrangebyscore publish subscribe ping script|load client|id "
                  "client|setname client|kill")
        behind = "zrank"  # see below
        self.assertEqual(given(), set(" ".join([*needed_by.values(), shared, others, behind]).split()))
        tried = {command: self.try_without(command, action)
                 for action, commands in needed_by.items() for command in commands.split()}
        for command, process in tried.items():
            with self.subTest(command=command):
                told = self.finish(process)
                self.assertIn(f"no permissions to run the '{command}' command", told.err)

        for command in shared.split():
            with self.subTest(command=command):
                told = self.renew_shared_without(command)
                place = re.search(r"user_script:(\d+)", told)  # Redis 7.0 says no more
                line = RENEW[0].splitlines()[int(place[1]) - 1] if place else ""
                self.assertTrue(f"call('{command}'" in line or f"'{command}' command" in told, told)

    def test_who_may_not_ask_is_told_why(self):
        self.lock("lock:asked")
        told = self.redlock("ask", "lock:asked", status=69, env=self.user("asks-nothing", "-evalsha")).err
        self.assertIn("no quorum of masters could be asked", told)
        self.assertRegex(told, "NOPERM .*'evalsha'(.*\n)*  -> its ACL forbids this user a command")

    def test_who_may_not_listen_is_told_by_nodes(self):
        for name, change in ("deaf", "-subscribe"), ("elsewhere", "resetchannels"):
            with self.subTest(change=change):
                env = self.user(name, change)
                told = self.redlock("nodes", "--prefix", "lock:", status=0, env=env).out
                self.assertIn("locks work", told)
                self.assertRegex(told, "  -> waiters get a lock up to a second late: cannot subscribe: "
                                       "NOPERM .*\n  -> its ACL forbids this user a command that locks need")

    def test_who_may_not_listen_runs_as_ever(self):
        """`run` listens for a break.  Where that is denied it tries once, and its renewals find out."""
        env = self.user("quiet", "resetchannels")
        self.each("ACL", "LOG", "RESET")  # of the cases before
        run = self.spawn("run", "--ttl", "5s", "lock:quiet", "--", "sleep", "60", env=env)
        until(lambda: "subscribe" in self.servers[0].cli("ACL", "LOG"), "it may not listen")
        until(lambda: self.servers[0].cli("GET", "lock:quiet"), "the first master has it, too")
        token = self.servers[0].cli("GET", "lock:quiet")
        for _ in range(4):  # in more than 5 s, after which it would try again
            until(lambda: int(self.servers[0].cli("PTTL", "lock:quiet")) < 4000, "a renewal is due")
            until(lambda: int(self.servers[0].cli("PTTL", "lock:quiet")) > 4500, "it is renewed")
        self.redlock("unlock", "--token", token, "lock:quiet", status=0)
        told = self.finish(run, status=76).err
        self.assertNotIn("subscribe", told)
        [denied] = re.findall(r"^count\n(\d+)$", self.servers[0].cli("ACL", "LOG", "1"), re.M)
        self.assertEqual(denied, "1")
        self.each("ACL", "LOG", "RESET")

    def test_who_may_not_publish_is_told_by_nodes(self):
        env = self.user("mute", "-publish")
        told = self.redlock("nodes", "--prefix", "lock:", status=0, env=env).out
        self.assertIn("locks work", told)
        self.assertIn("  -> waiters get a lock up to a second late: PUBLISH in its scripts told nobody\n"
                      "  -> let its user publish on the channels of locks: +publish &redlock:*", told)
        self.assertEqual(told.count("->"), 3)  # one for a master alone
        told = self.redlock("nodes", "--json", "--prefix", "lock:", status=0, env=env).json
        self.assertEqual(told["nodes"][0]["unheard"], "PUBLISH in its scripts told nobody")

    def test_a_waiter_behind_another_needs_its_rank(self):
        self.lock("lock:q")
        first = self.spawn("lock", "--wait", "1h", "lock:q")
        until(lambda: self.each("ZCARD", "redlock:queue:lock:q") == ["1"], "one waits")
        env = self.user("without-zrank", "-zrank")
        told = self.redlock("lock", "--wait", "2s", "lock:q", status=69, env=env).err
        self.assertIn("no permissions to run the 'zrank' command", told)
        self.terminate(first)

    def test_a_master_without_the_scripts_needs_eval(self):
        env = self.user("without-eval", "-eval")
        self.each("SCRIPT", "FLUSH")
        told = self.redlock("lock", "lock:its", status=69, env=env).err
        self.assertIn("no permissions to run the 'eval' command", told)

    def renew_shared_without(self, command):
        self.user("without-" + command, "-" + command)
        self.each("DEL", "lock:r", "redlock:holders:lock:r")
        self.each("EVAL", *RENEW, "reader", 1000, 1, 0, "s")
        return self.each("--user", "without-" + command, "--pass", "pw",
                         "EVAL", *RENEW, "reader", 2000, 1, 0, "s")[0]

    def try_without(self, command, action):
        held = f"lock:{command}:held"
        words = {"TOKEN": self.lock(held), "HELD": held, "ITS": f"lock:{command}:its"}
        env = self.user("without-" + command, "-" + command)
        # The first in line needs no rank.
        self.each("ZADD", f"redlock:queue:{held}", 1, "ahead")
        self.each("SET", "redlock:waiter:ahead", "of another client", "PX", 60000)
        return self.spawn(*(words.get(word, word) for word in action), env=env)

    def test_rules_from_before_shared_leases(self):
        """They lock as ever; a reader is refused, and leaves nothing that keeps a writer out."""
        env = self.user("older", "-zscore", "-zcount", "-zremrangebyscore", "-pexpireat")
        before = self.keys()
        told = self.redlock("lock", "--shared", "lock:old", status=69, env=env).err
        self.assertIn("no permissions to run the 'pexpireat' command", told)
        self.redlock("lock", "--shared=lock:old", "lock:more", status=69, env=env)
        self.assertEqual(self.keys() - before, set())  # those of other tests may expire meanwhile
        token = self.redlock("lock", "lock:old", "lock:more", status=0, env=env).out.strip()
        self.redlock("unlock", "--token", token, "lock:old", "lock:more", status=0, env=env)

    def test_a_lock_that_may_not_be_looked_at_is_not_called_somebody_elses(self):
        token = self.lock("lock:seen")
        env = self.user("blind", "-get")
        told = self.redlock("extend", "--token", token, "lock:seen", status=69, env=env).err
        self.assertIn("no permissions to run the 'get' command", told)
        self.assertNotIn("held", self.redlock("status", "lock:seen", status=69, env=env).out)

    def test_who_may_not_look_at_a_leader_is_told_why(self):
        env = self.user("deaf", "-get")
        why = "no permissions to run the 'get' command"
        self.assertIn(why, self.redlock("leader", "lock:led", status=69, env=env).err)
        self.assertIn(why, self.redlock("leader", "--json", "lock:led", status=69, env=env).json["text"])
        watcher, told = self.told_while("leader", "--watch", "lock:led", env=env)
        until(lambda: why in told(), "who watches is told why")
        watcher.terminate()
        self.finish(watcher)

    def test_names_of_others(self):
        told = self.redlock("lock", "theirs", status=69).err
        self.assertRegex(told, "NOPERM .*key")


class Refused(Masters):
    """The servers refuse users the keys and channels of others, and commands that locks do not need."""

    count = 1
    ROLES = {"redlock": "change-this-too", "redlock-operator": "change-this-as-well"}
    KEYS = ("SET theirs x", "GET theirs", "DEL theirs", "MGET lock:a theirs", "EXISTS redlocks",
            'EVAL "return redis.call(\'get\', KEYS[1])" 1 theirs',
            'EVAL "return redis.call(\'set\', \'theirs\', 1)" 0')
    CHANNELS = ("PUBLISH theirs x", "SUBSCRIBE theirs", "SUBSCRIBE __keyevent@0__:del",
                'EVAL "return redis.call(\'publish\', \'theirs\', 1)" 0')
    COMMANDS = ("FLUSHALL", "FLUSHDB", "KEYS *", "RANDOMKEY", "RENAME lock:a lock:b", "COPY lock:a lock:b",
                "DUMP lock:a", "PERSIST lock:a", "EXPIRE lock:a 9", "APPEND lock:a x",
                "SWAPDB 0 1", "SELECT 1",
                "CONFIG GET *", "CONFIG SET maxmemory 1", "CONFIG RESETSTAT", "ACL LIST", "ACL WHOAMI",
                "ACL SETUSER redlock +@all", "CLIENT LIST", "CLIENT PAUSE 1", "CLIENT NO-EVICT on", "MONITOR",
                "SCRIPT FLUSH", "SCRIPT KILL", "REPLICAOF NO ONE", "FAILOVER",
                "SHUTDOWN NOSAVE", "SAVE", "BGSAVE", "BGREWRITEAOF", "LATENCY RESET", "SLOWLOG GET",
                "PSUBSCRIBE redlock:*", "PUBSUB CHANNELS", "MODULE LIST", "MIGRATE h 1 lock:a 0 1",
                "WAIT 0 1")
    DENIED = "NOPERM|The user executing the script can't (access|publish)"
    # They show all names.
    OPERATORS = ("SCAN 0", "DBSIZE", "GETRANGE lock:a 0 -1")

    def say(self, user, command):
        login = "--user", user, "--pass", self.ROLES[user]
        return self.servers[0].cli(*login, *shlex.split(command), check=False)

    def test_keys_channels_and_commands_of_others(self):
        for user in self.ROLES:
            for command in (*self.KEYS, *self.CHANNELS, *self.COMMANDS):
                with self.subTest(user=user, command=command):
                    self.assertRegex(self.say(user, command), self.DENIED)

    def test_the_operators_commands(self):
        for command in self.OPERATORS:
            with self.subTest(command=command):
                self.assertIn("NOPERM", self.say("redlock", command))
                self.assertNotIn("NOPERM", self.say("redlock-operator", command))

    def test_their_own_keys_and_channels(self):
        for user in self.ROLES:
            for command, told in ("SET lock:own x", "OK"), ("GET lock:own", "x"), ("DEL lock:own", "1"), \
                    ("EXISTS redlock:clock redlock:queue:lock:own", "0"), ("PUBLISH redlock:own x", "0"):
                with self.subTest(user=user, command=command):
                    self.assertEqual(self.say(user, command), told)

    def test_nobody_else(self):
        server = self.servers[0]
        server.login, login = (), server.login
        self.addCleanup(setattr, server, "login", login)
        for command in "PING", "INFO", "GET lock:a", "HELLO":
            self.assertRegex(server.cli(*command.split(), check=False), "NOAUTH")
        self.assertIn("WRONGPASS", server.cli("--user", "default", "--pass", "", "PING", check=False))


class Operator(Masters):
    """`list` and `break` have a user of their own: with three rights more, and no right to other names."""

    LOGIN = "redlock-operator:change-this-as-well@"

    def setUp(self):
        super().setUp()
        self.redlock("nodes", "--adopt", status=0)
        self.each("DEL", "lock:a", "redlock:queue:lock:a")
        self.each("ACL", "LOG", "RESET")
        until(self.lock_on_all, "every master has the lock")
        self.waiter = self.spawn("run", "--wait", "1h", "lock:a", "--", "true")
        until(lambda: self.each("ZCARD", "redlock:queue:lock:a") == ["1"] * self.count, "one waits")

    def lock_on_all(self):
        """As Case.lock_on_all()."""
        self.token = self.lock("--ttl", "30s", "lock:a")
        if self.each("GET", "lock:a") == [self.token] * self.count:
            return True
        self.redlock("unlock", "--token", self.token, "lock:a", status=0)
        self.each("DEL", "lock:a")
        return False

    def operator(self, *arguments, **more):
        nodes = ",".join(s.uri(self.LOGIN) for s in self.servers)
        return self.redlock(*arguments, env=self.env(REDLOCK_NODES=nodes), **more)

    @staticmethod
    def rules():
        return re.search(r"^user redlock-operator on \S+ (.*)", ACL.read_text(), re.M).group(1).split()

    def test_each_script_may_do_all_that_it_asks_for(self):
        asked = {word for file in SCRIPTS.glob("*.lua")
                 for word in re.findall(r"(?:call|try)\('([a-z]+)'", file.read_text())}
        self.assertGreater(len(asked), 20)
        self.assertEqual(asked - {rule[1:] for rule in self.rules()}, set())

    def test_it_may_do_that_and_no_more(self):
        self.assertEqual(set(self.rules()) - set(rules()), {"+scan", "+dbsize", "+getrange"})
        told = self.operator("list", "--prefix", "lock:", status=0).out
        self.assertIn(f"  holds 'a' on {self.count} of {self.count} masters", told)
        self.assertIn("  waits for 'a', place 1 of 1", told)
        self.assertEqual({"scan", "dbsize", "getrange"} - set.intersection(*self.stats()), set())
        self.operator("break", "--yes", "--holder", self.token, "lock:a", status=0)
        self.finish(self.waiter, status=0)
        self.assertEqual(self.each("ACL", "LOG"), [""] * self.count)

    def test_names_of_others(self):
        told = self.operator("list", status=69).err
        self.assertRegex(told, "NOPERM .*key")
        self.assertIn("-> give the beginning of the names that this user may use: --prefix\n", told)

    def test_each_right_is_named(self):
        for command in "scan", "dbsize", "getrange":
            env = self.user(f"without-{command}", f"-{command}", rules=self.rules)
            told = self.redlock("list", "--prefix", "lock:", env=env, status=69).err
            self.assertIn(f"no permissions to run the '{command}' command", told)

    def test_who_may_not_look_at_the_names_is_not_told_all(self):
        env = self.user("blind", "-pttl", rules=self.rules)
        told = self.redlock("list", "--prefix", "lock:", env=env, status=69).err
        self.assertIn("too few masters answered: names may be missing", told)

    def test_the_user_of_locks_may_not(self):
        told = self.redlock("list", "--prefix", "lock:", status=69).err
        self.assertIn("no permissions to run the 'scan' command", told)
        self.assertEqual(told.count("-> `redlock list` needs more rights than a lock: those of "
                                    "redlock-operator from share/doc/redlock/examples/users.acl\n"), 1)
