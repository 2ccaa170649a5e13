"""redlocks.aio.Client: leases on a loop of asyncio."""

import asyncio
import gc
import os
import threading
import unittest
import unittest.mock

from places import DEADLINE, PATIENT, Case, becomes, on_loop

import redlocks
from redlocks import FOREVER, Code, EventKind, aio


async def code_of(kind, awaitable):
    try:
        await awaitable
    except kind as error:
        return error.code
    raise AssertionError("nothing was raised")


class Leases(Case):
    @on_loop
    async def test_a_lock_for_a_step(self, client):
        async with client.lock(self.name, ttl=10, fence=True) as lease:
            self.assertGreater(lease.valid_for, 1)
            self.assertGreater(lease.fence, 0)
            self.assertTrue(lease.token)
            self.assertIsNone(await client.try_acquire(self.name))
            await lease.extend(20)
            self.assertGreater(lease.valid_for, 10)
        self.assertFalse(lease.valid)
        async with client.lock(self.name, wait=DEADLINE) as again:
            self.assertNotEqual(again.token, lease.token)

    def test_a_loss_cancels_the_block(self):
        heard = []

        async def program(client):
            with self.assertRaises(redlocks.LostError) as raised:
                async with client.lock(self.name, ttl=6, on_event=heard.append):
                    self.take_away(self.name)
                    await asyncio.sleep(DEADLINE)
            self.assertEqual(raised.exception.code, Code.E_GONE)
            self.assertEqual(asyncio.current_task().cancelling(), 0)
            await asyncio.sleep(0)
            self.assertEqual([event.kind for event in heard][-2:], [EventKind.LOST, EventKind.RELEASED])
        self.run_on_loop(program)

    async def lose_here(self, client, lease):
        self.take_away(lease.names[0])
        return await code_of(redlocks.LostError, lease.extend())

    @on_loop
    async def test_a_loss_waits_for_no_one(self, client):
        lease = await client.acquire(self.name)
        told = asyncio.create_task(lease.lost())
        self.assertEqual(await self.lose_here(client, lease), Code.E_GONE)
        self.assertEqual((await told).code, Code.E_GONE)
        with self.assertRaises(redlocks.LostError):
            lease.check()
        self.assertEqual(await code_of(redlocks.LostError, lease.release()), Code.E_GONE)
        other = await client.acquire(self.name, wait=DEADLINE)
        told = asyncio.create_task(other.lost())
        await other.release()
        self.assertIsNone(await told)

    def test_an_error_of_the_block_goes_before_a_loss(self):
        async def program(client):
            with self.assertRaises(KeyError):
                async with client.lock(self.name) as lease:
                    try:
                        await self.lose_here(client, lease)
                        await asyncio.sleep(DEADLINE)
                    except asyncio.CancelledError:
                        raise KeyError from None
            with self.assertRaises(redlocks.LostError):
                async with client.lock(self.name, wait=DEADLINE) as lease:
                    await asyncio.shield(asyncio.ensure_future(self.lose_here(client, lease)))
            await asyncio.sleep(0.01)  # no cancel is left over
        with self.assertLogs("redlocks", "WARNING"):
            self.run_on_loop(program)

    @on_loop
    async def test_a_cancel_of_somebody_else_stays_one(self, client):
        async def work():
            async with client.lock(self.name):
                await asyncio.sleep(DEADLINE)
        task = asyncio.create_task(work())
        while client.metrics().count("redlock_held 1\n") == 0:
            await asyncio.sleep(0.001)
        task.cancel()
        self.assertTrue((await asyncio.gather(task, return_exceptions=True))[0].__class__
                        is asyncio.CancelledError)
        await (await client.acquire(self.name, wait=DEADLINE)).release()

    @on_loop
    async def test_a_cancel_in_the_moment_of_a_loss_stays_one(self, client):
        async def work():
            async with client.lock(self.name) as lease:
                asyncio.get_running_loop().call_soon(asyncio.current_task().cancel)
                lease._hear(redlocks.Event(EventKind.LOST, Code.E_GONE, "", 0, 0, 0, 0, 3, 5))
        ended, = await asyncio.gather(asyncio.create_task(work()), return_exceptions=True)
        self.assertIs(type(ended), asyncio.CancelledError)
        await (await client.acquire(self.name, wait=DEADLINE)).release()

    @on_loop
    async def test_a_wait_that_is_cancelled_leaves_nothing(self, client):
        held = await client.acquire(self.name)
        try:
            await asyncio.wait_for(client.acquire(self.name, wait=FOREVER), 0.05)
        except asyncio.TimeoutError as error:
            kept = error
        self.assertTrue(kept.__traceback__)
        await becomes(lambda: "redlock_waiting 0\n" in client.metrics())
        await held.release()
        await (await client.acquire(self.name, wait=DEADLINE)).release()

    def test_waiters_take_turns(self):
        counted = [0]

        async def program(client):
            async def count():
                for _ in range(5):
                    async with client.lock(self.name, wait=FOREVER):
                        before = counted[0]
                        await asyncio.sleep(0)
                        counted[0] = before + 1
            await asyncio.gather(*(count() for _ in range(8)))
        self.run_on_loop(program)
        self.assertEqual(counted, [40])

    @on_loop
    async def test_a_block_does_not_begin_without_the_lease(self, client):
        lost = await client.acquire(self.name)
        await self.lose_here(client, lost)
        released = await client.acquire(self.name + "2")
        await released.release()
        for lease in (lost, released):
            with self.assertRaises(redlocks.LostError):
                async with lease:
                    self.fail("it has begun")

    @on_loop
    async def test_a_generator_is_ended_by_the_loop(self, client):
        lock = client.lock(self.name, wait=DEADLINE)

        async def steps():
            async with lock:
                yield
        async for _ in steps():
            break
        gc.collect()
        async with lock:
            pass

    @on_loop
    async def test_tasks_share_a_lock(self, client):
        lock, seen, first_is_out = client.lock(self.name, permits=2), [], asyncio.Event()

        async def second():
            async with lock as lease:
                seen.append(lease)
                await first_is_out.wait()
                seen.append(lease.valid)
        async with lock as first:
            task = asyncio.create_task(second())
            await becomes(lambda: seen)
        self.assertFalse(first.valid)
        first_is_out.set()
        await task
        self.assertEqual((seen[1], seen[0].valid), (True, False))

    @on_loop
    async def test_readers_and_permits(self, client):
        async with aio.Client(self.nodes, **PATIENT) as other:
            await other.ready(DEADLINE)
            one = await client.acquire(self.name, shared=True)
            two = await other.acquire(self.name, shared=True, wait=DEADLINE)
            self.assertEqual(one.exclusive_for, 0)
            self.assertEqual(await code_of(redlocks.HeldError, one.upgrade()), Code.E_HELD)
            await two.release()
            while not one.exclusive_for:
                await asyncio.gather(one.upgrade(), return_exceptions=True)
            await one.downgrade()
            self.assertEqual(one.exclusive_for, 0)
            await one.release()
            pool = self.name + "-pool"
            permits = [await each.acquire(pool, permits=2) for each in (client, other)]
            self.assertEqual(sorted(permit.slot for permit in permits), [0, 1])
            for permit in permits:
                await permit.release()


class Ends(Case):
    def test_masters_that_are_not_there(self):
        async def program():
            async with aio.Client("127.0.0.1:1, 127.0.0.1:2, 127.0.0.1:3") as client:
                self.assertEqual(await code_of(redlocks.UnavailableError, client.ready()), Code.E_UNAVAILABLE)
                with self.assertRaises(redlocks.UnavailableError) as raised:
                    await client.acquire(self.name)
                self.assertIn("127.0.0.1:1", raised.exception.votes)
        asyncio.run(program())
        self.assertRaises(RuntimeError, aio.Client, self.nodes)

    @on_loop
    async def test_what_is_used_after_its_end(self, client):
        lease, other = await client.acquire(self.name), await client.acquire(self.name + "2", fence=True)
        await lease.release()
        fence = other.fence
        for call in (lease.release, lease.extend, lease.upgrade):
            self.assertEqual(await code_of(redlocks.MisuseError, call()), Code.E_STATE)
        self.assertEqual([await client.close(DEADLINE), await client.close()], [0, 0])
        self.assertEqual((other.valid, other.valid_for, other.fence), (False, 0, fence))
        for call in (other.release(), other.extend(), client.acquire(self.name),
                     client.arrive(self.name, 1), client.latch_count(self.name)):
            self.assertEqual(await code_of(redlocks.EndedError, call), Code.E_CLOSED)

    def test_a_close_ends_a_wait(self):
        async def observe(ours):
            async for _ in ours.observe(self.name):
                pass

        async def program(client):
            async with aio.Client(self.nodes, **PATIENT) as ours:
                held = await client.acquire(self.name)
                waits = [asyncio.create_task(ours.acquire(self.name, wait=FOREVER)),
                         asyncio.create_task(ours.arrive(self.name, 2)), asyncio.create_task(observe(ours))]
                await becomes(lambda: "redlock_waiting 1\n" in ours.metrics())
                await ours.close()
                for error in await asyncio.gather(*waits, return_exceptions=True):
                    self.assertEqual(error.code, Code.E_CLOSED)
                await held.release()
        self.run_on_loop(program)

    def test_another_loop_is_refused(self):
        left = []

        async def leave():
            left.append(aio.Client(self.nodes, **PATIENT))
            left.append(await left[0].acquire(self.name))

        async def use():
            client, lease = left
            for call in (lease.release, lease.extend, client.close, client.ready):
                self.assertEqual(await code_of(redlocks.MisuseError, call()), Code.E_STATE)
        asyncio.run(leave())
        asyncio.run(use())
        self.assertTrue(aio._run_out(left[0]))

    @on_loop
    async def test_another_thread_is_refused(self, client):
        lease, said = await client.acquire(self.name), []

        def use():
            said.append(lease.valid_for)
            try:
                client.metrics()
            except redlocks.MisuseError as error:
                said.append(error.code)
        thread = threading.Thread(target=use)
        thread.start()
        thread.join(DEADLINE)
        self.assertEqual(said, [0, Code.E_STATE])
        self.assertTrue(lease.valid)
        await lease.release()

    @on_loop
    async def test_a_lease_that_is_forgotten_is_given_back_with_a_warning(self, client):
        lease = await client.acquire(self.name)
        with self.assertWarnsRegex(ResourceWarning, self.name):
            del lease
            gc.collect()
        await (await client.acquire(self.name, wait=DEADLINE)).release()

    def test_a_callback_that_raises_is_the_loops(self):
        said = []

        async def program(client):
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(lambda _, what: said.append(what["exception"]))

            def raises(event):
                raise ZeroDivisionError
            async with client.lock(self.name, on_event=raises):
                await asyncio.sleep(0)
        self.run_on_loop(program)
        self.assertEqual([type(error) for error in said], [ZeroDivisionError] * 2)

    def test_ctrl_c_in_a_callback_of_the_library(self):
        async def program(client):
            await client.acquire(self.name)
        with unittest.mock.patch("redlocks.aio.event_of", side_effect=KeyboardInterrupt):
            self.assertRaises(KeyboardInterrupt, self.run_on_loop, program)

    @on_loop
    async def test_a_fork(self, client):
        lease = await client.acquire(self.name)
        child = os.fork()
        if not child:
            status = 1
            try:
                assert not lease.valid
                for call in (client.metrics, lambda: client._use()):
                    self.code_of(redlocks.ForkedError, call)
                del lease
                gc.collect()
                status = 0
            finally:
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertTrue(lease.valid)
        await lease.release()


class Recipes(Case):
    @on_loop
    async def test_a_leader(self, client):
        seen = []

        async def look():
            async for leader in client.observe(self.name):
                seen.append((leader.term, leader.value))
        watch = asyncio.create_task(look())
        await becomes(lambda: seen == [(0, b"")])
        async with await client.lead(self.name, "blue") as lease:
            await lease.announce(b"green")
            await becomes(lambda: seen[-1] == (lease.fence, b"green"))
            first, second = await asyncio.gather(lease.announce("a"), lease.announce("b"),
                                                 return_exceptions=True)
            self.assertEqual((first.code, second), (Code.E_CANCELLED, None))
            ended, _ = await asyncio.gather(lease.announce("c"), lease.downgrade(),
                                            return_exceptions=True)
            self.assertEqual(ended.code, Code.E_CANCELLED)
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)

    @on_loop
    async def test_a_barrier_and_a_latch(self, client):
        passed = await asyncio.gather(*(client.arrive(self.name, 3) for _ in range(3)))
        self.assertEqual([passage.arrived for passage in passed], [3, 3, 3])
        alone = client.arrive(self.name, 2, 1, timeout=0.05)
        self.assertEqual(await code_of(redlocks.ContendedError, alone), Code.E_NOT_PASSED)
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(client.arrive(self.name, 2, 2), 0.05)
        alone = client.arrive(self.name, 2, 2, timeout=0.05)  # the other one has left
        self.assertEqual(await code_of(redlocks.ContendedError, alone), Code.E_NOT_PASSED)
        await client.latch_create(self.name, 1)
        with self.assertRaisesRegex(redlocks.HeldError, "^the name has another latch$"):
            await client.latch_create(self.name, 1)
        wait = asyncio.create_task(client.latch_wait(self.name))
        self.assertEqual((await client.latch_arrive(self.name, "one")).arrival, "one")
        self.assertTrue((await wait).open)
        self.assertTrue((await client.latch_count(self.name)).open)


if __name__ == "__main__":
    unittest.main()
