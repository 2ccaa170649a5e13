"""`redlock run` goes on with another list of masters: with that of its file, or with the one in place of a
list that is over. Its command runs on, and the lock is held all the time."""
# rule: D5, D6, D7, D8

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import schema
from harness import REDLOCK, until
from test_agree import DIFFERS, LOST
from test_change import Lead
from test_watch import Lines

FORGET = "for _, key in ipairs(redis.call('keys', 'redlock:lists:*')) do redis.call('del', key) end"
LED = "this list of masters is over: goes on with the one in its place, "


EXAMPLE = str(Path(REDLOCK).with_name("example_masters"))


WENT_ON = "goes on with another list of masters: "


class Followed(Lead):
    def setUp(self):
        super().setUp()
        self.lend_login()

    def is_looked_at(self):
        """The file changes nothing: no condition shows that it has looked."""
        begun = time.monotonic()
        until(lambda: time.monotonic() > begun + 2, "it was looked at")

    def goes_to(self, path, *masters):
        times = self.said().count(WENT_ON)
        self.write(path, *masters)
        until(lambda: self.said().count(WENT_ON) > times, f"it goes to {masters}")

    def test_file(self):
        path, env = self.from_file(1, 2, 3)
        holder = self.begin_on(1, 2, 3, env=env)
        for masters in (1, 2, 3, 4), (2, 3, 4), (2, 3, 4, 5), (3, 4, 5):
            self.goes_to(path, *masters)
            self.is_held_on(*masters)
        until(lambda: self.known()[:3] == [0, 0, 1], "the former lists are taken back")
        self.redlock("lock", "held", env=env, status=75)
        self.let_end(holder, status=0)
        self.assertEqual(self.values("held")[2:5], [""] * 3)
        self.assertEqual(self.said().count(WENT_ON), 4)

    def test_json(self):
        path, env = self.from_file(1, 2, 3)
        holder = self.begin_on(1, 2, 3, env=env, options=("--json",))
        self.write(path, 1, 2, 3, 4)
        until(lambda: '"event":"moved"' in self.said(), "it is said")
        self.let_end(holder, status=0)
        told = [json.loads(line) for line in self.said().splitlines()]
        for line in told:
            schema.check(line, "event")
        moved = [line for line in told if line["event"] == "moved"]
        self.assertEqual([(line["code"], line["masters"]) for line in moved], [("REDLOCK_OK", 4)])

    def test_holder_hears_wishes_by_the_next_list(self):
        path, env = self.from_file(1, 2, 3)
        holder = self.begin_on(1, 2, 3, env=env, options=("--on-wanted", "true"))
        self.write(path, 1, 2, 3, 4)
        until(lambda: "goes on" in self.said(), "it moves")
        until(lambda: self.redlock("ask", "held", env=self.of(1, 2, 3, 4)) and
              "asks for the lock" in self.said(), "it hears of a wish")
        self.let_end(holder, status=0)

    def test_file_with_the_same_list(self):
        path, env = self.from_file(1, 2, 3)
        holder = self.begin_on(1, 2, 3, env=env)
        self.write(path, 3, 2, 1)
        self.is_looked_at()
        self.goes_to(path, 1, 2)
        self.is_held_on(1, 2)
        self.let_end(holder, status=0)
        self.assertEqual(self.said().count(WENT_ON), 1)

    def test_file_that_is_no_list(self):
        path, env = self.from_file(1, 2, 3)
        holder = self.begin_on(1, 2, 3, env=env)
        path.write_text("redis://host:port\n")
        until(lambda: "cannot use another list of masters: " in self.said(), "it is said")
        path.unlink()
        os.mkfifo(path)  # nobody writes to it
        self.is_looked_at()
        self.write(path, 1, 2, 3, 4)
        self.is_held_on(1, 2, 3, 4)
        self.let_end(holder, status=0)

    def test_file_that_is_written_in_two_parts(self):
        """The first one is a list, too, which meets its own one. The whole list need not meet that."""
        path, env = self.from_file(1, 2, 3, 4)
        holder = self.begin_on(1, 2, 3, 4, env=env)
        begun = time.monotonic()
        with open(path, "w") as out:
            out.write(self.uris(1, 2, 3))
            out.flush()
            until(lambda: time.monotonic() > begun + 0.3, "the kernel has told of it")
            out.write("," + self.uris(4, 5))
        if time.monotonic() > begun + 0.9:
            self.skipTest("this machine is too busy to write a file within a second")
        self.is_held_on(1, 2, 3, 4, 5)
        until(lambda: "goes on" in self.said(), "it is said")
        self.assertEqual(self.said(), f"redlock: {WENT_ON}{self.names(1, 2, 3, 4, 5)}\n")
        self.let_end(holder, status=0)

    def test_file_with_a_list_that_need_not_meet(self):
        path, env = self.from_file(1, 2, 3)
        holder = self.begin_on(1, 2, 3, env=env)
        self.write(path, 3, 4, 5)
        until(lambda: f"does not go on with the list {self.names(3, 4, 5)}: quorums of the masters "
              "of both clients need not meet" in self.said(), "it is said")
        self.write(path, 2, 3, 4, 5)
        until(lambda: self.said().count("need not meet") == 2, "it is said again")
        self.write(path, 2, 3)
        self.is_held_on(2, 3)
        self.let_end(holder, status=0)
        self.assertEqual(self.values("held")[1:], [""] * 5)

    def is_led(self, now, successor, times):
        """As by another command."""
        self.tell_end(now, self.names(*successor), now)
        self.hears_now()
        until(lambda: self.said().count(LED) == times, f"it goes on with {successor}")

    def test_file_that_was_a_list_ahead(self):
        """It slept while others had the list between. It goes to that first, by itself."""
        path, env = self.from_file(1, 2, 3)
        holder = self.begin_on(1, 2, 3, env=env)
        self.write(path, 2, 3, 4)
        until(lambda: "quorums of the masters of both clients need not meet" in self.said(), "it stays")
        self.is_led((1, 2, 3), (1, 2, 3, 4), times=1)
        until(lambda: f"{WENT_ON}{self.names(2, 3, 4)}\n" in self.said(), "it has the list of its file")
        self.is_held_on(2, 3, 4)
        self.let_end(holder, status=0)

    def test_file_with_a_list_that_is_over(self):
        """It says so, stays, and goes on when its own list is over."""
        path, env = self.from_file(1, 2, 3)
        holder = self.begin_on(1, 2, 3, env=env)
        self.is_led((1, 2, 3), (1, 2, 3, 4), times=1)
        self.is_led((1, 2, 3, 4), (2, 3, 4), times=2)
        self.write(path, 4, 3, 2, 1)
        until(lambda: f"does not go on with the list {self.names(4, 3, 2, 1)}: it is over\n" in self.said(),
              "it stays")
        self.is_led((2, 3, 4), (2, 3, 4, 5), times=3)
        self.is_held_on(2, 3, 4)
        self.let_end(holder, status=0)

    def test_file_with_masters_that_are_not_up(self):
        """Its own list ends meanwhile, and has another one in its place."""
        path, env = self.from_file(1, 2)
        holder = self.begin_on(1, 2, env=env)
        new = path.with_suffix(".new")
        new.write_text(self.uris(1, 2) + ",redis://127.0.0.1:1,redis://127.0.0.1:2")
        new.rename(path)
        until(lambda: self.lists_on(2) == 2, "it tries that list")
        self.is_led((1, 2), (1, 2, 3), times=1)
        self.is_held_on(1, 2, 3)
        self.let_end(holder, status=0)

    def test_file_while_it_is_led_elsewhere(self):
        """Neither list takes the lock at first, and that of the file never does."""
        path, env = self.from_file(1)
        holder = self.begin_on(1, env=env, options=["--ttl", "30s", "--connect-timeout", "500ms", "-v"])
        self.cluster.pause(4)
        self.addCleanup(self.cluster.resume, 4)
        self.tell_end([1], self.names(1, 4), [1])
        self.cluster.cli(1, "CLIENT", "KILL", "TYPE", "normal")
        until(lambda: "at risk: " in self.said(), "a renewal failed, and it hears no more of that")
        new = path.with_suffix(".new")
        new.write_text(self.uris(1) + ",redis://127.0.0.1:1")
        new.rename(path)
        until(lambda: " 127.0.0.1:1: " in self.said(), "it tries that of the file")
        self.cluster.resume(4)
        self.is_held_on(1, 4)
        self.let_end(holder, status=0)
        self.assertIn(LED + self.names(1, 4), self.said())

    def test_guardian_gives_the_lock_back_there(self):
        """`run` is killed after its lock has gone from list to list."""
        holder = self.begin_on(1, 2, 3, env=self.of(1, 2, 3), options=("--ttl", "30s"))
        self.is_led((1, 2, 3), (1, 2, 3, 4), times=1)
        self.is_led((1, 2, 3, 4), (2, 3, 4), times=2)
        self.is_held_on(2, 3, 4)
        holder.kill()
        until(lambda: not any(self.values("held")[1:4]), "it is given back before its ttl", deadline=20)

    def test_unlock_with_a_list_that_is_over(self):
        """The lease is of that list, or of the next one."""
        for by in (1, 2, 3), (1, 2, 3, 4):
            token = self.redlock("lock", "--ttl", "30s", "held", env=self.of(*by), status=0).out.strip()
            self.tell_end((1, 2, 3), self.names(1, 2, 3, 4), (1, 2, 3))
            told = self.redlock("unlock", "--token", token, "held", env=self.of(1, 2, 3), status=0)
            self.assertIn("released", told.out)
            self.assertIn(LED, told.err)
            self.redlock("unlock", "--token", token, "held", env=self.of(1, 2, 3), status=LOST)

    def test_unlock_of_a_lease_on_a_bare_quorum(self):
        """Of the list that is over. The next list has no quorum of it, and would tell that it was gone. The
        other master hangs: the client hears of the end before it has tried all."""
        self.cluster.pause(3)
        self.addCleanup(self.cluster.resume, 3)
        token = self.redlock("lock", "--ttl", "30s", "held", env=self.of(1, 2, 3), status=0).out.strip()
        self.tell_end((1, 2, 3), self.names(1, 2, 3, 4), (1, 2))
        bare = token.split(":")[0]
        told = self.redlock("unlock", "--token", bare, "held", env=self.of(1, 2, 3), status=0)
        self.assertEqual(told.out, "released\n")
        self.assertIn(LED, told.err)

    def test_ask_with_a_list_that_is_over(self):
        holder = self.begin_on(1, 2, 3, 4, env=self.of(1, 2, 3, 4), options=("--on-wanted", "true"))
        self.tell_end((1, 2, 3), self.names(1, 2, 3, 4), (1, 2, 3))
        self.assertIn(LED, self.redlock("ask", "held", env=self.of(1, 2, 3), status=0).err)
        self.let_end(holder, status=0)

    def test_looks_at_a_list_that_is_over(self):
        """Others hold by masters that are not asked."""
        self.tell_end((1, 2, 3), self.names(4, 5, 6), (1, 2, 3))
        for command, status in (("status", "held"), 0), (("list",), 0), (("leader", "held"), 1):
            told = self.redlock(*command, env=self.of(1, 2, 3), status=status).err
            self.assertIn("this list of masters is over, and others may hold by the one in its place: "
                          f"{self.names(4, 5, 6)}\n", told)
            self.assertNotIn("over", self.redlock(*command, "--quiet", env=self.of(1, 2, 3)).err)
            self.assertNotIn("over", self.redlock(*command, env=self.of(4, 5, 6)).err)

    def test_list_that_is_over(self):
        """It moves at each step."""
        holder = self.begin_on(1, 2, 3, env=self.of(1, 2, 3), options=("--fence",))
        change, lines = self.begin((1, 2, 3), (4, 3, 2), "--patience", "0")
        for step in 3, 4:
            lines.next(f"over on {step} of {step} masters, but 1 client says it")
            self.hears_now()
            lines.next(f"the former list is over on {step} of {step} masters, (and )?no client")
        self.finish(change, 0)
        self.is_held_on(2, 3, 4)
        self.let_end(holder, status=0)
        self.assertEqual(self.said().count(LED), 2)

    def kill_at_resume(self, *masters):
        """They hang, and end all connections before they read anything else."""
        for master in masters:
            its = socket.create_connection(("127.0.0.1", self.cluster.ports[master - 1]))
            self.addCleanup(its.close)
            its.sendall(f"AUTH {self.cluster.passwords[master - 1]}\r\n".encode())
            self.assertEqual(its.recv(100), b"+OK\r\n")
            self.cluster.pause(master)
            self.addCleanup(self.cluster.resume, master)
            its.sendall(b"CLIENT KILL TYPE normal\r\n")

    def test_list_whose_end_is_heard_late(self):
        """The lock is at risk by then, and no event of the lease comes after that."""
        holder = self.begin_on(1, 2, 3, env=self.of(1, 2, 3), options=("--json", "--ttl", "25s"))
        self.tell_end((1, 2, 3), self.names(1, 2, 3, 4), [1, 2, 3])
        self.kill_at_resume(1, 2, 3)
        until(lambda: '"event":"at_risk"' in self.said(), "a renewal fails")
        self.cluster.resume(1, 2, 3)
        until(lambda: '"event":"moved"' in self.said(), "it goes on")
        self.is_held_on(1, 2, 3, 4)
        self.let_end(holder, status=0)
        self.assertNotIn("lost", self.said())

    def begin_to_lead(self, *masters, env):
        leader = self.spawn_told("held", "elect", "--value", "blue", "held", "--", "cat", env=env)
        until(lambda: all(self.values("held")[master - 1] for master in masters), "it leads")
        self.token = max(self.values("held"))
        until(lambda: self.leader(*masters), "it announces")
        return leader, self.leader(*masters)

    def leader(self, *masters):
        """As a client of these masters observes it."""
        result = self.redlock("leader", "held", env=self.of(*masters))
        self.assertIn(result.status, (0, 1))
        return result.out.rstrip("\n")

    def test_leader(self):
        """The term stays, and its value with it."""
        path, env = self.from_file(1, 2, 3)
        leader, term = self.begin_to_lead(1, 2, 3, env=env)
        self.assertRegex(term, "^[0-9]+ blue$")
        for masters in (1, 2, 3, 4), (2, 3, 4):
            self.goes_to(path, *masters)
            self.is_held_on(*masters)
            until(lambda: self.leader(*masters) == term, f"{masters} tell of the same term")
        self.let_end(leader, status=0)
        self.assertEqual(self.leader(2, 3, 4), "")
        self.assertEqual(self.said().count(WENT_ON), 2)
        self.assertNotIn("lost", self.said())

    def test_leader_of_a_list_that_is_over(self):
        leader, term = self.begin_to_lead(1, 2, 3, env=self.of(1, 2, 3))
        self.end_list()
        self.is_held_on(1, 2, 3, 4)
        until(lambda: self.leader(1, 2, 3, 4) == term, "the next masters tell of the same term")
        self.let_end(leader, status=0)
        self.assertIn(LED + self.names(1, 2, 3, 4), self.said())

    def test_waiter(self):
        """It stands in line on the next masters, for the rest of its time."""
        holder = self.begin_on(1, 2, 3, 4, env=self.of(1, 2, 3, 4))
        waiter = self.spawn("run", "--wait", "forever", "held", "--", "true", env=self.of(1, 2, 3))
        self.end_list()
        self.let_end(holder, status=0)
        self.assertIn(LED + self.names(1, 2, 3, 4), self.finish(waiter, 0).err)

    def waits(self, env, *options):
        return self.spawn_told("waits", "run", "--wait", "forever", *options, "held", "--", "sh", "-c",
                               "echo in; cat", env=env)

    def are_in_line(self, count, *masters):
        key = f"redlock:queue:{self.prefix}held"
        until(lambda: all(self.cluster.cli(master, "ZCARD", key).strip() == str(count) for master in masters),
              f"{count} wait on {masters}")

    def test_waiter_keeps_its_turn(self):
        """Its file has the next list before its own one is over."""
        path, env = self.from_file(1, 2, 3)
        holder = self.begin_on(1, 2, 3, 4, env=self.of(1, 2, 3, 4))
        first = self.waits(env)
        self.are_in_line(1, 1, 2, 3)
        later = self.spawn("run", "--wait", "forever", "held", "--", "true", env=self.of(1, 2, 3, 4))
        self.are_in_line(2, 1, 2, 3)
        self.write(path, 1, 2, 3, 4)
        until(lambda: WENT_ON in self.said("waits"), "it goes over")
        self.are_in_line(2, 1, 2, 3, 4)
        self.let_end(holder, status=0)
        Lines(first).next("^in$")
        self.assertIsNone(later.poll())
        self.let_end(first, status=0)
        self.finish(later, 0)

    def keeps_its_turn(self, *command):
        """Masters tell it that its list is over. Returns it: it has the lock, and a later waiter waits."""
        env = self.of(1, 2, 3, 4)
        holder = self.begin_on(1, 2, 3, 4, env=env)
        first = self.begin_to_wait(*command)
        self.are_in_line(1, 1, 2, 3)
        later = self.spawn("run", "--wait", "forever", "held", "--", "true", env=env)
        self.are_in_line(2, 1, 2, 3)
        self.end_list()
        until(lambda: LED in self.said("waits"), "it goes over")
        self.are_in_line(2, 1, 2, 3, 4)
        self.let_end(holder, status=0)
        return first, later

    def test_waiter_whose_list_is_over_keeps_its_turn(self):
        first, later = self.keeps_its_turn("run", "--wait", "forever", "held", "--", "sh", "-c",
                                           "echo in; cat")
        Lines(first).next("^in$")
        self.assertIsNone(later.poll())
        self.let_end(first, status=0)
        self.finish(later, 0)
        self.assertEqual(self.said("waits").count(LED), 1)

    def test_lock_whose_list_is_over_keeps_its_turn(self):
        first, later = self.keeps_its_turn("lock", "--ttl", "30s", "--wait", "forever", "held")
        token = self.went_on(first).strip()
        self.assertIsNone(later.poll())
        self.redlock("unlock", "--token", token, "held", env=self.of(1, 2, 3, 4), status=0)
        self.finish(later, 0)

    def test_waiter_keeps_its_turn_from_list_to_list(self):
        """The change has two steps, and each list ends."""
        env = self.of(1, 2, 3, 4)
        holder = self.begin_on(1, 2, 3, 4, env=env)
        first = self.begin_to_wait("run", "--wait", "forever", "held", "--", "sh", "-c", "echo in; cat")
        self.are_in_line(1, 1, 2, 3)
        later = self.spawn("run", "--wait", "forever", "held", "--", "true", env=env)
        self.are_in_line(2, 1, 2, 3)
        change, steps = self.begin((1, 2, 3), (2, 3, 4), "--patience", "0")
        for step in 3, 4:
            steps.next(f"over on {step} of {step} masters, but . clients? sa")
            self.hears_now()
            until(lambda: self.said("waits").count(LED) == step - 2, "it goes over")
            self.are_in_line(2, 2, 3, 4)
        self.finish(change, 0)
        self.let_end(holder, status=0)
        Lines(first).next("^in$")
        self.assertIsNone(later.poll())
        self.let_end(first, status=0)
        self.finish(later, 0)

    def goes_along_with_its_wish(self, command, *more):
        """Another one that waits is before it, and hears the wish as soon as it has the lock. It tells on
        which holder it waits for."""
        env = self.of(1, 2, 3, 4)
        holder = self.begin_on(1, 2, 3, 4, env=env)
        heeds = self.spawn_told("heeds", "run", "--wait", "forever", "--on-wanted", "true", "held", "--",
                                "cat", env=env)
        self.are_in_line(1, 1, 2, 3, 4)
        waits = self.begin_to_wait(command, "--verbose", "--wait", "forever", "--ask", "please", "held",
                                   *more)
        self.are_in_line(2, 1, 2, 3)
        self.end_list()
        until(lambda: LED in self.said("waits"), "it goes over")
        self.are_in_line(2, 1, 2, 3, 4)
        self.let_end(holder, status=0)
        until(lambda: "asks for the lock (1 waiting): please" in self.said("heeds"), "the wish is heard")
        until(lambda: "waiting: held by" in self.said("waits").split(LED)[1], "it tells of the holder")
        self.let_end(heeds, status=0)
        self.finish(waits, 0)

    def test_run_goes_along_with_its_wish(self):
        self.goes_along_with_its_wish("run", "--", "true")

    def test_lock_goes_along_with_its_wish(self):
        self.goes_along_with_its_wish("lock")

    def lists_on(self, master):
        return len(self.cluster.cli(master, "KEYS", f"{self.key}:*").splitlines())

    def test_waiter_for_a_list_without_a_quorum(self):
        """It stays, and goes over when it holds the lock."""
        path, env = self.from_file(1, 2, 3)
        holder = self.begin_on(1, 2, 3, env=self.of(1, 2, 3))
        first = self.waits(env, "--connect-timeout", "100ms")
        self.are_in_line(1, 1, 2, 3)
        known = self.lists_on(1)
        self.cluster.pause(3, 4)
        self.addCleanup(self.cluster.resume, 3, 4)
        self.write(path, 1, 2, 3, 4)
        until(lambda: self.lists_on(1) > known, "it tries the next list")
        tried = time.monotonic()
        until(lambda: time.monotonic() > tried + 1, "its time to connect is over")
        self.end_input(holder)
        Lines(first).next("^in$")
        self.cluster.resume(3, 4)
        until(lambda: WENT_ON in self.said("waits"), "it goes over")
        self.let_end(first, status=0)
        self.finish(holder, 0)

    def test_waiter_ends_while_it_goes_over(self):
        path, env = self.from_file(1, 2, 3)
        holder = self.begin_on(1, 2, 3, env=self.of(1, 2, 3))
        for number in signal.SIGTERM, signal.SIGINT:
            first = self.waits(env)
            self.are_in_line(1, 1, 2, 3)
            until(lambda: self.lists_on(1) == 1, "both have one list")
            self.write(path, 1, 2, 3, 4)
            until(lambda: self.lists_on(1) == 2, "it tries the next list")
            first.send_signal(number)
            self.finish(first, 128 + number)
            self.write(path, 1, 2, 3)
        self.let_end(holder, status=0)

    def test_waiter_waits_no_longer(self):
        path, env = self.from_file(1, 2, 3)
        holder = self.begin_on(1, 2, 3, env=self.of(1, 2, 3))
        begun = time.monotonic()
        waiter = self.spawn_told("waits", "run", "--wait", "8s", "held", "--", "true", env=env)
        self.are_in_line(1, 1, 2, 3)
        self.write(path, 1, 2, 3, 4)
        until(lambda: WENT_ON in self.said("waits"), "it goes over")
        self.finish(waiter, 75)
        self.assertGreater(time.monotonic() - begun, 7.9)
        self.let_end(holder, status=0)

    def test_begins_with_a_list_that_is_over(self):
        self.change((1, 2, 3), (2, 3, 4))
        self.is_over((1, 2, 3), (1, 2, 3, 4))
        told = self.run_once(self.of(1, 2, 3), status=0).err
        self.assertIn(LED + self.names(2, 3, 4), told)
        self.assertEqual(self.run_once(self.of(1, 2, 3), "--quiet", status=0).err, "")

    def test_too_few_tell_it(self):
        """One master of three may not lead a client."""
        self.tell_end((1, 2, 3), self.names(4, 5, 6), [1])
        self.assertEqual(self.run_once(self.of(1, 2, 3), status=0).err, "")
        self.tell_end((1, 2, 3), self.names(2, 3, 4), [2])
        self.run_once(self.of(1, 2, 3), status=DIFFERS)

    def test_example(self):
        path, env = self.from_file(1, 2, 3)
        daemon = self.program(EXAMPLE, env=env, stdout=subprocess.PIPE)
        lines = Lines(daemon)
        for _ in range(3):
            lines.next("^acquired: ")
        for masters in (1, 2, 3, 4), (2, 3, 4):
            self.write(path, *masters)
            daemon.send_signal(signal.SIGHUP)
            for _ in range(3):
                lines.next("^moved: moved, valid for .*$")
            lines.next("^0 releases are owed to the former masters$")
        names = [f"job-{i + 1}" for i in range(3)]
        until(lambda: all(all(self.cluster.values(name)[1:4]) for name in names), "they are there")
        daemon.send_signal(signal.SIGTERM)
        self.finish(daemon, 0)
        self.assertFalse(any(any(self.cluster.values(name)[1:]) for name in names))

    def forget_lists(self):
        for master in range(1, self.masters + 1):
            self.cluster.cli(master, "EVAL", FORGET, "0")

    def test_example_of_a_list_that_is_over(self):
        """Its fleet is that of all programs without a prefix."""
        self.addCleanup(self.forget_lists)
        daemon = self.program(EXAMPLE, env=self.of(1, 2, 3), stdout=subprocess.PIPE)
        lines = Lines(daemon)
        for _ in range(3):
            lines.next("^acquired: ")
        change, steps = self.begin((1, 2, 3), (4, 3, 2), "--patience", "0", "--prefix", "")
        for step in 3, 4:
            steps.next(f"over on {step} of {step} masters, but 1 client says it")
            self.hears_now()
            for _ in range(3):
                lines.next("^moved: moved, valid for .*$")
            lines.next("^0 releases are owed to the former masters$")
            steps.next(f"the former list is over on {step} of {step} masters, (and )?no client")
        self.finish(change, 0)
        daemon.send_signal(signal.SIGTERM)
        self.finish(daemon, 0)

    def test_permit(self):
        path, env = self.from_file(1, 2, 3)
        holder = self.spawn_told("held", "run", "--permits", "2", "held", "--", "cat", env=env)
        slots = [f"redlock:permit:{slot}:{self.prefix}held" for slot in range(2)]
        until(lambda: any(sum(map(bool, self.cluster.values(slot))) == 3 for slot in slots), "a slot is held")
        self.write(path, 1, 2, 3, 4)
        until(lambda: "goes on" in self.said(), "it moves")
        until(lambda: any(self.cluster.values(slot)[3] for slot in slots), "the new master has it")
        self.let_end(holder, status=0)
        self.assertFalse(any(any(self.cluster.values(slot)) for slot in slots))

    # Commands that wait, but hold nothing, begin anew with the list in place of theirs.

    def begin_to_wait(self, *command):
        """It has said its list to all three masters."""
        known = self.known()
        waits = self.spawn_told("waits", *command, env=self.of(1, 2, 3))
        until(lambda: all(now > was for now, was in zip(self.known()[:3], known)), "its list is known")
        return waits

    def end_list(self):
        change, lines = self.begin((1, 2, 3), (1, 2, 3, 4), "--patience", "0")
        lines.next("over on 3 of 3 masters, but 1 client says it")
        self.hears_now()
        lines.next("the former list is over on 3 of 3 masters, (and )?no client")
        self.finish(change, 0)

    def went_on(self, waits, status=0):
        told = self.finish(waits, status).out
        self.assertEqual(self.said("waits"), f"redlock: {LED}{self.names(1, 2, 3, 4)}\n")
        return told

    def test_lock_that_waits(self):
        env = self.of(1, 2, 3, 4)
        token = self.redlock("lock", "--ttl", "30s", "held", env=env, status=0).out.strip()
        waits = self.begin_to_wait("lock", "--wait", "forever", "held")
        self.end_list()
        self.redlock("unlock", "--token", token, "held", env=env, status=0)
        token = self.went_on(waits).strip()
        self.redlock("unlock", "--token", token, "held", env=env, status=0)

    def test_lock_that_waits_no_longer(self):
        self.redlock("lock", "--ttl", "30s", "held", env=self.of(1, 2, 3, 4), status=0)
        begun = time.monotonic()
        waits = self.begin_to_wait("lock", "--wait", "12s", "held")
        until(lambda: time.monotonic() > begun + 6, "half of its time is over")
        self.end_list()
        self.finish(waits, 75)
        self.assertIn(LED, self.said("waits"))
        self.assertTrue(11.9 < time.monotonic() - begun < 17.9)

    def test_lock_that_begins_to_wait(self):
        self.change((1, 2, 3), (1, 2, 3, 4))
        self.is_over((1, 2, 3), (1, 2, 3, 4))  # by a lock that does not wait
        told = self.redlock("lock", "--wait", "5s", "held", env=self.of(1, 2, 3), status=0)
        self.assertIn(LED, told.err)

    def test_party(self):
        waits = self.begin_to_wait("barrier", "--parties", "2", "met")
        self.end_list()
        self.redlock("barrier", "--parties", "2", "met", env=self.of(1, 2, 3, 4), status=0)
        self.went_on(waits)

    def test_who_awaits_a_latch(self):
        env = self.of(1, 2, 3, 4)
        self.redlock("latch", "create", "--arrivals", "1", "gate", env=env, status=0)
        waits = self.begin_to_wait("latch", "wait", "gate")
        self.end_list()
        self.redlock("latch", "arrive", "gate", env=env, status=0)
        self.went_on(waits)

    def test_observer(self):
        """An announcement that both lists have is one line."""
        env = self.of(1, 2, 3, 4)
        leads = self.spawn("elect", "--value", "blue", "held", "--", "cat", env=env, stdin=subprocess.PIPE)
        until(lambda: self.leader(1, 2, 3), "it leads")
        watch = self.begin_to_wait("leader", "--watch", "held")
        lines = Lines(watch)
        lines.next("^[0-9]+ blue$")
        self.end_list()
        until(lambda: LED in self.said("waits"), "it goes over")
        self.let_end(leads, status=0)
        lines.next("^0$")
        self.assertNotRegex("".join(lines.passed), "^[0-9]+ blue")  # a -1 may come between
        watch.terminate()
        self.went_on(watch, 128 + signal.SIGTERM)

    def test_list_of_others(self):
        """There is none in place of it: all say why."""
        holder = self.hold(self.of(4, 5, 6), masters=3)
        env = self.of(1, 2, 3, 4, 5)
        for command in (["barrier", "--parties", "2", "--wait", "20s", "met"], ["latch", "count", "gate"],
                        ["leader", "--watch", "boss"], ["lock", "--wait", "20s", "other"]):
            with self.subTest(command=command):
                tries = []
                until(lambda: tries.append(self.redlock(*command, env=env)) or tries[-1].status == DIFFERS,
                      "it is refused")
                self.assertIn("other clients of the fleet count on other masters", tries[-1].err)
        self.let_end(holder, status=0)
