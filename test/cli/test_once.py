"""redlock once: one command for each key, and its record."""

import os
import re
import signal
import threading

from harness import Case, Cluster, ClusterCase, FreshCase, until
from test_guardian import children

NAMES = int(os.environ.get("REDLOCK_ROUNDS", "6"))

COUNTS = 'echo "$$" >> "$0"; '


def pids_of(cluster, *masters):
    return [re.search(r"process_id:(\d+)", cluster.cli(it, "INFO", "server"))[1] for it in masters]


class OnceCase(ClusterCase):
    def once(self, script="exit 0", *options, key="today", life="1h", **more):
        return self.redlock(*self.words(script, *options, key=key, life=life), **more)

    def words(self, script, *options, key="today", life="1h", label="web-3"):
        """A command that enters each of its runs into a file."""
        return ("once", "--key", key, "--life", life, "--label", label, *options, self.name, "--", "sh", "-c",
                COUNTS + script, str(self.tmp / "runs"))

    def runs(self):
        path = self.tmp / "runs"
        return len(path.read_text().split()) if path.exists() else 0

    def record(self, key="today"):
        return f"{self.name} once {key}"

    def begun(self, script, *options, **more):
        before = self.runs()
        process = self.spawn(*self.words(script, *options, **more))
        until(lambda: self.runs() > before, "the command has begun")
        return process


class Once(OnceCase):
    def test_the_second_is_told(self):
        self.assertEqual(self.once(status=0).err, "")
        told = self.once(status=0)
        self.assertRegex(told.err, rf"^redlock: {self.name}: today: done by web-3 at \d\d:\d\d:\d\d\n$")
        self.assertEqual(told.out, "")
        self.once("exit 0", "-E", "9", status=9)
        self.assertEqual(self.once("exit 0", "-q", status=0).err, "")
        self.assertEqual(self.runs(), 1)
        self.once(key="tomorrow", status=0)
        self.assertEqual(self.runs(), 2)
        self.assert_free(self.name)

    def test_the_documents(self):
        events = self.once("exit 0", "--json", status=0).json_lines
        self.assertEqual([it["event"] for it in events if "key" in it or it["event"] == "ended"],
                         ["ended", "recorded"])
        note = events[-2]["note"]
        self.assertRegex(note, r"^web-3@\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        [done] = self.once("exit 0", "--json", status=0).events("done")
        self.assertEqual(done, {"event": "done", "name": self.name, "key": "today", "note": note})

    def test_an_older_note_has_its_day(self):
        self.redlock("latch", "create", "--arrivals", "1", self.record(), status=0)
        self.redlock("latch", "arrive", "--arrival", "me@2020-02-29T12:00:00Z", self.record(), status=0)
        self.assertRegex(self.once(status=0).err, r"done by me at 2020-0\d-\d\d \d\d:\d\d:00\n$")
        self.assertEqual(self.runs(), 0)

    def test_the_life_is_told_on_demand(self):
        self.assertIn(f"{self.name}: today: recorded as done\n", self.once("exit 0", "-v").err)

    def test_a_long_label_is_cut(self):
        """The time is behind it."""
        self.once("exit 0", "--label", "x" * 64, status=0)
        self.assertRegex(self.once(status=0).err, r": done by x{43} at \d\d:\d\d:\d\d\n$")

    def test_a_record_that_cannot_be_read(self):
        """Nobody knows whether it was done, so nothing runs."""
        self.cluster.each_cli("SET", f"redlock:latch:{self.record()}", "of another program")
        self.addCleanup(self.cluster.each_cli, "DEL", f"redlock:latch:{self.record()}")
        self.assertIn("cannot find out whether it was done", self.once(status=69).err)
        self.once("exit 0", "--unavailable-exit-code", "9", status=9)
        self.assertEqual(self.runs(), 0)
        self.assert_free(self.name)

    def test_a_note_of_another_program(self):
        self.redlock("latch", "create", "--arrivals", "1", self.record(), status=0)
        self.redlock("latch", "arrive", "--arrival", "a@b", self.record(), status=0)
        self.assertIn(": done by a@b\n", self.once(status=0).err)

    def test_a_failed_run_is_tried_by_the_next(self):
        self.once("exit 3", status=3)
        self.once("kill -9 $$", status=128 + signal.SIGKILL)
        self.once(status=0)
        self.once(status=0)
        self.assertEqual(self.runs(), 3)

    def test_a_killed_run_is_not_done(self):
        killed = self.begun("exec sleep 60")
        self.redlock("latch", "count", self.record(), status=76)
        killed.kill()
        self.once("exit 0", "--wait", "30s", status=0)
        self.assertEqual(self.runs(), 2)
        self.once(status=0)
        self.assertEqual(self.runs(), 2)

    def test_a_lost_run_is_not_done(self):
        lost = self.begun('trap "exit 0" TERM; while :; do sleep 0.01; done')
        holder = self.found()["holder"]
        self.redlock("break", "--yes", "--holder", holder, self.name, status=0)
        self.finish(lost, status=76)
        self.redlock("latch", "count", self.record(), status=76)
        self.once(status=0)
        self.assertEqual(self.runs(), 2)

    def test_a_run_that_was_held_for_too_long_is_not_done(self):
        """It ends well, when it was asked to end."""
        self.once('trap "exit 0" TERM; while :; do sleep 0.01; done', "--max-hold", "1s", status=76)
        self.redlock("latch", "count", self.record(), status=76)

    def test_a_signal_ends_it_without_a_record(self):
        ended = self.begun("exec sleep 60")
        self.terminate(ended)
        self.redlock("latch", "count", self.record(), status=76)

    def ends_well(self, number, *options):
        """Many programs do when they are asked to end."""
        heeds = self.tmp / f"heeds-{number}"
        process = self.begun(f'exec 2>/dev/null; trap "exit 0" {number}; touch "{heeds}"; '
                             'while :; do sleep 0.01; done', *options)
        self.started(heeds)
        process.send_signal(number)
        return process

    def test_what_a_signal_cut_off_is_not_done(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
            ended = self.ends_well(int(number))
            self.assertIn("not recorded, as a signal asked it to end: the next one runs it again",
                          self.finish(ended, status=79).err)
        self.redlock("latch", "count", self.record(), status=76)
        self.assert_free(self.name)

    def test_what_a_signal_cut_off_as_a_document(self):
        ended = self.ends_well(int(signal.SIGTERM), "--json")
        [event] = self.finish(ended, status=79).events("not_recorded")
        self.assertEqual((event["code"], event["undecided"]), ("REDLOCK_E_CANCELLED", False))

    def test_other_signals_cut_nothing_off(self):
        """They go to the command, which knows what they mean."""
        self.finish(self.ends_well(int(signal.SIGHUP)), status=0)
        self.assertIn("done by", self.once(status=0).err)

    def test_one_in_another(self):
        inner = f'exec "$REDLOCK" once --key other --life 1h {self.name} -- true'
        told = self.once(inner, status=75).err
        self.assertIn("would wait for itself: use another name", told)
        self.assertNotIn("--reentrant", told)

    def test_who_waits_is_told_by_the_record(self):
        """Each comes in as the one before it releases, so the record is there before."""
        many = [self.spawn(*self.words("exit 0", "--wait", "forever")) for _ in range(8)]
        told = [self.finish(it, status=0).err for it in many]
        self.assertEqual((self.runs(), sum("done by" in it for it in told)), (1, 7), told)

    def test_who_does_not_wait(self):
        works = self.begun("exec sleep 60")
        self.assertIn("cannot lock", self.once(status=75).err)
        self.assertEqual(self.once("exit 0", "-q", "-E", "5", status=5).err, "")
        self.terminate(works)

    def test_its_life_is_over(self):
        self.once(life="1s", status=0)
        until(lambda: set(self.cluster.each_cli("EXISTS", f"redlock:latch:{self.record()}")) == {"0"},
              "the record is gone")
        self.once(status=0)
        self.assertEqual(self.runs(), 2)

    def test_a_latch_without_an_arrival_is_no_record(self):
        """Its writer died."""
        latch = self.redlock("latch", "create", "--arrivals", "1", self.record(), status=0).out
        self.once("exit 1", status=1)
        self.once(status=0)
        self.once(status=0)
        self.assertEqual(self.runs(), 2)
        again = self.redlock("latch", "create", "--arrivals", "1", self.record(), status=75)
        self.assertEqual(again.err.split()[-1], latch.strip())

    def test_a_latch_of_others_is_refused(self):
        self.redlock("latch", "create", "--arrivals", "2", self.record(), status=0)
        self.assertIn("has the name of the record", self.once(status=64).err)
        [event] = self.once("exit 0", "--json", status=64).events("refused")
        self.assertEqual(event["code"], "REDLOCK_E_HELD")
        self.assertEqual(self.runs(), 0)
        self.assert_free(self.name)

    def test_names_and_keys_do_not_run_into_each_other(self):
        for name, key in (("a once b", "c"), ("a", "b-once-c"), ("a once", "b")):
            self.name = name
            self.once(key=key, status=0)
        self.assertEqual(self.runs(), 3)

    def test_bad_input(self):
        for says, words in (
                ("--key is missing", ("--life", "1h", "x")),
                ("--life is missing", ("--key", "k", "x")),
                ("--key has 1 to 64 bytes, not 0", ("--key", "", "--life", "1h", "x")),
                ("--key has 1 to 64 bytes, not 65", ("--key", "k" * 65, "--life", "1h", "x")),
                ("printable ASCII without spaces", ("--key", "a b", "--life", "1h", "x")),
                ("1s to 720h", ("--key", "k", "--life", "999ms", "x")),
                ("1s to 720h", ("--key", "k", "--life", "721h", "x")),
                ("one name, not 2", ("--key", "k", "--life", "1h", "x", "y")),
                ("no name given", ("--key", "k", "--life", "1h")),
                ("takes no --permits", ("--key", "k", "--life", "1h", "--permits", "2", "x")),
                ("takes no --shared", ("--key", "k", "--life", "1h", "--shared", "x"))):
            self.assertIn(says, self.redlock("once", *words, "--", "true", status=64).err)
        for says, words in (
                ("no command given", ("once", "--key", "k", "--life", "1h", "x")),
                ("takes no --key", ("run", "--key", "k", "x", "--", "true")),
                ("over the limit", ("once", "--key", "k" * 64, "--life", "1h", "n" * 1000, "--", "true"))):
            self.assertIn(says, self.redlock(*words, status=64).err)


class Unrecorded(FreshCase):
    """The last act of a command takes the quorum away: it has succeeded, and cannot say so."""

    # Where masters are away, patience lasts.
    patience = ()

    def once(self, script, *options, **more):
        return self.redlock("once", "--key", "k", "--life", "1h", "--max-ttl", "5s", *options, self.name,
                            "--", "sh", "-c", COUNTS + script, str(self.tmp / "runs"), **more)

    def runs(self):
        return len((self.tmp / "runs").read_text().split())

    def test_it_says_so_and_the_next_runs(self):
        kill = "kill -9 " + " ".join(pids_of(self.cluster, 1, 2))
        told = self.once(kill, status=79)
        self.assertIn("the command succeeded, and this is not recorded: the next one runs it again", told.err)
        self.assertIn("Connection refused", told.err)
        self.assertEqual(self.once(kill, status=69).out, "")
        self.cluster.restart(1, 2)
        until(lambda: self.once("exit 0", "--wait", "10s").status == 0, "the masters vote again")
        self.assertEqual(self.runs(), 2)

    def test_it_is_a_document(self):
        told = self.once("kill -9 " + " ".join(pids_of(self.cluster, 1, 2)), "--json", status=79)
        [event] = told.events("not_recorded")
        self.assertEqual((event["key"], event["code"], event["undecided"]),
                         ("k", "REDLOCK_E_UNAVAILABLE", False))


class Silent(FreshCase):
    """Masters stand still while the record is written."""

    def test_a_signal_waits_for_the_record(self):
        """It asks for the end of a command that has ended."""
        pids = " ".join(pids_of(self.cluster, 1, 2))
        process = self.spawn("once", "--json", "--key", "k", "--life", "1h", self.name, "--", "sh", "-c",
                             f"kill -STOP {pids}; touch '{self.tmp}/stopped'")
        self.started(self.tmp / "stopped")
        until(lambda: not children(process.pid), "the command has ended")
        process.terminate()
        self.cluster.resume(1, 2)
        events = self.finish(process, status=0).json_lines
        self.assertIn("recorded", [it["event"] for it in events])


class Fires(Case):
    """Ten hosts fire the same job. The masters, which keep nothing on disk, restart in turn between them.
    Of every three jobs one succeeds at once, the first run of one fails, and that of one is killed."""
    # rule: L3

    MAX_TTL = "5s"

    def setUp(self):
        super().setUp()
        self.cluster = Cluster(5, "--no-adopt")  # else the masters would know of a longer ttl
        self.addCleanup(self.cluster.stop)
        self.redlock("nodes", "--adopt", "--max-ttl", self.MAX_TTL, status=0)

    def fire(self, job, host):
        """Returns the status of this host's run of the job."""
        ways = ("exit 0", "exit 7", "exec sleep 60") if host == 0 else ("exit 0",) * 3
        runs = self.tmp / f"{job}.runs"
        process = self.spawn("once", "--max-ttl", self.MAX_TTL, "--ttl", "5s", "--key", "2026-11-30",
                             "--life", "36h", "--wait", "30s", "--label", f"host-{host}", f"job-{job}", "--",
                             "sh", "-c", f'echo "$0" >> "$1"; {ways[job % 3]}', f"host-{host}", str(runs))
        if host == 0 and job % 3 == 2:
            until(lambda: runs.exists() and runs.read_text(), "the command has begun")
            process.kill()
        done = self.finish(process)
        self.assertIn(done.status, (0, 7, -9), done.err)
        return done.status

    def fire_all(self, host):
        """Four at a time."""
        def fire_some(first):
            for job in range(first, NAMES, 4):
                statuses[job] = self.fire(job, host)
        statuses = [None] * NAMES
        threads = [threading.Thread(target=fire_some, args=(first,)) for first in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return statuses

    def votes(self):
        return self.redlock("nodes", "--max-ttl", self.MAX_TTL, "--all").status == 0

    def test_each_job_ran_once(self):
        first = [0, 7, -9]
        self.assertEqual(self.fire_all(0), [first[job % 3] for job in range(NAMES)])
        for step in range(1, 10):
            if step % 2:  # the master abstains at first, and is not mended before it votes
                self.cluster.call("restart", str(step // 2 + 1), "--empty")
            else:
                until(self.votes, "the master votes again")
            self.assertEqual(self.fire_all(step), [0] * NAMES)
        for job in range(NAMES):
            ran = (self.tmp / f"{job}.runs").read_text().split()
            self.assertEqual(ran, ["host-0"] if job % 3 == 0 else ["host-0", "host-1"], f"job {job}")
