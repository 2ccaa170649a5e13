"""redlocks.Client: leases of threads that wait."""

import datetime
import gc
import os
import pickle
import signal
import sys
import threading
import time
import unittest
import unittest.mock
import warnings

from places import DEADLINE, DOUBLE, Case, until

import redlocks
from redlocks import FOREVER, Code, EventKind


class Leases(Case):
    def test_a_lock_for_a_step(self):
        ours, theirs = self.open(), self.open()
        with ours.lock(self.name, ttl=10) as lease:
            self.assertGreater(lease.valid_for, 1)
            self.assertTrue(lease.valid)
            self.assertIsNone(theirs.try_acquire(self.name))
        self.assertFalse(lease.valid)
        with theirs.lock(self.name, wait=DEADLINE):
            pass

    def test_a_lock_is_used_again_and_inside_another(self):
        lock, other = self.open().lock(self.name, wait=DEADLINE), self.open().lock(self.name + "2")
        for _ in range(3):
            with lock as lease, other as inner:
                self.assertNotEqual(lease.token, inner.token)

    def test_a_block_that_raises_gives_the_lock_back(self):
        ours = self.open()
        with self.assertRaisesRegex(RuntimeError, "stopped"), ours.lock(self.name, ttl=20):
            raise RuntimeError("stopped")
        self.open().acquire(self.name, wait=DEADLINE).release()

    def test_a_lease_that_is_lost(self):
        heard, ours = [], self.open()
        with self.assertRaises(redlocks.LostError) as raised:
            with ours.lock(self.name, ttl=6, on_event=heard.append) as lease:
                self.take_away(self.name)
                until(lambda: not lease.valid, "a renewal finds that it is lost")
                self.assertEqual(self.code_of(redlocks.LostError, lease.check), Code.E_GONE)
        self.assertEqual(raised.exception.code, Code.E_GONE)
        until(lambda: [event.kind for event in heard][-1:] == [EventKind.LOST], "LOST was heard")
        self.assertEqual(heard[-1].code, Code.E_GONE)

    def test_a_lock_that_was_broken_unnoticed(self):
        with self.assertRaises(redlocks.LostError) as raised, self.open().lock(self.name, ttl=20) as lease:
            self.take_away(self.name)
            self.assertTrue(lease.valid)
        self.assertEqual(raised.exception.code, Code.E_GONE)

    def test_an_error_of_the_block_goes_before_a_loss(self):
        with self.assertRaises(KeyError), self.assertLogs("redlocks", "WARNING") as logs, \
                self.open().lock(self.name) as lease:
            self.lose(lease)
            raise KeyError
        self.assertIn("was lost", logs.output[0])

    def test_a_check_wants_time(self):
        lease = self.open().acquire(self.name, ttl=10)
        lease.check(5)
        self.code_of(redlocks.LostError, lease.check, 11)
        lease.release()

    def test_who_holds_it(self):
        ours, theirs = self.open(), self.open()
        with theirs.lock(self.name) as lease:
            with self.assertRaises(redlocks.HeldError) as raised:
                ours.acquire(self.name)
            self.assertIn(lease.token, raised.exception.votes)
            self.assertIsInstance(raised.exception, redlocks.ContendedError)

    def test_an_error_goes_to_another_process(self):
        ours = self.open()
        with ours.lock(self.name):
            with self.assertRaises(redlocks.HeldError) as raised:
                ours.acquire(self.name)
        error, again = raised.exception, pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual((type(again), again.code, str(again), again.votes),
                         (type(error), error.code, str(error), error.votes))
        with self.assertRaises(redlocks.ContendedError) as raised:
            ours.arrive(self.name, 2, timeout=0.05)
        self.assertEqual(pickle.loads(pickle.dumps(raised.exception)).result, raised.exception.result)

    def test_a_block_does_not_begin_without_the_lease(self):
        ours = self.open()
        lost = ours.acquire(self.name)
        self.lose(lost)
        released = ours.acquire(self.name + "2")
        released.release()
        for lease in (lost, released):
            with self.assertRaises(redlocks.LostError), lease:
                self.fail("it has begun")

    def test_fences_grow(self):
        ours, fences = self.open(), []
        for _ in range(3):
            with ours.lock(self.name, fence=True, wait=DEADLINE) as lease:
                fences.append(lease.fence)
        self.assertEqual(fences, sorted(set(fences)))
        self.assertGreater(fences[0], 0)

    def test_several_names_of_any_bytes(self):
        ours, theirs = self.open(), self.open()
        with ours.lock(self.name, b"\xff\0\n", redlocks.Shared(self.name + "s")) as lease:
            self.assertEqual(lease.exclusive_for, 0)
            self.assertIsNone(theirs.try_acquire(b"\xff\0\n"))
            self.assertIsNone(theirs.try_acquire(self.name + "s"))
            theirs.acquire(self.name + "s", shared=True, wait=DEADLINE).release()

    def test_readers_and_permits(self):
        ours, theirs = self.open(), self.open()
        with ours.lock(self.name, shared=True, wait=DEADLINE) as lease:
            with theirs.lock(self.name, shared=True, wait=DEADLINE):
                self.assertEqual(self.code_of(redlocks.HeldError, lease.upgrade), Code.E_HELD)
            until(lambda: self.upgrades(lease), "it is the only reader")
            self.assertGreater(lease.exclusive_for, 0)
            lease.downgrade()
            self.assertEqual(lease.exclusive_for, 0)
        pool = self.name + "-pool"
        with ours.lock(pool, permits=2) as one, theirs.lock(pool, permits=2) as other:
            self.assertEqual({one.slot, other.slot}, {0, 1})
            self.assertIsNone(theirs.try_acquire(pool, permits=2))

    @staticmethod
    def upgrades(lease):
        try:
            lease.upgrade()
        except redlocks.HeldError:
            return False
        return True

    def test_an_extend_changes_the_ttl(self):
        with self.open().lock(self.name, ttl=5) as lease:
            lease.extend(datetime.timedelta(seconds=20))
            self.assertGreater(lease.valid_for, 10)
            lease.extend()

    def test_what_is_wrong_is_said(self):
        ours = self.open()
        self.assertEqual(self.code_of(redlocks.MisuseError, redlocks.Client, "redis://"), Code.E_NODES)
        for names, terms, code in (([""], {}, Code.E_NAME), ([], {}, Code.E_NAME),
                                   ([self.name], {"ttl": 9999}, Code.E_TTL),
                                   ([self.name], {"permits": -1}, Code.E_ARGUMENT)):
            self.assertEqual(self.code_of(redlocks.MisuseError, ours.acquire, *names, **terms), code)
        for terms in ({"tll": 1}, {"ttl": "1"}, {"ttl": True}):
            self.assertRaises(TypeError, ours.acquire, self.name, **terms)
        self.assertEqual(self.code_of(redlocks.MisuseError, ours.acquire, self.name, ttl=0), Code.E_TTL)
        self.assertRaises(TypeError, ours.lead, self.name, wait=1)
        for ttl in (-1, 0.0001, float("nan"), 1e300):
            self.assertRaises(ValueError, ours.acquire, self.name, ttl=ttl)
        self.assertRaises(TypeError, ours.acquire, 5)
        self.assertRaises(TypeError, ours.acquire, self.name, on_event=5)
        self.assertRaises(TypeError, ours.acquire, self.name, on_event=self.no_callback)
        with ours.lock(self.name + "2", fence=True) as lease:
            self.assertRaises(TypeError, lease.announce, None)
            self.assertRaises(TypeError, lease.extend, "1")
            for ttl in (9999, 0):
                self.assertEqual(self.code_of(redlocks.MisuseError, lease.extend, ttl), Code.E_TTL)
        self.assertRaises(TypeError, redlocks.Client, self.nodes, no_such=1)
        self.assertEqual(self.code_of(redlocks.MisuseError, redlocks.Client, "a\0b"), Code.E_ARGUMENT)

    async def no_callback(self, event):
        """Nobody would await it."""

    def test_each_code_and_kind_has_its_name(self):
        from redlocks._library import lib, text
        self.assertEqual([f"REDLOCK_{code.name}" for code in Code],
                         [text(lib.redlock_code_name(code)) for code in range(len(Code))])
        self.assertEqual(text(lib.redlock_code_name(len(Code))), "REDLOCK_E_UNKNOWN")
        self.assertEqual([kind.name for kind in EventKind], [text(lib.redlock_event_name(kind)).upper()
                         .replace(" ", "_") for kind in range(len(EventKind))])

    def test_metrics(self):
        ours = self.open()
        ours.acquire(self.name).release()
        self.assertIn("redlock_acquires_total 1\n", ours.metrics())


class Threads(Case):
    def test_threads_take_turns(self):
        client, counted = self.open(), [0]

        def count():
            for _ in range(10):
                with client.lock(self.name, wait=FOREVER, fence=True):
                    before = counted[0]
                    time.sleep(0)
                    counted[0] = before + 1
        threads = [threading.Thread(target=count) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)
        self.assertEqual(counted, [80])

    def test_threads_share_a_lock(self):
        lock, first_is_out = self.open().lock(self.name, permits=2), threading.Event()
        with lock as first:
            def second():
                with lock as lease:
                    seen.append(lease)
                    entered.set()
                    first_is_out.wait(DEADLINE)
                    seen.append(lease.valid)
            seen, entered = [], threading.Event()
            thread = threading.Thread(target=second)
            thread.start()
            entered.wait(DEADLINE)
        self.assertFalse(first.valid)
        first_is_out.set()
        thread.join(DEADLINE)
        self.assertTrue(seen[1])
        self.assertFalse(seen[0].valid)

    def test_a_generator_is_closed_by_another_thread(self):
        lock = self.open().lock(self.name, wait=DEADLINE)

        def steps():
            with lock:
                yield
        begun = steps()
        next(begun)
        thread = threading.Thread(target=begun.close)
        thread.start()
        thread.join(DEADLINE)
        with lock:
            pass

    def test_it_is_not_clear_whose_lock_ends(self):
        lock = self.open().lock(self.name, permits=2)
        inside, may_end = threading.Semaphore(0), threading.Event()

        def hold():
            with lock:
                inside.release()
                may_end.wait(DEADLINE)
        threads = [threading.Thread(target=hold) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in threads:
            inside.acquire(timeout=DEADLINE)
        self.assertEqual(self.code_of(redlocks.MisuseError, lock.__exit__, None, None, None), Code.E_STATE)
        may_end.set()
        for thread in threads:
            thread.join(DEADLINE)

    def test_others_run_while_one_waits(self):
        client, steps = self.open(), []
        held = client.acquire(self.name, ttl=10)

        def work():
            for step in range(100):
                steps.append(step)
                time.sleep(0)
            held.release()
        thread = threading.Thread(target=work)
        thread.start()
        with client.lock(self.name, wait=DEADLINE):
            self.assertEqual(len(steps), 100)
        thread.join(DEADLINE)

    def test_a_close_ends_the_wait_of_a_thread(self):
        theirs, ours, codes = self.open(), self.open(), []
        held = theirs.acquire(self.name)

        def wait():
            codes.append(self.code_of(redlocks.EndedError, ours.acquire, self.name, wait=FOREVER))
        thread = threading.Thread(target=wait)
        thread.start()
        until(lambda: "redlock_waiting 1\n" in ours.metrics(), "it waits")
        ours.close()
        thread.join(DEADLINE)
        self.assertEqual(codes, [Code.E_CLOSED])
        held.release()

    def interrupt_once(self, condition):
        """As by Ctrl-C, when the condition is true."""
        def interrupt():
            until(condition, "it waits")
            os.kill(os.getpid(), signal.SIGINT)
        thread = threading.Thread(target=interrupt)
        thread.start()
        self.addCleanup(thread.join, DEADLINE)

    def test_ctrl_c_ends_a_wait(self):
        theirs, ours = self.open(), self.open()
        held = theirs.acquire(self.name, ttl=10)
        self.interrupt_once(lambda: "redlock_waiting 1\n" in ours.metrics())
        try:
            ours.acquire(self.name, wait=FOREVER)
        except KeyboardInterrupt as error:
            kept = error.__traceback__
        self.assertIsNotNone(kept)
        self.assertIn("redlock_waiting 0\n", ours.metrics())
        held.release()
        theirs.acquire(self.name, wait=DEADLINE).release()

    def test_ctrl_c_when_it_is_granted(self):
        ours, theirs, acquire = self.open(), self.open(), redlocks.client.lib.held_acquire

        def interrupted(*arguments):
            acquire(*arguments)
            raise KeyboardInterrupt
        with unittest.mock.patch.object(redlocks.client.lib, "held_acquire", interrupted):
            try:
                ours.acquire(self.name, ttl=20)
            except KeyboardInterrupt as error:
                kept = error.__traceback__
        self.assertIsNotNone(kept)
        theirs.acquire(self.name, wait=10).release()

    def test_ctrl_c_when_the_party_has_arrived(self):
        ours, arrive = self.open(), redlocks.client.lib.task_arrive

        def interrupted(*arguments):
            arrive(*arguments)
            raise KeyboardInterrupt
        with unittest.mock.patch.object(redlocks.client.lib, "task_arrive", interrupted):
            try:
                ours.arrive(self.name, 2)
            except KeyboardInterrupt as error:
                kept = error.__traceback__
        self.assertIsNotNone(kept)
        self.code_of(redlocks.ContendedError, ours.arrive, self.name, 2, timeout=0.05)

    def test_ctrl_c_ends_a_wait_at_barrier_latch_and_for_a_leader(self):
        ours = self.open()
        ours.latch_create(self.name, 1)
        for wait in (lambda: ours.arrive(self.name, 2), lambda: ours.latch_wait(self.name),
                     lambda: ours.next_leader(self.name)):
            timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
            with self.assertRaises(KeyboardInterrupt):  # even if it comes before the wait
                timer.start()
                wait()
            timer.join()
        # The party has left, and counts no longer.
        self.code_of(redlocks.ContendedError, ours.arrive, self.name, 2, timeout=0.05)


class Ends(Case):
    def test_a_lease_is_used_after_its_end(self):
        ours = self.open()
        lease = ours.acquire(self.name)
        lease.release()
        self.assertEqual((lease.valid, lease.valid_for, lease.exclusive_for), (False, 0, 0))
        for call in (lease.release, lease.extend, lease.downgrade, lease.upgrade):
            self.assertEqual(self.code_of(redlocks.MisuseError, call), Code.E_STATE)
        self.assertEqual(self.code_of(redlocks.MisuseError, lease.announce, "x"), Code.E_STATE)
        self.code_of(redlocks.LostError, lease.check)

    def test_a_client_is_used_after_its_end(self):
        ours = self.open()
        lease = ours.acquire(self.name, ttl=20)
        self.assertEqual([ours.close(DEADLINE), ours.close()], [0, 0])
        self.assertFalse(lease.valid)
        for call in (lambda: ours.acquire(self.name), ours.ready, ours.metrics, lease.release,
                     lambda: ours.arrive(self.name, 1), lambda: ours.latch_count(self.name),
                     lambda: ours.leader(self.name), lambda: ours.acquire(self.name, on_event=id)):
            self.assertEqual(self.code_of(redlocks.EndedError, call), Code.E_CLOSED)
        self.open().acquire(self.name).release()

    def test_a_client_that_is_closed_inside_a_block(self):
        ours = self.open()
        with self.assertRaises(redlocks.EndedError), ours.lock(self.name):
            ours.close()

    def test_a_lease_that_is_forgotten_is_given_back_with_a_warning(self):
        ours = self.open()
        lease = ours.acquire(self.name, ttl=20, on_event=id)
        with self.assertWarnsRegex(ResourceWarning, self.name):
            del lease
            gc.collect()
        ours.acquire(self.name, wait=DEADLINE).release()

    def test_a_lease_whose_callback_refers_to_it_is_forgotten(self):
        ours = self.open()

        class Worker:
            def __init__(self, name):
                self.lease = ours.acquire(name, ttl=20, on_event=self.hear)

            def hear(self, event):
                """Of the lease."""
        worker = Worker(self.name)
        with self.assertWarnsRegex(ResourceWarning, self.name):
            del worker
            gc.collect()
        ours.acquire(self.name, wait=10).release()

    def test_others_are_collected_with_a_lease(self):
        ours, said = self.open(), []

        class Worker:
            def __del__(self):
                said.append((self.lease.valid, self.lease.token))
                try:
                    self.lease.release()
                except redlocks.Error as error:
                    said.append(error.code)
        lease = ours.acquire(self.name, ttl=20)
        lease.worker = Worker()
        lease.worker.lease = lease
        with self.assertWarnsRegex(ResourceWarning, self.name):
            del lease
            gc.collect()
        self.assertEqual(said, [(False, ""), Code.E_ARGUMENT])

    def test_a_client_that_is_forgotten_gives_its_leases_back(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            before = threading.active_count()
            kept = redlocks.Client(self.nodes).acquire(self.name, ttl=20, on_event=id)
            self.assertTrue(kept.valid)
            del kept
            gc.collect()
            until(lambda: threading.active_count() == before, "its thread has ended")
        self.open().acquire(self.name, wait=DEADLINE).release()

    def test_a_callback_that_raises_is_reported_and_others_are_called(self):
        for error in (ZeroDivisionError, SystemExit, GeneratorExit):
            with self.subTest(error):
                self.is_reported(error)

    def is_reported(self, error):
        ours, heard, said = self.open(), [], []
        former, sys.excepthook = sys.excepthook, lambda kind, *_: said.append(kind)
        self.addCleanup(setattr, sys, "excepthook", former)

        def raises(event):
            raise error
        one, other = ours.acquire(self.name, on_event=raises, wait=DEADLINE), \
            ours.acquire(self.name + "2", on_event=heard.append, wait=DEADLINE)
        self.lose(one)
        self.lose(other)
        until(lambda: said and heard, "both were called")
        self.assertEqual(said[0], error)

    def test_a_callback_that_blocks_holds_up_no_renewal(self):
        ours, blocks = self.open(), threading.Event()
        begun = threading.Event()

        def wait(event):
            begun.set()
            blocks.wait(DEADLINE)
        self.addCleanup(blocks.set)
        lost = ours.acquire(self.name, on_event=wait)
        with ours.lock(self.name + "2", ttl=5) as lease:
            self.lose(lost)
            self.assertTrue(begun.wait(DEADLINE))
            until(lambda: lease.valid_for < 4, "time goes by")
            until(lambda: lease.valid_for > 4 or not lease.valid, "it is renewed")
            self.assertTrue(lease.valid)
        blocks.set()

    def test_a_fork(self):
        ours = self.open()
        with ours.lock(self.name, ttl=20, on_event=id) as lease:
            child = os.fork()
            if not child:
                try:
                    self.is_told_in_the_child(ours, lease)
                    del ours, lease
                    gc.collect()
                    os._exit(0)
                finally:
                    os._exit(1)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
            self.assertTrue(lease.valid)
            lease.extend()

    def test_a_fork_while_another_thread_begins_something(self):
        ours = self.open()
        with ours._beginning:
            child = os.fork()
            if not child:
                thread = threading.Thread(target=self.is_at_an_end, args=(ours,))
                thread.start()
                thread.join(DEADLINE)
                os._exit(thread.is_alive())
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def is_at_an_end(self, ours):
        self.code_of(redlocks.ForkedError, ours.acquire, self.name, on_event=id)
        ours.close()

    def is_told_in_the_child(self, ours, lease):
        assert not lease.valid and ours.close() == 0
        for call in (lease.release, lease.extend, lambda: ours.acquire(self.name),
                     lambda: ours.acquire(self.name, wait=5), lambda: ours.arrive(self.name, 1), ours.ready):
            assert self.code_of(redlocks.ForkedError, call) == Code.E_FORKED
        if not DOUBLE:
            assert redlocks.Client(self.nodes).try_acquire(self.name) is None


class Recipes(Case):
    def test_a_leader(self):
        ours, theirs = self.open(), self.open()
        self.assertEqual(theirs.leader(self.name).term, 0)
        with ours.lead(self.name, "blue", ttl=10) as lease:
            self.code_of(redlocks.HeldError, theirs.lead, self.name, timeout=0.05)
            lease.announce(b"green\0")
            leader = theirs.next_leader(self.name, lease.fence - 1, DEADLINE)
            self.assertEqual((leader.term, leader.value), (lease.fence, b"green\0"))
            self.code_of(redlocks.UnavailableError, theirs.next_leader, self.name, lease.fence, 0.05)

    def test_a_barrier(self):
        ours, passed = self.open(), []
        threads = [threading.Thread(target=lambda: passed.append(ours.arrive(self.name, 3, ttl=10)))
                   for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)
        self.assertEqual([passage.arrived for passage in passed], [3, 3, 3])
        with self.assertRaises(redlocks.ContendedError) as raised:
            ours.arrive(self.name, 2, 1, timeout=0.05)
        self.assertEqual((raised.exception.code, raised.exception.result.parties), (Code.E_NOT_PASSED, 2))
        self.assertEqual(self.code_of(redlocks.MisuseError, ours.arrive, self.name, 0), Code.E_ARGUMENT)

    def test_a_latch(self):
        ours = self.open()
        made = ours.latch_create(self.name, 2, life=60)
        with self.assertRaises(redlocks.HeldError) as raised:
            ours.latch_create(self.name, 3)
        self.assertEqual(raised.exception.result.id, made.id)
        self.assertEqual(str(raised.exception), "the name has another latch")
        self.assertEqual(ours.latch_arrive(self.name, "one", id=made.id).arrival, "one")
        ours.latch_arrive(self.name, "one")
        self.assertEqual(self.code_of(redlocks.ContendedError, ours.latch_wait, self.name, timeout=0.05),
                         Code.E_NOT_OPEN)
        self.assertFalse(ours.latch_count(self.name).open)
        ours.latch_arrive(self.name)
        self.assertTrue(ours.latch_wait(self.name, timeout=DEADLINE).open)


if __name__ == "__main__":
    unittest.main()
