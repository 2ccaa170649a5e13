"""The checker of chaos can fail: it condemns each doctored record for exactly the right reason, and
none that only looks suspicious."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from judge.report import page, report
from judge.trial import Trial

CHECK = str(Path(__file__).resolve().parent / "check")
MS = 1000
BEGIN, TTL, VALID = 1_000_000 * MS, 1000 * MS, 980 * MS
TURN = 50 * MS  # from one holder of a name to the next
UNTIL = 4  # where a fact has it


def at(ms):
    return BEGIN + ms * MS


class Record:
    """Workers that take turns on two names, each act once and give it back: 10 s."""

    TURNS = 200
    RUN = {"profile": "doctored", "seed": 1, "masters": 5, "workers": 2, "names": "a,b",
           "ttl_ms": 1000, "max_ttl_ms": 1000, "skew_ms": 50, "quarantine_ms": 1060,
           "begin": BEGIN, "end": at(10000), "holders": 1, "longest_ms": 0, "availability": 0}

    def __init__(self):
        self.run = dict(self.RUN)
        self.kinds = {"worker-1": "library", "worker-2": "library"}
        self.facts = {"worker-1": [], "worker-2": []}
        self.faults, self.keys, self.raw = [], [], {}
        self.writes = {}  # (moment of the answer, worker, number): line, without its SEQ
        self.killed = set()
        for turn in range(self.TURNS):
            for name in ("a", "b"):
                self.take(f"worker-{1 + turn % 2}", name, turn, BEGIN + turn * TURN)

    def take(self, worker, name, number, now):
        fence, token = 7000 + 10 * number, f"{name}{number}:{worker}"
        self.facts[worker] += [
            [now, "attempt", name, number],
            [now + 2 * MS, "acquired", name, number, now + VALID, token, fence],
            [now + 3 * MS, "act", name, number, now + VALID],
            [now + 4 * MS, "acted", name, number, "accepted", "fresh"],
            [now + 20 * MS, "releasing", name, number, now + VALID],
            [now + 21 * MS, "released", name, number, "REDLOCK_OK"]]
        self.writes[now, name] = [name, fence, worker, number, "write", "accepted", "fresh"]
        self.sees((now - BEGIN) // MS + 10, name, token)

    def sees(self, ms, name, token, left=900, master=1):
        self.keys.append([at(ms), f"master-{master}", name, token, left])

    def find(self, fact, name, number):
        return next(it for facts in self.facts.values() for it in facts
                    if it[1:4] == [fact, name, number])

    def drop(self, name, number, *facts):
        for of_worker in self.facts.values():
            of_worker[:] = [it for it in of_worker if it[1] not in facts
                            or it[2:4] != [name, number]]
        if "act" in facts:
            self.unwrite(name, number)

    def unwrite(self, name, number):
        self.writes = {key: it for key, it in self.writes.items() if (it[0], it[3]) != (name, number)}

    def keep_to(self, ms, worker=None):
        """No worker (or not this one) does anything more, so that a test can add its own facts."""
        for label, facts in self.facts.items():
            if worker in (None, label):
                facts[:] = [it for it in facts if it[0] < at(ms)]
        self.writes = {key: it for key, it in self.writes.items()
                       if key[0] < at(ms) - 2 * MS or worker not in (None, it[2])}
        self.keys = [it for it in self.keys
                     if it[0] < at(ms) or worker and not it[3].endswith(worker)]

    def reads(self, name, number):
        """This turn is a reader's."""
        self.find("attempt", name, number).append("shared")
        self.write_of(name, number)[4] = "read"

    def write_of(self, name, number):
        return next(it for it in self.writes.values() if (it[0], it[3]) == (name, number))

    def adds(self, worker):
        self.run["workers"] += 1
        self.kinds[worker], self.facts[worker] = "library", []

    def gives_back(self, name, number, ms):
        self.find("releasing", name, number)[0] = at(ms)
        self.find("released", name, number)[0] = at(ms + 1)

    def gets(self, worker, number, asked, begin, until, fence, *wish, slot=()):
        """Name a, and no more of this lease."""
        self.says(worker, asked, "attempt", "a", number, *wish)
        self.says(worker, begin, "acquired", "a", number, at(until), f"t{number}:{worker}", fence, *slot)

    def holds(self, worker, number, asked, begin, end, fence, *wish, slot=()):
        """Name a, without an act."""
        self.gets(worker, number, asked, begin, begin + 980, fence, *wish, slot=slot)
        self.says(worker, end, "releasing", "a", number, at(begin + 980))
        self.says(worker, end, "released", "a", number, "REDLOCK_OK")

    def fails(self, worker, moments, wait, code, first=300):
        """Name a, asked for at these moments."""
        for number, ms in enumerate(moments, first):
            self.says(worker, ms, "attempt", "a", number)
            self.says(worker, ms + wait, "failed", "a", number, code)

    def says(self, worker, ms, fact, *rest):
        self.facts[worker].append([at(ms), fact, *rest])

    def fault(self, kind, target, begin, end):
        self.faults.append((kind, target, at(begin), at(end)))

    def kill(self, worker, ms, until=None):
        """Dies without a last fact; the next life has nothing to do."""
        self.keep_to(ms, worker)
        self.fault("killed", worker, ms, until or ms + 1000)
        self.killed.add(worker)
        self.kinds[f"{worker}.2"] = "library"
        self.facts[f"{worker}.2"] = []

    # ---- files -------------------------------------------------------------------------------

    def text_of(self, worker):
        facts = sorted(self.facts[worker], key=lambda it: it[0])
        first = facts[0][0] if facts else at(9000)
        facts.insert(0, [first, "begin", self.kinds[worker], 4711])
        if worker not in self.killed:
            facts.append([max(facts[-1][0], at(10000)), "end", len(facts), 200, 250, 6])
        return lines(facts)

    def fault_lines(self):
        told = []
        for which, (kind, target, begin, end) in enumerate(self.faults, 1):
            told += [[begin, "begin", which, kind, target], [end, "end", which]]
        return sorted(told, key=lambda it: it[0])

    def files(self):
        writes = [self.writes[key] for key in sorted(self.writes)]
        return {"run": lines(self.run.items()), "faults": lines(self.fault_lines()),
                "keys": lines(sorted(self.keys, key=lambda it: it[0])),
                "register": lines([i, *it] for i, it in enumerate(writes, 1)),
                **{worker: self.text_of(worker) for worker in self.facts}, **self.raw}

    def write(self, folder):
        for name, text in self.files().items():
            if text is not None:
                (folder / name).write_text(text, encoding="ascii")


def lines(rows):
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        self.record = Record()
        self.facts = {}  # of processes of recipes, by label; their times are in ms

    def change(self, label, index, *fact):
        self.facts[label][index] = list(fact)

    def judge(self):
        self.record.raw |= {label: lines([[at(ms), *rest] for ms, *rest in facts])
                            for label, facts in self.facts.items()}
        self.record.write(self.dir)
        trial = Trial(self.dir)
        trial.hold()
        return report(trial)

    def assert_well(self):
        told = self.judge()
        self.assertEqual(told["complaints"], [])
        return told

    def assert_condemned(self, rule, words, many=None):
        """For this reason alone."""
        told = self.judge()
        self.assertEqual({it.split(":")[0] for it in told["complaints"]}, {rule},
                         told["complaints"][:5])
        self.assertIn(words, told["complaints"][0])
        if many is not None:
            self.assertEqual(len(told["complaints"]), many)
        return told

    def each(self, table):
        """Rows: a title, a maker of the record, and the judgement. This is a rule and words; a sound
        record has figures instead, or None."""
        for title, make, judgement in table:
            with self.subTest(title):
                self.setUp()
                make()
                if isinstance(judgement, tuple):
                    self.assert_condemned(*judgement, 1)
                else:
                    told, figures = self.assert_well(), judgement or {}
                    self.assertEqual({key: told[key] for key in figures}, figures)


class Sound(Case):
    def test_a_sound_record(self):
        told = self.assert_well()
        self.assertEqual((told["holders"], told["attempts"], told["writes"]), (400, 400, 400))
        self.assertEqual((told["rounds"], told["raises"], told["acts"]), (500, 12, 400))
        self.assertEqual(told["availability"], 100)

    def command(self, *options):
        self.record.write(self.dir)
        return subprocess.run([CHECK, *options, str(self.dir)], text=True, check=False,
                              stdout=subprocess.PIPE)

    def test_for_machines(self):
        done = self.command("--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["complaints"]), (0, []))
        self.record.run["workers"] = 3
        done = self.command("--json")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stdout)["complaints"], ["few: 2 workers, not 3"])

    def test_a_page_for_people(self):
        self.record.fault("frozen", "master-1", 1000, 1500)
        done = self.command()
        self.assertEqual(done.returncode, 0)
        for words in ("400 holders", "1 frozen", "violations     none", "0 told in time, 0 late"):
            self.assertIn(words, done.stdout)
        self.record.run["workers"] = 3
        done = self.command()
        self.assertEqual(done.returncode, 1)
        self.assertIn("WRONG          few: 2 workers, not 3", done.stdout)


class Overlap(Case):
    NEXT = ("overlap", "a: a11:")  # the next holder's lease

    def holds_on(self, until_ms):
        """Number 10, which worker-1 does not give back."""
        self.record.drop("a", 10, "releasing", "released")
        for fact in ("acquired", "act"):
            self.record.find(fact, "a", 10)[UNTIL] = at(until_ms)

    def late(self, *readers, fault=None, masters=()):
        """Number 11 gets it a moment before; where the watcher has seen the key of number 10."""
        for number in readers:
            self.record.reads("a", number)
        self.record.gives_back("a", 10, 553)
        if fault:
            kind, begin, end = fault
            self.record.fault(kind, "master-1", begin, end)
        for master in masters:
            self.record.sees(505, "a", "a10:worker-1", master=master)

    def test_it_gave_it_back_late(self):
        evicted, excused = ("evicting", 530, 540), {"overlaps_excused": 1}
        self.each((
            ("a writer", self.late, self.NEXT),
            ("at the same moment", lambda: self.record.gives_back("a", 10, 552), None),
            ("readers hold at once", lambda: self.late(10, 11), {"readers": 2, "side_by_side": 1}),
            ("a reader comes while a writer holds", lambda: self.late(11),
             ("overlap", "a: a11:worker-2 of worker-2:11, a reader, holds it")),
            ("a writer comes while a reader holds", lambda: self.late(10),
             ("overlap", "a: a11:worker-2 of worker-2:11, holds it")),
            ("a master took the key, and it has a bare quorum", lambda: self.late(fault=evicted), excused),
            ("a clock was stepped", lambda: self.late(fault=("clock-stepped", 530, 540)), excused),
            ("one master of many took it", lambda: self.late(fault=evicted, masters=(2, 3, 4)), self.NEXT),
            ("a master took it before", lambda: self.late(fault=("evicting", 400, 420)), self.NEXT)))

    def told_last(self, fences=(9300, 9301), fault=("evicting", 9003, 9005), masters=(1, 2, 3), seen=9003):
        """Two workers get it at once, and the first one tells of it last; where the watcher saw its key."""
        self.record.keep_to(9000)
        wish = () if all(fences) else ("unfenced",)
        self.record.holds("worker-1", 300, 9000, 9020, 9060, fences[0], *wish)
        self.record.holds("worker-2", 301, 9001, 9010, 9050, fences[1], *wish)
        if fault:
            kind, begin, end = fault
            self.record.fault(kind, "master-1", begin, end)
        for master in masters:
            self.record.sees(seen, "a", "t300:worker-1", master=master)

    def test_the_first_is_told_last(self):
        everywhere, excused = (1, 2, 3, 4), {"overlaps_excused": 1}
        self.each((
            ("a key was taken in between", self.told_last, excused),
            ("without fences", lambda: self.told_last((0, 0)), excused),
            ("the other one may have been first",
             lambda: self.told_last((0, 0), ("evicting", 9012, 9015), masters=everywhere), excused),
            ("it was on more masters", lambda: self.told_last((0, 0), masters=everywhere),
             ("overlap", "a: t300:worker-1")),
            ("it came to more masters later", lambda: self.told_last(masters=everywhere, seen=9015), excused),
            ("a key was taken before it asked", lambda: self.told_last((0, 0), ("evicting", 8990, 8999)),
             ("overlap", "a: t300:worker-1")),
            ("their fences are equal", lambda: self.told_last((9300, 9300)), ("fence", "a: t300:worker-1"))))

    def test_a_lower_fence_where_no_key_was_taken(self):
        self.told_last(fault=None)
        told = self.judge()
        self.assertEqual(sorted(it.split(":")[0] for it in told["complaints"]), ["fence", "overlap"])

    def test_it_never_gave_it_back(self):
        self.holds_on(600)
        self.record.says("worker-1", 590, "lost", "a", 10, at(590))
        self.record.drop("a", 12, "attempt", "acquired", "act", "acted", "releasing", "released")
        self.assert_condemned("overlap", "a: a11:worker-2 of worker-2:11", 1)

    def test_a_renewal_told_late(self):
        """The lease was held all the while between its former end and the new one."""
        self.holds_on(530)
        self.record.says("worker-1", 580, "valid", "a", 10, at(700))
        self.record.says("worker-1", 590, "releasing", "a", 10, at(700))
        self.record.fault("stopped", "worker-1", 520, 580)
        self.assert_condemned(*self.NEXT, 1)

    def test_a_killed_holder_holds_to_its_end(self):
        self.record.kill("worker-1", 510)
        self.assert_condemned("overlap", "until 1001480000", 20)

    def test_two_commands(self):
        self.record.kinds = dict.fromkeys(self.record.kinds, "command")
        for facts in self.record.facts.values():
            for fact in facts:
                if fact[1] in ("acquired", "act", "releasing"):
                    fact[UNTIL] = fact[0]
        self.assert_well()
        self.record.gives_back("a", 10, 560)
        self.record.says("worker-1", 555, "act", "a", 10, at(555))
        self.assert_condemned(*self.NEXT, 1)

    def test_a_killed_reader_holds_to_its_end(self):
        self.record.reads("a", 8)
        self.record.drop("a", 8, "releasing", "released")
        self.record.kill("worker-1", 424)
        self.record.keep_to(600)
        self.assert_condemned("overlap", "a: a9:worker-2 of worker-2:9, holds it from", 2)
        for number in (9, 11):
            self.record.reads("a", number)
        self.assert_well()

    def reader_that_tells_a_renewal_late(self, *wish):
        """Somebody else held the name in between, and then another reader."""
        self.record.keep_to(9000)
        for worker in ("worker-3", "worker-4"):
            self.record.adds(worker)
        self.record.gets("worker-1", 300, 9000, 9002, 9050, 9300, "shared")
        self.record.fault("stopped", "worker-1", 9040, 9200)
        self.record.says("worker-1", 9201, "valid", "a", 300, at(9400))
        self.record.says("worker-1", 9250, "releasing", "a", 300, at(9400))
        self.record.holds("worker-3", 1, 9090, 9100, 9120, 9301, *wish)
        self.record.holds("worker-4", 1, 9140, 9150, 9300, 9302, "shared")

    def test_a_renewal_of_a_reader_told_late(self):
        self.each((
            ("beside a writer", self.reader_that_tells_a_renewal_late,
             ("overlap", "a: t1:worker-3 of worker-3:1, holds it from")),
            ("beside readers", lambda: self.reader_that_tells_a_renewal_late("shared"), None)))

    def plain(self, until=None):
        """Worker-1, which holds name a for too long."""
        self.record.kinds["worker-1"] = "plain"
        for fact in self.record.facts["worker-1"]:
            if fact[1] == "acquired":
                fact[6] = 0
            elif fact[1] == "acted":
                fact[4] = "unfenced"
        for write in self.record.writes.values():
            if write[2] == "worker-1":
                write[1], write[5] = 0, "unfenced"
        if until:
            self.holds_on(until)

    def test_plain_clients(self):
        def emptied():
            self.plain(553)
            self.record.fault("emptied", "master-1", 530, 540)
        self.each((
            ("a sound record", self.plain, None),
            ("too long", lambda: self.plain(553), self.NEXT),
            ("not told of loss", lambda: self.plain(540), None),
            ("they know no quarantine", emptied, {"overlaps_excused": 1})))

    def test_a_reader_that_a_master_forgot(self):
        """The master that has it has the other reader, too."""
        self.late(10, fault=("evicting", 530, 540))
        self.assertEqual(self.assert_well()["overlaps_excused"], 1)
        for master in (1, 2, 3, 4):
            for token in ("redlock:shared", "a10:worker-1", "other:worker-2"):
                self.record.sees(505, "a", token, master=master)
        self.assert_condemned(*self.NEXT, 1)


class Fences(Case):
    def fence(self, name, number, fence):
        self.record.find("acquired", name, number)[6] = fence
        self.record.write_of(name, number)[1] = fence

    def without_act(self, name, number, fence):
        self.record.find("acquired", name, number)[6] = fence
        self.record.drop(name, number, "act", "acted")

    def hold(self, *leases):
        """Of worker-1, worker-2 and so on: asked, begin, end, fence and wishes."""
        self.record.keep_to(9000)
        for which, lease in enumerate(leases, 1):
            if which > 2:
                self.record.adds(f"worker-{which}")
            self.record.holds(f"worker-{which}", 299 + which, *lease)

    def readers(self, first, second, asked=9001, writer=()):
        """The fences of two that hold at once; when the second one asked; and of a writer after them."""
        self.hold((9000, 9002, 9050, first, "shared"), (asked, 9010, 9060, second, "shared"),
                 *((8990, 9070, 9080, fence) for fence in writer))

    def test_writers(self):
        self.each((
            ("equal", lambda: self.fence("a", 8, 7070), ("fence", "a: a8:")),
            ("smaller", lambda: self.without_act("b", 9, 7079), ("fence", "b: b9:")),
            ("none at all", lambda: self.without_act("a", 0, -1), ("fence", "-1 is no fence")),
            ("a double cannot tell it", lambda: self.fence("a", 199, 2 ** 53), ("fence", "is no fence"))))

    def test_readers(self):
        self.each((
            ("side by side they may tie", lambda: self.readers(9300, 9300), None),
            ("side by side they come in any order", lambda: self.readers(9301, 9300), None),
            ("one asks when the other was told: equal", lambda: self.readers(9300, 9300, 9003),
             ("fence", "a: t301:worker-2 of worker-2:301, a reader, fence 9300")),
            ("smaller", lambda: self.readers(9301, 9300, 9003), ("fence", "a: t301:worker-2")),
            ("above", lambda: self.readers(9300, 9301, 9003), None),
            ("a writer is above all of them", lambda: self.readers(9301, 9300, writer=[9302]), None),
            ("a writer is not", lambda: self.readers(9301, 9300, writer=[9301]),
             ("fence", "fence 9301, comes after t300:worker-1")),
            ("a reader is above all writers",
             lambda: self.hold((9000, 9010, 9020, 9300), (9000, 9030, 9040, 9300, "shared")),
             ("fence", "comes after t300:worker-1 of worker-1:300, fence 9300")),
            ("who asked for no fence has none",
             lambda: self.hold((9000, 9002, 9050, 0, "shared", "unfenced"),
                               (9001, 9055, 9060, 0, "unfenced")), None),
            ("who asked for a fence has one", lambda: self.hold((9000, 9002, 9050, 0, "shared")),
             ("fence", "0 is no fence"))))

    def test_told_late_by_one_that_was_stopped(self):
        self.record.keep_to(9000)
        self.record.gets("worker-1", 301, 9000, 9990, 9998, 9301)
        self.record.says("worker-1", 9991, "releasing", "a", 301, at(9998))
        self.record.gets("worker-2", 300, 9000, 9995, 9995, 9300)
        self.record.says("worker-2", 9996, "lost", "a", 300, at(9996))
        self.record.fault("stopped", "worker-2", 9000, 9995)
        self.assert_well()

    def test_a_token_used_twice(self):
        self.record.find("acquired", "a", 8)[5] = "b4:worker-1"
        self.record.keys = []
        self.assert_condemned("token", "used twice", 1)


class Lost(Case):
    """The last lease of worker-1, from 9 s on."""

    def setUp(self):
        super().setUp()
        self.record.keep_to(9000)
        self.record.gets("worker-1", 300, 9000, 9002, 9400, 9300)

    def says(self, *facts, stopped=None):
        """(ms, fact, until) of worker-1; `stopped` is who, and from when to when."""
        if stopped:
            self.record.fault("stopped", *stopped)
        for ms, fact, until in facts:
            self.record.says("worker-1", ms, fact, "a", 300, at(until))

    def over_when_told(self):
        self.record.find("acquired", "a", 300)[UNTIL] = at(9002)
        self.says((9003, "lost", 9003))

    def test_when_it_has_to_be_told(self):
        late, missed = (9702, "lost", 9702), ("lost", "t300:worker-1")
        self.each((
            ("never", lambda: None, ("lost", "not told for 600000 us")),
            ("in time", lambda: self.says((9350, "lost", 9350), (9350, "releasing", 9350)),
             {"lost_in_time": 1}),
            ("given back", lambda: self.says((9300, "releasing", 9400)), None),
            ("given back after its end", lambda: self.says((9410, "releasing", 9410)), missed),
            ("withdrawn", lambda: self.says((9100, "lost", 9100)), None),
            ("another was stopped", lambda: self.says(late, stopped=("worker-2", 9300, 9700)), missed),
            ("stopped earlier", lambda: self.says(late, stopped=("worker-1", 9100, 9200)), missed),
            ("killed", lambda: self.record.kill("worker-1", 9300, 9310), None),
            ("killed too late", lambda: self.record.kill("worker-1", 9500, 9510), missed),
            ("it was over when told to hold", self.over_when_told, ("lost", "no validity left"))))

    def test_late(self):
        self.says((9410, "lost", 9410))
        self.assertEqual(self.assert_condemned("lost", "ended at 1009400000", 1)["lost_late"], 1)

    def test_stopped(self):
        self.record.says("worker-1", 9701, "refrained", "a", 300)
        self.says((9702, "lost", 9702), stopped=("worker-1", 9300, 9700))
        told = self.assert_well()
        self.assertEqual((told["stopped_past_lease"], told["refrained"]), (1, 1))

    def test_valid_again(self):
        over = ("resurrected", "ended at 1009400000")
        later = (9405, "valid", 9800), (9410, "releasing", 9800)
        self.each((
            ("before its end", lambda: self.says((9335, "valid", 9900), (9700, "releasing", 9900)),
             {"renewals": 1}),
            ("after its end", lambda: self.says(*later), over),
            ("long after a stop", lambda: self.says(*later, stopped=("worker-1", 9005, 9055)), over),
            ("after lost", lambda: self.says((9350, "lost", 9350), (9360, "healthy", 9800)),
             ("resurrected", "after it was lost")),
            ("after it was given back", lambda: self.says((9350, "releasing", 9400), (9360, "valid", 9400)),
             ("resurrected", "given back")),
            ("a renewal told after a stop",
             lambda: self.says((9501, "valid", 9700), (9510, "releasing", 9700),
                               stopped=("worker-1", 9330, 9500)), None)))

    def test_acting_without_validity(self):
        self.says((9350, "lost", 9350), (9360, "act", 9360))
        self.assert_condemned("act", "t300:worker-1", 1)

    def test_acting_of_a_command_that_is_over(self):
        self.record.kinds["worker-1"] = "command"
        self.says((9350, "lost", 9350), (9360, "act", 9360))
        self.record.facts["worker-1"] = [it for it in self.record.facts["worker-1"]
                                         if it[0] >= at(9000)]
        self.record.writes = {key: it for key, it in self.record.writes.items()
                              if it[2] == "worker-2"}
        self.assert_condemned("act", "after it was over", 1)


class Orphan(Case):
    """From 9 s on, keys of the last lease of worker-1."""

    def setUp(self):
        super().setUp()
        self.record.keep_to(9000)

    def seen(self, *moments, key="a", token="t300:worker-1", left=900, master=2):
        for ms in moments:
            self.record.sees(ms, key, token, left, master)

    def test_a_key_of_a_lease(self):
        def has(*moments, code="REDLOCK_OK", frozen=None, left=900):
            self.record.holds("worker-1", 300, 9000, 9002, 9100, 9300)
            self.record.find("released", "a", 300)[4] = code
            self.seen(*moments, left=left)
            if frozen:
                self.record.fault("frozen", "master-2", *frozen)
        unknown = "REDLOCK_E_UNAVAILABLE"
        self.each((
            ("while it is held", lambda: has(9010, 9060), None),
            ("not released promptly", lambda: has(9010, 9200, 9650, 9750, 9800),
             ("orphan", "master-2 still has a t300:worker-1 at 1009750000")),
            ("the master was frozen", lambda: has(9010, 9750, 9900, 10300, frozen=(9050, 9500)), None),
            ("unknown whether released", lambda: has(9010, 9800, 9900, code=unknown), None),
            ("outlives its ttl", lambda: has(9010, 9800, 10100, 10300, code=unknown),
             ("orphan", "over since 1009100000")),
            ("for ever", lambda: has(9010, left=-1), ("orphan", "never expires"))))

    def test_without_a_release(self):
        def refused(*moments):
            self.record.says("worker-1", 9000, "attempt", "a", 300)
            self.record.says("worker-1", 9050, "failed", "a", 300, "REDLOCK_E_UNAVAILABLE")
            self.seen(9010, *moments)

        def killed(*moments):
            self.record.gets("worker-1", 300, 9000, 9002, 9980, 9300)
            self.record.kill("worker-1", 9100, 9200)
            self.seen(9010, 9800, *moments)
        self.each((
            ("of a refused attempt", lambda: refused(9500, 10100), None),
            ("for too long", lambda: refused(9500, 10100, 10200), ("orphan", "over since 1009050000")),
            ("of a killed worker", lambda: killed(10100), None),
            ("for too long", lambda: killed(10100, 10300), ("orphan", "over since 1009100000"))))

    def reader(self):
        self.record.holds("worker-1", 300, 9000, 9002, 9100, 9300, "shared")

    def test_one_of_many_readers(self):
        self.reader()
        self.record.holds("worker-2", 301, 9000, 9002, 9900, 9300, "shared")
        moments = 9010, 9200, 9650, 9750, 9800
        for token in ("redlock:shared", "t301:worker-2", "t300:worker-1"):
            self.seen(*moments, token=token)
        self.seen(*moments, key="redlock:holders:a", token=2)
        self.assert_condemned("orphan", "master-2 still has a t300:worker-1 at 1009750000", 1)

    def test_marker_and_set_without_readers(self):
        self.reader()
        self.record.says("worker-2", 9150, "attempt", "a", 301)
        self.record.says("worker-2", 10400, "usage", 9000, 20)
        for key, tokens in (("a", ["redlock:shared"] * 4), ("redlock:holders:a", [3, 2, 1, 1])):
            for ms, token in zip((9010, 9500, 10100), tokens):
                self.record.sees(ms, key, token)
            self.assert_well()
            self.record.sees(10300, key, tokens[-1])
            self.assert_condemned("orphan", f"master-1 still has {key} {tokens[0]} at", 1)
            self.record.keys = []

    def test_a_marker_for_ever(self):
        self.reader()
        self.seen(9010, token="redlock:shared", left=-1)
        self.assert_condemned("orphan", "never expires", 1)

    def test_a_line_in_which_nobody_stands(self):
        self.record.says("worker-1", 9000, "attempt", "a", 300)
        self.record.says("worker-1", 9050, "failed", "a", 300, "REDLOCK_E_HELD")
        self.seen(9010, 10000, 11000, key="redlock:queue:a", token="-")
        self.assert_well()
        self.seen(11500, 12000, key="redlock:queue:a", token="-")
        self.assert_condemned("orphan", "redlock:queue:a", 1)


class Unheld(Case):
    """From some moment on, worker-1 waits for a name in vain."""

    def waits(self, begin, end):
        self.record.keep_to(begin)
        self.record.gets("worker-1", 300, begin, end, end + 980, 9300)
        self.record.says("worker-1", end + 1, "releasing", "a", 300, at(end + 980))

    def test_for_too_long(self):
        def struck(kind, targets, begin, end, until):
            for target in targets:
                self.record.fault(kind, target, begin, end)
            self.waits(5000, until)
        majority, mine, others = ([f"{each}-{i}" for i in (1, 2, 3)]
                                  for each in ("master", "link-1", "link-2"))
        self.each((
            ("nothing", lambda: struck("", (), 0, 0, 8000), ("unavailable", "nobody held it for 3000 ms")),
            ("a minority", lambda: struck("frozen", majority[:1], 4900, 9990, 8000),
             ("unavailable", "after frozen")),
            ("a minority, not for long", lambda: struck("frozen", majority[:1], 4900, 7000, 6800),
             {"unavailable_ms": {"frozen": {"worst": 1800, "bound": 2033.333}}, "faults": {"frozen": 1}}),
            ("a majority", lambda: struck("frozen", majority, 3900, 4900, 9990),
             ("unavailable", "after frozen")),
            ("its links", lambda: struck("cut", mine, 4900, 8000, 9000), None),
            ("the links of another", lambda: struck("cut", others, 4900, 9990, 9000),
             ("unavailable", "after cut")),
            ("the worker", lambda: struck("stopped", ["worker-1"], 5010, 8000, 8100), None)))

    def test_not_for_long(self):
        self.waits(5000, 6900)
        self.assertEqual(self.assert_well()["unavailable_ms"]["calm"]["worst"], 1900)

    def test_a_majority(self):
        for master in (1, 2, 3):
            self.record.fault("crashed", f"master-{master}", 4900, 5500)
        self.waits(5000, 8000)
        self.assertIn("crashed, a majority", self.assert_well()["unavailable_ms"])

    def test_a_dead_holder(self):
        self.waits(5000, 6800)
        self.record.gets("worker-2", 299, 4980, 4985, 5965, 9299)
        self.record.kill("worker-2", 4990)
        self.assertIn("killed", self.assert_well()["unavailable_ms"])

    def test_nobody_wanted_it(self):
        self.waits(9500, 9502)
        self.record.facts["worker-2"] = [it for it in self.record.facts["worker-2"]
                                         if it[0] < at(5000)]
        self.record.keep_to(5000)
        self.assert_well()

    def test_asking_again_and_again(self):
        self.record.keep_to(5000)
        self.record.fails("worker-1", range(5000, 7500, 100), 90, "REDLOCK_E_UNAVAILABLE")
        told = self.assert_condemned("unavailable", "nobody held it for", 1)
        self.assertLess(told["availability"], 95)

    def test_somebody_waited_for_long(self):
        self.record.run["longest_ms"] = 1500
        self.waits(5000, 6400)
        self.assert_well()
        self.waits(5000, 6600)
        self.assert_condemned("stuck", "1600 ms, not 1500 ms", 1)


class Availability(Case):
    def fails(self, many, code="REDLOCK_E_UNAVAILABLE", pause=10, wait=9, fault_at=None, slept=False):
        """Of 99 % that are asked for; a master comes back at 6 s."""
        self.record.keep_to(5000)
        self.record.fails("worker-1", range(5000, 5000 + pause * many, pause), wait, code)
        self.record.run["availability"] = 99
        if fault_at is not None:
            self.record.fault("terminated", "master-1", fault_at, 6000)
        if slept:
            self.record.fault("stopped", "worker-1", 100, 4999)

    def another_holds_it(self):
        self.fails(30, "REDLOCK_E_HELD")
        self.record.gets("worker-2", 299, 4980, 4985, 5965, 9299)
        self.record.says("worker-2", 5400, "releasing", "a", 299, at(5965))

    def test_attempts_that_fail(self):
        missed, full = ("availability", "% of attempts"), {"availability": 100}
        self.each((
            ("too many", lambda: self.fails(3), ("availability", "98.52 % of attempts")),
            ("few", lambda: self.fails(2), {"availability": 100 * 200 / 202}),
            ("after a fault", lambda: self.fails(30, fault_at=4999), full),
            ("its list is over", lambda: self.fails(30, "REDLOCK_E_DIFFERS"), missed),
            ("and it has just woken", lambda: self.fails(30, "REDLOCK_E_DIFFERS", slept=True), full),
            ("long after a fault", lambda: self.fails(30, fault_at=2999), missed),
            ("another holds it", self.another_holds_it, full),
            ("they say that another holds it", lambda: self.fails(5, "REDLOCK_E_HELD", 300, 290), missed)))

    def test_one_fails_as_slowly_as_faults_come(self):
        self.record.fault("terminated", "master-1", 100, 3000)
        self.record.fault("terminated", "master-2", 7000, 8000)
        self.record.run["availability"] = 100
        self.assertEqual(self.assert_well()["availability"], 100)
        self.record.keep_to(2990, "worker-1")
        self.record.fails("worker-1", [3000], 4050, "REDLOCK_E_UNAVAILABLE")
        self.assert_condemned("availability", "% of attempts", 1)

    def asks_in_vain(self, frozen=()):
        self.record.adds("worker-3")
        self.record.fails("worker-3", range(0, 8500, 1010), 1000, "REDLOCK_E_UNAVAILABLE", first=0)
        for master in frozen:
            self.record.fault("frozen", f"master-{master}", 10, 3000)

    def test_one_that_never_gets_anything(self):
        self.each((
            ("for no reason", self.asks_in_vain, ("stuck", "worker-3 got nothing")),
            ("for there was no quorum", lambda: self.asks_in_vain((1, 2, 3)), None)))

    def test_nothing_to_judge(self):
        self.record.run["availability"] = 99
        for ms in range(-100, 10000, 1900):
            self.record.fault("flushed", "master-1", ms, ms + 1)
        self.assert_condemned("few", "no attempt outside", 1)


class Register(Case):
    def uses(self, fence, *use, ms=501):
        """A use of number 10, in the log only."""
        self.record.writes[at(ms), "a"] = ["a", fence, "worker-1", 10, *use]

    def acts(self, fence, *use):
        """A late one of number 10, after the eleventh has written."""
        self.uses(fence, *use)
        self.record.says("worker-1", 504, "act", "a", 10, at(1480))

    def read_at_once(self, *uses):
        """Two readers, the later one with the higher fence; then the earlier one again."""
        for number in (10, 11):
            self.record.reads("a", number)
        self.record.gives_back("a", 10, 557)
        for i, use in enumerate(uses):
            self.record.says("worker-1", 556, "act", "a", 10, at(1480))
            self.uses(7100, *use, ms=551 + i)

    def reader_that_writes(self):
        self.record.reads("a", 10)
        self.record.write_of("a", 10)[4] = "write"

    def another_fence(self):
        self.record.write_of("a", 10)[1] = 7101

    def test_uses(self):
        fresh, stale = ("accepted", "fresh"), ("refused", "stale")
        self.each((
            ("took a fence below", lambda: self.acts(7000, "write", *fresh),
             ("register", "fence 7000 after 7100 was accepted")),
            ("a stale write", lambda: self.acts(7000, "write", *stale),
             {"stale_acts_refused": 1, "stale_acts_taken_unchecked": 1}),
            ("a late read", lambda: self.acts(7089, "read", *stale), {"stale_acts_refused": 1}),
            ("took a read below a write", lambda: self.acts(7089, "read", *fresh),
             ("register", "a read with fence 7089 after 7100 was accepted")),
            ("readers do not shut each other out", lambda: self.read_at_once(("read", *fresh)), {"reads": 3}),
            ("refused a reader that no writer had passed", lambda: self.read_at_once(("read", *stale)),
             ("register", "a read with fence 7100 after 7090 was refused")),
            ("took a write below a read", lambda: self.read_at_once(("read", *fresh), ("write", *fresh)),
             ("register", "a write with fence 7100 after 7110 was accepted")),
            ("a reader that writes", self.reader_that_writes,
             ("register", "a write, which is not what it holds the name for")),
            ("has lost a write", lambda: self.record.unwrite("a", 10), ("register", "worker-1:10 on a")),
            ("a write of which nobody knows", lambda: self.uses(7100, "write", *fresh),
             ("register", "1 uses by worker-1")),
            ("a write with another fence", self.another_fence,
             ("register", "a write with fence 7101, and it has 7100")),
            ("a write that was not answered", lambda: self.record.drop("a", 10, "acted"), None)))

    def test_refused_a_fence_above(self):
        self.record.write_of("a", 10)[5:] = ["refused", "stale"]
        self.record.find("acted", "a", 10)[4:] = ["refused", "stale"]
        self.assert_condemned("register", "fence 7100 after 7090 was refused")

    def test_took_it_and_says_otherwise_to_the_worker(self):
        self.record.find("acted", "a", 10)[4:] = ["refused", "stale"]
        told = self.assert_condemned("register", "of which the log has nothing")
        self.assertEqual(told["violations"], {"register": 1})


class Turn(Case):
    """Worker-1 has waited since 9.1 s when worker-2 asks, and comes first."""

    def setUp(self):
        super().setUp()
        self.record.adds("worker-3")
        self.record.keep_to(9000)
        self.record.holds("worker-3", 1, 9000, 9002, 9500, 9300)

    def passes(self, asked=9400, waiting=(), passing=(), crashed=()):
        self.record.holds("worker-2", 301, asked, 9501, 9550, 9301, *passing)
        self.record.holds("worker-1", 300, 9100, 9551, 9600, 9302, *waiting)
        if crashed:
            self.record.fault("crashed", "master-1", *crashed)

    def gives_up(self, ms, code):
        """The waiter."""
        self.passes()
        self.record.drop("a", 300, "acquired", "releasing", "released")
        self.record.says("worker-1", ms, "failed", "a", 300, code)

    def plain_try(self):
        self.passes(passing=["tries", "unfenced"])
        self.record.find("acquired", "a", 301)[6] = 0

    def test_who_is_overtaken(self):
        by = ("turn", "by t301:worker-2")
        shared, tries = ["shared"], ["shared", "tries", "unfenced"]
        self.each((
            ("a writer", self.passes, ("turn", "a: worker-1:300, which asked at 1009100000, was overtaken")),
            ("a writer, by a reader", lambda: self.passes(passing=shared),
             ("turn", "by t301:worker-2 of worker-2:301, a reader, which")),
            ("a reader, by a writer", lambda: self.passes(waiting=shared),
             ("turn", "by t301:worker-2 of worker-2:301, which asked")),
            ("by a reader that tries, and is to be refused", lambda: self.passes(passing=tries), by),
            ("one that gives up", lambda: self.gives_up(9800, "REDLOCK_E_HELD"), by),
            ("nobody: it leaves its place to the next", lambda: self.gives_up(9502, "REDLOCK_E_HELD"), None),
            ("nobody: it reaches no masters, and stands in no line",
             lambda: self.gives_up(9800, "REDLOCK_E_UNAVAILABLE"), None),
            ("nobody: they asked at about the same time", lambda: self.passes(asked=9300), None),
            ("nobody: who tries does not stand in the queue", lambda: self.passes(waiting=["tries"]), None),
            ("nobody: readers have no order", lambda: self.passes(waiting=shared, passing=shared),
             {"turns_judged": 1}),
            ("nobody: a plain try knows no queue", self.plain_try, None),
            ("nobody: a master was struck", lambda: self.passes(crashed=(9200, 9300)), None),
            # It abstains for a second, and then its windows are two more.
            ("nobody: a master may have come back",
             lambda: self.passes(crashed=(3000, 6500)), None),
            ("a master came back earlier", lambda: self.passes(crashed=(3000, 6000)), by)))


class Permits(Case):
    """Three of name a, from 9 s on: each slot has had a holder, and in each somebody follows it."""

    def setUp(self):
        super().setUp()
        self.record.keep_to(9000)
        self.record.run["permits"] = 3
        for number in (3, 4, 5):
            self.record.adds(f"worker-{number}")
        for slot in range(3):
            self.holds(f"worker-{slot + 1}", 300 + slot, 9002, 9300, slot)

    def holds(self, worker, number, begin, end, slot, fence=9000, asked=None, permits=3, wish=()):
        self.record.holds(worker, number, begin if asked is None else asked, begin, end, fence, *wish,
                          f"permits={permits}", slot=[slot])

    def waits(self, worker, number, asked, end, *wish):
        self.record.says(worker, asked, "attempt", "a", number, *wish)
        self.record.says(worker, end, "failed", "a", number, "REDLOCK_E_HELD")

    def test_three_at_once(self):
        self.record.holds("worker-4", 1, 9000, 9100, 9200, 9000)
        self.holds("worker-5", 1, 9300, 9400, 1, 9001)
        told = self.assert_well()
        self.assertEqual((told["permits"], told["slots_in_use"]["most"]), (4, 3))

    def another(self, begin, end, slot, fence=9001, **how):
        """In the place of number 302, so that no more than three hold a permit."""
        self.record.drop("a", 302, "attempt", "acquired", "releasing", "released")
        self.holds("worker-4", 1, begin, end, slot, fence, **how)

    def killed(self):
        self.record.drop("a", 300, "releasing", "released")
        self.record.fault("killed", "worker-1", 9100, 9990)
        self.record.killed.add("worker-1")
        self.another(9500, 9550, 0)

    def renews_late(self):
        self.record.find("acquired", "a", 300)[UNTIL] = at(9100)
        self.record.fault("stopped", "worker-1", 9090, 9250)
        self.record.says("worker-1", 9251, "valid", "a", 300, at(9900))
        self.another(9150, 9200, 0)

    def test_of_one_slot(self):
        def out_of_range(slot, permits):
            return (f"one of {permits}, slot {slot}",
                    lambda: self.another(9200, 9250, slot, 9000, permits=permits),
                    ("slot", f"redlock:permit:{slot}:a: t1:worker-4 of worker-4:1, from 1009200000 on, "
                             f"which asked for one of {permits}"))
        self.each((
            ("two hold it", lambda: self.another(9200, 9250, 1),
             ("overlap", "redlock:permit:1:a: t1:worker-4 of worker-4:1, holds it")),
            ("a killed one has it to its end", self.killed, ("overlap", "redlock:permit:0:a: t1:worker-4")),
            ("a renewal told late", self.renews_late, ("overlap", "redlock:permit:0:a: t1:worker-4")),
            *(out_of_range(*it) for it in ((2, 2), (3, 3), (-1, 3))),
            ("its fence goes back", lambda: self.another(9300, 9400, 1, 9000),
             ("fence", "redlock:permit:1:a: t1:worker-4 of worker-4:1, fence 9000"))))

    def test_of_all_slots(self):
        def two(*, asked=None):
            self.holds("worker-4", 1, 9310, 9400, 1, 9002, asked=asked)
            self.holds("worker-5", 1, 9410 if asked else 9350, 9450, 2, 9001)
        self.each((
            ("four at once", lambda: self.holds("worker-4", 1, 9200, 9250, 3, permits=4),
             ("permits", "a: 4 hold a permit at 1009200000, not 3")),
            ("one as another leaves", lambda: self.holds("worker-4", 1, 9300, 9350, 3, permits=4), None),
            ("fences of different slots have no order", two, None),
            ("waiters may pass each other", lambda: two(asked=9290), None)))

    def test_who_asked_for_no_fence_has_none(self):
        self.holds("worker-4", 1, 9300, 9400, 1, 0, wish=["unfenced"])
        self.assert_well()
        self.holds("worker-5", 1, 9450, 9500, 1, 0)
        self.assert_condemned("fence", "0 is no fence", 1)

    def test_a_permit_and_its_slot_go_together(self):
        self.record.find("acquired", "a", 301).pop()
        self.record.drop("a", 301, "releasing", "released")
        self.assert_condemned("malformed", "tells a slot, or should", 1)

    # ---- in use ------------------------------------------------------------------------------

    def in_use(self, told):
        use = told["slots_in_use"]["a_quorum_voted"]
        return round(use["percent"], 1), round(use["seconds"], 3)

    def test_how_many_slots_are_in_use_while_somebody_waits(self):
        self.waits("worker-4", 1, 9250, 9500, "permits=3")
        self.assertEqual(self.in_use(self.assert_well()), (20.0, 0.25))
        self.holds("worker-5", 1, 9310, 9800, 1, 9001)
        self.assertEqual(self.in_use(self.assert_well()), (45.3, 0.25))

    def test_use_below_the_limit(self):
        self.holds("worker-5", 1, 9400, 9800, 1, 9001)
        self.waits("worker-4", 1, 9300, 9800, "permits=3")
        self.record.run["least_use"] = 26.6
        self.assertEqual(self.in_use(self.assert_well()), (26.7, 0.5))
        self.record.run["least_use"] = 26.7
        self.assert_condemned("use", "26.67 % of the slots were in use while a quorum voted", 1)

    def test_nobody_waited(self):
        self.waits("worker-4", 1, 9300, 9310, "tries", "permits=3")
        self.waits("worker-4", 2, 9320, 9330, "permits=2")
        self.waits("worker-5", 1, 9320, 9330)
        self.record.run["least_use"] = 1
        self.assert_condemned("few", "no time in which a quorum voted and somebody waited", 1)

    def test_times_without_a_quorum_and_with_a_master_down(self):
        self.waits("worker-4", 1, 9200, 9400, "permits=3")
        self.record.fault("frozen", "master-1", 9210, 9990)
        told = self.assert_well()
        self.assertEqual(self.in_use(told), (50.0, 0.2))
        self.assertEqual(told["slots_in_use"]["all_masters_up"], {"percent": 100, "seconds": 0.01})
        for master in (2, 3):
            self.record.fault("frozen", f"master-{master}", 9250, 9400)
        self.assertEqual(self.in_use(self.assert_well()), (100.0, 0.05))

    # ---- others ------------------------------------------------------------------------------

    def plain(self, begin, end):
        """It has no name but the slot's own."""
        name, record = "redlock:permit:1:a", self.record
        record.kinds["worker-5"] = "plain"
        record.says("worker-5", begin, "attempt", name, 1)
        record.says("worker-5", begin, "acquired", name, 1, at(begin + 980), "t:worker-5", 0)
        record.says("worker-5", end, "releasing", name, 1, at(begin + 980))
        record.says("worker-5", end, "released", name, 1, "REDLOCK_OK")

    def test_a_slot_that_a_plain_client_has(self):
        """It holds no permit, and the slot is not to be had."""
        self.plain(9300, 9600)
        self.holds("worker-4", 1, 9300, 9600, 0, 9001)
        self.waits("worker-3", 303, 9300, 9500, "permits=3")
        told = self.assert_well()
        self.assertEqual((told["permits"], self.in_use(told)), (4, (50.0, 0.2)))

    def test_a_plain_client_takes_a_slot_that_is_held(self):
        self.plain(9299, 9400)
        self.assert_condemned("overlap", "redlock:permit:1:a: t:worker-5 of worker-5:1, holds it", 1)

    def test_a_slot_that_nobody_has_though_somebody_waits(self):
        self.record.run["end"] = at(14000)
        for worker, slot in (("worker-1", 0), ("worker-2", 1)):
            for i in range(12):
                self.holds(worker, 310 + i, 9400 + 300 * i, 9690 + 300 * i, slot, 9001 + i)
        self.waits("worker-4", 400, 9350, 12500, "permits=3")
        self.assert_condemned("unavailable", "redlock:permit:2:a: worker-4 wanted it, nobody held", 1)
        self.record.drop("a", 400, "attempt", "failed")
        self.waits("worker-4", 401, 9350, 12500, "permits=2")
        self.assert_well()

    def test_keys_of_slots(self):
        key = "redlock:permit:1:a"
        for ms in (9010, 9310, 9800):
            self.record.sees(ms, key, "t301:worker-2")
        self.record.sees(10300, "redlock:queue:redlock:permits:a", 1)
        self.assert_well()
        for ms in (9900, 10000):
            self.record.sees(ms, key, "t301:worker-2")
        self.assert_condemned("orphan", f"master-1 still has {key} t301:worker-2 at 1010000000", 1)

    def test_lines_in_which_nobody_stands(self):
        for key in ("redlock:queue:redlock:permit:1:a", "redlock:queue:redlock:permits:a"):
            self.setUp()
            for ms in (11000, 11500):
                self.record.sees(ms, key, 1)
            self.assert_condemned("orphan", f"master-1 still has {key}", 1)

    def test_the_resource_of_a_slot_is_its_own(self):
        for slot in (1, 2):
            self.record.says(f"worker-{slot + 1}", 9100, "act", "a", 300 + slot, at(9980))
            self.record.says(f"worker-{slot + 1}", 9100, "acted", "a", 300 + slot, "accepted", "fresh")
            self.record.writes[at(9100), slot] = [f"redlock:permit:{slot}:a", 9000, f"worker-{slot + 1}",
                                                  300 + slot, "write", "accepted", "fresh"]
        self.assert_well()
        self.record.writes[at(9100), 2][0] = "redlock:permit:0:a"
        self.assert_condemned("register", "a write of redlock:permit:0:a, and it has "
                                          "redlock:permit:2:a", 1)


class Growth(Case):
    def uses(self, rss, descriptors):
        self.record.run["end"] = at(210000)
        for second in range(200):
            self.record.says("worker-1", 10000 + 1000 * second, "usage", rss(second),
                             descriptors(second))

    def test_usage(self):
        self.each((
            ("steady", lambda: self.uses(lambda s: 9000 + s % 7 * 400, lambda s: 20 + s % 5),
             {"most_rss_kb": 11400}),
            ("memory grows", lambda: self.uses(lambda s: 9000 + 50 * s, lambda s: 20),
             ("growth", "kB, after")),
            ("descriptors grow", lambda: self.uses(lambda s: 9000, lambda s: 20 + s // 4),
             ("growth", "descriptors, after"))))

    def test_none_lived_for_long_enough(self):
        self.uses(lambda s: 9000, lambda s: 20)
        self.record.run["grown"] = 1
        self.assertEqual(len(self.assert_well()["growth"]), 1)
        self.record.run["grown"] = 2
        self.assert_condemned("few", "processes that lived for long", 1)


class Changed(Case):
    """A master is replaced from 2 s on; the last lease of worker-1 is from 9 s on."""

    TOLD = [[at(2000), "begin", 1, "master-2", "master-6"], [at(2100), "list", 1, 1, "master-1,master-6"],
            [at(3000), "broken-off", 1], [at(4600), "over", 1, 1], [at(4700), "over", 1, 1],
            [at(4800), "list", 1, 2, "master-1"], [at(6000), "over", 1, 2], [at(6001), "done", 1],
            [at(6500), "stopped", "master-1"]]

    def setUp(self):
        super().setUp()
        self.record.run["changes"] = 1
        self.says(*self.TOLD)
        self.record.keep_to(9000)

    def says(self, *told):
        self.record.raw["changes"] = lines(told)

    def loses(self, *faults, changes=1):
        self.record.run["changes"] = changes
        self.record.gets("worker-1", 300, 9000, 9002, 9400, 9300)
        for fact in ("lost", "releasing"):
            self.record.says("worker-1", 9300, fact, "a", 300, at(9300))
        for fault in faults:
            self.record.fault(*fault)

    def test_a_lease_is_lost(self):
        lost = ("change", "t300:worker-1 of worker-1:300 was lost at 1009300000, though its process was well")

        def cut(worker, *masters):
            return [("cut", f"link-{worker}-{master}", 8000, 9100) for master in masters]

        def frozen(*masters):
            return [("frozen", f"master-{master}", 8000, 9100) for master in masters]
        self.each((
            ("with nothing struck", self.loses, lost),
            ("where nothing was changed", lambda: self.loses(changes=0), None),
            ("by a process that was stopped", lambda: self.loses(("stopped", "worker-1", 9010, 9200)), None),
            ("while another one was", lambda: self.loses(("stopped", "worker-2", 9010, 9200)), lost),
            ("before it was", lambda: self.loses(("stopped", "worker-1", 9310, 9400)), lost),
            ("a majority was away", lambda: self.loses(*frozen(1, 2, 6)), None),
            ("a minority was", lambda: self.loses(*frozen(1, 2)), lost),
            ("it was cut off from a majority", lambda: self.loses(*cut(1, 3, 4), *frozen(6)), None),
            ("it was from a minority", lambda: self.loses(*cut(1, 3, 4)), lost),
            ("another one was from all", lambda: self.loses(*cut(2, 1, 3, 4, 5, 6)), lost)))

    def test_while_a_master_joins(self):
        """It may have given the name to a waiter, so one less may be struck."""
        def loses(*masters):
            self.says(*[[at(9100), *it[1:]] if it[1] == "over" else it for it in self.TOLD])
            self.loses(*[("frozen", f"master-{master}", 9010, 9100) for master in masters])
        self.each((("two others are struck", lambda: loses(1, 3), None),
                   ("one other is", lambda: loses(1), ("change", "was lost at"))))

    def test_a_master_is_not_replaced(self):
        self.says(*self.TOLD[:-2])
        self.assert_condemned("change", "0 masters were replaced, not 1", 1)

    def test_a_key_of_a_lease_that_may_have_moved(self):
        """A master that leaves, or that was asked in vain, may keep it for a ttl."""
        def left(*moments, fact="moving"):
            self.record.holds("worker-1", 300, 9000, 9002, 9100, 9300)
            self.record.says("worker-1", 9050, fact, "a", 300, at(9980))
            for ms in moments:
                self.record.sees(ms, "a", "t300:worker-1", 900, 2)
        self.each((("for a ttl", lambda: left(9010, 9750, 10100), None),
                   ("for longer", lambda: left(9010, 9750, 10100, 10300), ("orphan", "master-2 still has a")),
                   ("of one that did not move", lambda: left(9010, 9750, fact="valid"),
                    ("orphan", "master-2 still has a"))))

    def test_what_is_told(self):
        told = self.assert_well()
        self.assertEqual(told["changes"],
                         ["master-6 in place of master-2: 2.5 + 1.2 s, the command broken off"])
        self.assertIn("changed        master-6", page(told))

    def test_a_file_that_means_nothing(self):
        for line in (["x", "done", 1], [at(9), "done", 7], [at(9), "list", 1], [at(9), "shrugs", 1]):
            with self.subTest(line=line):
                self.says(*self.TOLD, line)
                self.assert_condemned("malformed", "changes:10", 1)

    def test_no_file(self):
        self.record.raw["changes"] = None
        told = self.judge()
        self.assertEqual(told["complaints"],
                         ["truncated: there is no file changes", "change: 0 masters were replaced, not 1"])


class Files(Case):
    def cut(self, worker, *lines, characters=None):
        """Without some of its lines, or its last characters."""
        text = self.record.text_of(worker).splitlines(True)
        for line in lines:
            del text[line]
        self.record.raw[worker] = "".join(text)[:characters]

    def killed(self, rest="", *, again=None):
        """After which its file may end within a line."""
        self.record.kill("worker-1", 9501)
        self.record.raw["worker-1"] = self.record.text_of("worker-1") + rest
        self.record.keep_to(9510)
        if again:
            self.record.raw["worker-1.2"] = again

    def nothing_of(self, worker):
        self.record.keep_to(0, worker)
        self.record.raw[worker] = ""

    def killed_at_once(self):
        self.record.kill("worker-1", 0)
        self.record.raw["worker-1"] = ""

    def ended(self):
        self.record.fault("ended", "worker-1", 9990, 9995)
        self.record.facts["worker-1.2"] = []
        self.record.kinds["worker-1.2"] = "library"

    def test_files_that_are_cut(self):
        endless = ("truncated", "worker-1 has no end")
        self.each((
            ("at a line", lambda: self.cut("worker-1", -1), endless),
            ("within a line", lambda: self.cut("worker-1", characters=-3),
             ("truncated", "ends within a line")),
            ("to nothing", lambda: self.nothing_of("worker-1"), endless),
            ("in the middle", lambda: self.cut("worker-2", -2), ("truncated", "lines before its end")),
            ("by a kill", lambda: self.killed("1009500999 acqui"), None),
            ("by a kill, before it wrote anything", self.killed_at_once, None),
            ("only one of its lives was killed", lambda: self.killed(again=f"{at(9900)} begin library 12\n"),
             ("truncated", "worker-1.2 has no end")),
            ("not at all: it ended in good order", self.ended, None)))

    def test_files_that_are_missing(self):
        for name in ("keys", "register", "faults"):
            with self.subTest(name=name):
                self.setUp()
                self.record.raw[name] = None
                self.assert_condemned("truncated", f"no file {name}", 1)

    def test_lines_that_mean_nothing(self):
        for line in ("", "1", "x attempt a 1", f"{at(99)} shrugged a 1", f"{at(99)} attempt a",
                     "0 usage 1 2", f"{at(99)} lost a 4711 {at(99)}",
                     f"{at(99)} attempt nobody 9", f"{at(99)} attempt a 1 alone",
                     f"{at(99)} attempt a 1 shared shared", f"{at(99)} attempt a 1 permits=0",
                     f"{at(99)} attempt a 1 permits=9999",
                     f"{at(99)} attempt a 1 shared permits=2", f"{at(99)} acted a 1 maybe fresh",
                     f"{at(99)} begin library 1"):
            with self.subTest(line=line):
                text = self.record.text_of("worker-1").splitlines(True)
                now = f"{at(60)}"
                index = next(i for i, it in enumerate(text) if it > now)
                text.insert(index, line.replace(str(at(99)), text[index].split()[0]) + "\n")
                text[-1] = text[-1].replace(f" end {len(text) - 2} ", f" end {len(text) - 1} ")
                self.record.raw["worker-1"] = "".join(text)
                self.assert_condemned("malformed", "worker-1:", 1)

    def test_other_files_that_mean_nothing(self):
        for name, line in (("faults", "12 begin 1 melted master-1"), ("keys", "12 master-x -"),
                           ("faults", "12 end 77"), ("register", "1 a 2 worker-1"),
                           ("register", "999 a 0 worker-1 1 looked unfenced fresh")):
            with self.subTest(line=line):
                self.record.raw = {name: self.record.files()[name] + line + "\n"}
                self.assert_condemned("malformed", f"{name}:", 1)
                self.record.raw = {}

    def test_too_few(self):
        for what, words in (("workers", "2 workers, not 3"), ("holders", "400 holders, not 401")):
            self.setUp()
            self.record.run[what] = int(words.split()[-1])
            self.assert_condemned("few", words, 1)

    def usage(self, *arguments):
        done = subprocess.run([CHECK, *arguments], stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 64)
        return done.stderr

    def test_usage(self):
        self.assertIn("no such folder", self.usage(str(self.dir / "none")))
        self.assertIn("no record of a run", self.usage(str(self.dir)))
        self.assertIn("required", self.usage())
        self.record.run["ttl_ms"] = "long"
        self.record.write(self.dir)
        self.assertIn("run is malformed", self.usage(str(self.dir)))


if __name__ == "__main__":
    unittest.main()
