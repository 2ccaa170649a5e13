"""masters change --plan: the shortest way from one list of masters to another, by lists that may meet."""

import functools
import itertools
import random

import schema
from harness import Case


def quorum(masters, spare):
    return (len(masters) + spare + 2) // 2


@functools.cache
def tried(a, b, spare):
    return all(quorum(b, spare) - len(set(b) - set(one)) > spare
               for one in itertools.combinations(a, quorum(a, spare)))


def meet(a, b, spare):
    """Each quorum of `a` shares more masters than may be wrong with the quorum of `b` that has fewest of it.
    Tried in lists that are as large."""
    return tried(range(len(a)), range(len(a - b), len(a | b)), spare)


def fewest_steps(old, new, spare):
    """Over all lists of these masters; None: there is no way."""
    both, least = sorted(old | new), spare + 3 if spare else 1
    lists = [frozenset(chosen) for size in range(least, len(both) + 1)
             for chosen in itertools.combinations(both, size)]
    now, seen, steps = {frozenset(old)}, {frozenset(old)}, 0
    while now and frozenset(new) not in now:
        now = {to for to in lists if to not in seen and any(meet(a, to, spare) for a in now)}
        seen |= now
        steps += 1
    return steps if now else None


class Plan(Case):
    def plan(self, old, new, *more, status=0):
        """Lists are numbers of masters where nothing listens."""
        urls = [",".join(f"127.0.0.1:{number}" for number in numbers) for numbers in (old, new)]
        return self.redlock("masters", "--nodes", urls[0], "change", urls[1], "--plan", *more, status=status)

    def steps(self, old, new, spare=0):
        """Each as the numbers of its list, after a look at all that it says."""
        told = self.plan(old, new, "--json", "--spare", str(spare)).json
        schema.check(told, "plan")
        lists = [set(old)]
        for step in told["steps"]:
            nodes, joining, leaving = ({int(node.split(":")[1]) for node in step[key]}
                                       for key in ("nodes", "joining", "leaving"))
            self.assertEqual((nodes - lists[-1], lists[-1] - nodes), (joining, leaving))
            self.assertEqual(step["quorum"], quorum(nodes, spare))
            self.assertEqual(len(step["nodes"]), len(nodes))
            self.assertTrue(meet(lists[-1], nodes, spare), (lists[-1], nodes))
            lists.append(nodes)
        self.assertEqual(lists[-1], set(new))
        return lists[1:]

    def test_shortest(self):
        chance = random.Random(1)
        cases = [({1}, {2}, 0), ({1, 2, 3}, {1, 2, 3, 4, 5}, 0), ({1, 2, 3}, {4, 5, 6}, 0),
                 ({1, 2, 3, 4}, {1, 2, 3, 5}, 1), ({1, 2, 3, 4}, {1, 2, 3, 5}, 0)]
        for _ in range(12):
            spare = chance.choice([0, 0, 1])
            least = 4 if spare else 1
            cases.append((*(set(chance.sample(range(1, 7), chance.randint(least, 5))) for _ in "ab"), spare))
        for old, new, spare in cases:
            with self.subTest(old=old, new=new, spare=spare):
                self.assertEqual(len(self.steps(old, new, spare)), fewest_steps(old, new, spare))

    def test_all_five(self):
        lists = self.steps(range(1, 6), range(6, 11))
        self.assertEqual([len(nodes) for nodes in lists], [6, 8, 10, 8, 6, 5])

    def test_most_masters(self):
        lists = self.steps(range(1, 16), range(2, 17))
        self.assertEqual([len(nodes) for nodes in lists], [14, 15])

    def test_for_people(self):
        told = self.plan([1, 2, 3], [2, 3, 4], "--max-ttl", "10s", "--prefix", "job:")
        self.assertEqual(told.out, """\
fleet "job:"
now: quorum 2 of 3
  127.0.0.1:1,127.0.0.1:2,127.0.0.1:3
1: quorum 3 of 4, with 127.0.0.1:4
  127.0.0.1:1,127.0.0.1:2,127.0.0.1:3,127.0.0.1:4
2: quorum 2 of 3, without 127.0.0.1:1
  127.0.0.1:2,127.0.0.1:3,127.0.0.1:4
By hand: after each step wait until `redlock masters` shows that list alone, and 11.1 s more.
""")
        self.assertEqual(self.plan([1, 2], [2, 1]).out, "Both lists have the same masters.\n")

    def test_fleet(self):
        for options, told, line in ((["--prefix", "a", "--fleet", "b\n"], "b\n", 'fleet "b\\x0a"\n'),
                                    ([], "", "fleet of clients without a prefix\n"),
                                    (["--prefix", "a", "--fleet", ""], None, "now: ")):
            with self.subTest(options=options):
                self.assertTrue(self.plan([1], [2], *options).out.startswith(line))
                told_json = self.plan([1], [2], "--json", *options).json
                schema.check(told_json, "plan")
                self.assertEqual(told_json["fleet"], told)

    def test_refused(self):
        told = self.plan(range(1, 16), range(2, 17), "--spare", "12", status=78)
        self.assertIn("no chain of lists", told.err)
        self.assertIn("the new list", self.plan([1], [2, 2], status=78).err)
        self.assertIn("--watch", self.plan([1], [2], "--watch", status=64).err)
        self.assertEqual(self.plan([1], [2, 2], "--json", status=78).json["ok"], False)
