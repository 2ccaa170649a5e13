"""A run of chaos with recipes: the checker condemns doctored records of electors, parties and arrivers, each
for exactly the right reason. Faults of these processes excuse no lease."""

import json
import unittest

import calls
from judge import barriers, elections, latches
from judge.barriers import Call as Passage
from judge.latches import Call
from test_check import BEGIN, MS, Case, at


class Judged:
    """A judge has found something in records of which GOOD is the sound one."""

    def condemned(self, found, *says):
        self.assertEqual(len(found), len(says), found)
        for text, violation in zip(says, found):
            self.assertIn(text, violation)

    def test_what_is_right(self):
        self.condemned(self.judged(self.GOOD))


class JudgedCalls(Judged):
    def changed(self, index, **what):
        its = list(self.GOOD)
        its[index] = its[index]._replace(**what)
        return self.judged(its)

    def more(self, *calls):
        return self.judged([*self.GOOD, *calls])


class Elections(Judged, unittest.TestCase):
    GOOD = {
        "p1.1": ["100 leads 5 900\n", "120 announced 5\n", "130 told 5 p1.1\n", "300 valid 5 1100\n",
                 "700 over 5\n", "720 told 6 p2.1\n"],
        "p2.1": ["90 told 0\n", "131 told 5 p1.1\n", "701 leads 6 1500\n", "705 announced 6\n",
                 "721 told 6 p2.1\n", "800 told -1\n", "810 told 6 p2.1\n", "820 va"],
    }

    def judged(self, records):
        return elections.violations([elections.read(name, its) for name, its in records.items()])

    def changed(self, process, **words):
        """Each is the old words and the new."""
        its = self.GOOD[process]
        for old, new in words.values():
            its, before = [line.replace(old, new) for line in its], its
            self.assertNotEqual(its, before)
        return self.judged({**self.GOOD, process: its})

    def test_two_leaders(self):
        self.condemned(self.changed("p1.1", over=("700 over 5", "702 over 5")),
                       "counts itself the leader until 702")
        self.assertIn("until 1100", self.changed("p1.1", over=("700 over 5", "700 told 5 p1.1"))[0])
        self.condemned(self.judged({"p1.1": ["100 leads 5 1100\n", "120 announced 5\n"],
                                    "p2.1": [*self.GOOD["p2.1"][:-1], "850 over 6\n"],
                                    "p3.1": ["1050 leads 7 1090\n"]}), "p2.1 leads", "p3.1 leads")

    def test_one_whose_validity_has_ended_may_learn_that_late(self):
        self.condemned(self.changed("p1.1", valid=("5 1100", "5 650"), over=("700 over", "705 over")))

    def test_a_term_that_does_not_grow(self):
        self.assertTrue(any("with term 4 after 5" in it for it in self.changed("p2.1", term=(" 6", " 4"))))

    def test_what_observers_hear(self):
        self.condemned(self.changed("p2.1", told=("810 told 6 p2.1", "810 told 5 p1.1")), "term 5 after 6")
        for old, new, says in (("told 5 p1.1", "told 5 blue", "hears blue of term 5"),
                               ("721 told 6", "721 told 9", "of term 9")):
            self.assertIn(says, self.changed("p2.1", told=(old, new))[0])


class Barriers(JudgedCalls, unittest.TestCase):
    GOOD = [Passage(0, "w1.1", 100, 300, "passed"), Passage(0, "w2.1", 110, None, "killed"),
            Passage(0, "w2.2", 200, 310, "passed"), Passage(0, "w3.1", 120, 180, "undecided"),
            Passage(0, "w3.1", 190, 305, "passed"), Passage(1, "w1.1", 400, 500, "passed"),
            Passage(1, "w2.1", 410, 510, "passed"), Passage(1, "w3.1", 450, 505, "passed")]

    def judged(self, passages):
        return barriers.violations(passages, 3, 2, {"w1", "w2", "w3"})

    def test_early(self):
        self.assertIn("by 2 of 3 parties", self.changed(7, begun=501)[0])
        self.assertIn("generation 2 was passed at 610 by 1 of 3",
                      self.more(Passage(2, "w1.1", 600, 610, "passed"))[0])

    def test_left_behind(self):
        self.assertEqual(self.changed(7, outcome="undecided"), ["generation 1 left ['w3'] behind"])
        self.assertEqual(len(self.judged(self.GOOD[:5])), 1)

    def test_told_otherwise(self):
        self.assertIn("generation 1 was passed, and ['w3.1'] hear that they did not",
                      self.changed(7, outcome="not-passed"))

    def test_one_more_may_leave(self):
        self.condemned(self.more(Passage(1, "w1.9", 400, 600, "not-passed")))

    def test_an_answer_to_no_call(self):
        for answer in ("told 2 party-2.1 passed", "told 2 party-2.2 unheard-of"):
            self.assertRaises(ValueError, barriers.read, ["100 arrives 2 party-2.2\n", f"110 {answer}\n"])

    def test_messages_come_before_an_answer(self):
        output = "".join(json.dumps(told) + "\n" for told in (
            {"event": "log", "text": "waits"}, {"ok": False, "undecided": True, "token": "T"}))
        self.assertEqual(calls.barrier_told(69, output), ("undecided", "T"))
        self.assertEqual(calls.barrier_told(69, output.replace("true", "false")), ("not-passed", None))


class Latches(JudgedCalls, unittest.TestCase):
    L = "latch-0"
    GOOD = [Call(L, "create", "maker", 10, 20, "made", None), Call(L, "arrive", "a", 100, 200, "arrived", 1),
            Call(L, "count", "c", 110, 190, "shut", 0), Call(L, "wait", "w", 120, 180, "shut", 1),
            Call(L, "arrive", "b", 210, None, "killed", None),
            Call(L, "arrive", "b", 300, 400, "undecided", None),
            Call(L, "count", "c", 310, 390, "shut", 2), Call(L, "arrive", "b", 410, 500, "arrived", 2),
            Call(L, "wait", "w", 190, 650, "open", 3), Call(L, "arrive", "c", 510, 600, "open", 3),
            Call(L, "count", "c", 590, 640, "shut", 2), Call(L, "count", "c", 700, 720, "open", 3)]
    EARLY, WAITED, LAST, MEANWHILE, LATE = 2, 8, 9, 10, 11

    def judged(self, its, finished=(L,)):
        return latches.violations(its, 3, {"w"}, finished)

    def test_one_call_is_told_otherwise(self):
        not_counted = "1 arrivals are not counted"
        for title, index, what, *says in (
                ("open too early", self.WAITED, {"ended": 505}, "open at 505 for 2 of 3",
                 "open at 505, and c hears that it is not at 640", "w hears of 3 arrivals at 505"),
                ("begun twice, it is one arrival", self.LAST, {"who": "b"}, "open at 600 for 2 of 3",
                 "w hears of 3 arrivals", "b hears of 3 arrivals", "c hears of 3 arrivals", not_counted),
                ("shut after open", self.LATE, {"outcome": "shut"},
                 "open at 600, and c hears that it is not at 720"),
                ("asked before it was open", self.LATE, {"outcome": "shut", "begun": 600}),
                ("counted too many", self.EARLY, {"arrived": 2}, "c hears of 2 arrivals at 190"),
                ("counted too few", self.LATE, {"arrived": 2}, "c hears of 2 arrivals at 720, not 3"),
                ("meanwhile", self.MEANWHILE, {"arrived": 1}, "c hears of 1 arrivals at 640, not 2"),
                ("gone", self.LATE, {"outcome": "gone", "arrived": None}, "c hears at 720 that it is gone"),
                ("not counted", self.LAST, {"outcome": "undecided", "arrived": None}, not_counted),
                ("left behind", self.WAITED, {"outcome": "undecided", "arrived": None}, "left ['w'] behind")):
            with self.subTest(title):
                self.condemned(self.changed(index, **what), *says)

    def test_one_call_more(self):
        self.condemned(self.more(Call(self.L, "arrive", "d", 700, 800, "arrived", 3)),
                       "open at 600, and d hears that it is not at 800")
        self.condemned(self.more(Call(self.L, "arrive", "d", 19, 30, "gone", None)))

    def test_each_latch_is_judged_by_its_own_records(self):
        other = [*self.GOOD, Call("latch-1", "count", "c", 800, 810, "open", 3)]
        self.condemned(self.judged(other, ("latch-0", "latch-1")), "latch-1 was open at 810 for 0 of 3",
                       "latch-1: c hears of 3", "latch-1: 3 arrivals are not counted",
                       "latch-1 left ['w'] behind")

    def test_one_that_is_not_finished(self):
        self.condemned(self.more(Call("latch-1", "create", "c", 800, 810, "made", None)))
        self.condemned(self.judged(self.GOOD, ("latch-0", "latch-1")), "latch-1: 3 arrivals",
                       "latch-1 left ['w']")


class Recipes(Case):
    """Three electors, two of which lead one after the other; two parties that meet three times; two that
    arrive at two latches."""

    def setUp(self):
        super().setUp()
        self.record.run |= {"recipes": "elector=3,party=2,arriver=2", "generations": 3, "latches": 2}
        self.facts = {
            "elector-1": [[1000, "leads", 5, at(2000)], [1010, "announced", 5], [1500, "valid", 5, at(2500)]],
            "elector-2": [[1020, "told", 5, "elector-1"], [2600, "leads", 6, at(9000)],
                          [2610, "announced", 6], [9500, "over", 6]],
            "elector-3": [[1030, "told", 5, "elector-1"], [2620, "told", 6, "elector-2"], [9400, "told", -1]],
            "party-1": self.passages("party-1", 100), "party-2": self.passages("party-2", 130),
            "arriver-1": self.arrivals("arriver-1", "made", 0),
            "arriver-2": self.arrivals("arriver-2", "there", 5)}

    @staticmethod
    def passages(label, begun):
        return [fact for generation in range(3) for fact in (
            [begun + 300 * generation, "arrives", generation, f"{label}.{generation}"],
            [290 + 300 * generation, "told", generation, f"{label}.{generation}", "passed"])]

    @staticmethod
    def arrivals(place, made, later):
        """Each call takes 20 ms, and the other one's calls are beside these."""
        its = [("create", place, made, -1),
               *(("arrive", f"{place}.{which}", "arrived", 2 * which + 1) for which in range(3)),
               ("wait", place, "shut", 6), ("arrive", f"{place}.3", "open", 8), ("wait", place, "open", 8)]
        return [fact for number in range(2) for k, (action, who, *told) in enumerate(its) for fact in (
            [1000 * number + 100 + 30 * k + later, "asks", f"latch-{number}", action, who],
            [1000 * number + 120 + 30 * k + later, "told", f"latch-{number}", action, who, *told])]

    def test_a_sound_record(self):
        told = self.assert_well()["recipes"]
        self.assertEqual((told["elections"]["terms"], told["elections"]["answers to observers"]), (2, 4))
        self.assertEqual((told["barriers"]["barriers"], told["barriers"]["passed"]), (3, 6))
        self.assertEqual((told["latches"]["latches"], told["latches"]["arrived"], told["latches"]["shut"]),
                         (2, 12, 4))
        self.assertEqual([told[it]["processes"] for it in ("elections", "barriers", "latches")], [3, 2, 2])

    def test_one_that_is_killed(self):
        """Its last line is cut, or its last call has no answer; the next process takes its place."""
        self.record.fault("killed", "elector-1", 1600, 1700)
        self.record.fault("stopped", "elector-2", 1600, 1700)
        self.record.fault("killed", "party-2", 750, 760)
        self.facts["party-2"].pop()
        self.facts["party-2.2"] = [[770, "arrives", 2, "party-2.2.1"],
                                   [900, "told", 2, "party-2.2.1", "passed"]]
        self.facts["elector-1.2"] = []
        told = self.assert_well()["recipes"]
        self.assertEqual((told["elections"]["times killed"], told["elections"]["times stopped"]), (1, 1))
        self.assertEqual((told["barriers"]["killed"], told["barriers"]["passed"]), (1, 6))
        self.record.raw["elector-1.2"] = f"{BEGIN + 9000 * MS} lea"
        del self.facts["elector-1.2"]
        self.assert_well()

    def test_what_each_judge_says_is_told(self):
        self.each((
            ("elections", lambda: self.change("elector-1", 2, 1500, "valid", 5, at(2601)),
             ("elections", "elector-1 counts itself the leader")),
            ("barriers", lambda: self.change("party-2", 5, 890, "told", 2, "party-2.2", "undecided"),
             ("barriers", "generation 2 left ['party-2'] behind")),
            ("latches", lambda: self.change("arriver-2", 27, 1305, "told", "latch-1", "wait", "arriver-2",
                                            "undecided", -1),
             ("latches", "latch-1 left ['arriver-2'] behind")),
            ("one is missing", lambda: self.facts.pop("elector-3"),
             ("few", "2 places of kind elector, not 3")),
            ("it means nothing", lambda: self.change("party-2", 5, 890, "told", 2, "party-2.1", "passed"),
             ("malformed", "records of kind party"))))

    def test_what_all_must_have_finished(self):
        self.facts["party-1"].append([1000, "arrives", 3, "party-1.3"])
        self.assert_well()
        for label in ("arriver-1", "arriver-2"):
            del self.facts[label][14:]
        self.assert_condemned("latches", "latch-1: 8 arrivals are not counted", 2)

    def test_a_takeover_that_takes_too_long(self):
        """From the strike at 1600 to the announcement at 2610. Others were not leading, or led on."""
        self.record.fault("killed", "elector-1", 500, 600)
        self.record.fault("stopped", "elector-1", 1200, 1300)
        self.record.fault("stopped", "elector-1", 1600, 2555)
        self.record.fault("killed", "elector-1", 2560, 2570)
        self.record.fault("stopped", "elector-2", 3000, 3500)
        self.record.run["takeover_ms"] = 1010
        told = self.assert_well()["recipes"]["elections"]
        self.assertEqual((told["leaders struck"], told["ms to the next in the median"]), (1, 1010))
        self.record.run["takeover_ms"] = 1009
        self.assert_condemned("elections", "followed after 1010 ms in the median, not 1009", 1)

    def test_a_struck_party_excuses_no_lease(self):
        self.record.fault("stopped", "party-1", 1000, 3000)
        told = self.assert_well()
        self.assertEqual((told["availability"], told["faults"]), (100, {}))
        self.assertEqual(told["recipes"]["barriers"]["times stopped"], 1)


if __name__ == "__main__":
    unittest.main()
