"""masters change --undo: takes back that a list of masters is over."""

import signal
import time

from harness import FreshCase, until
from test_agree import DIFFERS
from test_change import UNAVAILABLE, Lead

A, B, C = (1, 2, 3), (1, 2, 3, 4), (2, 3, 4)  # A and C need not meet


class Undo(Lead):
    def begin_undo(self, *now):
        return self.spawn("masters", "change", "--undo", env=self.of(*now))

    def undo_with_spare(self, *now, status):
        return self.redlock("masters", "change", "--undo", "--spare", "1", env=self.of(*now), status=status)

    def is_valid(self, now, masters):
        return all(" over " not in told for told in self.say("0", now, masters))


class Undone(Undo):
    def test_undo(self):
        """A client that has heard of the next list may sleep: it comes back, and goes on to a third one."""
        self.lend_login()
        self.change((1, 2, 3), (1, 2, 3, 4))
        self.is_over((1, 2, 3), (1, 2, 3, 4))
        valid = "the list is valid on 3 of 3 masters\n"
        self.assertEqual(self.undo(1, 2, 3).out, f"{valid}the one in its place {self.names(1, 2, 3, 4)} "
                         "is over on 4 of 4 masters\n")
        self.run_once(self.of(1, 2, 3), status=0)
        self.is_over((1, 2, 3, 4), (1, 2, 3))
        self.assertEqual(self.undo(1, 2, 3).out, valid)
        self.change((1, 2, 3), (1, 2, 3, 5))
        self.is_over((1, 2, 3, 4), (1, 2, 3))
        self.is_over((1, 2, 3), (1, 2, 3, 5))

    def test_undo_while_the_next_list_is_in_use(self):
        self.change((1, 2, 3), (1, 2, 3, 4))
        holder = self.hold(self.of(1, 2, 3, 4), masters=4)
        told = self.undo(1, 2, 3).out
        self.assertIn("the list is valid on 3 of 3 masters\nthe one in its place "
                      f"{self.names(1, 2, 3, 4)} is in use. Before you lead clients to a third list, ", told)
        self.run_once(self.of(1, 2, 3), status=0)
        self.goes_on(holder)
        self.run_once(self.of(1, 2, 3, 4), status=0)

    def test_undo_after_two_steps(self):
        """Nobody says the last list now, but anybody may: it need not meet this one."""
        self.change((1, 2, 3), (2, 3, 4))
        told = self.undo(1, 2, 3, status=DIFFERS).err
        self.assertIn(f"the list in its place, {self.names(1, 2, 3, 4)}, is over, too, in favour of "
                      f"{self.names(2, 3, 4)}: begin a change with ", told)
        self.is_over((1, 2, 3), (1, 2, 3, 4))

    def begin_next_step(self):
        self.say("1", B, B)
        process, lines = self.begin(A, C)
        lines.next("step 2 of 2")
        lines.next("1 client says the former list on 4 of 4 masters")
        return process, lines

    def test_undo_in_the_next_step(self):
        """No client has the third list, so the first may be valid beside the second."""
        process, _ = self.begin_next_step()
        self.take_back(A, A)
        told = self.finish(process, DIFFERS).err
        self.assertIn(f"the list {self.names(*A)} is valid again, by another command. ", told)
        self.assertTrue(self.is_valid(A, A))

    def test_undo_while_the_third_list_is_in_use(self):
        """A client gets a lease by the first list, before the command says its end again."""
        process, lines = self.begin_next_step()
        self.say("1", C, C)
        said = time.monotonic()
        until(lambda: time.monotonic() > said + 6, "it has heard of that")

        def is_let_in():
            self.take_back(A, [1, 2])
            return " over " not in "".join(self.say("1", A, [1, 2], label="late"))
        until(is_let_in, "both masters have its word")
        until(lambda: not self.is_valid(A, [1]) and not self.is_valid(A, [2]), "it says the end again")
        self.say("-1", B, B)
        lines.next("step 1 again: the former list is over on 3 of 3 masters, "
                   "but 1 client says it to 2 of these; .*: late$")
        self.say("-1", A, [1, 2])
        lines.next("^done: ")
        self.finish(process, 0)

    def test_undo_beside_the_command(self):
        """It would say the end again, and gives up."""
        self.say("1", (1, 2, 3), [1, 2, 3])
        process, lines = self.begin((1, 2, 3), (1, 2, 3, 4), "--patience", "0")
        lines.next("over on 3 of 3 masters, but 1 client says it")
        self.undo(1, 2, 3)
        self.assertIn("the next list ", self.finish(process, DIFFERS).err)
        self.run_once(self.of(1, 2, 3), status=0)

    def test_undo_beside_a_stopped_command(self):
        """When it goes on, it does not say the end again. Else both lists would be over."""
        self.lend_login()
        self.say("1", A, [1, 2, 3])
        process, lines = self.begin(A, B, "--patience", "0")
        lines.next("over on 3 of 3 masters, but 1 client says it")
        process.send_signal(signal.SIGSTOP)
        stopped = time.monotonic()
        self.assertIn(f"the one in its place {self.names(*B)} is over on 4 of 4 masters", self.undo(*A).out)
        until(lambda: time.monotonic() > stopped + 6, "it would say the end again")
        process.send_signal(signal.SIGCONT)
        told = self.finish(process, DIFFERS).err
        self.assertIn(f"the list {self.names(*A)} is valid again, by another command. ", told)
        self.assertTrue(self.is_valid(A, A))

    def test_change_back_beside_the_command(self):
        """It waits in step 2, and does not say again that the first list is over."""
        self.lend_login()
        self.say("1", B, B)
        process, lines = self.begin(A, C)
        lines.next("1 client says the former list on 4 of 4 masters")
        back, _ = self.begin(B, A, "--patience", "0")
        self.assertRegex(self.finish(process, DIFFERS).err,
                         " is valid again, by another command| is over in favour of another one, ")
        self.say("-1", B, B)
        self.finish(back, 0)
        self.assertTrue(self.is_valid(A, A))

    def test_undo_beside_another_list(self):
        self.change((1, 2, 3), (1, 2, 3, 4))
        holder = self.hold(self.of(1, 4, 5, 6), masters=4)
        told = self.undo(1, 2, 3, status=DIFFERS).err
        self.assertIn("a list in use may not meet this one: 1 client, the last one label-of-held, counts on ",
                      told)
        self.is_over((1, 2, 3), (1, 2, 3, 4))
        self.goes_on(holder)

    def test_end_that_stays(self):
        """Clients went on to a third list. A tool that slept, or a late packet, takes nothing back."""
        self.tell_end(A, self.names(*B), [1, 2])
        told = [self.changes(master) for master in (1, 2)]
        self.tell_end(B, self.names(*C), [2])
        for master in 1, 2:
            self.say("3", A, [master], told[master - 1])
        self.assertTrue(self.is_valid(A, [1]))
        self.assertFalse(self.is_valid(A, [2]))
        self.take_back(A, [2])
        self.assertTrue(self.is_valid(A, [2]))

    def test_undo_that_sleeps(self):
        """Clients go away and come back, and go on to a third list, while it waits for other commands."""
        self.lend_login()
        self.change((1,), (1, 2))
        undo = self.begin_undo(1)
        until(lambda: self.is_valid((1,), [1]), "it has taken the end back")
        undo.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        self.change((1,), (2,))
        until(lambda: time.monotonic() > begun + 7, "it would go on")
        undo.send_signal(signal.SIGCONT)
        self.assertIn(", is over, too, in favour of ", self.finish(undo, DIFFERS).err)
        self.assertFalse(self.is_valid((1,), [1]))

    def test_undo_of_two_commands(self):
        """Each had half of the masters."""
        four = (1, 2, 3, 4)
        self.tell_end(four, self.names(1, 2, 3), [1, 2])
        self.tell_end(four, self.names(2, 3, 4), [3, 4])
        told = self.undo(*four).out
        self.assertIn("the list is valid on 4 of 4 masters\n", told)
        for masters in (1, 2, 3), (2, 3, 4):
            self.assertIn(f"the one in its place {self.names(*masters)} is over on 3 of 3 masters\n", told)

    def test_undo_run_again(self):
        """The first one was killed when it had taken the end back on two masters."""
        self.lend_login()
        self.tell_end(A, self.names(*B), [3])
        self.assertIn(f"the one in its place {self.names(*B)} is over on 4 of 4 masters\n", self.undo(*A).out)

    def test_undo_whose_next_list_tells_too_few_ends(self):
        """One master tells another end of the next list, and two are down. Nothing is taken back."""
        one, two = (1, 2, 3, 4, 5), (1, 2, 3, 4, 6)
        self.lend_login()
        self.tell_end(one, self.names(*two), one)
        self.tell_end(two, "h:1", [4])
        for master in 3, 6:
            self.cluster.pause(master)
            self.addCleanup(self.cluster.resume, master)
        told = self.undo_with_spare(*one, status=UNAVAILABLE).err
        self.assertIn("2 of 5 masters of the list in its place tell which lists are in use, and 3 must", told)
        self.assertFalse(self.is_valid(one, [1]))

    def test_undo_beside_a_later_change(self):
        """Another command leads clients elsewhere when the list is valid again."""
        self.lend_login()
        self.change((1,), (1, 2))
        undo = self.begin_undo(1)
        until(lambda: self.is_valid((1,), [1]), "it has taken the end back")
        self.change((1,), (1, 3))
        told = self.finish(undo, DIFFERS).err
        self.assertIn(f"is over again, by another command, in favour of {self.names(1, 3)}", told)

    def test_undo_of_two_commands_with_a_spare_vote(self):
        """Each had told one master. These may be liars, whose lists are not asked: the ends stay."""
        five = (1, 2, 3, 4, 5)
        self.tell_end(five, self.names(*five, 6), [1])
        told = self.undo_with_spare(*five, status=0).out
        self.assertEqual(told, f"the list is valid on 4 of 5 masters; it stays over on {self.names(1)}\n")
        self.tell_end(five, "h:1", [2])
        told = self.undo_with_spare(*five, status=DIFFERS).err
        self.assertIn(f"it stays over on {self.names(1, 2)}: end other commands that change the list, ", told)

    def test_undo_beside_a_master_that_led_on(self):
        """With a spare vote one master may tell anything of the next list. There ours stays over."""
        one, two = (1, 2, 3, 4, 5), (1, 2, 3, 4, 6)
        self.lend_login()
        self.tell_end(one, self.names(*two), one)
        self.tell_end(two, self.names(2, 3, 4, 6), [1])
        told = self.undo_with_spare(*one, status=0).out
        self.assertIn(f"the list is valid on 4 of 5 masters; it stays over on {self.names(1)}\n", told)
        self.assertTrue(self.is_valid(one, [2, 3, 4, 5]))
        self.assertFalse(self.is_valid(one, [1]))


class Down(Undo, FreshCase):
    def test_undo_without_a_quorum(self):
        """Nothing is taken back: the masters that are down may lead clients elsewhere."""
        self.tell_end((1, 2, 3, 4), self.names(1, 2, 3), [1, 2, 3, 4])
        self.cluster.kill(3, 4)
        told = self.undo(1, 2, 3, 4, status=UNAVAILABLE).err
        self.assertIn("2 of 4 masters tell which lists are in use, and 3 must", told)
        for told in self.say("0", (1, 2, 3, 4), [1, 2]):
            self.assertIn(" over ", told)

    def test_undo_that_does_not_hear_the_next_list(self):
        """Silence is no news: it may be over, too."""
        self.lend_login()
        self.tell_end((1, 2), self.names(3, 4), [1, 2])
        self.cluster.kill(3, 4)
        told = self.undo(1, 2, status=UNAVAILABLE).err
        self.assertIn("0 of 2 masters of the list in its place tell which lists are in use, and 1 must", told)
        self.assertFalse(self.is_valid((1, 2), [1, 2]))

    def test_undo_where_one_master_lost_the_end(self):
        """Another one is down, so no quorum tells the next list. Clients may have it all the same."""
        self.lend_login()
        self.tell_end(B, self.names(*B, 5), [3, 4])
        self.cluster.kill(2)
        told = self.undo(*B).out
        self.assertIn(f"the one in its place {self.names(*B, 5)} is over on 4 of 5 masters\n", told)
        self.assertTrue(self.is_valid(B, [1, 3, 4]))

    def test_undo_of_a_master_that_died(self):
        """Nobody can use the next list, and nobody ever will."""
        self.change((1,), (1, 2))
        self.cluster.kill(2)
        self.assertIn(" is over on 1 of 2 masters\n", self.undo(1).out)
        self.run_once(self.of(1), status=0)
