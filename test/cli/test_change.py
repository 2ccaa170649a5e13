"""masters change: leads all clients to another list of masters, and ends the former ones for good."""

import hashlib
import os
import signal
import time

import schema
from harness import REDLOCK, FreshCase, until
from server import Server
from test_agree import DIFFERS, Lists
from test_masters import AGREE
from test_watch import Lines

NO, UNAVAILABLE, USAGE = 1, 69, 64


class Lead(Lists):
    def uris(self, *masters):
        return ",".join(self.cluster.uris[master - 1] for master in masters)

    def names(self, *masters):
        return ",".join(self.shown(*masters))

    def write(self, path, *masters):
        """As a tool that deploys settings does."""
        new = path.with_suffix(".new")
        new.write_text(self.uris(*masters).replace(",", "\n") + "\n")
        new.rename(path)

    def from_file(self, *masters):
        path = self.tmp / "list"
        self.write(path, *masters)
        return path, self.env(REDLOCK_NODES="", REDLOCK_NODES_FILE=str(path), REDLOCK_PREFIX=self.prefix)

    def values(self, name):
        return self.cluster.values(self.prefix + name)

    def is_held_on(self, *masters, name="held"):
        def held():
            values = self.values(name)
            return all(values[master - 1] == self.token for master in masters)
        until(held, f"the lock is held on {masters}")

    def begin_on(self, *masters, env, **more):
        holder = self.hold(env, masters=len(masters), **more)
        self.token = max(self.values("held"))
        self.is_held_on(*masters)
        return holder

    def hears_now(self):
        """All clients connect again, and hear from two masters whether their list is over. That is enough.
        The end of one more connection could cut off what a client takes back."""
        for master in 2, 3:
            self.cluster.cli(master, "CLIENT", "KILL", "TYPE", "normal")

    def lend_login(self):
        """A master that a client's list lacks gets the login of the first one."""
        password = self.cluster.uris[0].split("//:")[1].split("@")[0]
        for master in range(2, self.masters + 1):
            self.cluster.cli(master, "ACL", "SETUSER", "default", f">{password}")

    def begin(self, now, to, *more):
        """A command that changes the list, and its lines."""
        process = self.spawn("masters", "change", self.uris(*to), "--yes", *more, env=self.of(*now))
        return process, Lines(process)

    def change(self, now, to, *more, status=0):
        return self.redlock("masters", "change", self.uris(*to), "--yes", *more, env=self.of(*now),
                            status=status)

    def undo(self, *now, status=0):
        return self.redlock("masters", "change", "--undo", env=self.of(*now), status=status)

    def lock_once(self, env, *options, status=None):
        """`run` would go on with the next list."""
        return self.redlock("lock", *options, "other", env=env, status=status)

    def is_over(self, now, successor):
        told = self.lock_once(self.of(*now), status=DIFFERS).err
        self.assertIn(f"the list {self.names(*now)} is over; give this client the one in its place: "
                      f"{self.names(*successor)}", told)

    def say(self, says, now, masters, *more, client="a", label="", max_ttl=30000):
        """Answers of these masters."""
        entries = [text for node in self.shown(*now) for text in (node, "")]
        numbers = ["150000000", str(len(now) // 2 + 1), "0", str(max_ttl), "0"]
        return [self.cluster.cli(master, "EVAL", AGREE, "1", self.key, says, client, label, *numbers,
                                 *entries, *more) for master in masters]

    def tell_end(self, now, successor, masters):
        """As another command would."""
        return self.say("2", now, masters, successor)

    def changes(self, master):
        """The number that its next change of an end makes another one."""
        return self.cluster.cli(master, "HGET", f"{self.key}:over:ends", "changes")

    def take_back(self, now, masters):
        for master in masters:
            self.say("3", now, [master], self.changes(master))

    def forget_end(self, now, master):
        """As if that master had lost it."""
        addresses = hashlib.sha1("\n".join(sorted(self.shown(*now))).encode()).hexdigest()
        self.assertEqual(self.cluster.cli(master, "HDEL", f"{self.key}:over:ends", addresses), "1")


class Changed(Lead):
    def test_one_of_three(self):
        holder = self.hold(self.of(1, 2, 3), masters=3)
        process, lines = self.begin((1, 2, 3), (2, 3, 4))
        lines.next(f"^step 1 of 2: give all clients this list: quorum 3 of 4, with {self.names(4)}$")
        lines.next(f"^  {self.names(1, 2, 3, 4)}$")
        lines.next("^..:..:.. 1 client says the former list on 3 of 3 masters; "
                   "the last one .* ago: label-of-held$")
        moved = self.hold(self.of(1, 2, 3, 4), "moved", 4)
        self.run_once(self.of(1, 2, 3), status=0)
        self.let_end(holder, status=0)
        lines.next("the former list is over on 3 of 3 masters, no client says it, and none can use it again$")
        self.is_over((1, 2, 3), (1, 2, 3, 4))
        lines.next(f"^step 2 of 2: give all clients this list: quorum 2 of 3, without {self.names(1)}$")
        again = self.hold(self.of(2, 3, 4), "again", 3)
        lines.next("1 client says the former list on 4 of 4 masters; .*: label-of-moved$")
        self.let_end(moved, status=0)
        lines.next("the former list is over on 4 of 4 masters")
        lines.next("^done: step 1 took .* s, step 2 took .* s$")
        lines.next(f"^you may stop {self.names(1)}$")
        self.finish(process, 0)
        self.is_over((1, 2, 3, 4), (2, 3, 4))
        self.goes_on(again)

    def test_there_and_back(self):
        """A list that was over is let in again."""
        self.assertIn("done: ", self.change((1, 2, 3), (2, 3, 4)).out)
        self.assertIn("done: ", self.change((2, 3, 4), (1, 2, 3)).out)
        self.run_once(self.of(1, 2, 3), status=0)
        self.is_over((2, 3, 4), (2, 3, 4, 1))

    def test_back_by_another_way(self):
        """The last list meets the first one, which is over for the second, and that for the third."""
        for now, to in ((1, 2, 3, 4), (1, 2, 3)), ((1, 2, 3), (1, 2, 3, 5)), ((1, 2, 3, 5), (1, 2, 3, 4)):
            self.assertIn("done: ", self.change(now, to).out)
        self.run_once(self.of(1, 2, 3, 4), status=0)
        self.is_over((1, 2, 3), (1, 2, 3, 5))

    def test_round_in_circles(self):
        """Each list meets the next one alone. No master of the second is left when the first comes again."""
        self.lend_login()
        for now, to in ((1,), (2,)), ((2,), (3,)), ((3,), (1,)), ((1,), (2,)):
            self.assertIn("done: ", self.change(now, to).out)
        self.run_once(self.of(2), status=0)

    def test_latch_that_was_asked_for_before(self):
        """A master that was down when it was made has it by then, so a quorum of the next list has."""
        old = self.of(1, 2, 3)
        self.cluster.pause(3)
        try:
            self.redlock("latch", "create", "--arrivals", "1", "gate", env=old, status=0)
            self.redlock("latch", "arrive", "gate", env=old, status=0)
        finally:
            self.cluster.resume(3)
        self.redlock("latch", "count", "gate", env=old, status=0)
        self.change((1, 2, 3), (1, 2, 3, 4))
        told = self.redlock("latch", "count", "gate", env=self.of(1, 2, 3, 4), status=0)
        self.assertEqual(told.out, "1 1 open\n")

    def test_list_of_a_file(self):
        """A list is read once, as it may come by a pipe; the settings may change meanwhile."""
        path = self.tmp / "list"
        path.write_text("# the old ones\n" + self.uris(1, 2, 3).replace(",", "\n") + " # the last\n")
        change = ["masters", "change", self.uris(2, 3, 4), "--yes", "--prefix", self.prefix]
        read, write = os.pipe()
        os.write(write, path.read_bytes())
        os.close(write)
        with os.fdopen(read) as pipe:
            told = self.redlock("--nodes-file", "/dev/stdin", *change, stdin=pipe, status=0).out
        self.assertIn("over on 4 of 4 masters, no client says it, and none can use it again\n", told)
        path.write_text("".join(f"master = {uri}\n" for uri in self.uris(1, 2, 3).split(",")))
        told = self.redlock("--config", path, *change, env=self.env(REDLOCK_NODES_FILE=""), status=0).out
        self.assertIn("done: ", told)
        self.is_over((1, 2, 3), (1, 2, 3, 4))
        self.redlock("--nodes-file", path.parent / "none", *change, env=self.env(), status=DIFFERS)

    def test_spare_votes(self):
        told = self.change((1, 2, 3, 4), (1, 2, 3, 5), "--spare", "1").out
        self.assertIn("over on 5 of 5 masters, no client says it", told)
        told = self.lock_once(self.of(1, 2, 3, 4, REDLOCK_SPARE="1"), status=DIFFERS).err
        self.assertIn(f"in its place: {self.names(1, 2, 3, 4, 5)}", told)

    def test_run_again(self):
        """The first one is interrupted, the next killed. The last goes on, with the list in another order."""
        holder = self.hold(self.of(1, 2, 3), masters=3)
        for number in signal.SIGTERM, signal.SIGKILL:
            process, lines = self.begin((1, 2, 3), (1, 2, 3, 4), "--patience", "0")
            lines.next("over on 3 of 3 masters, but 1 client says it to 3 of these; .*: label-of-held$")
            process.send_signal(number)
            told = self.finish(process).err
            self.assertEqual(f"the list {self.names(1, 2, 3)} is over on 3 of 3 masters. To go on" in told,
                             number == signal.SIGTERM)
        self.is_over((1, 2, 3), (1, 2, 3, 4))
        process, lines = self.begin((3, 2, 1), (4, 3, 2, 1))
        lines.next("over on 3 of 3 masters, but 1 client says it")
        self.let_end(holder, status=0)
        lines.next("^done: step 1 took")
        self.finish(process, 0)

    def test_interrupted_before(self):
        holder = self.hold(self.of(1, 2, 3, REDLOCK_MAX_TTL="20s"), masters=3)
        process, lines = self.begin((1, 2, 3), (1, 2, 3, 4))
        lines.next("1 client says")
        told = self.terminate(process).err
        self.assertIn(f"in step 1: the list {self.names(1, 2, 3)} is not over. To go on, run this", told)
        self.goes_on(holder)
        self.run_once(self.of(1, 2, 3), status=0)

    def test_the_rest_is_waited_for_in_vain(self):
        """Two of three are enough, and nobody takes back what the third has of a client that was killed."""
        self.say("1", (1, 2, 3), [3], label="gone")
        told = self.change((1, 2, 3), (1, 2, 3, 4), "--patience", "0").out
        self.assertIn(f"1 client says the former list on 1 of 3 masters ({self.names(3)})", told)
        self.assertIn("over on 3 of 3 masters, but 1 client says it to 1 of these", told)
        self.assertIn("over on 3 of 3 masters, and no client can use it again", told)

    def test_patience(self):
        holder = self.hold(self.of(1, 2, 3), masters=3)
        process, lines = self.begin((1, 2, 3), (1, 2, 3, 4), "--patience", "100ms")
        lines.next("--patience is over, so the former list ends: "
                   "1 client says .*: label-of-held$")
        lines.next("over on 3 of 3 masters, but 1 client says it")  # one that got a lease would say it, too
        self.lock_once(self.of(1, 2, 3), status=DIFFERS)
        self.let_end(holder, status=0)
        # On a busy machine the holder may leave its word on masters, for two minutes and its longest lease.
        until(lambda: process.poll() is not None, "the change is done", deadline=200)
        self.finish(process, 0)

    def test_fleet_that_nobody_uses(self):
        """Its clients may be those of another prefix, which was forgotten."""
        nobody = "no client of the fleet \"%s\" says the present list. "
        holder = self.hold(self.of(1, 2, 3), masters=3)
        process, lines = self.begin((1, 2, 3), (1, 2, 3, 4))
        lines.next(f"^fleet \"{self.prefix}\"$")
        lines.next("1 client says the former list")
        self.assertNotIn(nobody % self.prefix, self.terminate(process).err)
        other = f"{self.prefix}other:"
        told = self.change((1, 2, 3), (1, 2, 3, 4), "--prefix", other)
        self.assertTrue(told.out.startswith(f'fleet "{other}"\nnow: '))
        self.assertIn(nobody % other, told.err)
        self.assertEqual(self.change((1, 2, 3), (1, 2, 3, 4), "--prefix", other, "--quiet").err, "")
        self.goes_on(holder)

    def test_question(self):
        for answer, status, told in ((b"n", NO, "nothing was changed"), (b"y", 0, "done: step 1 took")):
            terminal = self.terminal(REDLOCK, *self.patience, "masters", "change", self.uris(1, 2, 3, 4),
                                     **self.of(1, 2, 3))
            fleet = f'fleet "{self.prefix}"'
            terminal.talk(f"{fleet}\r\nnow: ", f"no client of the {fleet} says the present list. ",
                          "change the list so? [y/N] ", answer + b"\n", told, status=status)


class Refused(Lead):
    def refused(self, now, to, says, status):
        """Nothing is written."""
        told = self.redlock("masters", "change", to, "--yes", env=self.of(*now), status=status).err
        self.assertIn(says, told)
        self.assertFalse(any(self.known()))

    def server(self, *lines):
        server = Server(*lines)
        self.addCleanup(server.stop)
        return server

    def test_usage(self):
        env = self.of(1, 2, 3)
        for arguments, says in ((["change"], "no list given"), (["change", ""], "no list given"),
                                (["change", "h:1"], "no terminal for the question: add --yes"),
                                (["change", "h:1", "h:2", "--yes"], "takes no names"),
                                (["change", "h:1", "--watch"], "--watch"),
                                (["change", "h:1", "--yes", "--patience", "x"], "is no duration"),
                                (["change", "--undo", "h:1"], "it takes no list"),
                                (["--undo"], "--undo goes with"), (["--plan"], "--plan goes with"),
                                (["--yes"], "--yes goes with"),
                                (["--patience", "0"], "--patience goes with")):
            with self.subTest(arguments=arguments):
                self.assertIn(says, self.redlock("masters", *arguments, env=env, status=USAGE).err)
        told = self.redlock("masters", "change", "h:1", "--yes", "--json", env=env, status=USAGE).json
        self.assertIn("--plan", told["text"])
        self.redlock("masters", "change", "redis://h:x", "--yes", env=env, status=DIFFERS)
        for arguments in ("change", self.uris(1), "--yes"), ("change", "--undo"):
            told = self.redlock("masters", "--fleet", "", *arguments, env=env, status=USAGE).err
            self.assertIn("--fleet", told)

    def test_same_list(self):
        self.assertEqual(self.change((1, 2, 3), (3, 2, 1)).out, "Both lists have the same masters.\n")

    def test_new_master(self):
        replica = self.server(f"replicaof 127.0.0.1 {self.cluster.ports[5]}")
        young = self.server()
        both = self.uris(1, 2, 3)
        for uri, says, status in (("redis://127.0.0.1:1", "127.0.0.1:1 cannot be reached: ", UNAVAILABLE),
                                  (replica.uri(), f"{replica.node} is a replica", DIFFERS),
                                  (young.uri(), f"{young.node} abstains ", UNAVAILABLE)):
            self.refused((1, 2, 3), f"{both},{uri}", f"the new master {says}", status)
        self.refused((1, 2, 3), self.uris(1, 2) + "," + self.uris(3).replace("127.0.0.1", "localhost"),
                     f"is the same server as {self.names(3)}", DIFFERS)

    def test_present_masters(self):
        env = self.of(1)
        env["REDLOCK_NODES"] += ",redis://127.0.0.1:1,redis://127.0.0.1:2"
        told = self.redlock("masters", "change", self.uris(1, 2, 3), "--yes", env=env, status=UNAVAILABLE).err
        self.assertIn("1 of 3 masters of the present list tell which lists are in use, and 2 must", told)

    def test_next_list_without_a_quorum(self):
        env = self.of(1, 2)
        env["REDLOCK_NODES"] += ",redis://127.0.0.1:1"
        told = self.redlock("masters", "change", f"{self.uris(1)},redis://127.0.0.1:1", "--yes", env=env,
                            status=UNAVAILABLE).err
        self.assertIn(f"too few masters of the list {self.names(1)},127.0.0.1:1 are up: 1 of 2, and 2 must",
                      told)

    def test_more_lists_than_the_masters_remember(self):
        """A client of the former list may be one of those that they left out."""
        for i in range(8):
            self.say("1", (1, 2, 3, 4), (1, 2, 3), client=f"c{i}", max_ttl=30000 + i)
        process, lines = self.begin((1, 2, 3), (1, 2, 3, 4))
        lines.next("there may be more lists than the masters remember on 3 of 3 masters")
        self.terminate(process)

    def test_another_list_in_use(self):
        holder = self.hold(self.of(1, 2, 3, 5), masters=4)
        told = self.change((1, 2, 3), (1, 2, 3, 4), status=DIFFERS).err
        self.assertIn("1 client, the last one label-of-held, counts on ", told)
        self.assertIn("which is not on the way", told)
        self.goes_on(holder)

    def test_another_list_comes_in_use(self):
        """While it waits: two commands give two lists to the clients, say."""
        holder = self.hold(self.of(1, 2, 3), masters=3)
        process, lines = self.begin((1, 2, 3), (1, 2, 3, 4))
        lines.next("1 client says")
        self.say("1", (1, 2, 3, 5), [2], label="stray")
        self.assertIn("1 client, the last one stray, counts on ", self.finish(process, DIFFERS).err)
        self.goes_on(holder)
        self.run_once(self.of(1, 2, 3), status=0)

    def test_another_command(self):
        """It ended the list first, and stays the one that did; also while this one waits."""
        holder = self.hold(self.of(1, 2, 3), masters=3)
        process, lines = self.begin((1, 2, 3), (1, 2, 3, 4))
        lines.next("1 client says")
        self.tell_end((1, 2, 3), "h:1,h:2", [1])
        self.assertIn(f"the list {self.names(1, 2, 3)} is over in favour of another one, h:1,h:2 on 1 of 3 "
                      "masters: let that command end it, ",
                      self.finish(process, DIFFERS).err)
        self.assertIn(" over h:1,h:2", self.tell_end((1, 2, 3), "h:1", [1])[0])
        self.change((1, 2, 3), (1, 2, 3, 4), status=DIFFERS)
        self.goes_on(holder)

    def test_end_that_another_command_has_begun(self):
        """No quorum knows of either: what helps is said by how many do."""
        now, ours, theirs = (1, 2, 3, 4), self.names(1, 2, 3, 4, 5), self.names(1, 2, 3, 4, 6)
        self.tell_end(now, theirs, [1])
        for says, mine in ((f"{theirs} on 1 of 4 masters: let that command end it, or take the end back", []),
                           (f"{theirs} on 2 of 4 masters, and of ours on 2: neither has a quorum. "
                            "Take both ends back (--undo)", [3, 4])):
            self.tell_end(now, ours, mine)
            self.assertIn(says, self.change(now, (1, 2, 3, 4, 5), status=DIFFERS).err)
            self.tell_end(now, theirs, [2])
        self.undo(*now)
        self.change(now, (1, 2, 3, 4, 5))

    def test_other_end_on_a_few_masters(self):
        """Both began at once, and this one has the quorum: it goes on, and the other one does not."""
        now, ours, theirs = (1, 2, 3, 4), self.names(1, 2, 3, 4, 5), self.names(1, 2, 3, 4, 6)
        self.tell_end(now, ours, [1, 3, 4])
        self.tell_end(now, theirs, [2])
        told = self.change(now, (1, 2, 3, 4, 6), status=DIFFERS).err
        self.assertIn(f"is over in favour of another one, {ours}: begin with that one, or take", told)
        told = self.change(now, (1, 2, 3, 4, 5)).out
        self.assertIn(f"over on 3 of 4 masters ({self.names(1, 3, 4)}), no client says it", told)

    def test_other_end_while_ours_begins(self):
        """Another command is faster on one of three masters."""
        self.say("1", (1, 2, 3), [1, 2, 3])
        process, lines = self.begin((1, 2, 3), (1, 2, 3, 4), "--patience", "0")
        lines.next("over on 3 of 3 masters, but 1 client says it")
        self.forget_end((1, 2, 3), 1)
        self.tell_end((1, 2, 3), "h:1", [1])
        self.say("-1", (1, 2, 3), [1, 2, 3])
        lines.next(f"over on 2 of 3 masters .{self.names(2, 3)}., no client says it")
        self.finish(process, 0)

    def is_led_away(self, process):
        self.assertIn(f"the next list {self.names(1, 2, 3, 4)} is over in favour of {self.names(1, 2, 3)}, "
                      "by another command", self.finish(process, DIFFERS).err)

    def test_next_list_ends_meanwhile(self):
        """Another command leads the other way. Run once more, this one lets the next list in again."""
        holder = self.hold(self.of(1, 2, 3), masters=3)
        process, lines = self.begin((1, 2, 3), (2, 3, 4))
        lines.next("1 client says")
        self.tell_end((1, 2, 3, 4), self.names(1, 2, 3), [1, 2])
        self.is_led_away(process)
        self.goes_on(holder)
        self.assertIn("done: ", self.change((1, 2, 3), (2, 3, 4)).out)

    def test_next_list_ends_while_it_sleeps(self):
        """Its patience is over when it wakes up. It looks anew before it ends the former list."""
        self.say("1", (1, 2, 3), [1, 2, 3])
        process, lines = self.begin((1, 2, 3), (1, 2, 3, 4), "--patience", "10s")
        lines.next("1 client says")
        process.send_signal(signal.SIGSTOP)
        stopped = time.monotonic()
        self.tell_end((1, 2, 3, 4), self.names(1, 2, 3), [1, 2, 3, 4])
        until(lambda: time.monotonic() > stopped + 11, "patience is over")
        process.send_signal(signal.SIGCONT)
        self.is_led_away(process)
        self.assertNotIn(" over ", "".join(self.say("0", (1, 2, 3), [1, 2, 3])))

    def test_ends_on_different_masters(self):
        """The first master tells another end of the first list, and the third one of the second. A tool could
        take these back. One that has both ends is left, and the first list can do without it."""
        A, B, C = (1, 2, 3), (1, 2, 3, 4), (2, 3, 4)
        self.tell_end(A, self.names(1, 2), [1])
        self.tell_end(A, self.names(*B), [2, 3])
        self.say("1", B, [1])
        process, lines = self.begin(A, C, "--patience", "0")
        lines.next("over on 4 of 4 masters, but 1 client says it")
        self.forget_end(B, 3)
        self.tell_end(B, self.names(1, 2), [3])
        lines.next("over on 3 of 4 masters")
        self.say("-1", B, [1])
        lines.next("step 1 again: the former list is over on 2 of 3 masters")
        self.forget_end(A, 1)
        lines.next("^done: ")
        self.finish(process, 0)

    def test_next_list_ends_with_the_former(self):
        """Nobody could use either: it is not done."""
        self.say("1", (1, 2, 3), [1, 2, 3])
        process, lines = self.begin((1, 2, 3), (1, 2, 3, 4), "--patience", "0")
        lines.next("over on 3 of 3 masters, but 1 client says it")
        self.tell_end((1, 2, 3, 4), self.names(1, 2, 3), [2, 4])
        self.is_led_away(process)

    def test_next_list_beside_another(self):
        """It was over, and a list that came meanwhile may not meet it."""
        self.tell_end((2, 3, 4), "h:1", [2, 3, 4])
        holder = self.hold(self.of(1, 2, 3), masters=3)
        process, lines = self.begin((1, 2, 3), (2, 3, 4))
        lines.next("1 client says")
        self.say("1", (4, 5, 6), [4], label="stray")
        self.let_end(holder, status=0)
        lines.next("the former list is over on 3 of 3 masters")
        self.assertIn("the next list is over, and one in use may not meet it: 1 client, the last one stray, ",
                      self.finish(process, DIFFERS).err)

    def test_shown(self):
        env = self.of(1, 2, 3)
        self.tell_end((1, 2, 3), "h:1", [1])
        said = "this list is over on {} of 3 masters; in its place: h:1\n"
        self.assertIn(said.format(1), self.redlock("masters", env=env, status=0).out)
        told = self.redlock("masters", "--json", env=env, status=0).json
        self.assertEqual((told["state"], told["over_on"], told["successor"]), ("agree", self.shown(1), "h:1"))
        self.tell_end((1, 2, 3), "h:1", [2])
        self.assertIn(said.format(2), self.redlock("masters", env=env, status=DIFFERS).out)
        told = self.redlock("masters", "--json", env=env, status=DIFFERS).json
        schema.check(told, "masters")
        self.assertEqual((told["ok"], told["state"], told["over_on"]), (False, "over", self.shown(1, 2)))
        self.assertIn("this list is over on 2 of 3", self.redlock("nodes", env=env).out)

    def test_shown_of_two_ends(self):
        """Clients go on with that of most masters. The first master has the other one."""
        env = self.of(1, 2, 3)
        for list_of, masters in ("h:1", [1]), ("h:2", [2, 3]):
            self.tell_end((1, 2, 3), list_of, masters)
        told = self.redlock("masters", env=env, status=DIFFERS).out
        self.assertIn("this list is over on 3 of 3 masters; in its place: h:2 on 2 of these\n", told)
        self.assertEqual(self.redlock("masters", "--json", env=env, status=DIFFERS).json["successor"], "h:2")
        self.assertIn("by the one in its place: h:2\n", self.redlock("status", "held", env=env).err)


class Down(Lead, FreshCase):
    masters = 4

    @classmethod
    def setUpClass(cls):
        """Each test has its own."""

    def test_dead_master(self):
        self.cluster.kill(3)
        told = self.change((1, 2, 3), (1, 2, 4)).out
        self.assertIn(f"over on 2 of 3 masters ({self.names(1, 2)}), no client says it", told)
        self.assertIn(f"you may stop {self.names(3)}\n", told)

    def test_release_owed_to_a_dead_master(self):
        """A client that closes takes its list back all the same, and does not hold up a change."""
        holder = self.hold(self.of(1, 2, 3), masters=3)
        self.cluster.kill(3)
        self.let_end(holder, status=0)
        self.assertIn("0 lists in use", self.redlock("masters", env=self.of(1, 2, 3)).out)

    def test_abstaining_masters(self):
        """They forgot who said the list, and their leases may not be over."""
        for master in 2, 3:
            self.cluster.call("restart", str(master), "--empty")
        told = self.change((1, 2, 3), (1, 2, 3, 4), "--max-ttl", "3s").out
        self.assertIn("over on 3 of 3 masters; 2 abstain after a restart", told)
        self.assertIn("over on 3 of 3 masters, no client says it, and none can use it again", told)

    def test_too_few_masters(self):
        """Two that were up at first die before the list ends, or while it does."""
        one = f"on 1 of 3 masters .{self.names(1)}."
        for more, some, few in ((), "1 client says the former list",
                                f"no client says the former list {one}; too few masters tell, 2 must$"), \
                (("--patience", "0"), "1 client says it", f"over {one}; 2 must know it$"):
            self.say("1", (1, 2, 3), [1])
            process, lines = self.begin((1, 2, 3), (1, 2, 3, 4), "--max-ttl", "2s", *more)
            lines.next(some)
            self.cluster.kill(2, 3)
            self.say("-1", (1, 2, 3), [1])
            lines.next(few)
            self.cluster.restart(2, 3)
            lines.next("^done: ")
            if not more:  # no master hears of the end before
                self.assertNotIn("over on 1 of 3", "".join(lines.passed))
            self.finish(process, 0)
            self.undo(1, 2, 3)

    def next_list_loses_its_quorum(self, *more):
        """The list by which clients get locks is not ended meanwhile."""
        self.few = "; 2 of 4 masters of the next list are up, and 3 must$"
        self.say("1", (1, 2, 3), [1, 2])
        process, lines = self.begin((1, 2, 3), (1, 2, 3, 4), "--max-ttl", "2s", *more)
        lines.next("1 client says the former list")
        self.cluster.kill(3, 4)
        lines.next(f"1 client says .*{self.few}")
        return process, lines

    def goes_on_when_it_has_one(self, process, lines):
        self.run_once(self.of(1, 2, 3), status=0)
        self.say("-1", (1, 2, 3), [1, 2])
        self.cluster.restart(3, 4)
        lines.next("^done: ")
        self.finish(process, 0)

    def test_next_list_loses_its_quorum(self):
        process, lines = self.next_list_loses_its_quorum()
        self.say("-1", (1, 2, 3), [1, 2])
        lines.next(f"no client says .*{self.few}")
        self.goes_on_when_it_has_one(process, lines)

    def test_patience_is_over_while_the_next_list_has_no_quorum(self):
        begun = time.monotonic()
        process, lines = self.next_list_loses_its_quorum("--patience", "3s")
        until(lambda: time.monotonic() > begun + 3, "patience is over")
        self.goes_on_when_it_has_one(process, lines)

    def test_half_of_an_even_number(self):
        """On the other side of a network that has parted may be another command, with another list."""
        self.say("1", (1, 2, 3, 4), [1, 2])
        begun = time.monotonic()
        process, lines = self.begin((1, 2, 3, 4), (1, 2, 3), "--max-ttl", "2s", "--patience", "2s")
        lines.next("1 client says the former list")
        self.cluster.kill(3, 4)
        lines.next("1 client says .*; too few masters tell, 3 must$")
        until(lambda: time.monotonic() > begun + 2, "patience is over")
        told = self.change((1, 2, 3, 4), (1, 2), status=UNAVAILABLE).err
        self.assertIn("2 of 4 masters of the present list tell which lists are in use, and 3 must", told)
        self.assertNotIn("over", self.redlock("masters", env=self.of(1, 2, 3, 4)).out)
        self.cluster.restart(3, 4)
        lines.next("--patience is over")
        lines.next("the former list is over on 4 of 4 masters")
        self.terminate(process)

    def test_restarted_master(self):
        """It forgot the end, and hears it again: before the client, which is stopped, says the list to it."""
        holder = self.hold(self.of(1, 2, 3), masters=3, options=["--ttl", "30s"])
        process, lines = self.begin((1, 2, 3), (1, 2, 3, 4), "--patience", "0")
        lines.next("over on 3 of 3 masters, but 1 client")
        holder.send_signal(signal.SIGSTOP)
        self.cluster.call("restart", "3", "--empty")
        lines.next("over on 3 of 3 masters, but 1 client says it to 2 of these; .*; "
                   "1 abstains after a restart$")
        holder.send_signal(signal.SIGCONT)
        self.let_end(holder)
        lines.next("^done: ")
        self.finish(process, 0)
