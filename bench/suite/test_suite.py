"""Tests what the suite prints and draws, without measuring: python3 bench/suite/test_suite.py"""
import unittest

import machine
import plots
import table
from figures import Row


class Pictures(unittest.TestCase):
    def test_a_client_has_one_colour(self):
        here = plots.styles(["redlock", "floor, hiredis async", "node-redlock, default"])
        there = plots.styles(["node-redlock, one frozen", "redlock, one dead", "redlock, one frozen"])
        self.assertEqual(here[0][0], there[1][0])
        self.assertEqual(here[2][0], there[0][0])
        self.assertEqual(len({colour for colour, _ in here}), 3)

    def test_its_rows_differ_by_their_dashes(self):
        (colour, dashes), (same, others) = plots.styles(["redlock, one dead", "redlock, one frozen"])
        self.assertEqual(colour, same)
        self.assertNotEqual(dashes, others)


class Table(unittest.TestCase):
    def heads(self, **more):
        slices = [{"pairs": 10, "pairs_per_s": 10, "cpu_us_per_pair": 1, **more}]
        return table.lines([Row("group", "name", slices)])[0]

    def test_masters_are_told_where_they_were_measured(self):
        self.assertIn("masters", self.heads(masters_us_per_pair=2.5))
        self.assertNotIn("masters", self.heads())


class Machine(unittest.TestCase):
    def test_one_that_others_use_is_warned_of(self):
        for before, after, warned in ((0.02, 0.05, False), (0.4, 0.0, True), (0.0, 0.2, True)):
            with self.subTest(before=before, after=after):
                said = machine.warning({"busy_before": before, "busy_after": after})
                self.assertEqual("WARNING: others used" in said, warned)

    def test_how_busy(self):
        self.assertTrue(0 <= machine.busy(0.05) <= 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
