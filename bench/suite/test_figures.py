"""Tests the sums of slices: python3 bench/suite/test_figures.py"""
import types
import unittest

import table
from figures import Row, merge, quantile, ratio, spread, together
from suite import Suite


def slices(*rates, **more):
    return [{"pairs": int(rate), "pairs_per_s": rate, **more} for rate in rates]


def row(*rates, **more):
    return Row("group", "name", slices(*rates, **more))


class Sums(unittest.TestCase):
    def test_a_spread_is_half_the_distance_of_the_quartiles_by_the_median(self):
        self.assertAlmostEqual(spread([8, 9, 10, 11, 12, 13, 7, 10]), (12 - 9) / 2 / 10)
        self.assertEqual(spread([10, 10, 10, 10, 10, 10, 10, 1000]), 0)
        self.assertEqual((spread([10]), spread([]), spread([0, 0, 5])), (0, 0, 0))

    def test_a_quantile_is_of_all_that_was_counted(self):
        buckets = [(1000, 50), (2000, 49), (9000, 1)]
        told = [quantile(buckets, share) for share in (0, 0.49, 0.5, 0.98, 0.99, 1)]
        self.assertEqual(told, [1, 1, 2, 2, 9, 9])
        self.assertIsNone(quantile([], 0.5))

    def test_histograms_are_added(self):
        self.assertEqual(merge([{"h": [[1, 2], [5, 1]]}, {}, {"h": [[3, 7], [1, 4]]}], "h"),
                         [(1, 6), (3, 7), (5, 1)])

    def test_several_processes_count_as_one(self):
        one = {"pairs": 30, "failed": 1, "pairs_per_s": 300.0, "cpu_us_per_pair": 2.0, "note": "",
               "acquire_histogram_ns": [[1000, 30]]}
        two = {"pairs": 10, "failed": 2, "pairs_per_s": 100.0, "cpu_us_per_pair": 6.0, "note": "late",
               "acquire_histogram_ns": [[3000, 10]]}
        told = together([one, two])
        self.assertEqual({key: told[key]
                          for key in ("pairs", "failed", "pairs_per_s", "cpu_us_per_pair", "note")},
                         {"pairs": 40, "failed": 3, "pairs_per_s": 400, "cpu_us_per_pair": 3, "note": "late"})
        self.assertEqual(told["acquire_histogram_ns"], [(1000, 30), (3000, 10)])


class Rows(unittest.TestCase):
    def test_a_figure_is_the_median_of_the_slices(self):
        self.assertEqual(row(10.0, 1000.0, 20.0).rate(), 20)

    def test_a_slice_without_a_pair_has_no_pairs_and_no_other_figure(self):
        stalled = row(0.0, 0.0, 10.0, cpu_us_per_pair=0.0)
        stalled.slices[2]["cpu_us_per_pair"] = 4.0
        self.assertEqual((stalled.rate(), stalled.cpu()), (0, 4))
        self.assertEqual(dict(zip(*table.lines([stalled])))["pairs/s"], "0")
        self.assertEqual(table.says(stalled), [])
        self.assertEqual(table.says(row(0.0, 0.0)), ["no pair was finished within a slice"])

    def test_facts_are_of_slices_with_pairs(self):
        of = Row("group", "name",
                 [{"pairs": pairs, "handoff_p50_us": us} for pairs, us in ((0, 0.0), (5, 7.0), (0, 0.0))])
        of.take_facts()
        self.assertEqual(of.facts, {"handoff_p50_us": 7})
        of = Row("group", "name", [{"pairs": 0, "handoff_p50_us": 0.0}])
        of.take_facts()
        self.assertEqual(of.facts, {})

    def test_latencies_are_of_all_slices(self):
        of = Row("group", "name", [{"acquire_histogram_ns": [[1000, 1]], "release_histogram_ns": [[5000, 1]]},
                                   {"acquire_histogram_ns": [[3000, 2]]}])
        self.assertEqual((of.p(0.5), of.p(0.5, "release")), (3, 5))

    def test_failures_are_added_and_told(self):
        of = row(10.0, 10.0, failed=2)
        self.assertEqual(of.failed(), 4)
        self.assertEqual(dict(zip(*table.lines([of])))["failed"], "4")

    def test_second_rounds_are_of_all_pairs(self):
        of = Row("group", "name",
                 [{"pairs": 30, "second_rounds_per_pair": 0.1}, {"pairs": 10, "second_rounds_per_pair": 0.5}])
        self.assertAlmostEqual(of.second_rounds(), 0.2)
        self.assertIsNone(row(10.0).second_rounds())


class Ratios(unittest.TestCase):
    def test_it_is_the_median_of_the_rounds(self):
        ours, floor = row(10.0, 20.0, 90.0, 90.0, 20.0, 20.0), row(10.0, 10.0, 10.0, 10.0, 10.0, 10.0)
        self.assertEqual(ratio(ours, floor, "pairs_per_s"), (2, spread([1.5, 2, 9])))

    def test_of_latencies_each_has_its_own_quantile(self):
        ours, other = (row(10.0, 10.0, acquire_histogram_ns=[[p50, 98], [p99, 2]],
                           release_histogram_ns=[[1, 1]])
                       for p50, p99 in ((3000, 5000), (1000, 10000)))
        self.assertEqual([ratio(ours, other, what)[0] for what in ("p50", "p99")], [3, 0.5])

    def test_a_slice_without_a_pair_is_none_the_less_a_slice(self):
        self.assertEqual(ratio(row(0.0, 10.0), row(10.0, 10.0), "pairs_per_s")[0], 0.5)
        self.assertEqual(ratio(row(0.0, 0.0), row(10.0, 10.0), "pairs_per_s")[0], 0)

    def test_a_slice_without_a_pair_does_not_cost_less(self):
        stalled = row(0.0, 10.0, 10.0, 10.0, cpu_us_per_pair=4.0)
        well = row(10.0, 10.0, 10.0, 10.0, cpu_us_per_pair=4.0)
        stalled.slices[0]["cpu_us_per_pair"] = 0.0
        self.assertEqual(ratio(stalled, well, "cpu_us_per_pair")[0], 1)
        self.assertEqual(ratio(well, stalled, "cpu_us_per_pair")[0], 1)
        self.assertIsNone(ratio(row(0.0, 0.0, cpu_us_per_pair=0.0), row(10.0, 10.0, cpu_us_per_pair=4.0),
                                "cpu_us_per_pair"))

    def test_nothing_is_compared_with_what_did_nothing(self):
        self.assertIsNone(ratio(row(10.0, 10.0), row(0.0, 0.0), "pairs_per_s"))
        self.assertIsNone(ratio(row(10.0, 10.0), row(10.0, 10.0), "p50"))


class Told:
    """An entrant that repeats its orders, and when they came."""

    def __init__(self, name, order, rate, dies_after=99):
        self.name, self.order, self.rate, self.left, self.note = name, order, rate, dies_after, ""

    def slice(self, seconds):
        self.order.append(self.name)
        self.left -= 1
        if self.left < 0:
            self.note = "ended in a slice"
            return None
        return {"pairs": self.rate, "pairs_per_s": float(self.rate)}

    ask_to_end = close = wait_until_ready = lambda self: None


class Interleaving(unittest.TestCase):
    def interleave(self, *entrants, rounds=2):
        masters = types.SimpleNamespace(reported=[], newly_dead=lambda: [])
        suite = Suite(None, masters, quick=True)
        suite.interleave("group", list(entrants), rounds)
        return suite.rows

    def test_entrants_take_turns_there_and_back(self):
        order = []
        self.interleave(*[Told(name, order, 1) for name in "ABC"])
        self.assertEqual("".join(order), "ABC" + 2 * "ABCCBA")

    def test_the_first_is_divided_by_each(self):
        rows = self.interleave(Told("A", [], 30), Told("B", [], 10), Told("C", [], 60))
        self.assertEqual([one.ratios.get("pairs_per_s", (None,))[0] for one in rows], [None, 3, 0.5])

    def test_one_that_dies_says_so_and_counts_until_then(self):
        ours, other = self.interleave(Told("A", [], 30), Told("B", [], 10, dies_after=3), rounds=3)
        self.assertEqual((other.notes, len(other.slices), other.ratios["pairs_per_s"][0]),
                         (["ended in a slice"], 2, 3))


if __name__ == "__main__":
    unittest.main(verbosity=2)
