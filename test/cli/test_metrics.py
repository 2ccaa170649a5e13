"""Metrics: the text is OpenMetrics, and complete; `run` and `elect` keep it in a file."""

import os
import re
import resource
import signal
import stat
import time

import openmetrics
from harness import DEADLINE, ROOT, Case, until
from metrics import MetricsCase

CANNOT = "cannot write the metrics to "


class Text(MetricsCase):
    """The library's counters in a file: all but the labels of the command."""

    def fields(self):
        """Fields of struct redlock_stats, by family and suffix in the text."""
        header = (ROOT / "include" / "redlock" / "nodes.h").read_text()
        counters = re.findall(r"X\((\w+),",
                              re.search(r"#define REDLOCK_COUNTERS\(X\)(.*?)\n\n", header, re.S)[1])
        struct = re.search(r"typedef struct redlock_stats \{(.*?)\n\} redlock_stats;", header, re.S)[1]
        fields = re.findall(r"^ +uint64_t (\w+)(\[REDLOCK_BUCKETS\])?;(?: +/\* (counter):)?", struct, re.M)
        self.assertEqual(struct.count("uint64_t"), len(fields) + 1)  # and that of the counters
        yield from ((f"redlock_{name}", "counter", "_total") for name in counters)
        for name, buckets, counter in fields:
            if counter:
                yield f"redlock_{name}", "counter", "_total"
            elif buckets:
                yield f"redlock_{name.removesuffix('_times')}_seconds", "histogram", "_bucket"
            elif name.endswith("_us"):
                yield f"redlock_{name.removesuffix('_us')}_seconds", "histogram", "_sum"
            else:
                yield f"redlock_{name}", "gauge", ""

    def test_each_field_is_printed(self):
        self.run_to_end(status=0)
        families, fields = self.families(), list(self.fields())
        self.assertGreater(len(fields), 30)
        for name, kind, suffix in fields:
            with self.subTest(field=name + suffix):
                self.assertIn(name, families)
                self.assertEqual(families[name].type, kind)
                self.assertTrue(families[name].of(suffix))
        known = {name for name, _, _ in fields} | {"redlock_quorum", "redlock_lists"}
        others = {name for name in families if not name.startswith(("redlock_master_", "redlock_run_"))}
        self.assertEqual(others, known, "the header knows nothing of these, or the text")

    def test_buckets_are_those_of_the_header(self):
        self.run_to_end(status=0)
        header = (ROOT / "include" / "redlock" / "nodes.h").read_text()
        count = int(re.search(r"#define REDLOCK_BUCKETS +(\d+)", header)[1])
        first = int(re.search(r"#define REDLOCK_BUCKET_US\(i\) \(INT64_C\((\d+)\) << \(i\)\)", header)[1])
        ends = [float(dict(labels)["le"]) for labels in self.families()["redlock_hold_seconds"].of("_bucket")]
        self.assertEqual(ends, [(first << i) / 1e6 for i in range(count - 1)] + [float("inf")])

    def test_a_collector_finds_the_type_of_each_counter(self):
        """node_exporter reads the older format."""
        self.run_to_end(status=0)
        text = self.file.read_text()
        heads = re.findall(r"^# TYPE (\w+) counter$", text, re.M)
        self.assertGreater(len(heads), 10)
        for name in heads:
            with self.subTest(name):
                self.assertTrue(name.endswith("_total"))
                self.assertRegex(text, rf"(?m)^# HELP {name} .*\.$")
                self.assertRegex(text, rf"(?m)^{name}\{{")
        counted = {name for name in re.findall(r"^(\w+_total)\{", text, re.M)}
        self.assertEqual(counted, set(heads))

    def test_the_reader_is_strict(self):
        self.run_to_end(status=0)
        text = self.as_openmetrics()
        for old, new in (("# EOF\n", ""), ("# EOF\n", "# EOF\n\n"),
                         ("# TYPE redlock_held gauge", "# TYPE redlock_held integer"),
                         ("# UNIT redlock_hold_seconds seconds", "# UNIT redlock_hold_seconds ms"),
                         ("# HELP redlock_held ", "#HELP redlock_held "),
                         ("redlock_lost_total{", "redlock_lost{"),
                         ('redlock_held{lock="', 'redlock_held{lock='), ('le="+Inf"', 'le="7"'),
                         ("redlock_hold_seconds_count{", "redlock_hold_seconds_counts{"),
                         ("redlock_held{", "redlock_holds{")):
            with self.subTest(new=new):
                self.assertIn(old, text)
                self.assertRaises(ValueError, openmetrics.parse, text.replace(old, new, 1))
        line = re.search(r"^redlock_held.*\n", text, re.M)[0]
        self.assertRaises(ValueError, openmetrics.parse, text.replace(line, line + line))


class File(MetricsCase):
    def test_life_of_a_command(self):
        process = self.run_held("--ttl", "20s", umask=0o077)
        until(lambda: self.value("redlock_held") == 1, "it is held, in the file")
        families = self.families()
        self.assertIsNone(self.value("redlock_run_exit_status"))
        self.assertEqual(self.value("redlock_quorum"), 2)
        self.assertEqual(len(families["redlock_master_up"].samples), self.masters)
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o644)
        for family in families.values():
            for _, labels in family.samples:
                self.assertEqual(dict(labels)["lock"], self.name)
        self.let_end(process, 1)
        self.assertEqual(self.value("redlock_held"), 0)
        self.assertEqual(self.value("redlock_released", "_total"), 1)
        self.assertEqual(self.value("redlock_run_exit_status"), 1)
        self.assertEqual(self.families()["redlock_master_up"].samples, {},
                         "what it saw of them is not so any more")
        self.assertEqual(os.listdir(self.tmp), [self.file.name])

    def test_at_a_change(self):
        """Without a change the next writing comes after a second; a slow machine needs that for the lock."""
        def at_once():
            began = time.time()
            process = self.run_held("--ttl", "20s")
            until(lambda: self.value("redlock_held") == 1, "it is held, in the file")
            written = self.value("redlock_run_written_timestamp_seconds")
            self.let_end(process, 1)
            return written - began < 1
        until(at_once, "it is written when the lock is taken")

    def test_a_known_hold_is_in_its_bucket(self):
        began = time.monotonic()
        self.run_to_end("--ttl", "20s", command=("sleep", "0.6"), status=0)
        took = time.monotonic() - began
        family = self.families()["redlock_hold_seconds"]
        self.assertEqual(list(family.of("_count").values()), [1])
        self.assertTrue(0.6 <= self.value("redlock_hold_seconds", "_sum") <= took)
        for labels, count in family.of("_bucket").items():
            end = float(dict(labels)["le"])
            if end < 0.6 or end > took:
                self.assertEqual(count, end > took, end)

    def test_replaced_as_a_whole(self):
        """A reader that has opened the file reads all of the old one."""
        process = self.run_held("--ttl", "20s")
        until(lambda: self.value("redlock_held") == 1, "it is held, in the file")
        with open(self.file) as old:
            inode = self.file.stat().st_ino
            self.let_end(process, 1)
            self.assertNotEqual(self.file.stat().st_ino, inode)
            families = self.families(old.read())
            self.assertEqual(list(families["redlock_held"].samples.values()), [1])

    def test_while_it_waits(self):
        """Nothing happens then, but a second later the file is written again."""
        token = self.lock("--ttl", "30s", self.name)
        process = self.spawn("run", "--metrics-file", str(self.file), "--wait", "forever", self.name, "--",
                             "true")
        until(lambda: self.value("redlock_waiting") == 1, "it waits, in the file")
        written = self.value("redlock_run_written_timestamp_seconds")
        until(lambda: self.value("redlock_run_written_timestamp_seconds") > written, "it is written again")
        self.redlock("unlock", "--token", token, self.name, status=0)
        self.finish(process, 0)
        self.assertEqual(self.value("redlock_waiting"), 0)
        self.assertEqual(self.value("redlock_queue_seconds", "_count"), 1)

    def test_what_others_have(self):
        self.lock("--ttl", "20s", self.name)
        self.run_to_end(status=75)
        self.assertEqual(self.value("redlock_contended", "_total"), 1)
        self.assertEqual(self.value("redlock_run_exit_status"), 75)

    def test_lost(self):
        process = self.run_held("--ttl", "3s")
        self.cluster.each_cli("SET", self.name, "another", "PX", "20000")
        self.assertEqual(process.wait(DEADLINE), 76)
        self.assertEqual((self.value("redlock_lost", "_total"), self.value("redlock_held")), (1, 0))
        self.assertEqual(self.value("redlock_hold_seconds", "_count"), 1)
        self.assertEqual(self.value("redlock_run_exit_status"), 76)

    def test_ended_by_a_signal(self):
        process = self.run_held("--ttl", "20s")
        process.terminate()
        self.assertEqual(process.wait(DEADLINE), 143)
        self.assertEqual(self.value("redlock_run_exit_status"), 143)

    def test_elect(self):
        self.redlock("elect", "--metrics-file", self.file, self.name, "--", "sh", "-c", "exit 3", status=3)
        self.assertEqual(self.value("redlock_acquired", "_total"), 1)
        self.assertEqual(self.value("redlock_run_exit_status"), 3)

    def labels(self, name, *options):
        self.run_to_end(*options, name=name, status=0)
        (_, labels), = self.families()["redlock_held"].samples
        return dict(labels)

    def test_labels(self):
        self.assertEqual(self.labels(b'a"b\\c\r\xff\xc3\xa9'),
                         {"lock": 'a"b\\c\\x0d\\xffé'})
        self.assertEqual(self.labels("é" * 500), {"lock": "é" * 64 + "..."})
        self.assertEqual(self.labels("x" + "é" * 500), {"lock": "x" + "é" * 63 + "..."})
        self.assertEqual(self.labels("n", "--label", "left"), {"lock": "n", "label": "left"})


class Numbers(MetricsCase):
    """Each gauge is what its name says."""

    def numbers(self, suffix, *names):
        return [self.value(f"redlock_{name}", suffix) for name in names]

    def test_of_leases(self):
        process = self.run_held("--ttl", "3s")
        until(lambda: self.numbers("", "held", "waiting", "at_risk", "abstaining") == [1, 0, 0, 0], "held")
        until(lambda: self.value("redlock_renewals", "_total") > 0, "renewed")
        counts = self.numbers("_count", "acquire_seconds", "queue_seconds", "hold_seconds")
        self.assertEqual(counts, [1, 0, 0])
        families = self.families()
        self.assertEqual(list(families["redlock_renewal_left_seconds"].of("_count").values()),
                         list(families["redlock_renewals"].of("_total").values()))
        left = self.value("redlock_renewal_left_seconds", "_sum") / self.value("redlock_renewals", "_total")
        self.assertTrue(0 < left < 3, left)
        self.let_end(process, 1)

    def test_of_masters(self):
        process = self.run_held("--ttl", "20s")
        until(lambda: len(self.of_masters("redlock_master_clock_offset_seconds")) == self.masters,
              "all were met")
        for name, least, most in (("up", 1, 1), ("round_trip_seconds", 1e-6, 2),
                                  ("clock_offset_seconds", -2, 2)):
            numbers = self.of_masters(f"redlock_master_{name}")
            self.assertEqual(set(numbers), set(self.cluster.shown))
            self.assertTrue(all(least <= number <= most for number in numbers.values()), (name, numbers))
        self.let_end(process, 1)


class Outage(MetricsCase):
    """A master is away, and then abstains. No event says that, so the file has it after 15 s at most."""

    def test_at_risk_and_abstaining(self):
        process = self.run_held("--ttl", "6s")
        self.cluster.kill(3)
        up = dict(zip(self.cluster.shown, (1, 1, 0)))
        until(lambda: self.value("redlock_at_risk") == 1 and self.of_masters("redlock_master_up") == up,
              "at risk")
        self.cluster.restart(3)
        until(lambda: self.value("redlock_abstaining") == 1, "it abstains")
        self.assertEqual(self.of_masters("redlock_master_up"), up)
        self.assertEqual(self.value("redlock_held"), 1)
        self.let_end(process, 1)


class Faults(MetricsCase):
    """The command runs, and one line says what is wrong."""

    def assert_told_once(self, result, why):
        lines = [line for line in result.err.splitlines() if CANNOT in line]
        self.assertEqual(lines, [f"redlock: {CANNOT}{self.file}: {why}; all else goes on"])

    def test_no_folder(self):
        self.file = self.tmp / "missing" / "redlock.prom"
        self.assert_told_once(self.run_to_end(command=("sh", "-c", "exit 5"), status=5),
                              "No such file or directory")

    def test_quiet_and_json(self):
        self.file = self.tmp / "missing" / "redlock.prom"
        self.assert_told_once(self.run_to_end("-q", status=0), "No such file or directory")
        told = [event for event in self.run_to_end("--json", status=0).events("log")
                if CANNOT in event["text"]]
        self.assertEqual([event["level"] for event in told], ["warning"])

    def test_only_files_are_replaced(self):
        other = self.tmp / "other"
        other.write_text("kept")
        for make in (os.mkdir, os.mkfifo, lambda path: os.symlink(other, path)):
            make(self.file)
            before = os.lstat(self.file).st_ino
            self.assert_told_once(self.run_to_end(status=0), "there is something else than a file")
            self.assertEqual(os.lstat(self.file).st_ino, before)
            os.rename(self.file, self.tmp / f"done-{before}")
        self.assertEqual(other.read_text(), "kept")

    def test_no_room(self):
        """The signal of a file that is too large is no signal for the command."""
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))}
        self.assert_told_once(self.run_to_end(command=("sh", "-c", "exit 5"), status=5, **limit),
                              "File too large")
        self.assertEqual(os.listdir(self.tmp), [])

    def test_a_folder_that_goes_and_comes_back(self):
        folder = self.tmp / "folder"
        folder.mkdir()
        self.file = folder / "redlock.prom"
        log = self.tmp / "log"
        with open(log, "wb") as err:
            process = self.run_held("--ttl", "20s", stderr=err)
        until(lambda: self.value("redlock_held") == 1, "it is held, in the file")
        folder.rename(self.tmp / "gone")  # it may be written at this moment
        until(lambda: CANNOT in log.read_text(), "it is told")
        folder.mkdir()
        self.let_end(process, 1)
        self.assertEqual(log.read_text().count(CANNOT), 1)
        self.assertEqual(self.value("redlock_held"), 0)

    def test_killed(self):
        """The file stays whole, and lacks the exit status."""
        process = self.run_held("--ttl", "20s")
        until(lambda: self.value("redlock_held") == 1, "it is held, in the file")
        process.send_signal(signal.SIGKILL)
        process.wait(DEADLINE)
        self.assertEqual(self.value("redlock_held"), 1)
        self.assertIsNone(self.value("redlock_run_exit_status"))


class Usage(Case):
    def test_refused(self):
        self.assertIn("the path is empty",
                      self.redlock("run", "--metrics-file", "", "x", "--", "true", status=64).err)
        told = self.redlock("lock", "--metrics-file", self.tmp / "x", "x", status=64).err
        self.assertIn("`redlock lock` takes no --metrics-file", told)
