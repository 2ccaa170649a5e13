"""Tests what the suite prints and draws, without measuring: python3 bench/suite/test_suite.py"""
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

import machine
import others
import plots
import table
import targets
from figures import Row
from suite import COMPARED, FLOOR, RAW_FLOOR, RING, Suite


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

    def edges(self, path):
        """Left and right of each text that is not turned, by the width that a wide font needs."""
        for left, size, anchor, words in re.findall(
                r'<text x="([\d.]+)" y="[\d.]+" font-size="(\d+)" text-anchor="(\w+)" fill="#222" >([^<]+)',
                pathlib.Path(path).read_text()):
            width = len(words) * float(size) * 0.55
            begin = float(left) - {"start": 0, "middle": width / 2, "end": width}[anchor]
            yield begin, begin + width

    def assert_nothing_is_cut(self, path):
        most = float(re.search(r'viewBox="0 0 ([\d.]+)', pathlib.Path(path).read_text())[1])
        edges = list(self.edges(path))
        self.assertGreater(len(edges), 4)
        self.assertGreaterEqual(min(begin for begin, _ in edges), 0)
        self.assertLessEqual(max(end for _, end in edges), most)

    def test_no_text_is_cut(self):
        names = ["redlock", "floor, hiredis async, for all releases", "x" * 70]
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/plot.svg"
            for most in (1, 2, 3):
                plots.lines(path, "title", "subtitle",
                            [(name, [(1, 10), (256, 1e5)]) for name in names[:most]],
                            "pairs", "a second", y_log=True)
                self.assert_nothing_is_cut(path)
                plots.bars(path, "title", "subtitle", [(name, 1234.5) for name in names[:most]], "us")
                self.assert_nothing_is_cut(path)


class Table(unittest.TestCase):
    def heads(self, **more):
        slices = [{"pairs": 10, "pairs_per_s": 10, "cpu_us_per_pair": 1, **more}]
        return table.lines([Row("group", "name", slices)])[0]

    def test_each_column_has_its_own_figure(self):
        row = Row("group", "name", [{"pairs": 9, "pairs_per_s": rate} for rate in (8.0, 10.0, 11.0, 12.0)])
        row.ratios = {what: (times, times / 100) for times, what in enumerate(COMPARED, 2)}
        heads, cells = table.lines([row])
        self.assertEqual((heads[-5:], cells[-5:]),
                         (("x pairs/s", "x p50", "x p99", "x CPU", "x masters"),
                          ("2.00 ±2%", "3.00 ±3%", "4.00 ±4%", "5.00 ±5%", "6.00 ±6%")))
        self.assertEqual(cells[:3], ("name", "10", "10%"))

    def test_masters_are_told_where_they_were_measured(self):
        self.assertIn("masters", self.heads(masters_us_per_pair=2.5))
        self.assertNotIn("masters", self.heads())

    def test_what_only_some_scenarios_tell_is_the_median_of_its_slices(self):
        row = Row("group", "name", [{"pairs": 1, "run_us": run_us} for run_us in (1.0, 3.0, 2.0)])
        row.take_facts()
        row.ratios["run_us"] = (1.25, 0.1)
        self.assertEqual(table.fact_cells(row), ["run us 2", "x run us 1.25 ±10%"])


def rows_of(group, *named):
    """Rows with these facts in each slice, beside the first."""
    rows = [Row(group, name, [{"pairs": 1, **facts}] * 2) for name, facts in named]
    for row in rows:
        row.take_facts()
    return rows


class Dry(Suite):
    """A run that measures nothing, but has all its rows."""

    TELLS = ("memory_bytes_per_lease", "memory_bytes_per_waiter", "cpu_us_per_renewal", "closing_s",
             "cpu_us_per_closed_lease", "cpu_us_per_task", "handoff_p50_us", "handoff_p99_us", "run_us",
             "master_us_per_connection")
    SLICE = {"pairs": 5, "pairs_per_s": 5.0, "cpu_us_per_pair": 2.0, "acquire_histogram_ns": [[1000, 5]]}

    def __init__(self, quick=False):
        super().__init__(types.SimpleNamespace(bench="bin/redlock-bench", work="", no_peers="no peers",
                                               servers="true",
                                               memory="", peers=""), None, quick)
        self.whole = True

    def say(self, words):
        pass

    def bench(self, scenario, c=1, nodes=None, name=None, more=(), cwd=None):
        return types.SimpleNamespace(name=name)

    def interleave(self, group, entrants, rounds, masters=False, facts=(), seconds=None):
        figures = {**self.SLICE, **dict.fromkeys(facts, 3.0), "masters_us_per_pair": 2.0 if masters else None}
        rows = [Row(group, entrant.name, [figures] * 2)
                for entrant in entrants]
        for row in rows:
            row.take_facts()
        self.add(rows, facts or ("pairs_per_s", "p50", "cpu_us_per_pair", "masters_us_per_pair"))

    def single(self, group, name, arguments, timeout, environment=None, nodes=None):
        row = Row(group, name, [])
        row.facts = dict.fromkeys(self.TELLS, 4.0)
        self.rows.append(row)

    def measured(self):
        self.masters = types.SimpleNamespace(list=lambda *_: "", kill=lambda _: None, restart=lambda _: None)
        self.start_peers = lambda: None
        for part in (self.floors, self.handoffs, self.waiters, self.fences, self.readers, self.commands,
                     self.storms, self.renewals, self.many_at_once):
            part()
        return targets.lines(self.rows, self.whole)


class Targets(unittest.TestCase):
    def test_a_whole_run_measures_each(self):
        lines = Dry().measured()
        self.assertEqual([line for line in lines if line[1] == "not measured"], [])
        self.assertEqual(len(lines), len([target for target in targets.TARGETS if not target.if_named]))

    def test_a_quick_run_says_which_it_does_not_measure(self):
        missing = [line for line in Dry(quick=True).measured() if line[1] == "not measured"]
        self.assertTrue(missing)
        many = "1,000,000", "renewal, 100,000", "of 100,000"
        self.assertTrue(all(any(words in line[0] for words in many) for line in missing), missing)

    def line(self, target, *rows):
        return target.line(targets.Rows(rows))

    def against_floor(self, **ratios):
        row = Row("c = 256", FLOOR, [])
        row.ratios = {what: (value, 0.07) for what, value in ratios.items()}
        return row

    def named(self, words):
        target, = (target for target in targets.TARGETS if words in target.row)
        return target

    def test_one_pair_at_a_time_is_beside_raw_sockets(self):
        floor, raw = (Row("c = 1", name, []) for name in (FLOOR, RAW_FLOOR))
        floor.ratios["p50"], raw.ratios["p50"] = (0.95, 0), (1.07, 0)
        self.assertEqual(self.line(self.named("raw sockets"), floor, raw)[1:],
                         ("1.07 x", "at most 1.05 x", "no"))

    def test_more_pairs_and_less_processor_are_better(self):
        pairs, cpu = targets.of_floor(256, 1.25, 0.95)
        for times, more, less in ((1.3, "yes", "no"), (0.9, "no", "yes")):
            with self.subTest(times=times):
                row = self.against_floor(pairs_per_s=times, cpu_us_per_pair=times)
                self.assertEqual(self.line(pairs, row)[1:], (f"{times:.2f} x ±7%", "at least 1.25 x", more))
                self.assertEqual(self.line(cpu, row)[1:], (f"{times:.2f} x ±7%", "at most 0.95 x", less))

    def test_what_failed_is_told(self):
        ours = Row("c = 256", "redlock", [{"pairs": 5, "failed": 0}])
        floor = self.against_floor(pairs_per_s=1.3)
        pairs, _ = targets.of_floor(256, 1.25, 0.95)
        self.assertEqual(self.line(pairs, ours, floor)[3], "yes")
        for one in ours, floor:
            one.notes = ["ended in a slice"]
            self.assertEqual(self.line(pairs, ours, floor)[3], "yes, with failures")
            one.notes = []
        ours.slices[0]["failed"] = 1
        self.assertEqual(self.line(pairs, ours, floor)[3], "yes, with failures")

    def test_each_limit_is_on_its_side(self):
        """A figure twice as good reaches it, one half as good does not."""
        better_if_more = [target for target in targets.TARGETS if "pairs/s" in target.row]
        self.assertEqual(len(better_if_more), 3)
        for target in targets.TARGETS:
            more, less = (target.reached((times * (target.limit or 1), 0)) for times in (2, 0.5))
            wanted = ("no", "yes") if target.limit else ("–", "–")
            wanted = ("yes", "no") if target in better_if_more else wanted
            self.assertEqual((more, less), wanted, target.row)

    def test_the_limits_are_those_of_the_documentation(self):
        """The third column of its table, in the same order; two that are alike share a row there."""
        told = (pathlib.Path(__file__).parents[2] / "doc/benchmarks.md").read_text()
        told = told.partition("## The targets")[2].partition("Why, and what")[0]
        told = " ".join(line.split("|")[3] for line in told.splitlines() if line.startswith("|"))
        limits = ["linear" if target.row.startswith("closing") else f"{target.limit:g}"
                  for target in targets.TARGETS if target.limit]
        self.assertEqual(re.findall(r"linear|[0-9.]+", told),
                         [limit for limit, _ in itertools.groupby(limits)])

    def test_nothing_is_divided_by_nothing(self):
        row = Row("fences, c = 1", "redlock, fenced", [])
        row.ratios["p50"] = (0.0, 0)
        self.assertIsNone(self.line(targets.Target("", targets.fenced("fences, c = 1", "p50"), 1.35), row))

    def test_fenced_is_divided_by_plain(self):
        row = Row("fences, c = 1", "redlock, fenced", [])
        row.ratios["p50"] = (0.8, 0)
        target = targets.Target("", targets.fenced("fences, c = 1", "p50"), 1.35)
        self.assertEqual(self.line(target, row)[1], "1.25 x")

    def test_closing_that_is_quadratic_is_not_linear(self):
        few, many = rows_of("renewals", ("100000 leases closed", {"cpu_us_per_closed_lease": 2.0}),
                            ("1000000 leases closed", {"cpu_us_per_closed_lease": 20.0}))
        target = self.named("of each, against 100,000")
        self.assertEqual(self.line(target, few, many)[1:], ("10.00 x", "at most 1.5 x", "no"))

    def test_of_some_parts_only_what_they_measured_is_told(self):
        row = self.against_floor(pairs_per_s=1.3)
        self.assertEqual(len(targets.lines([row], whole=False)), 1)
        self.assertEqual(targets.as_text(targets.lines([], whole=False)), "")

    def test_the_table_says_that_the_machine_was_not_quiet(self):
        lines = targets.lines([self.against_floor(pairs_per_s=1.3)], whole=False)
        for show in targets.as_text, targets.as_markdown:
            self.assertIn("not quiet", show(lines, "WARNING"))
            self.assertNotIn("not quiet", show(lines, ""))


class Machine(unittest.TestCase):
    QUIET = {"busy_before": 0.02, "busy_between": 0.03, "busy_after": 0.05, "others_meanwhile": 0.01,
             "stolen": 0.01}

    def test_one_that_was_quiet_is_not_warned_of(self):
        self.assertEqual(machine.warning(self.QUIET), "")

    def test_one_that_others_use_is_warned_of(self):
        for key, share, words in (("busy_before", 0.4, "others used 40%"),
                                  ("busy_between", 0.3, "others used 30%"),
                                  ("busy_after", 0.2, "others used 20%"),
                                  ("others_meanwhile", 0.05, "used 5% of it meanwhile"),
                                  ("stolen", 0.25, "its host took 25%")):
            with self.subTest(key=key):
                said = machine.warning({**self.QUIET, key: share})
                self.assertIn("WARNING: this machine was not quiet: ", said)
                self.assertIn(words, said)

    def test_how_busy(self):
        self.assertTrue(0 <= machine.busy(0.05) <= 1)

    def test_what_ends_at_once_is_not_still_busy(self):
        for shares, told in (([0.05], 0.05), ([0.6, 0.02], 0.02), ([0.6, 0.5], 0.5)):
            with self.subTest(shares=shares), mock.patch.object(machine, "busy", side_effect=shares):
                self.assertEqual(machine.still_busy(), told)

    def test_stolen_time_is_not_idle(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("cpu  6 2 7 60 10 3 2 10 1 1\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
            file.flush()
            self.assertEqual(machine.cpu_times(file.name), (100, 70, 10))

    def test_a_run_is_watched(self):
        facts = machine.Watch().facts()
        self.assertEqual(set(facts), {"stolen", "others_meanwhile"})
        self.assertTrue(all(0 <= share <= 1 for share in facts.values()), facts)


class Busy:
    """A process that does nothing but use a processor."""

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        return self.process.pid

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class OtherProcesses(unittest.TestCase):
    def await_ticks(self, watched, least):
        until = time.monotonic() + 20
        while watched.ticks() < least:
            self.assertLess(time.monotonic(), until, "its work is not seen")

    def only(self, pid):
        watched = others.Others()
        watched.before = {pid: watched.before[pid]}
        return watched

    def test_the_work_of_one_that_was_there_before_is_seen(self):
        with Busy() as pid:
            self.await_ticks(self.only(pid), 3)

    def test_what_we_start_ourselves_is_not_of_others(self):
        watched = others.Others()
        with Busy() as pid:
            self.assertNotIn(pid, watched.before)

    def after(self, before, now):
        """The ticks of processes (parent, own, dead) by pid, of which `now` is left."""
        as_processes = lambda table: {pid: others.Process("0", *words) for pid, words in table.items()}
        with mock.patch.multiple(others, look_at_all=lambda: as_processes(before),
                                 look=as_processes(now).get):
            return others.Others().ticks()

    def test_what_one_did_before_us_does_not_count_when_it_ends(self):
        shell, build = (90, 5, 0), (20, 1000, 40)
        self.assertEqual(self.after({20: shell, 21: build}, {20: (90, 5, 1047)}), 7)
        self.assertEqual(self.after({20: shell, 21: build}, {20: (90, 6, 0), 21: (20, 1002, 40)}), 3)

    def test_one_that_ends_with_its_parent_is_told_of_by_its_grandparent(self):
        before = {20: (90, 0, 0), 21: (20, 10, 0), 22: (21, 100, 0)}
        self.assertEqual(self.after(before, {20: (90, 0, 113)}), 3)

    def test_who_adopts_orphans_does_not_count_its_dead(self):
        self.assertEqual(self.after({1: (0, 5, 100), 2: (1, 5, 100)}, {1: (0, 6, 900), 2: (1, 7, 900)}), 3)
        self.assertEqual(self.after({1: (0, 5, 0), 2: (1, 50, 0), 3: (2, 40, 0)}, {1: (0, 5, 95)}), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
