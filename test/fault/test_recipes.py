"""A run of chaos with recipes: the checker condemns doctored records of electors, parties and arrivers, each
for exactly the right reason, and what is struck of them excuses no lease."""

import unittest

from test_check import BEGIN, MS, Case, at, lines


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
            "arriver-1": self.arrivals("arriver-1", "made", 0), "arriver-2": self.arrivals("arriver-2", "there", 5)}

    @staticmethod
    def passages(label, begun):
        return [fact for generation in range(3) for fact in (
            [begun + 300 * generation, "arrives", generation, f"{label}.{generation}"],
            [290 + 300 * generation, "told", generation, f"{label}.{generation}", "passed"])]

    @staticmethod
    def arrivals(place, made, later):
        """Each call takes 20 ms, and the other one's calls are beside these."""
        calls = [("create", place, made, -1),
                 *(("arrive", f"{place}.{which}", "arrived", 2 * which + 1) for which in range(3)),
                 ("wait", place, "shut", 6), ("arrive", f"{place}.3", "open", 8), ("wait", place, "open", 8)]
        return [fact for number in range(2) for k, (action, who, *told) in enumerate(calls) for fact in (
            [1000 * number + 100 + 30 * k + later, "asks", f"latch-{number}", action, who],
            [1000 * number + 120 + 30 * k + later, "told", f"latch-{number}", action, who, *told])]

    def change(self, label, index, *fact):
        self.facts[label][index] = list(fact)

    def judge(self):
        self.record.raw |= {label: lines([[at(ms), *rest] for ms, *rest in facts])
                            for label, facts in self.facts.items()}
        return super().judge()


class Sound(Recipes):
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
        self.facts["party-2.2"] = [[770, "arrives", 2, "party-2.2.1"], [900, "told", 2, "party-2.2.1", "passed"]]
        self.facts["elector-1.2"] = []
        told = self.assert_well()["recipes"]
        self.assertEqual((told["elections"]["times killed"], told["elections"]["times stopped"]), (1, 1))
        self.assertEqual((told["barriers"]["killed"], told["barriers"]["passed"]), (1, 6))
        self.record.raw["elector-1.2"] = f"{BEGIN + 9000 * MS} lea"
        del self.facts["elector-1.2"]
        self.assert_well()

    def test_a_barrier_after_those_that_all_must_pass(self):
        self.facts["party-1"].append([1000, "arrives", 3, "party-1.3"])
        self.assert_well()


class Elections(Recipes):
    def test_two_leaders(self):
        self.change("elector-1", 2, 1500, "valid", 5, at(2601))
        self.assert_condemned("elections", "elector-1 counts itself the leader", 1)

    def test_terms_that_shrink(self):
        self.facts["elector-1"] += [[9600, "leads", 4, at(9700)]]
        self.assert_condemned("elections", "with term 4 after 6", 1)

    def test_an_observer_that_goes_back(self):
        self.change("elector-3", 2, 9400, "told", 5, "elector-1")
        self.assert_condemned("elections", "elector-3 is told term 5 after 6", 1)

    def test_one_that_is_missing(self):
        del self.facts["elector-3"]
        self.assert_condemned("few", "2 places of kind elector, not 3", 1)


class Barriers(Recipes):
    def test_passed_early(self):
        self.change("party-2", 4, 891, "arrives", 2, "party-2.2")
        self.change("party-2", 5, 892, "told", 2, "party-2.2", "passed")
        self.assert_condemned("barriers", "by 1 of 2 parties", 2)

    def test_passed_early_after_those_that_all_must_pass(self):
        self.facts["party-1"] += [[1000, "arrives", 3, "party-1.3"], [1010, "told", 3, "party-1.3", "passed"]]
        self.assert_condemned("barriers", "generation 3 was passed", 2)

    def test_left_behind(self):
        self.change("party-2", 5, 890, "told", 2, "party-2.2", "undecided")
        self.assert_condemned("barriers", "generation 2 left ['party-2'] behind", 1)

    def test_told_otherwise(self):
        self.change("party-2", 5, 890, "told", 2, "party-2.2", "not-passed")
        self.facts["party-2"] += [[891, "arrives", 2, "party-2.9"], [899, "told", 2, "party-2.9", "passed"]]
        self.assert_condemned("barriers", "are told that they did not", 1)

    def test_an_answer_to_no_call(self):
        self.change("party-2", 5, 890, "told", 2, "party-2.1", "passed")
        self.assert_condemned("malformed", "records of kind party", 1)
        self.change("party-2", 5, 890, "told", 2, "party-2.2", "unheard-of")
        self.assert_condemned("malformed", "records of kind party", 1)


class Latches(Recipes):
    """The second one, at 1100 ms, is in the lines from 14 on."""

    def test_open_early(self):
        self.change("arriver-2", 24, 1271, "asks", "latch-1", "arrive", "arriver-2.3")
        self.assert_condemned("latches", "for 7 of 8 arrivals", 2)

    def test_shut_again(self):
        self.facts["arriver-1"] += [[2000, "asks", "latch-1", "count", "arriver-1"],
                                    [2005, "told", "latch-1", "count", "arriver-1", "shut", 8]]
        self.assert_condemned("latches", "is told that it is not", 1)

    def test_counted_wrongly(self):
        self.change("arriver-1", 19, 1180, "told", "latch-1", "arrive", "arriver-1.1", "arrived", 5)
        self.assert_condemned("latches", "arriver-1.1 is told of 5 arrivals", 1)
        self.change("arriver-1", 19, 1180, "told", "latch-1", "arrive", "arriver-1.1", "arrived", 1)
        self.assert_condemned("latches", "arriver-1.1 is told of 1 arrivals", 1)

    def test_gone(self):
        self.change("arriver-2", 23, 1245, "told", "latch-1", "wait", "arriver-2", "gone", -1)
        self.assert_condemned("latches", "that it is gone", 1)

    def test_left_behind(self):
        self.change("arriver-2", 27, 1305, "told", "latch-1", "wait", "arriver-2", "undecided", -1)
        self.assert_condemned("latches", "latch-1 left ['arriver-2'] behind", 1)

    def test_one_that_is_not_finished(self):
        self.facts["arriver-1"] += [[2000, "asks", "latch-2", "create", "arriver-1"],
                                    [2005, "told", "latch-2", "create", "arriver-1", "made", -1]]
        self.assert_well()

    def test_one_that_nobody_finished(self):
        for label in ("arriver-1", "arriver-2"):
            del self.facts[label][14:]
        self.assert_condemned("latches", "latch-1: 8 arrivals are not counted", 2)


class Leases(Recipes):
    def test_a_struck_party_excuses_no_lease(self):
        self.record.fault("stopped", "party-1", 1000, 3000)
        told = self.assert_well()
        self.assertEqual((told["availability"], told["faults"]), (100, {}))
        self.assertEqual(told["recipes"]["barriers"]["times stopped"], 1)


if __name__ == "__main__":
    unittest.main()
