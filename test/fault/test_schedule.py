"""The faults are drawn from the seed alone, and keep the limits of their profile."""

import sys
import unittest
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from chaos import changing, kinds, schedule  # noqa: E402
from chaos.profiles import PROFILES, TOLERATED, WRONG  # noqa: E402

SEEDS = range(20)
SIZES = (3, 5)
FIVE_ONLY = ("change", "moving", "recipes", "small", "turns", "wrong")


def draw(name, seed=1, masters=5):
    profile = PROFILES[name]
    return schedule.plan(profile, seed, profile.seconds, masters, profile.workers)


drawn = lru_cache(maxsize=None)(draw)


def all_drawn():
    for name in PROFILES.keys() - {"soak"}:  # full, for longer
        for masters in SIZES if name not in FIVE_ONLY else (5,):
            for seed in SEEDS:
                yield name, masters, seed, drawn(name, seed, masters)


def under_way(faults, moment):
    return [fault for fault in faults if fault.at <= moment < fault.end]


def silent_until(fault, name):
    return fault.end + schedule.silence_after(PROFILES[name], fault.kind)


def of_masters(faults):
    return [fault for fault in faults if fault.kind in kinds.MASTERS]


def kinds_of(name):
    profile = PROFILES[name]
    beside = {"frozen"} if profile.shape == "alone" else set()
    return {*profile.of_masters, *profile.of_workers, *profile.of_links} | beside


def without_a_vote(faults, moment, name):
    return [fault for fault in faults if fault.at <= moment < silent_until(fault, name)]


class Drawn(unittest.TestCase):
    def test_the_same_seed_draws_the_same(self):
        for name, masters, seed, faults in all_drawn():
            self.assertEqual(faults, draw(name, seed, masters))

    def test_another_seed_draws_something_else(self):
        for name in PROFILES:
            if kinds_of(name):
                self.assertNotEqual(drawn(name, 1), drawn(name, 2), name)

    def test_all_is_mended_before_the_end(self):
        for name, _, seed, faults in all_drawn():
            for fault in faults:
                self.assertGreaterEqual(fault.at, 0)
                self.assertGreaterEqual(fault.lasts, 0)
                self.assertLess(fault.end, PROFILES[name].seconds, (name, seed, fault))

    def test_nothing_is_in_two_faults_at_once(self):
        for name, _, seed, faults in all_drawn():
            until = {}
            for fault in faults:
                for target in fault.targets:
                    self.assertLessEqual(until.get(target, 0), fault.at, (name, seed, fault))
                    until[target] = fault.end

    def test_only_kinds_of_the_profile(self):
        for name, _, _, faults in all_drawn():
            self.assertLessEqual({fault.kind for fault in faults}, kinds_of(name))

    def test_what_cannot_be_had_is_left_out(self):
        profile = PROFILES["full"]
        faults = schedule.plan(profile, 1, 600, 5, 8, ["clock-stepped", "killed"])
        self.assertEqual({fault.kind for fault in faults},
                         {*profile.of_masters, *profile.of_workers} - {"clock-stepped", "killed"})


class Kinds(unittest.TestCase):
    def all_seen(self, name, given):
        for masters in SIZES if name not in FIVE_ONLY else (5,):
            for seed in SEEDS:
                seen = {fault.kind for fault in drawn(name, seed, masters)}
                self.assertEqual(set(given) - seen, set(), (name, masters, seed))

    def test_every_kind_is_seen_in_quick(self):
        self.all_seen("quick", {*TOLERATED, *kinds.WORKERS})

    def test_every_kind_is_seen_in_full(self):
        self.all_seen("full", {*TOLERATED, *kinds.WORKERS})

    def test_every_kind_is_seen_in_wrong(self):
        self.all_seen("wrong", (*WRONG, "frozen"))

    def test_majorities_are_struck_in_full(self):
        for masters in SIZES:
            faults = [fault for fault in drawn("full", masters=masters)
                      if fault.kind in kinds.MASTERS]
            most = max(len(under_way(faults, fault.at)) for fault in faults)
            self.assertEqual(most, masters)

    def test_every_kind_of_fault_can_be_done(self):
        from chaos import masters, network, workers
        done = {**masters.FAULTS, **workers.FAULTS, **network.FAULTS}
        self.assertEqual(set(done), set(kinds.ALL))


class Solitary(unittest.TestCase):
    def test_nothing_else_is_struck_around_them(self):
        for name, _, seed, faults in all_drawn():
            quiet = PROFILES[name].quiet_s
            for fault in faults if name == "quick" or seed < 3 and name != "wrong" else ():
                if fault.kind in kinds.SOLITARY:
                    near = [other for other in faults if other is not fault
                            and other.end > fault.at - quiet and other.at < fault.end + quiet]
                    self.assertEqual(near, [], (name, seed, fault))
                    self.assertEqual(len(fault.targets), 1)


class Alone(unittest.TestCase):
    def test_no_two_are_wrong_at_once(self):
        """A master that forgot is wrong until all its old promises are over."""
        for seed in SEEDS:
            faults = [fault for fault in drawn("wrong", seed) if fault.kind in WRONG]
            apart = PROFILES["wrong"].quarantine_ms / 1000
            for fault, after in zip(faults, faults[1:]):
                self.assertGreaterEqual(after.at - fault.end, apart, (seed, fault, after))


class Moving(unittest.TestCase):
    NAMES = ("moving", "recipes")

    def drawn(self):
        return [(name, of_masters(drawn(name, seed))) for name in self.NAMES for seed in SEEDS]

    def test_two_are_down_at_any_one_time(self):
        """Or restarted, and not voting yet; never three, so a quorum always votes."""
        for name, faults in self.drawn():
            for fault in faults[1:]:
                self.assertEqual(len(without_a_vote(faults, fault.at, name)), 2)
            last = faults[-1].at
            silent = sorted(silent_until(fault, name) for fault in faults)
            for gap in [moment for moment in silent if moment < last][:-1]:
                self.assertEqual(len(without_a_vote(faults, gap + 1.01 * PROFILES[name].apart_s, name)), 2)

    def test_the_faults_move(self):
        for _, faults in self.drawn():
            self.assertGreaterEqual(len({fault.targets for fault in faults}), 4)
            for fault, following in zip(faults, faults[1:]):
                self.assertNotEqual(fault.targets, following.targets)
                self.assertLessEqual(following.at - fault.at, schedule.MOVE_S[1])


class Deaths(unittest.TestCase):
    def test_two_are_away_when_the_lock_is_handed_over(self):
        for seed in SEEDS:
            faults, handed_over = drawn("small", seed), 1.5 * PROFILES["small"].ttl_ms / 1000
            self.assertEqual([fault.kind for fault in faults], ["crashed", "crashed"])
            self.assertNotEqual(faults[0].targets, faults[1].targets)
            self.assertEqual(without_a_vote(faults, handed_over, "small"), faults)
            self.assertLess(silent_until(faults[1], "small"), PROFILES["small"].seconds)


class Recipes(unittest.TestCase):
    def test_all_are_struck_in_all_ways(self):
        for name, seed in ((name, seed) for name in ("recipes", "tokens") for seed in SEEDS):
            profile = PROFILES[name]
            seen = {(fault.kind, fault.targets[0].split("-")[0]) for fault in drawn(name, seed)}
            for kind in ("worker", *dict(profile.recipes)):
                self.assertEqual({how for how, whom in seen if whom == kind}, set(profile.of_workers))


class Leaders(unittest.TestCase):
    def test_who_leads_is_struck_in_all_ways(self):
        """One that is stopped wakes when its lease is over."""
        for seed in SEEDS:
            faults = drawn("elections", seed)
            self.assertEqual({fault.targets for fault in faults}, {(schedule.LEADER,)})
            self.assertEqual({fault.kind for fault in faults}, set(PROFILES["elections"].of_workers))
            self.assertGreater(min(fault.lasts for fault in faults if fault.kind == "stopped"),
                               PROFILES["elections"].ttl_ms / 1000)


class Older(unittest.TestCase):
    def waves(self, seed, masters):
        """By the moment at which they come back: the masters, and of when each has its data."""
        found = {}
        for fault in drawn("tokens", seed, masters):
            if fault.kind == "rolled-back":
                found.setdefault((fault.at, fault.end), {})[fault.targets[0]] = fault.detail
        return sorted(found.items())

    def test_masters_come_back_together(self):
        """From one moment; a minority in some cases, and never more than a quorum."""
        for masters in SIZES:
            waves = [wave for seed in SEEDS for _, wave in self.waves(seed, masters)]
            self.assertEqual({len(wave) for wave in waves}, set(range(1, masters // 2 + 2)))
            self.assertEqual({len(set(wave.values())) for wave in waves}, {1})

    def test_all_vote_before_the_next_are_saved(self):
        for masters, seed in ((masters, seed) for masters in SIZES for seed in SEEDS):
            waves = self.waves(seed, masters)
            for ((_, end), _), ((at, _), after) in zip(waves, waves[1:]):
                self.assertGreater(at - max(after.values()), end + PROFILES["tokens"].quarantine_ms / 1000)

    def test_another_one_hears_nothing_meanwhile(self):
        for seed in SEEDS:
            faults = of_masters(drawn("tokens", seed))
            for deaf in [fault for fault in faults if fault.kind == "frozen"]:
                beside = [fault for fault in faults if fault.kind == "rolled-back"
                          and fault.at - fault.detail == deaf.at and fault.end <= deaf.end]
                self.assertTrue(beside, (seed, deaf))
                self.assertNotIn(deaf.targets, [fault.targets for fault in beside])


class Changing(unittest.TestCase):
    PROFILE = PROFILES["change"]

    def around(self, seconds=300, spare=0):
        """Of each seed and change: its way, and the faults from then on until the next one."""
        profile = replace(self.PROFILE, spare=spare)
        for seed in SEEDS:
            faults = schedule.plan(profile, seed, seconds, 5, profile.workers)
            plan = changing.changes(profile, seed, seconds, 5)
            ends = [it.at for it in plan[1:]] + [seconds]
            for change, end in zip(plan, ends):
                yield change, [it for it in faults if change.at - 1 <= it.at < end - 1]

    def test_each_master_is_replaced(self):
        for seed in SEEDS:
            plan = changing.changes(self.PROFILE, seed, 300, 5)
            self.assertEqual({it.seat for it in plan}, {1, 2, 3, 4, 5})
            self.assertEqual([it.way for it in plan], list(changing.WAYS))
            self.assertEqual(sum(it.is_dead for it in plan), 1)
        self.assertEqual(len(changing.changes(self.PROFILE, 1, 29, 5)), 2)
        self.assertEqual(changing.changes(PROFILES["quick"], 1, 300, 5), [])

    def test_killed_clients_are_forgotten(self):
        """There is time for it, or nothing is changed after that."""
        for change, faults in self.around():
            of = {it.kind for it in faults if it.detail != changing.AFTER_ALL}
            self.assertEqual("killed" in of, change.way in ("slow", "storm"), change)
            restarted = {it.targets for it in faults if it.kind in changing.RESTARTING}
            self.assertEqual(len(restarted),
                             changing.RESTARTS if change.way in ("restarts", "storm") else 0, change)

    def test_nobody_is_killed_before_the_end_of_a_short_run(self):
        for change, faults in self.around(seconds=29):
            when = {it.detail for it in faults if it.kind == "killed"}
            self.assertLessEqual(when, {changing.AFTER_ALL})
            self.assertEqual([it for it in faults if it.kind in changing.RESTARTING], [], change)

    def test_some_sleep_through_the_next_change(self):
        for change, faults in self.around():
            longest = max((it.lasts for it in faults if it.kind == "stopped"), default=0)
            through = changing.listed_s(self.PROFILE) + changing.AWAKE_S
            self.assertEqual(longest > through, change.way == "slow")

    def test_one_lies_if_there_is_a_spare_vote(self):
        for spare, liars in ((0, set()), (1, {("master-1",)})):
            faults = [it for _, faults in self.around(spare=spare) for it in faults]
            self.assertEqual({it.targets for it in faults if it.kind == "lying"}, liars)
            self.assertEqual(any(change.is_dead for change, _ in self.around(spare=spare)), not spare)

    def test_a_quorum_is_never_struck(self):
        for spare, most in ((0, 2), (1, 1)):
            for change, faults in self.around(spare=spare):
                struck = [it for it in faults if it.kind in kinds.MASTERS]
                for fault in struck:
                    beside = without_a_vote(struck, fault.at, "change")
                    self.assertLessEqual(len(beside) + change.is_dead, most, (change, beside))


class Turns(unittest.TestCase):
    def test_a_quorum_is_never_struck(self):
        for seed in SEEDS:
            self.assertEqual(len({fault.targets for fault in drawn("turns", seed)}), 2)


class Spared(unittest.TestCase):
    def test_some_live_as_long_as_the_run(self):
        faults = [fault for fault in draw("soak") if fault.kind in ("killed", "ended")]
        struck = {target for fault in faults for target in fault.targets}
        profile = PROFILES["soak"]
        self.assertEqual(struck, {f"worker-{k}" for k in range(profile.spared + 1,
                                                               profile.workers + 1)})


class Harmless(unittest.TestCase):
    def test_no_data_is_lost_among_other_clients(self):
        self.assertFalse({"crashed", "emptied", "rolled-back", *kinds.SOLITARY}
                         & set(PROFILES["mixed"].of_masters))


if __name__ == "__main__":
    unittest.main()
