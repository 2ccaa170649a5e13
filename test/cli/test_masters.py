"""masters: the lists of masters that the clients of a fleet count on, and whether they may meet."""

import json
import re
import signal
import subprocess

import schema
from harness import ROOT, until
from test_agree import Lists
from test_watch import Lines

AGREE = (ROOT / "lib/wire/scripts/agree.lua").read_text()
STEERS = "\x1b[31m\u202e"
UNAVAILABLE, DIFFER, DIFFERS = 69, 1, 78


class Masters(Lists):
    def say(self, entries, client="a", masters=None, label="", quorum=None, spare=0, says=1):
        """Tells these masters of a client; entries are numbers of masters, or addresses."""
        entries = [self.cluster.shown[e - 1] if isinstance(e, int) else e for e in entries]
        quorum = quorum or (len(entries) + spare) // 2 + 1
        for master in masters or range(1, 1 + len(self.cluster.ports)):
            self.cluster.cli(master, "EVAL", AGREE, "1", self.key, str(says), client, label, "150000000",
                             str(quorum), str(spare), "30000", "0", *(x for e in entries for x in (e, "")))

    def masters_of(self, *masters, status, **more):
        """Text and document of a client with this list."""
        env = self.of(*masters, **more)
        text = self.redlock("masters", env=env, status=status).out
        told = self.redlock("masters", "--json", env=env, status=status).json
        self.assertIn(told["text"], text)
        schema.check(told, "masters")
        return text, told


class Shown(Masters):
    def test_nobody(self):
        known = self.known()
        text, told = self.masters_of(1, 2, 3, status=0)
        self.assertEqual((told["state"], told["lists"], told["fleet"]), ("agree", [], self.prefix))
        self.assertEqual(re.sub(".* has begun .*\n", "", text),
                         f'0 lists in use: no client of the fleet "{self.prefix}" says one\n')
        self.assertEqual(self.known(), known)  # nor does who looks

    def test_agree(self):
        holder = self.hold(self.of(1, 2, 3), masters=3)
        self.say([3, 2, 1], client="b", masters=[1, 2], label="late")
        text, told = self.masters_of(1, 2, 3, status=0)
        listed, = told["lists"]
        self.assertEqual((told["ok"], told["state"]), (True, "agree"))
        self.assertEqual(sorted(listed["nodes"]), sorted(self.shown(1, 2, 3)))
        self.assertEqual([listed[key] for key in ("quorum", "spare", "max_ttl_ms", "clients", "ours", "label",
                                                  "told_by", "may_not_meet")],
                         [2, 0, 30000, 2, True, "late", self.shown(1, 2, 3), []])
        self.assertLessEqual(listed["last_ms"], listed["first_ms"])
        self.assertIn("list 1 (this one): quorum 2 of 3, spare 0, max-ttl 30.0 s\n", text)
        self.assertRegex(text, r"(?m)^  2 clients for .*; the last said it .* ago: late$")
        self.assertIn("  told by 3 of 3 masters\n", text)
        self.assertIn("1 list in use: all clients that say theirs agree\n", text)
        # A command with another list sees it, and says nothing of its own.
        text, told = self.masters_of(3, 4, 5, status=0)
        self.assertEqual((told["lists"][0]["ours"], told["lists"][0]["told_by"]), (False, self.shown(3)))
        self.assertIn("-> no client says the list of these settings", text)
        self.goes_on(holder)

    def test_may_meet(self):
        self.say([1, 2, 3, 4, 5], masters=[1, 2, 3, 4, 5])
        self.say([1, 2, 3, 4, 5, 6], client="b")
        text, told = self.masters_of(1, 2, 3, 4, 5, status=DIFFER)
        self.assertEqual((told["code"], told["state"]), ("REDLOCK_OK", "may_meet"))
        self.assertEqual([(each["ours"], len(each["nodes"])) for each in told["lists"]],
                         [(True, 5), (False, 6)])
        self.assertIn("2 lists in use: they may meet, so clients exclude each other\n", text)
        env = self.of(1, 2, 3, 4, 5)
        self.assertIn("\n2 lists in use: they may meet, so clients exclude each other; see redlock masters\n",
                      self.redlock("nodes", env=env, status=0).out)
        self.assertEqual(self.redlock("nodes", "--json", env=env, status=0).json["lists"], 2)
        metrics = self.tmp / "metrics.prom"
        run = self.spawn("run", "--metrics-file", metrics, self.name, "--", "cat", env=env,
                         stdin=subprocess.PIPE)
        until(lambda: metrics.exists() and re.search(r"\nredlock_lists{.*} 2\n", metrics.read_text()),
              "it is a metric")
        self.let_end(run, status=0)
        self.say([1, 2, 3, 4, 5], says=-1)
        self.assertEqual(len(self.masters_of(1, 2, 3, 4, 5, status=0)[1]["lists"]), 1)

    def test_may_not_meet(self):
        self.say([1, 2, 3, 4, 5], masters=[1, 2, 3, 4, 5])
        self.say([1, 2, 3, 4, 5], client="d", masters=[4, 5], spare=1)
        self.say([1, 2, 3], client="b", masters=[1, 2, 3])
        text, told = self.masters_of(1, 2, 3, 4, 5, status=DIFFERS)
        self.assertEqual((told["ok"], told["code"], told["state"]),
                         (False, "REDLOCK_E_DIFFERS", "may_not_meet"))
        self.assertEqual([each["may_not_meet"] for each in told["lists"]], [[2], [], [0]])
        self.assertIn("lists 1 and 3 may not meet: quorums of 3 and 2 need not share a master\n", text)
        self.assertNotIn("lists 1 and 2", text)
        self.assertIn("3 lists in use: they may not meet, so two clients may hold one name\n", text)
        # One master of each is enough to know it, and the list that nobody else has is no fault.
        self.assertEqual(self.masters_of(1, 6, status=DIFFERS)[1]["state"], "may_not_meet")
        self.masters_of(1, 2, 3, REDLOCK_FLEET="another", status=0)

    def test_no_room_for_more(self):
        for i in range(9):
            self.say([f"h{i}:1"], client=f"c{i}", masters=[1])
        text, told = self.masters_of(1, status=DIFFER)
        self.assertEqual((told["more"], len(told["lists"])), (True, 8))
        self.assertIn("-> a master remembers 8 lists: there may be more", text)

    def test_what_steers_a_terminal(self):
        self.say([1, f"h{STEERS}:1"], label=f"l{STEERS}")
        for text in (self.redlock("masters", *more, env=self.of(1), status=0).out
                     for more in ((), ("--json",))):
            self.assertNotIn("\x1b", text)
            self.assertNotIn("\u202e", text)

    def test_strange_keys(self):
        self.cluster.cli(1, "HSET", self.key, "x", "y")
        self.say([1, 2, 3], masters=[2, 3])
        text, told = self.masters_of(1, 2, 3, status=0)
        self.assertEqual([node["tells"] for node in told["nodes"]], [False, True, True])
        self.assertIn(f"{self.shown(1)[0]} remembers no list: ", text)

    def test_bad_input(self):
        env = self.of(1, 2, 3)
        self.assertIn("takes no names", self.redlock("masters", "a", env=env, status=64).err)
        self.redlock("masters", "--nodes", "redis://h:x", env=env, status=78)
        env["REDLOCK_FLEET"] = ""
        self.assertIn("--fleet", self.redlock("masters", env=env, status=64).err)
        del env["REDLOCK_FLEET"]
        self.assertEqual(self.redlock("masters", "--json", env=env, status=0).json["fleet"], self.prefix)

    def test_watch(self):
        watch = [self.spawn("masters", "--watch", *more, env=self.of(1, 2, 3)) for more in ((), ("--json",))]
        text, documents = map(Lines, watch)
        text.next(r"^\d\d:\d\d:\d\d 0 lists in use")
        documents.next('"lists":\\[\\]')
        self.say([1, 2, 3], masters=[1, 2, 3])
        text.next("list 1 .this one.: quorum 2 of 3")
        schema.check(json.loads(documents.next('"clients":1')), "masters")
        for process, number in zip(watch, (signal.SIGTERM, signal.SIGINT)):
            process.send_signal(number)
            self.finish(process, 128 + number)


class Down(Masters):
    masters = 3

    def test_some_do_not_answer(self):
        self.say([1, 2, 3])
        self.cluster.call("restart", "2", "--empty")
        text, told = self.masters_of(1, 2, 3, status=0)
        self.assertEqual([node["tells"] for node in told["nodes"]], [True] * 3)
        self.assertEqual(told["lists"][0]["told_by"], self.shown(1, 3))
        self.assertIn(f"  told by 2 of 3 masters: {','.join(self.shown(1, 3))}\n", text)
        self.assertRegex(text, f"(?m)^{self.shown(2)[0]} has begun .* ago: what was said before is "
                               "forgotten$")
        self.cluster.kill(1)
        text, told = self.masters_of(1, 2, 3, status=0)
        self.assertEqual([node["tells"] for node in told["nodes"]], [False, True, True])
        self.assertRegex(text, f"(?m)^{self.shown(1)[0]} could not be asked: .*refused$")
        self.cluster.kill(2)
        text, told = self.masters_of(1, 2, 3, status=UNAVAILABLE)
        self.assertEqual((told["code"], told["state"], len(told["lists"])),
                         ("REDLOCK_E_UNAVAILABLE", "unknown", 1))
        self.assertIn("1 list in use, but too few masters tell: 1 of 3, 2 must\n", text)
        self.say([3], client="b", masters=[3])
        self.masters_of(1, 2, 3, status=DIFFERS)
        self.cluster.kill(3)
        self.masters_of(1, 2, 3, status=UNAVAILABLE)
