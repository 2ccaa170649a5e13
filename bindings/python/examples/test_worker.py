#!/usr/bin/env python3
"""Five tests of a program that takes a lock. They need no server and no time. Run this file, or pytest."""
import asyncio
import time

import redlocks.testing as testing  # before the first client is opened
from redlocks import FOREVER, Code, EventKind, LostError, UnavailableError
from redlocks.aio import Client

# ---- what is tested: a worker with a lock, and a store that it writes to ----


class Store:
    fence, value = 0, 0

    def write(self, fence, value):
        if fence < self.fence:
            return False
        self.fence, self.value = fence, value
        return True


class Worker:
    """It has the lock until `stop` is set, or the lock is lost."""

    def __init__(self):
        self.client = Client("memory://5")
        self.lease, self.heard, self.stop = None, None, asyncio.Event()

    def hear(self, event):
        if event.kind in (EventKind.AT_RISK, EventKind.LOST):
            self.heard = event

    @property
    def holds(self):
        return self.lease is not None

    async def work(self, wait=0):
        try:
            async with self.client.lock("report", ttl=10, wait=wait, fence=True, on_event=self.hear) as lease:
                self.lease = lease
                await self.stop.wait()
        finally:
            self.lease = None


# ---- the tests ----


async def lost_comes_in_time():
    """Three of five masters hang. The lease cannot be renewed, and LOST comes while it is still valid: the
    margin, of ttl/20, before its end."""
    worker = Worker()
    work = asyncio.create_task(worker.work())
    await testing.settle()
    assert worker.holds
    assert worker.lease.valid_for == 9.898
    began = testing.now()
    for master in range(3):
        testing.hang(master)
    await asyncio.sleep(worker.lease.valid_for - 0.5 - 0.001)
    assert worker.holds and worker.heard.kind == EventKind.AT_RISK
    try:
        await work
    except LostError as error:
        assert error.code == Code.E_EXPIRED
    assert worker.heard.kind == EventKind.LOST and worker.heard.valid_for == 0.5 and not worker.holds
    assert round(testing.now() - began, 3) == 9.398


async def late_write_is_refused():
    """A holder that does not know yet that it has lost the lock writes late."""
    former, following, store = Worker(), Worker(), Store()
    work = asyncio.create_task(former.work())
    await testing.settle()
    assert former.holds
    asyncio.create_task(following.work(wait=FOREVER))
    assert store.write(former.lease.fence, 1)
    await testing.settle()
    testing.break_("report")
    await testing.settle()
    assert former.holds and following.holds
    assert store.write(following.lease.fence, 2)
    assert not store.write(former.lease.fence, 3)
    assert store.value == 2
    try:
        await work
    except LostError as error:
        assert error.code == Code.E_GONE
    assert following.holds and not former.holds


async def waiter_gets_its_turn():
    """Another holder has the lock for a while."""
    worker = Worker()
    testing.hold("report", ttl=60)
    asyncio.create_task(worker.work(wait=FOREVER))
    await testing.settle()
    testing.advance(30)
    assert not worker.holds
    testing.give("report")
    await testing.settle()
    assert worker.holds


async def quorum_is_gone():
    """Two of five masters may be away, and three may not."""
    first, second = Worker(), Worker()
    testing.kill(0)
    testing.kill(1)
    asyncio.create_task(first.work())
    await testing.settle()
    assert first.holds
    first.stop.set()
    await testing.settle()
    assert not first.holds
    testing.kill(2)
    try:
        await second.work()
        raise AssertionError("it has the lock")
    except UnavailableError as error:
        assert error.code == Code.E_UNAVAILABLE


async def restarted_masters_abstain():
    """All masters start again with nothing. They give no lock away until each lease that they may have
    forgotten is over: max_ttl, and the time that clocks may differ."""
    former, following = Worker(), Worker()
    work = asyncio.create_task(former.work())
    await testing.settle()
    assert former.holds
    for master in range(5):
        testing.restart(master, with_data=False)
    await asyncio.sleep(1)
    try:
        await following.work()
        raise AssertionError("it has the lock")
    except UnavailableError:
        pass
    await asyncio.gather(work, return_exceptions=True)
    testing.advance(35)
    asyncio.create_task(following.work())
    await testing.settle()
    assert following.holds and not former.holds


TESTS = [lost_comes_in_time, late_write_is_refused, waiter_gets_its_turn, quorum_is_gone,
         restarted_masters_abstain]


def test_all():
    for test in TESTS:
        testing.run(test())


if __name__ == "__main__":
    began = time.process_time()
    test_all()
    print(f"all five are right, after {1000 * (time.process_time() - began):.0f} ms of a processor")
