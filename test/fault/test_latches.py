"""The judge of latches: doctored records that it must condemn."""

import unittest

from latches import judge
from latches.judge import Call

L = "latch-0"
GOOD = [Call(L, "create", "maker", 10, 20, "made", None), Call(L, "arrive", "a", 100, 200, "arrived", 1),
        Call(L, "count", "c", 110, 190, "shut", 0), Call(L, "wait", "w", 120, 180, "shut", 1),
        Call(L, "arrive", "b", 210, None, "killed", None), Call(L, "arrive", "b", 300, 400, "undecided", None),
        Call(L, "count", "c", 310, 390, "shut", 2), Call(L, "arrive", "b", 410, 500, "arrived", 2),
        Call(L, "wait", "w", 190, 650, "open", 3), Call(L, "arrive", "c", 510, 600, "open", 3),
        Call(L, "count", "c", 590, 640, "shut", 2), Call(L, "count", "c", 700, 720, "open", 3)]
EARLY, WAITED, LAST, MEANWHILE, LATE = 2, 8, 9, 10, 11


def judged(calls):
    return judge.violations(calls, 3, {"w"})


class Judge(unittest.TestCase):
    def changed(self, index, **what):
        calls = list(GOOD)
        calls[index] = calls[index]._replace(**what)
        return judged(calls)

    def condemned(self, found, *says):
        self.assertEqual(len(found), len(says), found)
        for text, violation in zip(says, found):
            self.assertIn(text, violation)

    def test_what_is_right(self):
        self.assertEqual(judged(GOOD), [])

    def test_open_too_early(self):
        self.condemned(self.changed(WAITED, ended=505), "open at 505 for 2 of 3",
                       "open at 505, and c is told that it is not at 640", "w is told of 3 arrivals at 505")

    def test_what_was_begun_twice_is_one_arrival(self):
        self.condemned(self.changed(LAST, who="b"), "open at 600 for 2 of 3", "w is told of 3 arrivals",
                       "b is told of 3 arrivals", "c is told of 3 arrivals", "1 arrivals are not counted")

    def test_shut_after_open(self):
        self.condemned(self.changed(LATE, outcome="shut"), "open at 600, and c is told that it is not at 720")
        self.condemned(judged([*GOOD, Call(L, "arrive", "d", 700, 800, "arrived", 3)]),
                       "open at 600, and d is told that it is not at 800")

    def test_who_asked_before_may_be_told_that_it_is_not(self):
        self.assertEqual(self.changed(LATE, outcome="shut", begun=600), [])

    def test_counted_too_many(self):
        self.condemned(self.changed(EARLY, arrived=2), "c is told of 2 arrivals at 190")

    def test_counted_too_few(self):
        self.condemned(self.changed(LATE, arrived=2), "c is told of 2 arrivals at 720, not 3")
        self.condemned(self.changed(MEANWHILE, arrived=1), "c is told of 1 arrivals at 640, not 2")

    def test_gone(self):
        self.condemned(self.changed(LATE, outcome="gone", arrived=None), "c is told at 720 that it is gone")

    def test_somebody_is_not_counted(self):
        self.condemned(self.changed(LAST, outcome="undecided", arrived=None), "1 arrivals are not counted")

    def test_left_behind(self):
        self.condemned(self.changed(WAITED, outcome="undecided", arrived=None), "left ['w'] behind")

    def test_each_latch_is_judged_by_its_own_records(self):
        self.condemned(judged([*GOOD, Call("latch-1", "count", "c", 800, 810, "open", 3)]),
                       "latch-1 was open at 810 for 0 of 3", "latch-1: c is told of 3",
                       "latch-1: 3 arrivals are not counted", "latch-1 left ['w'] behind")


if __name__ == "__main__":
    unittest.main()
