"""The judge of barriers: doctored records that it must condemn."""

import unittest

from barriers import judge, party
from barriers.judge import Call

GOOD = [Call(0, "w1.1", 100, 300, "passed"), Call(0, "w2.1", 110, None, "killed"),
        Call(0, "w2.2", 200, 310, "passed"), Call(0, "w3.1", 120, 180, "undecided"),
        Call(0, "w3.1", 190, 305, "passed"), Call(1, "w1.1", 400, 500, "passed"),
        Call(1, "w2.1", 410, 510, "passed"), Call(1, "w3.1", 450, 505, "passed")]


def judged(calls):
    return judge.violations(calls, 3, 2, {"w1", "w2", "w3"})


class Judge(unittest.TestCase):
    def changed(self, index, **what):
        calls = list(GOOD)
        calls[index] = calls[index]._replace(**what)
        return judged(calls)

    def test_what_is_right(self):
        self.assertEqual(judged(GOOD), [])

    def test_early(self):
        self.assertIn("by 2 of 3 parties", self.changed(7, begun=501)[0])

    def test_left_behind(self):
        self.assertEqual(self.changed(7, outcome="undecided"), ["generation 1 left ['w3'] behind"])
        self.assertEqual(len(judged(GOOD[:5])), 1 + 0 * 3)

    def test_told_otherwise(self):
        found = self.changed(7, outcome="not-passed")
        self.assertIn("generation 1 was passed, and ['w3.1'] are told that they did not", found)

    def test_one_more_may_leave(self):
        self.assertEqual(judged([*GOOD, Call(1, "w1.9", 400, 600, "not-passed")]), [])


class Outcome(unittest.TestCase):
    def test_messages_come_before(self):
        log, told = '{"event":"log","text":"waits"}', '{"ok":false,"undecided":true,"token":"T"}'
        self.assertEqual(party.outcome(69, f"{log}\n{told}\n"), ("undecided", "T"))


if __name__ == "__main__":
    unittest.main()
