"""--shared: readers side by side, a writer alone, and what status shows of them."""


from harness import ClusterCase, until
from test_acl import script

# The most looks: later servers show a script one time from its first line to its last.
PAUSE = """
local function pause()
    local function now()
        local time = redis.call("time")
        return time[1] * 1000 + time[2] / 1000
    end
    local till = now() + 100
    for _ = 1, 100000 do
        if now() >= till then
            return
        end
    end
end
"""


def with_pauses(text):
    """The script on a master that is paused behind each look at its clock."""
    return PAUSE + text.replace("redis.call('time')", "(function() local time = "
                                "redis.call('time') pause() return time end)()")


class Shared(ClusterCase):
    def read(self, label, *options):
        return self.lock("--shared", "--ttl", "25s", "--label", label, *options, self.name)

    def readers(self):
        """The number of readers on each master."""
        return list(map(int, self.cluster.each_cli("ZCARD", f"redlock:holders:{self.name}")))

    def await_two(self):
        """On a quorum; a busy machine may be too late for one master."""
        until(lambda: self.readers().count(2) > self.masters // 2, "a quorum has both")

    def told_of(self, readers):
        """The answer of `status` once that is their number. Some masters may know fewer, and answer first."""
        def told():
            found = self.found()
            return found if found["reading"] == readers else None
        return until(told, f"status tells of {readers} readers")

    def text_of(self, readers, line):
        """The text of `status` once it has this line."""
        def told():
            text = self.redlock("status", self.name, status=0).out
            return text if line in text else None
        return until(told, f"the text tells of {readers}")

    def await_one(self, label):
        until(lambda: [it["label"] for it in self.found()["readers"]] == [label], "the other left")

    def test_readers_side_by_side_keep_writers_out(self):
        one, two = self.read("one"), self.read("two")
        refused = self.redlock("lock", self.name, status=75)
        self.assertRegex(refused.err, r"held by readers on \d of 5 masters, ttl \d+\.\d s unless renewed")
        self.unlock(one)
        self.redlock("lock", self.name, status=75)
        self.unlock(two)
        self.assert_free(self.name)
        self.unlock(self.lock(self.name))

    def test_a_writer_keeps_readers_out(self):
        writer = self.lock("--ttl", "20s", self.name)
        refused = self.redlock("lock", "--shared", self.name, status=75)
        self.assertIn(f"held by {writer[:22]}", refused.err)
        self.unlock(writer)
        self.unlock(self.read("reader"))

    def test_status(self):
        one, two = self.read("one"), self.read("two", "--ttl", "30s")
        self.await_two()
        told = self.told_of(2)
        self.assertEqual((told["state"], told["holder"]), ("shared", "redlock:shared"))
        self.assertEqual({it["token"] for it in [told, *told["votes"]]}, {None})
        self.assertRegex(told["text"], r"^held by 2 readers on \d of 5 masters")
        self.assertEqual((told["reading"], {it["label"] for it in told["readers"]}),
                         (2, {"one", "two"}))
        self.assertEqual({it["token"] for it in told["readers"]}, {one, two})
        text = self.text_of("two", "\n  2 read: ")
        self.assertRegex(text, r"^\S+: shared by 2, first one, on \d of 5 masters, ttl \d+\.\d s\n"
                               r"  2 read: one, two\n")
        self.assertRegex(text, r"  held +\d+\.\d s +2 readers\n")
        self.unlock(one)
        self.await_one("two")
        self.text_of("one", "\n  1 reads: two\n")
        self.unlock(two)
        until(lambda: (self.found()["state"], self.found()["reading"]) == ("free", 0),
              "nobody has it")

    def test_a_marker_without_readers(self):
        """Another program's value, or the rest after somebody deleted the readers."""
        reader = self.read("reader")
        self.cluster.each_cli("DEL", "redlock:holders:" + self.name)
        told = self.found()
        self.assertEqual((told["state"], told["reading"], told["token"]), ("held", 0, None))
        self.assertRegex(told["text"], r"^held by redlock:shared on \d of 5 masters")
        text = self.redlock("status", self.name, status=0).out
        self.assertRegex(text, r"^\S+: held by redlock:shared, without a reader, on \d of 5 masters, ")
        self.assertRegex(text, r"  held +\d+\.\d s +redlock:shared, without a reader\n")
        self.redlock("lock", self.name, status=75)
        self.redlock("unlock", "--token", reader, self.name, status=76)
        self.unlock(self.read("late"))
        self.unlock(self.lock(self.name))

    def test_the_token_of_a_reader_without_its_label(self):
        one, two = self.read("one"), self.read("two:and:more")
        self.await_two()
        self.redlock("extend", "--shared", "--token", two[:22], "--ttl", "25s", self.name, status=0)
        self.unlock(two[:22])
        self.await_one("one")
        self.redlock("unlock", "--token", "A" * 22, self.name, status=76)
        self.unlock(one[:22])
        self.assert_free(self.name)

    def test_extend_knows_the_mode(self):
        reader = self.read("reader")
        told = self.redlock("extend", "--shared", "--token", reader, "--ttl", "25s", self.name,
                            status=0)
        self.assertRegex(told.out, r"^extended, valid for at least 2\d\.\d s, on \d of 5 masters\n$")
        self.redlock("extend", "--token", reader, self.name, status=76)
        self.unlock(reader)

    def test_a_waiting_writer_keeps_new_readers_out(self):
        told = self.tmp / "told"
        reader = self.read("reader")
        writer = self.spawn("run", "--kill-after", "500ms", "--wait", "forever", self.name, "--",
                            "sh", "-c", f"echo writer >> '{told}'")
        until(lambda: self.waiters().count(1) > self.masters // 2, "the writer is enqueued")
        refused = self.redlock("lock", "--shared", self.name, status=75).err
        self.assertRegex(refused, r"  held by readers on \d of 5 masters, ttl \d+\.\d s unless renewed\n"
                                  r"  others wait before this reader: it does not pass them\n$")
        refused = self.redlock("lock", "--json", "--shared", self.name, status=75).json
        self.assertRegex(refused["text"], "^held by readers, and others came first, on")
        late = self.spawn("run", "--shared", "--kill-after", "500ms", "--wait", "forever", self.name,
                          "--", "sh", "-c", f"echo reader >> '{told}'")
        until(lambda: self.waiters().count(2) > self.masters // 2, "the reader is enqueued")
        self.unlock(reader)
        self.finish(writer, 0)
        self.finish(late, 0)
        self.assertEqual(told.read_text().split(), ["writer", "reader"])

    def test_who_waits_is_told_how_many_read(self):
        one, two = self.read("one"), self.read("two")
        self.await_two()
        writer, told = self.told_while("lock", "-v", "--wait", "forever", self.name)
        until(lambda: "waiting: held by 2 readers, we are next" in told(), "it is told")
        self.unlock(one)
        self.unlock(two)
        self.unlock(self.finish(writer, 0).out.strip())

    def test_mixed_modes(self):
        table, base = self.name, self.name + "-base"
        one = self.lock("--ttl", "20s", f"--shared={base}", table)
        two = self.lock("--ttl", "20s", f"--shared={base}", table + "-2")
        self.redlock("lock", base, status=75)
        self.redlock("lock", "--shared", table, status=75)
        self.redlock("lock", f"--shared={base}", table, status=75)
        self.unlock(one, table, base)
        self.unlock(two, table + "-2", base)
        self.unlock(self.lock(base, table), base, table)

    def test_names_of_run(self):
        done = self.redlock("run", f"--shared={self.name}-base", self.name, "--", "sh", "-c",
                            'echo "$REDLOCK_NAME|$REDLOCK_NAMES"', status=0)
        self.assertEqual(done.out, f"{self.name}|{self.name}\n{self.name}-base\n")

    def test_bad_use(self):
        self.assertIn("--shared=: give a name", self.redlock("lock", "--shared=", "x", status=64).err)
        for command in ("status", "unlock", "nodes"):
            self.assertIn("takes no --shared",
                          self.redlock(command, "--shared", "x", status=64).err)

    def ask(self, text, *keys_and_arguments):
        return self.cluster.cli(1, "EVAL", text, *map(str, keys_and_arguments))

    def end_of(self, key):
        return int(self.ask("local left, now = redis.call('pttl', KEYS[1]), redis.call('time') "
                            "return left + now[1] * 1000 + math.floor(now[2] / 1000)", 1, key))

    def ends_of_readers(self):
        told = self.cluster.cli(1, "ZRANGE", "redlock:holders:" + self.name, "0", "-1",
                                "WITHSCORES").split()
        return dict(zip(told[::2], map(int, told[1::2])))

    def assert_marker_outlasts_readers(self):
        last = max(self.ends_of_readers().values())
        for key in self.name, "redlock:holders:" + self.name:
            self.assertGreaterEqual(self.end_of(key) + 2, last)  # each is cut to milliseconds

    def test_a_paused_master_cuts_no_reader_off(self):
        grant, clock = script("grant_shared.lua"), "redlock:clock"
        for text, reader, ttl in (grant, "long", 20000), (with_pauses(grant), "short", 19950):
            self.assertEqual(self.ask(text, 2, self.name, clock, reader, ttl, 0, 0, "s"), "1")
        self.assert_marker_outlasts_readers()

    def test_a_paused_master_hands_over_for_the_whole_life(self):
        queue, clock = script("queue.lua"), "redlock:clock"
        self.cluster.cli(1, "SET", self.name, "writer", "PX", "20000")
        due = {}
        for reader in "first", "second", "third":
            self.ask(queue, 2, self.name, clock, reader, 1 + len(due), 20000, "nobody", "s")
            due[reader] = self.end_of("redlock:waiter:" + reader)
        released = self.ask(with_pauses(script("release.lua")), 1, self.name, "writer")
        self.assertEqual(released, "1")
        given = self.ends_of_readers()
        self.assertEqual(given.keys(), due.keys())
        for reader, end in due.items():
            self.assertGreaterEqual(given[reader] + 2, end)
        self.assert_marker_outlasts_readers()
