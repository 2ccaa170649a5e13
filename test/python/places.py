"""Masters for the scenes: real ones, or with DOUBLE=1 those inside the process."""

import asyncio
import functools
import gc
import os
import sys
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOUBLE = os.environ.get("DOUBLE") == "1"
DEADLINE = 30.0
PATIENT = {"connect_timeout": 5, "request_timeout": 5}  # a busy machine must not look like slow masters

sys.path.insert(0, str(ROOT / "test/cli"))
from harness import Cluster, until  # noqa: E402

if DOUBLE:
    from redlocks import testing
import redlocks  # noqa: E402
from redlocks import aio  # noqa: E402


class Case(unittest.TestCase):
    """A name of its own for each test, and masters that are all there."""

    @classmethod
    def setUpClass(cls):
        if DOUBLE:
            cls.nodes = "memory://5"
            return
        cls.cluster = Cluster(5)
        cls.addClassCleanup(cls.cluster.stop)
        cls.nodes = cls.cluster.nodes

    def setUp(self):
        self.name = self.id().rsplit(".", 1)[1]
        self.addCleanup(gc.collect)

    def open(self, **options):
        client = redlocks.Client(self.nodes, **{**PATIENT, **options})
        self.addCleanup(client.close)
        client.ready(DEADLINE)
        return client

    def take_away(self, name):
        """As an operator breaks a lock."""
        if DOUBLE:
            testing.break_(name)
        else:
            self.cluster.each_cli("DEL", name)

    def lose(self, lease):
        """An extend finds that it is lost."""
        self.take_away(lease.names[0])
        self.code_of(redlocks.LostError, lease.extend)

    def code_of(self, kind, function, *arguments, **more):
        """Of the exception, which the function must raise."""
        with self.assertRaises(kind) as raised:
            function(*arguments, **more)
        self.assertTrue(str(raised.exception))
        return raised.exception.code

    def run_on_loop(self, program):
        """A coroutine function, which gets a client of the loop."""
        async def main():
            async with aio.Client(self.nodes, **PATIENT) as client:
                await client.ready(DEADLINE)
                return await asyncio.wait_for(program(client), 2 * DEADLINE)
        return asyncio.run(main())


def on_loop(test):
    """A test that is a coroutine, and gets a client of the loop."""
    @functools.wraps(test)
    def run(case):
        return case.run_on_loop(functools.partial(test, case))
    return run


async def becomes(condition):
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("not in time")
        await asyncio.sleep(0.005)


__all__ = ["Case", "DEADLINE", "DOUBLE", "PATIENT", "ROOT", "becomes", "on_loop", "until"]
