"""run --permits: at most K commands at once, each with a slot of its own, and how status shows them."""

import itertools
import os
import re
import subprocess
import time
import unittest
from pathlib import Path

from harness import REDLOCK, Case, ClusterCase, until

EXAMPLE = str(Path(REDLOCK).with_name("example_pool"))

LOADED = ((8, 6), (4, 6))  # K, and how many loops with it
TIMES = 15                 # of each loop

# $0 the folder, $1 K, $2 the name.  A slot's folder shows an overlap for certain.
LOOP = """
i=0
while [ $i -lt %d ]; do
    i=$((i + 1))
    "$REDLOCK" run --permits $1 --ttl 5s --wait forever "$2" -- sh -c '
        [ "$REDLOCK_SLOT" -lt $1 ] || exit 3
        mkdir "$0/$REDLOCK_SLOT" || exit 4
        echo "$REDLOCK_SLOT" >> "$0.slots"
        sleep 0.01
        rmdir "$0/$REDLOCK_SLOT"' "$0" $1 || exit
done
""" % TIMES

HOLD = """
echo "$REDLOCK_SLOT $REDLOCK_FENCE" > "$0.new"
mv "$0.new" "$0"
exec cat
"""


class Usage(Case):
    patience = ()

    def refused(self, *arguments, says):
        told = self.redlock(*arguments, "--nodes", "redis://127.0.0.1:1", "a", "--", "true", status=64)
        self.assertIn(says, told.err)

    def test_bad_numbers(self):
        for wrong in ("0", "-1", "x", "", "4x", "1.5", "1025", "99999999999999999999"):
            self.refused("run", "--permits", wrong,
                         says=f"'{wrong}' is not a number of permits from 1 to 1024")
        self.refused("run", "--permits=", says="'' is not a number of permits")

    def test_what_it_goes_without(self):
        self.refused("run", "--permits", "4", "b", says="--permits takes one name, not 2")
        for shared in "--shared", "--shared=b":
            self.refused("run", "--permits", "4", shared, says="--permits and --shared exclude each other")

    def test_by_hand_there_are_none(self):
        for command in "lock", "extend", "unlock":
            told = self.redlock(command, "--permits", "4", "a", status=64).err
            self.assertIn(f"`redlock {command}` takes no --permits", told)
            self.assertIn("use `redlock run --permits K NAME -- COMMAND`", told)
        self.assertIn("takes no --permits", self.redlock("status", "--permits", "4", "a", status=64).err)


class Holder:
    """A command that has a permit until `end()`."""

    numbers = itertools.count()

    def __init__(self, case, permits, *options, label=None):
        self.case, number = case, next(self.numbers)
        self.told = case.tmp / f"slot-{number}"
        self.label = label or f"holder-{number}"
        self.process = case.spawn(
            "run", "--permits", str(permits), "--kill-after", "500ms", "--label", self.label,
            "--ttl", "20s", "--wait", "60s", *options, case.name, "--", "sh", "-c", HOLD, str(self.told),
            stdin=subprocess.PIPE)

    def has_begun(self):
        if self.process.poll() is not None and not self.told.exists():
            raise AssertionError(f"{self.label} ended: {self.process.stderr.read()}")
        return self.told.exists()

    @property
    def facts(self):
        until(self.has_begun, f"{self.label} has a permit")
        return [int(word) for word in self.told.read_text().split()]

    @property
    def slot(self):
        return self.facts[0]

    def end(self, status=0):
        return self.case.let_end(self.process, status)


class Permits(ClusterCase):
    def hold(self, count, permits, *options):
        """That many holders, in the order of their slots."""
        holders = [Holder(self, permits, *options) for _ in range(count)]
        return sorted(holders, key=lambda holder: holder.slot)

    def try_once(self, permits, *options, status):
        return self.redlock("run", "--permits", str(permits), *options, self.name, "--",
                            "sh", "-c", 'echo "$REDLOCK_SLOT"', status=status)

    def until_status(self, **facts):
        until(lambda: facts.items() <= self.found().items(), f"status says {facts}")

    def until_text(self, pattern):
        until(lambda: re.search(pattern, self.redlock("status", self.name, status=0).out),
              f"status says {pattern}")

    @staticmethod
    def end_all(*holders):
        for holder in holders:
            holder.end()

    def test_the_environment(self):
        self.assertEqual(self.try_once(1, status=0).out, "0\n")
        for arguments in (), ("run", "--permits", "3", "outer", "--", REDLOCK, *self.patience):
            told = self.redlock(*arguments, "run", self.name, "--", "env", status=0,
                                env=self.env(REDLOCK_SLOT="7"))
            self.assertNotIn("REDLOCK_SLOT", told.out)

    def test_each_has_a_slot_of_its_own(self):
        holders = self.hold(4, 4)
        self.assertEqual([holder.slot for holder in holders], [0, 1, 2, 3])
        refused = self.try_once(4, status=75).err
        self.assertIn("  (of one slot) none of the 4 permits is free, or others came first\n", refused)
        fifth = Holder(self, 4)
        self.until_status(waiting=1)
        holders[2].end()
        self.assertEqual(fifth.slot, 2)
        self.end_all(fifth, holders[0], holders[1], holders[3])
        self.until_status(state="free", permits=0, out=0)

    def test_the_name_itself_is_another_lock(self):
        holder, = self.hold(1, 1)
        token = self.lock_on_all("--ttl", "20s", self.name)
        self.assert_held(self.name, token)
        self.cluster.cli(1, "DEL", self.name)  # a master that was too late to be locked
        self.assertEqual([self.found()[key] for key in ("state", "token", "permits", "out")],
                         ["held", token, 0, 0])
        self.assertNotIn("has a permit", self.redlock("status", self.name, status=0).out)
        self.try_once(2, status=0)
        self.unlock(token)
        self.until_status(state="permits", out=1)
        holder.end()

    def test_fewer_permits_than_are_out(self):
        """A client with a smaller K takes slots below its own, however many are free beyond."""
        holders = self.hold(8, 8)
        self.assertEqual([holder.slot for holder in holders], list(range(8)))
        self.end_all(*holders[4:])
        self.try_once(4, status=75)
        self.until_status(permits=8, out=4)
        self.assertIn(int(self.try_once(8, status=0).out), range(4, 8))
        waiter = Holder(self, 4)
        self.until_status(waiting=1)
        holders[1].end()
        self.assertEqual(waiter.slot, 1)
        self.end_all(waiter, holders[0], *holders[2:4])

    def test_different_numbers_under_load(self):
        places = self.tmp / "slots"
        places.mkdir()
        loops = [self.program("sh", "-c", LOOP, str(places), str(permits), self.name)
                 for permits, count in LOADED for _ in range(count)]
        for loop in loops:
            _, told = loop.communicate(timeout=180)
            self.assertEqual(loop.returncode, 0, told)
        slots = Path(f"{places}.slots").read_text().split()
        self.assertEqual(len(slots), TIMES * len(loops))
        self.assertTrue({int(slot) for slot in slots} <= set(range(8)))
        self.assertEqual(list(places.iterdir()), [])

    def test_at_least(self):
        begin = time.monotonic()
        slots = {self.try_once(2, "--ttl", "20s", "--at-least", "20s", status=0).out for _ in range(2)}
        self.assertEqual(slots, {"0\n", "1\n"})
        refused = self.try_once(2, status=75)
        self.assertLess(time.monotonic() - begin, 19, refused.err)
        self.until_status(state="permits", permits=2, out=2)

    def test_events(self):
        done = self.redlock("run", "--json", "--fence", "--permits", "3", self.name, "--", "sh", "-c",
                            'echo "$REDLOCK_SLOT $REDLOCK_FENCE"', status=0)
        acquired, = done.events("acquired")
        slot, fence = map(int, done.out.split())
        self.assertEqual((acquired["slot"], acquired["fence"]), (slot, fence))
        self.assertTrue(acquired["text"].endswith(f", fence {fence}, slot {slot}"), acquired["text"])
        self.assertEqual(done.events("released")[0]["slot"], slot)
        told = self.redlock("run", "--json", self.name, "--", "true", status=0)
        self.assertFalse([line for line in told.json_lines if "slot" in line])

    def test_status(self):
        holders = self.hold(2, 4)
        self.until_status(state="permits", holder="redlock:permits", token=None, permits=4, out=2,
                          reading=0, waiting=0)
        told = self.found()
        self.assertEqual({it["token"] for it in told["votes"]}, {None})
        self.assertRegex(told["text"],
                         r"^2 of 4 permits are out on \d of 5 masters, the first with ttl \d+\.\d s "
                         "unless renewed")
        labels = [holder.label for holder in holders]
        self.assertEqual([it["label"] for it in told["holders"]], labels)
        self.until_text(rf"^{self.name}: 2 of 4 permits, first {labels[0]}, on \d of 5 masters, "
                        rf"ttl \d+\.\d s\n  2 have permits: {labels[0]}, {labels[1]}\n"
                        r"(.*\n)*  \S+  held +\d+\.\d s +2 of 4 permits\n")
        holders[0].end()
        self.until_text(rf"^{self.name}: 1 of 4 permits, first {labels[1]}, on \d of 5 masters, .*\n"
                        rf"  1 has a permit: {labels[1]}\n")
        holders[1].end()
        self.until_status(state="free", permits=0, out=0, holders=[])

    def facts_of_all(self):
        """The output of status once all masters have answered."""
        def told():
            it = self.found()
            return it["answered"] == self.masters and it
        it = until(told, "all masters have answered in time")
        return it["state"], it["permits"], it["out"], [holder["label"] for holder in it["holders"]]

    def test_status_says_what_a_quorum_says(self):
        """A slot of one master, and a slot that two have forgotten."""
        holder, = self.hold(1, 4)
        free = (holder.slot + 1) % 4
        until(lambda: self.cluster.values(f"redlock:permit:{holder.slot}:{self.name}").count("") == 0,
              "all masters have granted the slot")
        self.cluster.cli(1, "SET", f"redlock:permit:{free}:{self.name}", "x", "PX", "20000")
        self.assertEqual(self.facts_of_all(), ("permits", 4, 1, [holder.label]))
        self.cluster.cli(2, "DEL", f"redlock:permits:{self.name}")
        self.assertEqual(self.facts_of_all(), ("permits", 4, 1, [holder.label]))
        holder.end()
        self.cluster.cli(1, "DEL", f"redlock:permit:{free}:{self.name}")

    def test_who_waits_is_told_how_many_are_out(self):
        holders = self.hold(2, 2)
        waiter, told = self.told_while("run", "-v", "--permits", "2", "--kill-after", "500ms", "--label",
                                       "late", "--wait", "forever", self.name, "--", "true")
        until(lambda: "waiting: 2 of 2 permits out, we are next" in told(), "it says so")
        self.until_status(waiting=1, out=2)
        self.until_text(r"\n  1 waits: late\n")
        self.end_all(*holders)
        self.finish(waiter, 0)
        self.assertRegex(told(), r"acquired, valid for \d+ ms, slot [01]\n")

    @unittest.skipUnless(os.path.exists(EXAMPLE), "the examples are not built")
    def test_the_example(self):
        nodes = self.env(REDLOCK_NODES=self.cluster.nodes)
        for worker in [self.program(EXAMPLE, env=nodes) for _ in range(6)]:
            out = self.finish(worker, 0).out
            number = int(re.match(r"worker ([0-3]) of 4: ", out)[1])
            self.assertEqual(out, "".join(f"worker {number} of 4: piece {piece}\n"
                                          for piece in range(number, 12, 4)))
