"""The checker of storms can fail: doctored records are condemned, each for the right reason."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

CHECK = str(Path(__file__).resolve().parent / "check")


class Records:
    """Two workers that take turns on two names; 100 us each, a fence 10 above the one before."""

    TURNS = 40

    def __init__(self):
        self.facts = {"one": [], "two": []}
        for turn in range(self.TURNS):
            worker = ("one", "two")[turn % 2]
            for name in ("a", "b"):
                self.take(worker, name, turn, 1000 + turn * 1000)

    def take(self, worker, name, number, at):
        self.facts[worker] += [
            [at, "attempt", name, number],
            [at + 10, "acquired", name, number, at + 500, f"token-{name}-{number}",
             7000 + 10 * number],
            [at + 110, "releasing", name, number, at + 500],
            [at + 120, "released", name, number, "REDLOCK_OK"]]

    def find(self, fact, name, number):
        return next(it for facts in self.facts.values() for it in facts
                    if it[1:4] == [fact, name, number])

    def text(self, worker):
        facts = sorted(self.facts[worker], key=lambda it: it[0])
        lines = [" ".join(map(str, it)) for it in facts]
        last = f"{facts[-1][0] + 1} end {len(lines)} 40 50 3"
        return "\n".join(lines + [last]) + "\n"


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        self.records = Records()

    def judge(self, *options, texts=None):
        paths = []
        for worker, text in (texts or {w: self.records.text(w) for w in ("one", "two")}).items():
            paths.append(self.dir / worker)
            paths[-1].write_text(text)
        done = subprocess.run([CHECK, "--json", *options, *map(str, paths)], text=True,
                              stdout=subprocess.PIPE, check=False)
        return done.returncode, json.loads(done.stdout)

    def assert_well(self):
        status, figures = self.judge()
        self.assertEqual(figures["complaints"], [])
        self.assertEqual(status, 0)
        return figures

    def assert_condemned(self, rule, words, *options, texts=None):
        """For this, and for nothing else."""
        status, figures = self.judge(*options, texts=texts)
        self.assertEqual(status, 1)
        self.assertEqual({it.split(":")[0] for it in figures["complaints"]}, {rule})
        self.assertIn(words, figures["complaints"][0])
        return figures["complaints"]

    def test_sound_records(self):
        figures = self.assert_well()
        self.assertEqual((figures["holders"], figures["names"], figures["attempts"]), (80, 2, 80))
        self.assertEqual((figures["rounds"], figures["raises"]), (100, 6))

    def test_equal_fence(self):
        self.records.find("acquired", "a", 8)[6] = 7070
        self.assertEqual(len(self.assert_condemned("fence", "a: token-a-8 ")), 1)

    def test_smaller_fence(self):
        self.records.find("acquired", "b", 9)[6] = 7079
        self.assertEqual(len(self.assert_condemned("fence", "b: token-b-9 ")), 1)

    def test_a_fence_far_above_makes_all_that_follow_smaller(self):
        self.records.find("acquired", "a", 20)[6] = 9000000
        self.assertEqual(len(self.assert_condemned("fence", "comes after token-a-20 ")), 19)

    def test_no_fence(self):
        self.records.find("acquired", "a", 0)[6] = 0
        self.assert_condemned("fence", "no such fence")

    def test_a_fence_that_a_double_cannot_tell(self):
        self.records.find("acquired", "a", 39)[6] = 2 ** 53
        self.assert_condemned("fence", "no such fence")

    def test_two_holders_one_of_which_never_gave_it_back(self):
        self.records.facts["one"].remove(self.records.find("releasing", "a", 10))
        self.records.find("acquired", "a", 10)[4] = 12011
        self.assertEqual(len(self.assert_condemned("overlap", "a: token-a-11 ")), 1)

    def test_two_holders_one_of_which_gave_it_back_late(self):
        self.records.find("acquired", "b", 10)[4] = 13000
        self.records.find("releasing", "b", 10)[0:5] = [12011, "releasing", "b", 10, 13000]
        self.records.find("released", "b", 10)[0] = 12012
        self.assertEqual(len(self.assert_condemned("overlap", "b: token-b-11 ")), 1)

    def test_two_holders_after_a_renewal(self):
        self.records.find("releasing", "a", 10)[0:5] = [11300, "at_risk", "a", 10, 12011]
        self.assert_condemned("overlap", "a: token-a-11 ")

    def test_a_long_holder_among_many(self):
        self.records.facts["one"].remove(self.records.find("releasing", "a", 10))
        self.records.find("acquired", "a", 10)[4] = 15011
        self.assertEqual(len(self.assert_condemned("overlap", "a: token-a-11 ")), 4)

    def test_validity_that_ended_by_itself(self):
        self.records.find("releasing", "a", 10)[0:5] = [12100, "releasing", "a", 10, 12100]
        self.records.find("released", "a", 10)[0] = 12200
        self.assert_well()

    def test_validity_that_was_withdrawn(self):
        self.records.find("acquired", "a", 10)[4] = 13000
        self.records.find("releasing", "a", 10)[0:5] = [11500, "lost", "a", 10, 11500]
        self.assert_well()

    def test_somebody_waited_for_long(self):
        self.records.find("attempt", "a", 39)[0] -= 3000
        self.assertEqual(self.assert_well()["longest_wait_ms"], 3)
        self.assertEqual(self.judge("--longest", "3")[0], 0)
        self.assert_condemned("stuck", "3 ms", "--longest", "2")

    def test_cut_at_a_line(self):
        text = self.records.text("one")
        texts = {"one": "".join(text.splitlines(True)[:-1]), "two": self.records.text("two")}
        self.assert_condemned("truncated", "has no end", texts=texts)

    def test_cut_within_a_line(self):
        texts = {"one": self.records.text("one")[:-3], "two": self.records.text("two")}
        self.assert_condemned("truncated", "ends within a line", texts=texts)

    def test_empty(self):
        texts = {"one": "", "two": self.records.text("two")}
        self.assert_condemned("truncated", "", texts=texts)

    def test_a_line_is_missing(self):
        lines = self.records.text("two").splitlines(True)
        del lines[40]
        self.assert_condemned("truncated", "lines before its end",
                              texts={"one": self.records.text("one"), "two": "".join(lines)})

    def test_lines_that_mean_nothing(self):
        for line in ("", "1", "x attempt a 1", "99999999 shrugged a 1", "99999999 attempt a",
                     "0 attempt a 1", "99999999 lost nobody 1 99999999"):
            with self.subTest(line=line):
                text = self.records.text("one").replace("\n", f"\n{line}\n", 20)
                texts = {"one": text, "two": self.records.text("two")}
                self.assert_condemned("malformed", "one:", texts=texts)

    def test_a_token_used_twice(self):
        self.records.find("acquired", "a", 8)[5] = "token-b-4"
        self.assert_condemned("token", "used twice")

    def test_a_record_is_missing(self):
        status, figures = self.judge("--workers", "2", texts={"one": self.records.text("one")})
        self.assertEqual((status, figures["complaints"]), (1, ["few: 1 workers, not 2"]))

    def test_too_few_holders(self):
        self.assert_condemned("few", "80 holders, not 81", "--holders", "81")

    def test_no_such_file(self):
        done = subprocess.run([CHECK, str(self.dir / "none")], stdout=subprocess.PIPE, text=True,
                              check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("malformed: ", done.stdout)


if __name__ == "__main__":
    unittest.main()
