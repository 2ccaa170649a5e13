"""Real masters that die and start again; those inside the process have the same in the five tests."""

import asyncio
import unittest

from places import DEADLINE, Case, Cluster, until

import redlocks
from redlocks import Code, EventKind


class Masters(Case):
    def setUp(self):
        super().setUp()
        self.cluster, self.options = Cluster(5), {"max_ttl": 5}
        self.addCleanup(self.cluster.stop)
        self.nodes = self.cluster.nodes

    @classmethod
    def setUpClass(cls):
        """Each test has masters of its own."""

    def test_a_quorum_is_gone_and_masters_that_come_back_abstain(self):
        ours, heard = self.open(**self.options), []
        lease = ours.acquire(self.name, ttl=5, on_event=heard.append)
        self.cluster.kill(1, 2)
        lease.extend()
        self.cluster.kill(3)
        until(lambda: [event.kind for event in heard][-1:] == [EventKind.LOST], "it is lost")
        self.assertEqual((heard[-1].code, lease.valid), (Code.E_EXPIRED, False))
        self.assertEqual(self.code_of(redlocks.LostError, lease.check), Code.E_EXPIRED)
        self.code_of(redlocks.UnavailableError, ours.acquire, self.name, ttl=5)
        self.cluster.restart(1, 2, 3, 4, 5)

        def abstain():
            with self.assertRaises(redlocks.UnavailableError) as raised:
                ours.acquire(self.name, ttl=5)
            return raised.exception.votes.count("abstains") >= 3
        until(abstain, "the masters have no vote")

    def test_a_loss_cancels_the_block_while_the_lease_is_valid(self):
        heard = []

        async def program(client):
            async with client.lock(self.name, ttl=5, margin=1, on_event=heard.append):
                self.cluster.kill(1, 2, 3)
                await asyncio.sleep(DEADLINE)
        with self.assertRaises(redlocks.LostError) as raised:
            self.run_on_loop(program)
        self.assertEqual(raised.exception.code, Code.E_EXPIRED)
        lost = next(event for event in heard if event.kind == EventKind.LOST)
        self.assertGreater(lost.valid_for, 0)


if __name__ == "__main__":
    unittest.main()
