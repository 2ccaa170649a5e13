"""The picture of a run shows its record: made-up records, and where their facts are drawn."""

import json
import random
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

PICTURE = str(Path(__file__).resolve().parent / "picture")
SVG = "{http://www.w3.org/2000/svg}"
BEGIN = 5_000_000_000
LEFT, PLOT = 110, 1270    # where lanes begin, and how wide they are


class Run:
    """A folder as chaos leaves it; times are ms since the run's begin."""

    def __init__(self, folder, seconds=10, masters=5, workers=3, names=("a", "b")):
        self.folder, self.seconds, self.names = Path(folder), seconds, names
        self.workers = {f"worker-{i + 1}": [] for i in range(workers)}
        self.faults, self.number = [], 0
        self.run = {"profile": "made-up", "seed": 7, "masters": masters, "workers": workers,
                    "names": ",".join(names), "ttl_ms": 1000, "max_ttl_ms": 1000, "skew_ms": 0,
                    "quarantine_ms": 2000, "begin": BEGIN, "end": BEGIN + seconds * 1_000_000,
                    "holders": 0, "longest_ms": 0, "availability": 0}

    def tell(self, worker, ms, *words):
        self.workers[worker].append((BEGIN + round(ms * 1000), *words))

    def hold(self, worker, name, begin, end, asked=None, mode=()):
        self.number += 1
        until = BEGIN + round(begin * 1000) + 1_000_000
        lease = name, self.number
        self.tell(worker, begin if asked is None else asked, "attempt", *lease, *mode)
        self.tell(worker, begin, "acquired", *lease, until, f"t{self.number}", self.number)
        self.tell(worker, begin, "act", *lease, until)
        self.tell(worker, begin, "acted", *lease, "accepted", "fresh")
        if end is not None:
            self.tell(worker, end, "releasing", *lease, until)
            self.tell(worker, end, "released", *lease, "REDLOCK_OK")
        return lease

    def permit(self, worker, name, slot, begin, end):
        self.hold(worker, name, begin, end, begin - 10, ["permits=2"])
        index = next(i for i, it in enumerate(self.workers[worker])
                     if it[1] == "acquired" and it[3] == self.number)
        self.workers[worker][index] += (slot,)

    def read(self, worker, name, begin, end, asked=None):
        return self.hold(worker, name, begin, end, asked, ["shared", "unfenced"])

    def fault(self, begin, end, kind, target):
        number = len(self.faults) // 2 + 1
        self.faults += [(BEGIN + begin * 1000, "begin", number, kind, target),
                        (BEGIN + end * 1000, "end", number)]

    def write(self):
        self.put("run", [(key, value) for key, value in self.run.items()])
        self.put("faults", sorted(self.faults, key=lambda it: it[0]))
        for worker, facts in self.workers.items():
            facts = sorted(facts, key=lambda it: it[0])
            last = max(BEGIN + self.seconds * 1_000_000, facts[-1][0] if facts else 0)
            self.put(worker, [(BEGIN, "begin", "library", 4711), *facts,
                              (last, "end", len(facts) + 1, 1, 1, 0)])

    def put(self, file, lines):
        (self.folder / file).write_text("".join(" ".join(map(str, it)) + "\n" for it in lines))


def crowded(folder):
    """20,000 holds of 8 workers in 60 s, and all kinds of trouble."""
    run = Run(folder, 60, 5, 8, ("invoices", "mail", "nightly-report", "queue"))
    chance = random.Random(1)
    for name in run.names:
        now = 20.0
        for _ in range(5000):
            worker = f"worker-{chance.randint(1, 8)}"
            long = chance.random() < 0.004
            end = now + (chance.uniform(300, 900) if long else chance.uniform(2, 13))
            run.hold(worker, name, now, end, now - chance.uniform(0, 8))
            now = end + chance.uniform(0.3, 2)
    kinds = ("crashed", "emptied", "rolled-back", "terminated", "frozen", "asleep", "slow-script",
             "flushed", "disconnected", "full", "crowded")
    for begin in range(1000, 57000, 900):
        kind = chance.choice(kinds)
        length = 0 if kind in ("flushed", "disconnected") else chance.randint(100, 1500)
        run.fault(begin, begin + length, kind, f"master-{chance.randint(1, 5)}")
    for begin in range(3000, 57000, 6000):
        run.fault(begin, begin + 1500, chance.choice(("killed", "stopped")),
                  f"worker-{chance.randint(1, 8)}")
    run.fault(20000, 23000, "cut", "link-3-1")
    run.fault(21000, 25000, "half-cut", "link-3-2")
    run.write()
    return run


def small(folder):
    run = Run(folder)
    run.hold("worker-1", "a", 1000, 2000)
    run.hold("worker-2", "a", 2001, 3000, 1500)
    run.hold("worker-3", "b", 4000, 4500)
    run.fault(2500, 5000, "frozen", "master-2")
    run.fault(6000, 6500, "crashed", "master-4")
    return run


def with_permits(folder, *holds):
    """Of name a: worker, slot, from when to when."""
    run = Run(folder)
    run.run["permits"] = 2
    for worker, slot, begin, end in holds:
        run.permit(worker, "a", slot, begin, end)
    return run


class Picture(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)

    def picture(self, *options, complaints=()):
        told = self.dir / "complaints"
        told.write_text(json.dumps({"complaints": complaints}))
        return subprocess.run([PICTURE, "-o", "-", "--complaints", str(told), *options,
                               str(self.dir)], capture_output=True, text=True, check=False)

    def draw(self, run, *options, complaints=()):
        run.write()
        done = self.picture(*options, complaints=complaints)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return ET.fromstring(done.stdout)

    def refused(self, words, *options):
        done = self.picture(*options)
        self.assertEqual(done.returncode, 64, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def texts(self, drawn):
        return [it.text for it in drawn.iter(f"{SVG}text")]

    def titled(self, drawn, words):
        """The elements whose tooltip has this text."""
        return [it for it in drawn.iter() if it.find(f"{SVG}title") is not None
                and words in it.find(f"{SVG}title").text and it is not drawn]

    def bars(self, drawn, words):
        """The boxes in the elements with such a tooltip."""
        return [bar for it in self.titled(drawn, words) for bar in it.findall(f"{SVG}path")]

    def extent(self, shape, left=LEFT, plot=PLOT):
        """(ms, ms) in a run of ten seconds, of a box."""
        outline = re.match(r"M([\d.]+) [-\d.]+h([\d.]+)v", shape.get("d"))
        begin, width = (float(it) for it in outline.groups())
        return (begin - left) / plot * 10000, (begin + width - left) / plot * 10000

    def assert_extent(self, shape, begin, end, delta=12, **lane):
        for drawn, given in zip(self.extent(shape, **lane), (begin, end)):
            self.assertAlmostEqual(drawn, given, delta=delta)

    def redrawn(self, run, file, old, new):
        """One of its files differs."""
        run.write()
        text = (self.dir / file).read_text()
        self.assertRegex(text, old)
        (self.dir / file).write_text(re.sub(old, new, text))
        return ET.fromstring(self.picture().stdout)

    def red(self, drawn):
        return [it for it in drawn.iter(f"{SVG}path") if it.get("class") == "overlap"
                and it.find(f"{SVG}title") is not None]

    def test_a_lane_for_each_name_and_master(self):
        texts = self.texts(self.draw(small(self.dir)))
        for lane in ("a", "b", *(f"master-{i}" for i in range(1, 6))):
            self.assertEqual(texts.count(lane), 1, lane)

    def test_a_hold_is_where_it_was(self):
        bar, = self.bars(self.draw(small(self.dir)), "worker-2 holds a: number 2, fence 2")
        self.assert_extent(bar, 2001, 3000)
        self.assertEqual(bar.get("class"), "w1")

    def test_what_is_left_of_validity_is_lighter(self):
        run = small(self.dir)
        lease = run.hold("worker-1", "b", 6000, None)
        run.tell("worker-1", 6600, "lost", *lease, BEGIN + 7_000_000)
        rest, held = self.bars(self.draw(run), "worker-1 holds b")
        self.assertEqual([it.get("class") for it in (rest, held)], ["w0 light", "w0"])
        self.assert_extent(rest, 6600, 7000)
        self.assert_extent(held, 6000, 6600)

    def test_a_process_stopped_past_its_lease_holds_no_more(self):
        run = small(self.dir)
        lease = run.hold("worker-1", "b", 6000, None)
        run.tell("worker-1", 8500, "refrained", *lease)
        run.tell("worker-1", 8501, "lost", *lease, BEGIN + 8_501_000)
        drawn = self.draw(run)
        self.assert_extent(self.bars(drawn, "worker-1 holds b")[0], 6000, 7000)
        self.assertEqual(len(self.titled(drawn, "worker-1 heard LOST at 8.501 s")), 1)
        self.assertEqual(len(self.titled(drawn, "found no validity, refrained at 8.500 s")), 1)

    def test_a_fault_is_where_it_was(self):
        drawn = self.draw(small(self.dir))
        fault, = self.titled(drawn, "master-2: frozen")
        self.assert_extent(fault, 2500, 5000)
        self.assertIn("frozen", self.texts(drawn))
        quarantine, = self.titled(drawn, "master-4 abstains")
        self.assert_extent(quarantine, 6500, 8500)

    def test_faults_of_workers_and_links_have_lanes(self):
        run = small(self.dir)
        run.fault(1000, 2000, "stopped", "worker-2")
        run.fault(1000, 2000, "cut", "link-2-10")
        texts = self.texts(self.draw(run))
        self.assertIn("link-2-10", texts)
        self.assertEqual(texts.count("worker-2"), 2)   # and in the legend
        self.assertEqual(texts.count("worker-3"), 1)

    def test_a_killed_process_held_until_it_was_killed(self):
        run = small(self.dir)
        run.hold("worker-1", "b", 6000, None)
        run.fault(6300, 6800, "killed", "worker-1")
        drawn = self.redrawn(run, "worker-1", r".*\n\Z", "50063")
        rest, held = self.bars(drawn, "its process was killed")
        self.assert_extent(rest, 6300, 7000)
        self.assert_extent(held, 6000, 6300)

    def test_a_command_holds_as_long_as_its_job_does_anything(self):
        run = small(self.dir)
        now = BEGIN + 6_000_000
        for name, last in (("a", "releasing"), ("b", "act")):
            run.tell("worker-1", 6000, "attempt", name, 9)
            run.tell("worker-1", 6000, "acquired", name, 9, now, "t9", 0)
            run.tell("worker-1", 8500, last, name, 9, now + 2_500_000)
        drawn = self.redrawn(run, "worker-1", "library", "command")
        for name in ("a", "b"):
            bar, = self.bars(drawn, f"worker-1 holds {name}: number 9, without a fence")
            self.assert_extent(bar, 6000, 8500)

    def test_the_next_life_of_a_killed_worker(self):
        run = small(self.dir)
        run.fault(6000, 6500, "killed", "worker-2")
        run.write()
        now = BEGIN + 7_000_000
        run.put("worker-2.2", [(now, "begin", "library", 1), (now, "attempt", "b", 1),
                               (now, "acquired", "b", 1, now + 500_000, "t9", 9)])
        drawn = ET.fromstring(self.picture().stdout)
        bar = self.bars(drawn, "worker-2 holds b: number 1, fence 9")[0]
        self.assertEqual(bar.get("class"), "w1 light")
        self.assertEqual(len(self.titled(drawn, "worker-2, process 2 (library)")), 1)

    def test_nobody_has_what_is_wanted(self):
        run = small(self.dir)
        run.hold("worker-1", "b", 7000, 7500, asked=6000)
        self.assert_extent(self.titled(self.draw(run), "b is wanted, and nobody has it")[0],
                           6000, 7000)

    def test_who_waits(self):
        run = small(self.dir)
        run.hold("worker-1", "a", 5000, 5500)
        run.hold("worker-2", "a", 5501, 6000, asked=5100)
        waits, = self.titled(self.draw(run), "worker-2 waits for a")
        self.assertEqual(waits.get("d").count("M"), 2)   # and from 1.5 s on

    def test_sound_records_show_no_red(self):
        drawn = self.draw(small(self.dir))
        self.assertEqual(self.red(drawn), [])
        self.assertIn("no violations", self.texts(drawn))

    def test_an_overlap_is_red(self):
        table = (
            ("two writers", "a", (2400, 2800), "worker-3", ("hold", 3, 2400, 2800)),
            ("a reader beside a writer", "b", (6500, 7000), "worker-2",
             ("hold", 1, 6000, 7000), ("read", 3, 7100, 7900), ("read", 2, 6500, 7050)),
            ("a writer beside a reader", "b", (6500, 7000), "worker-2",
             ("read", 1, 6000, 7000), ("read", 3, 7100, 7900), ("hold", 2, 6500, 7050)),
            ("a writer beside the earlier of two readers", "b", (6500, 7000), "worker-3",
             ("read", 1, 6000, 7000), ("read", 2, 6100, 6200), ("hold", 3, 6500, 7400)))
        for title, name, extent, condemned, *holds in table:
            with self.subTest(title):
                run = small(self.dir)
                for how, worker, begin, end in holds:
                    getattr(run, how)(f"worker-{worker}", name, begin, end)
                self.assert_red(self.draw(run), extent, f"overlap: {name}: {condemned}")

    def test_a_slot_that_two_hold_is_red(self):
        run = with_permits(self.dir, ("worker-1", 1, 1000, 1400), ("worker-2", 1, 1200, 1300))
        self.assert_red(self.draw(run), (1200, 1300), "overlap: redlock:permit:1:a: worker-2")

    def assert_red(self, drawn, extent, words):
        self.assert_extent(self.red(drawn)[0], *extent)
        self.assertIn("1 violation", self.texts(drawn))
        self.assertTrue(any(words in it for it in self.texts(drawn)))

    def place(self, shape):
        """(top, height), of a box."""
        return tuple(map(float, re.match(r"M[\d.]+ ([-\d.]+)h[\d.]+v([\d.]+)",
                                         shape.get("d")).groups()))

    def test_readers_are_side_by_side(self):
        run = small(self.dir)
        run.read("worker-1", "b", 6000, 7000)
        run.read("worker-2", "b", 6400, 7300)
        run.read("worker-3", "b", 7100, 7800)
        drawn = self.draw(run)
        self.assertEqual(self.red(drawn), [])
        bars = [self.bars(drawn, f"worker-{i} reads b")[0] for i in (1, 2, 3)]
        for bar, extent in zip(bars, ((6000, 7000), (6400, 7300), (7100, 7800))):
            self.assert_extent(bar, *extent)
        height = self.place(self.bars(drawn, "worker-3 holds b")[0])[1]
        self.assertEqual([self.place(it) for it in bars],
                         [(0, height / 2), (height / 2, height / 2), (0, height / 2)])
        self.assertIn("readers; a writer has the whole height", self.texts(drawn))
        self.assertTrue(any("6 leases, 3 of them readers'" in it for it in self.texts(drawn)))

    def test_a_lone_reader_has_half_the_height(self):
        run = small(self.dir)
        for i in (1, 2, 3):
            run.read(f"worker-{i}", "b", 8000, 8500)
        run.read("worker-1", "b", 6000, 7000)
        drawn = self.draw(run)
        height = self.place(self.bars(drawn, "worker-3 holds b")[0])[1]
        self.assertEqual(self.place(self.bars(drawn, "worker-1 reads b")[0]), (0, height / 2))

    def test_many_readers_are_all_drawn(self):
        run = small(self.dir)
        for i in range(5):
            run.read(f"worker-{i % 3 + 1}", "b", 6000 + i, 7000)
        places = sorted(map(self.place, self.bars(self.draw(run), "reads b")))
        self.assertEqual(len(places), 5)
        for (top, height), (after, _) in zip(places, places[1:]):
            self.assertAlmostEqual(top + height, after, delta=0.11)

    def test_short_readers_are_a_pile(self):
        run = small(self.dir)
        for i in range(20):
            run.read(f"worker-{i % 2 + 1}", "b", 6000 + i, 6002 + i)
        run.read("worker-3", "b", 6005, 7000)
        drawn = self.draw(run)
        pile = self.titled(drawn, "holds from 6.000 s on")[0]
        bar = self.bars(drawn, "worker-3 reads b")[0]
        self.assert_extent(bar, 6005, 7000)
        self.assertLess(list(drawn.iter()).index(pile), list(drawn.iter()).index(bar))
        self.assertEqual(self.red(drawn), [])

    def test_each_slot_has_a_lane(self):
        drawn = self.draw(with_permits(self.dir, ("worker-1", 0, 1000, 1400), ("worker-2", 1, 1100, 1500),
                                       ("worker-3", 1, 1550, 1950)))
        for words in ("a #0", "a #1", "b #0", "b #1"):
            self.assertIn(words, self.texts(drawn))
        self.assertEqual(self.red(drawn), [])
        self.assertEqual(len(self.titled(drawn, "worker-1 holds a #0")), 1)
        self.assertEqual(len(self.titled(drawn, "holds a #1")), 2)

    def test_complaints_of_the_checker_are_red(self):
        complaint = f"fence: a: t2 of worker-2, at {BEGIN + 2_001_000}, comes after t1 of worker-1"
        drawn = self.draw(small(self.dir), complaints=[complaint])
        self.assertIn(f"1  {complaint}", self.texts(drawn))
        flag = next(it for it in drawn.iter() if it.get("aria-label") == "fence")
        self.assertAlmostEqual(self.extent(flag.find(f"{SVG}path"))[0], 2001, delta=12)

    def test_the_checker_is_asked(self):
        small(self.dir).write()
        done = subprocess.run([PICTURE, str(self.dir)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(ET.parse(self.dir / "picture.svg").getroot().tag, f"{SVG}svg")

    def test_complaints_without_a_place_are_listed(self):
        drawn = self.draw(small(self.dir), complaints=["few: 3 holders, not 100", "growth: x"])
        self.assertIn("2 violations", self.texts(drawn))
        self.assertIn("1  few: 3 holders, not 100", self.texts(drawn))
        self.assertIn("2  growth: x", self.texts(drawn))

    def test_a_part(self):
        drawn = self.draw(small(self.dir), "--from", "3", "--to", "5")
        self.assertEqual(self.titled(drawn, "worker-1 holds a"), [])
        self.assertEqual(len(self.titled(drawn, "worker-3 holds b")), 1)
        self.assertIn("4.2", self.texts(drawn))

    def test_a_full_minute_is_small_enough(self):
        crowded(self.dir)
        done = self.picture()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(len(done.stdout.encode()), 2_000_000)
        drawn = ET.fromstring(done.stdout)
        self.assertTrue(any("One second from near" in it for it in self.texts(drawn)))
        self.assertTrue(any("20 000 leases" in it for it in self.texts(drawn)))

    def test_a_run_full_of_overlaps_is_small_enough(self):
        run = Run(self.dir, names=("a",))
        for i in range(9000):
            run.hold(f"worker-{i % 3 + 1}", "a", i, i + 1.5)
        told = [f"overlap: a: two at {BEGIN + i * 1000}" for i in range(1000)]
        run.write()
        done = self.picture(complaints=told)
        self.assertLess(len(done.stdout), 1_000_000)
        drawn = ET.fromstring(done.stdout)
        self.assertIn("1 000 violations", self.texts(drawn))
        self.assertIn("and 988 more", self.texts(drawn))

    def first_look(self):
        """A run as the profile `small` makes it."""
        run = Run(self.dir, names=("a",), workers=2)
        lease = run.hold("worker-1", "a", 0, 5000)
        run.tell("worker-1", 500, "valid", *lease, BEGIN + 5_500_000)
        run.tell("worker-1", 3000, "at_risk", *lease, BEGIN + 5_500_000)
        lease = run.hold("worker-2", "a", 5002, 9000, 100)
        run.tell("worker-2", 5500, "valid", *lease, BEGIN + 9_500_000)
        run.fault(1000, 2000, "crashed", "master-2")
        run.fault(3000, 4000, "crashed", "master-4")
        return run

    def assert_place(self, shape, begin, end):
        self.assert_extent(shape, begin, end, delta=20, left=66, plot=396)

    def test_a_small_one_shows_the_lock_and_its_masters(self):
        drawn = self.draw(self.first_look(), "--small")
        texts = self.texts(drawn)
        self.assertEqual([it for it in texts if it.startswith("master") or it == "the lock"],
                         ["the lock", *(f"master {i}" for i in range(1, 6))])
        for words in ("held by worker 1", "held by worker 2", "no violations", "seconds",
                      "crashed", "back, no vote yet", "at risk", "waits", "handed over"):
            self.assertEqual(texts.count(words), 1, words)
        for master, begin in (("master-2", 1000), ("master-4", 3000)):
            self.assert_place(self.titled(drawn, f"{master}: crashed")[0], begin, begin + 1000)
            self.assert_place(self.titled(drawn, f"{master} abstains")[0], begin + 1000, begin + 3000)
        self.assert_place(self.bars(drawn, "worker-2 holds a")[0], 5002, 9000)
        self.assert_place(self.titled(drawn, "worker-2 waits for a")[0], 100, 4976)
        notch = [it for it in drawn.iter(f"{SVG}path") if it.get("class") == "hand"]
        self.assertEqual(len(notch), 2)   # and in the legend

    def test_a_small_one_fits_a_telephone(self):
        """Letters of 12 units in a picture of 470: nine pixels on a screen of 390."""
        drawn = self.draw(self.first_look(), "--small")
        self.assertLess(float(drawn.get("width")), 810)
        self.assertLess(float(drawn.get("height")), 300)
        self.assert_nothing_is_cut(drawn)

    def assert_nothing_is_cut(self, drawn):
        wide, high = map(float, drawn.get("viewBox").split()[2:])
        for group in drawn.iter(f"{SVG}g"):
            top = float((re.match(r"translate\(0 (.*)\)", group.get("transform", "")) or ["", 0])[1])
            for it in group.findall(f"{SVG}text"):
                begin, width = float(it.get("x")), 6.6 * len(it.text)
                kinds = it.get("class").split()
                begin -= width if "r" in kinds else width / 2 if {"c", "in"} & {*kinds} else 0
                self.assertGreaterEqual(begin, 0, it.text)
                self.assertLessEqual(begin + width, wide, it.text)
                self.assertLess(top + float(it.get("y")), high, it.text)

    def test_a_small_one_has_more_rows_if_more_is_struck(self):
        run = self.first_look()
        for i, kind in enumerate(("frozen", "disconnected", "slow-script", "rolled-back", "clock-stepped")):
            run.fault(8000 + i, 8500, kind, f"master-{i + 1}")
        run.fault(6000, 7000, "stopped", "worker-2")
        drawn = self.draw(run, "--small")
        self.assertIn("worker 2", self.texts(drawn))
        self.assertIn("clock-stepped", self.texts(drawn))
        self.assert_nothing_is_cut(drawn)

    def test_a_small_one_is_drawn_for_the_dark_as_well(self):
        style = self.draw(self.first_look(), "--small").find(f"{SVG}style").text
        dark = style.partition("@media (prefers-color-scheme:dark)")[2]
        for kind in ("page", "text{fill", "k-crashed", "hand", "lane"):
            self.assertIn(kind, dark)

    def test_a_small_one_shows_violations(self):
        run = self.first_look()
        run.hold("worker-1", "a", 7000, 7500)
        drawn = self.draw(run, "--small")
        self.assert_place(self.red(drawn)[0], 7000, 7500)
        self.assertIn("1 violation", self.texts(drawn))
        self.assertNotIn("no violations", self.texts(drawn))

    def test_a_small_one_has_one_name(self):
        small(self.dir).write()
        self.refused("--small draws one name, and this run has 2", "--small")

    def test_no_folder_of_a_run(self):
        self.refused("is this the folder of a run?")
        small(self.dir).write()
        (self.dir / "run").write_text("profile x\nmasters 5\nbegin 1\nend 2\n")
        self.refused("no line 'workers'")
        (self.dir / "run").write_text("masters 5\nworkers 1\nbegin one\nend 2\n")
        self.refused("'one'")

    def test_malformed_lines(self):
        for file in ("faults", "worker-2"):
            for line in ("", "1", "x attempt a 1", "1 attempt a", "1 valid none 9 1", "1 end 77"):
                if (file, line) == ("worker-2", "1 end 77"):
                    continue
                with self.subTest(file=file, line=line):
                    small(self.dir).write()
                    with open(self.dir / file, "a", encoding="ascii") as record:
                        record.write(f"{line}\n")
                    self.refused("malformed line")

    def test_complaints_that_mean_nothing(self):
        small(self.dir).write()
        for told in ("", "[]", '{"complaints": [3]}', '{"complaints": 3}'):
            with self.subTest(told=told):
                (self.dir / "told").write_text(told)
                self.refused("complaints", "--complaints", str(self.dir / "told"))

    def test_nothing_in_the_part(self):
        small(self.dir).write()
        self.refused("the run ends before", "--from", "11")
        self.refused("nothing is between", "--from", "2", "--to", "1")


if __name__ == "__main__":
    unittest.main()
