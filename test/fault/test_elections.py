"""The judge of elections: doctored records that it must condemn."""

import unittest

from elections import judge

GOOD = {
    "p1.1": ["100 leads 5 900\n", "120 announced 5\n", "130 told 5 p1.1\n", "300 valid 5 1100\n",
             "700 over 5\n", "720 told 6 p2.1\n"],
    "p2.1": ["90 told 0\n", "131 told 5 p1.1\n", "701 leads 6 1500\n", "705 announced 6\n",
             "721 told 6 p2.1\n", "800 told -1\n", "810 told 6 p2.1\n", "820 va"],
}


def judged(records):
    return judge.violations([judge.read(name, lines) for name, lines in records.items()])


class Judge(unittest.TestCase):
    def changed(self, process, old, new):
        lines = [line.replace(old, new) for line in GOOD[process]]
        self.assertNotEqual(lines, GOOD[process])
        return judged({**GOOD, process: lines})

    def test_what_is_right(self):
        self.assertEqual(judged(GOOD), [])

    def test_two_leaders(self):
        found, = self.changed("p1.1", "700 over 5", "702 over 5")
        self.assertIn("counts itself the leader until 702", found)
        self.assertIn("until 1100", self.changed("p1.1", "700 over 5", "700 told 5 p1.1")[0])

    def test_a_term_that_does_not_grow(self):
        lines = [line.replace(" 6", " 4") for line in GOOD["p2.1"]]
        self.assertTrue(any("with term 4 after 5" in it for it in judged({**GOOD, "p2.1": lines})))

    def test_an_observer_that_goes_back(self):
        found = self.changed("p2.1", "810 told 6 p2.1", "810 told 5 p1.1")
        self.assertEqual(len(found), 1)
        self.assertIn("term 5 after 6", found[0])

    def test_what_nobody_announced(self):
        self.assertIn("is told blue of term 5", self.changed("p2.1", "told 5 p1.1", "told 5 blue")[0])
        self.assertIn("of term 9", self.changed("p2.1", "721 told 6", "721 told 9")[0])


if __name__ == "__main__":
    unittest.main()
