"""redlock elect and leader: leading, announcing and observing."""
# rule: E1

import re
import signal
from pathlib import Path

from harness import REDLOCK, ClusterCase, FreshCase, until

EXAMPLE = str(Path(REDLOCK).with_name("example_leader"))

LEADS = 'echo "$REDLOCK_TERM" >> "$0"; exec sleep 60'


class Elect(ClusterCase):
    def elect(self, *options, value="blue", ttl="2s"):
        """A candidate whose command writes each of its terms into a file."""
        job = self.spawn("elect", "--ttl", ttl, "--kill-after", "0", "--value", value, *options, self.name,
                         "--", "sh", "-c", LEADS, str(self.tmp / value))
        job.value = value
        return job

    def terms(self, job):
        path = self.tmp / job.value
        return [int(term) for term in path.read_text().split()] if path.exists() else []

    def leads(self, job, times=1):
        until(lambda: len(self.terms(job)) >= times, f"{job.value} leads for the {times}. time")
        return self.terms(job)[-1]

    def waits(self):
        """Somebody waits for the name, on a quorum of masters."""
        return self.redlock("status", "--json", self.name).json["names"][0]["waiting"]

    def leader(self):
        result = self.redlock("leader", self.name)
        self.assertIn(result.status, (0, 1))
        return result.out.rstrip("\n")

    def told(self, text):
        until(lambda: self.leader() == text, f"the leader is told as {text}")

    def test_it_leads_and_announces(self):
        self.assertEqual(self.redlock("leader", self.name, status=1).out, "")
        job = self.elect()
        term = self.leads(job)
        self.told(f"{term} blue")
        told = self.redlock("leader", "--json", self.name, status=0).json
        self.assertEqual((told["state"], told["term"], told["value"]), ("announced", term, "blue"))
        self.terminate(job)
        self.told("")
        told = self.redlock("leader", "--json", self.name, status=1).json
        self.assertEqual(told["text"], "ok")
        self.assertEqual((told["ok"], told["state"], told["value"]), (True, "nobody", None))
        self.assert_free(self.name)

    def test_the_environment_and_the_status(self):
        run = "[ $REDLOCK_TERM = $REDLOCK_FENCE ] && [ $REDLOCK_NAME = $0 ] && exit 7"
        self.redlock("elect", self.name, "--", "sh", "-c", run, self.name, status=7)
        self.redlock("run", self.name, "--", "sh", "-c", '[ -z "$REDLOCK_TERM" ]', status=0,
                     env=self.env(REDLOCK_TERM="5"))

    def test_the_next_one_leads(self):
        first = self.elect(value="first")
        term = self.leads(first)
        second = self.elect(value="second")
        first.kill()
        self.assertGreater(self.leads(second), term)
        self.told(f"{self.terms(second)[0]} second")
        self.assertEqual(self.terms(first), [term])

    def test_who_passes_on_no_masters_is_named(self):
        env = self.env(REDLOCK_TOKEN="token", REDLOCK_TERM="5")
        env.pop("REDLOCK_NODES_FILE")
        self.assertIn("`redlock elect` passes on", self.redlock("leader", self.name, status=64, env=env).err)
        env.pop("REDLOCK_TERM")
        self.assertIn("`redlock run` passes on", self.redlock("leader", self.name, status=64, env=env).err)

    def test_who_is_frozen_is_lost_and_stands_again(self):
        frozen, other = self.elect("--again", value="frozen"), self.elect(value="other")
        until(lambda: self.terms(frozen) or self.terms(other), "one of them leads")
        if self.terms(other):
            frozen, other = other, frozen
        again = "--again" in frozen.args
        term = self.leads(frozen)
        frozen.send_signal(signal.SIGSTOP)
        next_term = self.leads(other)
        self.assertGreater(next_term, term)
        self.told(f"{next_term} {other.value}")
        frozen.send_signal(signal.SIGCONT)
        until(lambda: frozen.poll() is not None or self.waits(), "who was frozen knows that it lost")
        self.told(f"{next_term} {other.value}")
        if again:
            other.kill()
            self.assertGreater(self.leads(frozen, 2), next_term)
        else:
            self.finish(frozen, status=76)

    def test_without_again_it_ends(self):
        job = self.elect()
        self.leads(job)
        self.cluster.each_cli("SET", self.name, "stolen")
        self.finish(job, status=76)

    def test_again_after_a_loss_that_is_found_when_the_command_has_ended(self):
        passwords = {f"PASSWORD_{i}": word for i, word in enumerate(self.cluster.passwords)}
        steal = " ".join(f"REDISCLI_AUTH=$PASSWORD_{i} redis-cli -p {port} SET {self.name} thief PX 500;"
                         for i, port in enumerate(self.cluster.ports))
        result = self.redlock("elect", "--again", "--ttl", "20s", self.name, "--", "sh", "-c",
                              f"[ -e '{self.tmp}/led' ] && exit 7; echo > '{self.tmp}/led'; {steal}",
                              env=self.env(**passwords), status=7)
        self.assertIn("no quorum of masters has it any more: it expired, was given back or broken",
                      result.err)

    def test_a_signal_ends_it_with_again_too(self):
        job = self.elect("--again")
        self.leads(job)
        self.cluster.each_cli("SET", self.name, "stolen", "PX", "3000")  # all of them at one time
        self.leads(job, 2)
        self.terminate(job)
        self.assertEqual(len(self.terms(job)), 2)

    def watch(self, *options, **more):
        """A watcher, and what it has printed so far."""
        path = self.tmp / "watched"
        with path.open("wb") as out:
            job = self.spawn("leader", "--watch", *options, self.name, stdout=out, **more)
        return job, path

    def test_watching(self):
        job, path = self.watch()
        until(lambda: path.read_text() == "0\n", "nobody leads")
        first = self.elect(value="first")
        term = self.leads(first)
        until(lambda: path.read_text().endswith(f"\n{term} first\n"), "the first is told")
        second = self.elect(value="second")
        first.kill()
        later = self.leads(second)
        until(lambda: path.read_text().endswith(f"\n{later} second\n"), "the second is told")
        self.terminate(second, None)
        until(lambda: path.read_text().endswith("\n0\n"), "nobody leads any more")
        terms = [int(line.split()[0]) for line in path.read_text().splitlines()]
        told = [term for term in terms if term > 0]
        self.assertEqual(told, sorted(told))
        self.terminate(job)

    def may_ask(self, sign):
        for master in (1, 2, 3):
            self.cluster.cli(master, "ACL", "SETUSER", "default", f"{sign}eval", f"{sign}evalsha")

    def test_watching_masters_that_answer_errors(self):
        """They no longer say that nobody leads."""
        with open(self.tmp / "err", "wb") as err:
            job, path = self.watch(stderr=err)
        until(lambda: path.read_text() == "0\n", "nobody leads")
        self.addCleanup(self.may_ask, "+")
        self.may_ask("-")
        until(lambda: path.read_text() == "0\n-1\n", "it is not known")
        until(lambda: "NOPERM" in (self.tmp / "err").read_text(), "it is said why")
        self.may_ask("+")
        until(lambda: path.read_text() == "0\n-1\n0\n", "nobody leads")
        self.terminate(job)

    def test_values(self):
        for value, shown in (("", ""), ("v" * 65536, "v" * 65536), ("a\x1b\n\u00e9", "a\\x1B\\x0A\u00e9")):
            job = self.spawn("elect", "--value", value, self.name, "--", "sleep", "60")
            until(lambda: self.redlock("leader", self.name).status == 0, "it is announced")
            out = self.redlock("leader", self.name, status=0).out
            self.assertEqual(out.lower(), f"{out.split()[0]} {shown}\n".lower())
            self.assertEqual(self.redlock("leader", "--json", self.name, status=0).json["value"], value)
            self.terminate(job, None)
            self.told("")

    def test_without_a_value_the_label_is_announced(self):
        job = self.spawn("elect", "--label", "web:1", self.name, "--", "sleep", "60")
        until(lambda: self.leader().endswith(" web:1"), "the label is announced")
        self.terminate(job, None)

    def test_what_is_told_as_json(self):
        lines = self.redlock("elect", "--json", self.name, "--", "sleep", "1", status=0).json_lines
        events = [line["event"] for line in lines if line["event"] not in ("at_risk", "healthy")]
        self.assertEqual(events, ["acquired", "announced", "ended", "released"])


class Example(ClusterCase):
    """examples/leader.c: one of several hosts leads, and all know where."""

    def host(self, address):
        path = self.tmp / address
        with path.open("wb") as out:
            return self.program(EXAMPLE, address, stdout=out), path

    def test_the_next_one_goes_on(self):
        first, said = self.host("first")
        until(lambda: "send to first" in said.read_text(), "the first leads")
        second, other = self.host("second")
        until(lambda: "send to first" in other.read_text(), "the second knows")
        first.send_signal(signal.SIGTERM)
        self.assertEqual(first.wait(30), 0)
        until(lambda: "send to second" in other.read_text(), "the second leads")
        until(lambda: "a piece of work" in other.read_text(), "the second works")
        second.send_signal(signal.SIGTERM)
        self.assertEqual(second.wait(30), 0)


class Masters(FreshCase):
    def test_too_few_masters(self):
        self.cluster.kill(1, 2)
        result = self.redlock("leader", self.name, status=69)
        self.assertIn("too few masters", result.err)
        self.assertEqual(sorted(re.findall(r"^  (\S+): ", result.err, re.M)), sorted(self.cluster.shown[:2]))
        told = self.redlock("leader", "--json", self.name, status=69).json
        self.assertEqual((told["ok"], told["state"]), (False, "unknown"))
