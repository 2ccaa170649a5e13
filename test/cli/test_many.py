"""Many names at once: what is asked about them neither comes too late nor holds up anybody else; and how
long a name may be."""

import subprocess
import threading

from harness import REDLOCK, ClusterCase

LOOKS = 20
BYSTANDERS = 20


class Many(ClusterCase):
    patience = ()  # the timeouts that a user has

    def test_free_names(self):
        for look in range(LOOKS):
            told = self.redlock("status", "--json", *(f"free-{look}-{i}" for i in range(64)), status=0).json
            self.assertEqual({it["state"] for it in told["names"]}, {"free"})

    def test_nobody_is_held_up(self):
        """Others run their commands all the time."""
        stop, failed = threading.Event(), []

        def look_on():
            names = [f"looked-at-{i}" for i in range(400)]
            while not stop.is_set():
                subprocess.run([REDLOCK, "status", *names], env=self.env(), stdout=subprocess.DEVNULL,
                               check=False)

        looking = threading.Thread(target=look_on)
        looking.start()
        try:
            for i in range(BYSTANDERS):
                done = self.redlock("run", f"mine-{i}", "--", "true")
                failed += [done.err] if done.status else []
        finally:
            stop.set()
            looking.join()
        self.assertEqual(failed, [])

    def give_permits(self, names, permits):
        """The last permit of each is out; returns its holder."""
        value = f"{'A' * 22}:l"
        make = ("for i, name in ipairs(KEYS) do "
                "redis.call('set', 'redlock:permits:' .. name, ARGV[2], 'px', 60000) "
                "redis.call('set', 'redlock:permit:' .. ARGV[2] - 1 .. ':' .. name, ARGV[1], 'px', 60000) "
                "end")
        self.cluster.each_cli("EVAL", make, str(len(names)), *names, value, str(permits))
        return value

    def test_names_with_permits(self):
        names = [f"{i:03}{'n' * 1000}" for i in range(64)]
        self.give_permits(names, 64)
        told = self.redlock("status", "--json", *names, status=0).json
        self.assertEqual({(it["state"], it["out"], it["permits"]) for it in told["names"]},
                         {("permits", 1, 64)})

    def fill_permits(self, names, permits, waiters):
        """All are out, and `waiters` clients wait for the first slots."""
        fill = (
            "for i, name in ipairs(KEYS) do "
            "redis.call('set', 'redlock:permits:' .. name, ARGV[1], 'px', 60000) "
            "for j = 0, ARGV[1] - 1 do "
            "redis.call('set', 'redlock:permit:' .. j .. ':' .. name, ARGV[3], 'px', 60000) end "
            "for j = 1, ARGV[2] do local token = string.format('%021dA', j) "
            "redis.call('zadd', 'redlock:queue:redlock:permits:' .. name, j, token) "
            "redis.call('set', 'redlock:waiter:' .. token, "
            "cmsgpack.pack({'redlock:' .. token, 'redlock:permit:0:' .. name}), 'px', 60000) end end")
        self.cluster.each_cli("EVAL", fill, str(len(names)), *names, str(permits), str(waiters), "A" * 22)

    def test_dear_looks(self):
        """Behind cheap ones, which leave together."""
        free = [f"cheap-{i}" for i in range(48)]
        dear = [f"{i:03}{'n' * 253}" for i in range(16)]
        self.fill_permits(dear, 1024, 100)
        for _ in range(3):
            told = self.redlock("status", "--json", *free, *dear, status=0).json["names"]
            self.assertEqual({it["state"] for it in told[:48]}, {"free"})
            self.assertEqual({(it["state"], it["out"]) for it in told[48:]}, {("permits", 1024)})

    def test_permits_times_the_length_of_the_name(self):
        self.redlock("run", "--permits", "256", "n" * 1024, "--", "true", status=0)
        told = self.redlock("run", "--permits", "257", "n" * 1024, "--", "true", status=64).err
        self.assertIn("a name of 1024 bytes has 256 permits at most: lock a hash of it", told)

    def test_all_slots_of_a_name(self):
        """The command looks for a holder's slot in all slots, some at a time."""
        value = self.give_permits(["pool"], 1024)
        self.redlock("break", "--yes", "--holder", value, "pool", status=0)
        self.assertEqual(self.redlock("status", "--json", "pool", status=0).json["names"][0]["state"], "free")

    def test_a_name_that_is_too_long(self):
        name = "n" * 1024
        self.redlock("run", name, "--", "true", status=0)
        for command in (("run", name + "n", "--", "true"), ("status", name + "n"),
                        ("run", "--prefix", "p", name, "--", "true")):
            told = self.redlock(*command, status=64).err
            self.assertIn("over the limit of 1024: lock a hash of it", told)
