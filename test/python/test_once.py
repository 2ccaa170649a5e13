"""Work that is done once per key, and wishes: both kinds of clients."""

import asyncio
import datetime
import os
import pickle
import signal
import threading
import unittest

from places import DEADLINE, PATIENT, Case, becomes, on_loop

import redlocks
from redlocks import Code, aio

DAY = "2026-11-30"
LIFE = 60


async def error_of(awaitable):
    try:
        await awaitable
    except redlocks.Error as error:
        return error
    raise AssertionError("nothing was raised")


class Once(Case):
    def test_work_is_done_once_per_key(self):
        ours, theirs, ran = self.open(label="web-1"), self.open(label="web-2"), []

        def work(lease):
            ran.append(lease.valid)
            return 42
        before = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
        first = ours.once(self.name, DAY, work, life=LIFE, ttl=20)
        self.assertEqual((first.ran, first.by, first.value), (True, "web-1", 42))
        self.assertGreaterEqual(first.at, before)
        second = theirs.once(self.name, DAY, work, life=LIFE, ttl=20, wait=DEADLINE)
        self.assertEqual((second.ran, second.by, second.at, second.value), (False, "web-1", first.at, None))
        self.assertTrue(theirs.once(self.name, "another", work, life=LIFE, wait=DEADLINE).ran)
        self.assertEqual(ran, [True, True])

    def test_work_that_raises_is_tried_by_the_next(self):
        ours, ran = self.open(), []

        def fail(lease):
            raise ZeroDivisionError
        self.assertRaises(ZeroDivisionError, ours.once, self.name, DAY, fail, life=LIFE)
        self.assertTrue(ours.once(self.name, DAY, ran.append, life=LIFE, wait=DEADLINE).ran)
        self.assertFalse(ours.once(self.name, DAY, fail, life=LIFE, wait=DEADLINE).ran)
        self.assertEqual(len(ran), 1)

    def test_a_note_of_ones_own(self):
        ours = self.open()
        done = ours.once(self.name, DAY, id, life=LIFE, note="build-7")
        self.assertEqual((done.by, done.at), ("build-7", None))
        with ours.lock(self.name, wait=DEADLINE) as lease:
            looked = lease.once_look(DAY)
            self.assertEqual((looked.open, looked.who), (True, "build-7"))
            self.assertFalse(lease.once_look("another").open)
            self.assertTrue(lease.once_record("another", LIFE).open)
            self.assertTrue(lease.once_look("another").open)

    def test_what_is_wrong_is_refused_before_the_work(self):
        ours = self.open()

        def never(lease):
            self.fail("it has begun")
        for more in ({"life": 0}, {"life": 0.5}, {"life": 31 * 24 * 3600}, {"life": LIFE, "note": ""},
                     {"life": LIFE, "note": "two words"}, {"life": LIFE, "note": "x" * 65}):
            with self.subTest(more):
                self.assertEqual(self.code_of(redlocks.MisuseError, ours.once, self.name, DAY, never, **more),
                                 Code.E_ARGUMENT)
        self.assertEqual(self.code_of(redlocks.MisuseError, ours.once, self.name, "", never, life=LIFE),
                         Code.E_ARGUMENT)
        for wrong in ({"work": None}, {"note": b"x"}, {"life": "60"}):
            with self.subTest(wrong):
                more = {"work": never, "life": LIFE, **wrong}
                self.assertRaises(TypeError, ours.once, "n@" + self.name, DAY, **more)
        with ours.lock(self.name, permits=2, wait=DEADLINE) as lease:
            self.assertEqual(self.code_of(redlocks.MisuseError, lease.once_look, DAY), Code.E_STATE)
        ours.latch_create(f"{self.name} once {DAY}", 2)
        self.assertEqual(self.code_of(redlocks.HeldError, ours.once, self.name, DAY, never, life=LIFE,
                                      wait=DEADLINE), Code.E_HELD)

    def test_work_that_would_have_to_be_awaited_is_not_recorded(self):
        ours = self.open()

        async def work(lease):
            self.fail("nobody awaits it")

        def returns_it(lease):
            made.append(work(lease))
            return made[-1]
        made = []
        self.assertRaises(TypeError, ours.once, self.name, DAY, work, life=LIFE)
        self.assertRaises(TypeError, ours.once, self.name, DAY, returns_it, life=LIFE, wait=DEADLINE)
        made[-1].close()
        self.assertTrue(ours.once(self.name, DAY, id, life=LIFE, wait=DEADLINE).ran)

    def test_work_whose_lock_was_lost_is_not_recorded(self):
        ours, lost = self.open(), []

        def work(lease):
            self.lose(lease)
            lost.append(lease)
        with self.assertRaises(redlocks.NotRecordedError) as raised:
            ours.once(self.name, DAY, work, life=LIFE, ttl=6)
        error = raised.exception
        self.assertIn(error.code, (Code.E_GONE, Code.E_EXPIRED))  # LOST may come behind the extend
        self.assertFalse(error.undecided)
        self.assertIsInstance(error.__cause__, redlocks.LostError)
        self.assertIn("the next one does it again", str(error))
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(again), str(again), again.undecided), (type(error), str(error), False))
        self.assertTrue(ours.once(self.name, DAY, id, life=LIFE, wait=DEADLINE).ran)

    def test_a_record_that_somebody_stood_in_the_way_of(self):
        ours = self.open()

        def work(lease):
            ours.latch_create(f"{self.name} once {DAY}", 2)
        with self.assertRaises(redlocks.NotRecordedError) as raised:
            ours.once(self.name, DAY, work, life=LIFE)
        self.assertEqual(raised.exception.code, Code.E_HELD)
        self.assertEqual(raised.exception.result.arrivals, 2)

    def test_on_a_loop(self):
        ran = []

        async def program(client):
            async def work(lease):
                ran.append(lease.valid)
                return 42

            async def fail(lease):
                raise ZeroDivisionError
            with self.assertRaises(ZeroDivisionError):
                await client.once(self.name, DAY, fail, life=LIFE)
            first = await client.once(self.name, DAY, work, life=LIFE, wait=DEADLINE)
            second = await client.once(self.name, DAY, work, life=LIFE, wait=DEADLINE)
            self.assertEqual((first.ran, first.value, second.ran, second.value), (True, 42, False, None))
            self.assertEqual((second.by, second.at), (first.by, first.at))
            refused = await error_of(client.once(self.name, DAY, work, life=0))
            self.assertEqual(refused.code, Code.E_ARGUMENT)
            with self.assertRaises(TypeError):
                await client.once(self.name, DAY, None, life=LIFE, wait=DEADLINE)
            self.assertEqual((await error_of(client.once(self.name, "", work, life=1, wait=DEADLINE))).code,
                             Code.E_ARGUMENT)
        self.run_on_loop(program)
        self.assertEqual(ran, [True])

    def test_of_many_on_loops_one_does_it(self):
        ran = []

        async def program(client):
            async def work(lease):
                ran.append(lease.token)
                await asyncio.sleep(0)
            async with aio.Client(self.nodes, **PATIENT) as other:
                terms = {"life": LIFE, "ttl": 20, "wait": DEADLINE}
                done = await asyncio.gather(*(each.once(self.name, DAY, work, **terms)
                                              for each in [client, other] * 5))
            self.assertEqual(sum(one.ran for one in done), 1)
            self.assertEqual(len({(one.by, one.at) for one in done}), 1)
        self.run_on_loop(program)
        self.assertEqual(len(ran), 1)

    @on_loop
    async def test_a_loss_on_a_loop(self, client):
        async def is_cancelled(lease):
            self.take_away(self.name)
            await asyncio.sleep(DEADLINE)

        async def hides_it(lease):
            self.take_away(self.name)
            try:
                await lease.extend()
            except (redlocks.LostError, asyncio.CancelledError):
                pass
        lost = await error_of(client.once(self.name, DAY, is_cancelled, life=LIFE, ttl=6))
        self.assertIs(type(lost), redlocks.LostError)
        lost = await error_of(client.once(self.name, DAY, hides_it, life=LIFE, ttl=6, wait=DEADLINE))
        self.assertIs(type(lost), redlocks.NotRecordedError)
        self.assertFalse(lost.undecided)
        self.assertEqual(asyncio.current_task().cancelling(), 0)
        async with client.lock(self.name, wait=DEADLINE) as lease:
            self.assertFalse((await lease.once_look(DAY)).open)

    @on_loop
    async def test_a_call_about_a_lease_that_ends(self, client):
        lease = await client.acquire(self.name)
        look = asyncio.create_task(lease.once_look(DAY))
        await asyncio.sleep(0)
        lease.heed(id)
        await lease.release()
        if not look.done():
            self.assertEqual((await error_of(look)).code, Code.E_CANCELLED)
        self.assertEqual(lease._parts, [])
        self.assertEqual((await error_of(lease.once_look(DAY))).code, Code.E_STATE)
        self.assertRaises(redlocks.MisuseError, lease.heed, id)
        async with aio.Client(self.nodes, **PATIENT) as other:
            lease = await other.acquire(self.name, wait=DEADLINE)
            look = asyncio.create_task(lease.once_record(DAY, LIFE))
            await asyncio.sleep(0)
        self.assertIn((await error_of(look)).code, (Code.E_CANCELLED, Code.E_CLOSED))


class Wishes(Case):
    def test_the_holder_is_asked(self):
        ours, theirs = self.open(), self.open()
        self.assertIsNone(ours.ask(self.name, timeout=DEADLINE))
        with theirs.lock(self.name, ttl=20) as lease:
            asked = ours.ask(self.name, "a deployment", timeout=DEADLINE)
            self.assertEqual((asked.holder, asked.heard, asked.waiting), (lease.token, 0, 0))
            self.assertGreaterEqual(asked.told, 3)
            self.assertEqual(asked.masters, 5)
        for text in ("two\nlines", "x" * 201):
            self.assertEqual(self.code_of(redlocks.MisuseError, ours.ask, self.name, text), Code.E_ARGUMENT)
        self.assertEqual(self.code_of(redlocks.MisuseError, ours.ask, ""), Code.E_NAME)
        ours.close()
        self.assertEqual(self.code_of(redlocks.EndedError, ours.ask, self.name), Code.E_CLOSED)

    def test_a_thread_beside_the_main_one_asks(self):
        ours, told = self.open(), []
        with ours.lock(self.name, ttl=20):
            thread = threading.Thread(target=lambda: told.append(ours.ask(self.name, timeout=DEADLINE)))
            thread.start()
            thread.join(DEADLINE)
        self.assertEqual(len(told[0].holder) > 0, True)
        self.assertRaises(redlocks.MisuseError, ours.ask, self.name, "two\nlines")

    def test_ctrl_c_ends_the_question(self):
        ours = redlocks.Client("127.0.0.1:1, 127.0.0.1:2, 127.0.0.1:3", **PATIENT)
        self.addCleanup(ours.close)
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        self.assertRaises(KeyboardInterrupt, ours.ask, self.name)
        timer.join()

    def test_a_wish_is_heard_on_a_loop(self):
        heard = []

        async def program(client):
            async with aio.Client(self.nodes, **{**PATIENT, "label": "deploy"}) as other:
                self.assertIsNone(await other.ask(self.name))
                lease = await client.acquire(self.name, ttl=20)
                lease.heed(heard.append)
                until = asyncio.get_running_loop().time() + DEADLINE
                listens = False
                while not (heard and listens):  # the first wish may come too early
                    self.assertLess(asyncio.get_running_loop().time(), until)
                    listens = (await other.ask(self.name, "a deployment", timeout=DEADLINE)).heard > 0
                    await asyncio.sleep(0.01)
                self.assertEqual(heard[0], redlocks.Wish("deploy", "a deployment", 0))
                waits = asyncio.create_task(other.acquire(self.name, wait=DEADLINE))
                await becomes(lambda: "redlock_waiting 1\n" in other.metrics())
                await lease.release()
                await (await waits).release()
                self.assertEqual((await error_of(other.ask(self.name, "two\nlines"))).code, Code.E_ARGUMENT)
        self.run_on_loop(program)

    @on_loop
    async def test_what_cannot_be_heeded(self, client):
        async with client.lock(self.name, self.name + "2") as lease:
            self.assertRaises(redlocks.MisuseError, lease.heed, id)
            self.assertRaises(TypeError, lease.heed, None)

            async def hear(wish):
                """Nobody would await it."""
            self.assertRaises(TypeError, lease.heed, hear)


if __name__ == "__main__":
    unittest.main()
