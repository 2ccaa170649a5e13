"""redlocks.testing: virtual time, to the millisecond."""

import asyncio
import unittest

from redlocks import LostError, MisuseError, testing
from redlocks.aio import Client

import redlocks


class Virtual(unittest.TestCase):
    def lost_at(self, **terms):
        """The time from ACQUIRED to LOST, and the validity left, in ms, where no master answers."""
        heard = []

        async def program():
            async with Client("memory://5", max_ttl=60) as client:
                try:
                    async with client.lock("report", on_event=lambda event: heard.append(event), **terms):
                        for master in range(5):
                            testing.hang(master)
                        await asyncio.sleep(100)
                except LostError:
                    return testing.now()
        now = testing.run(program())
        lost = next(event for event in heard if event.kind == redlocks.EventKind.LOST)
        return round(1000 * now), round(1000 * lost.valid_for)

    def test_lost_comes_at_the_millisecond(self):
        """The validity is the ttl, less 1 % and 2 ms; the margin is ttl/20, from 10 ms to ttl/4."""
        for terms, margin in (({"ttl": 10}, 500), ({"ttl": 1}, 50), ({"ttl": 0.1}, 10), ({"ttl": 60}, 3000),
                              ({"ttl": 10, "margin": 0}, 0), ({"ttl": 10, "margin": 2.5}, 2500)):
            with self.subTest(terms):
                ttl = round(terms["ttl"] * 1000)
                self.assertEqual(self.lost_at(**terms), (ttl - ttl // 100 - 2 - margin, margin))

    def test_a_sleep_ends_at_its_millisecond(self):
        async def program():
            for duration in (0.001, 0.25, 7):
                began = testing.now()
                await asyncio.sleep(duration)
                self.assertAlmostEqual(testing.now() - began, duration)
        testing.run(program())

    def test_a_client_of_threads_in_virtual_time(self):
        testing.begin(virtual=True)
        with redlocks.Client("memory://5") as client:
            testing.hold("taken", 20)
            with self.assertRaises(redlocks.HeldError):
                client.acquire("taken", wait=5)
            self.assertEqual(testing.now(), 5)
            with client.lock("taken", wait=60):
                self.assertEqual(round(testing.now()), 20)
            with self.assertRaises(redlocks.ContendedError):
                client.arrive("nobody", 2, timeout=7)
            client.latch_create("latch", 1)
            with self.assertRaises(redlocks.ContendedError):
                client.latch_wait("latch", timeout=7)
            self.assertEqual(round(testing.now()), 34)

    async def record_and_release(self):
        """Another task gives the lease back while the record is under way."""
        releases = []

        async def work(lease):
            for master in range(5):
                testing.hang(master)
            releases.append(asyncio.create_task(lease.release()))
        async with Client("memory://5") as client:
            with self.assertRaises(redlocks.NotRecordedError) as raised:
                await client.once("report", "today", work, life=60, ttl=10)
            await asyncio.gather(*releases, return_exceptions=True)
        self.assertIsInstance(raised.exception.__cause__, redlocks.EndedError)
        return raised.exception

    def test_a_record_that_no_quorum_answers_for(self):
        """The work is done, and the masters are gone before the record: it is not known to be there."""
        async def program():
            async def work(lease):
                for master in range(5):
                    testing.hang(master)
            async with Client("memory://5") as client:
                with self.assertRaises(redlocks.NotRecordedError) as raised:
                    await client.once("report", "today", work, life=60, ttl=10)
                self.assertIsInstance(raised.exception.__cause__, LostError)
                self.assertEqual(round(testing.now()), 9)  # at LOST, as a block ends
                return raised.exception
        error = testing.run(program())
        self.assertEqual((error.code, error.undecided), (redlocks.Code.E_EXPIRED, True))
        self.assertIn("may be recorded or not", str(error))

        self.assertTrue(testing.run(self.record_and_release()).undecided)

        testing.begin(virtual=True)
        with redlocks.Client("memory://5") as client:
            with self.assertRaises(redlocks.NotRecordedError) as raised:
                client.once("report", "today", lambda _: [testing.hang(i) for i in range(5)], life=60, ttl=10)
            self.assertFalse(raised.exception.result.open)
            for master in range(5):
                testing.hang(master, False)

    def test_what_is_refused(self):
        testing.begin(virtual=True)
        self.assertRaises(MisuseError, testing.kill, 99)
        self.assertRaises(MisuseError, testing.give, "nobody has it")

        async def never():
            await asyncio.get_running_loop().create_future()
        self.assertRaisesRegex(RuntimeError, "nothing has happened", testing.run, never())


if __name__ == "__main__":
    unittest.main()
