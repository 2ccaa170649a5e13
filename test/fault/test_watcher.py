#!/usr/bin/env python3
"""The watcher of chaos runs, on real masters: at SIGTERM it has seen all keys that exist then."""

import re
import signal
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

from harness import DEADLINE, Case, Cluster, until  # noqa: E402

MASTERS = 3


class Watcher(Case):
    def setUp(self):
        super().setUp()
        self.cluster = Cluster(MASTERS)
        self.addCleanup(self.cluster.stop)
        self.keys = Path(self.cluster.dir, "keys")
        sockets = ",".join(str(Path(self.cluster.dir, f"master-{i + 1}", "redis.sock"))
                           for i in range(MASTERS))
        self.watcher = subprocess.Popen(
            [sys.executable, HERE / "chaos" / "watcher.py", self.keys, sockets, "name", "other"])
        self.addCleanup(self.watcher.wait, DEADLINE)
        self.addCleanup(self.watcher.kill)

    def looks_at(self, master):
        stats = self.cluster.cli(master, "INFO", "commandstats")
        return int(found[1]) if (found := re.search(r"cmdstat_exec:calls=(\d+)", stats)) else 0

    def end(self):
        self.watcher.send_signal(signal.SIGTERM)
        self.assertEqual(self.watcher.wait(DEADLINE), 0)
        return self.keys.read_text(encoding="ascii").splitlines()

    def test_looks_once_more_at_the_end(self):
        for master in range(1, MASTERS + 1):
            until(lambda master=master: self.looks_at(master) > 1, f"master {master} is watched")
        for master in range(1, MASTERS + 1):
            self.cluster.cli(master, "SET", "other", f"token-{master}")
        lines = self.end()
        for master in range(1, MASTERS + 1):
            last = [line for line in lines if f" master-{master} " in line][-1]
            self.assertRegex(last, rf"^\d+ master-{master} other token-{master} -1$")

    def share(self, master, *readers):
        """(token, ms that it has left)"""
        seconds, us = self.cluster.cli(master, "TIME").split()
        now = int(seconds) * 1000 + int(us) // 1000
        self.cluster.cli(master, "SET", "name", "redlock:shared")
        for token, left in readers:
            self.cluster.cli(master, "ZADD", "redlock:holders:name", str(now + left), token)

    def test_tells_of_each_reader_that_is_not_expired(self):
        until(lambda: self.looks_at(1) and self.looks_at(2), "both are watched")
        self.share(1, ("one", 60000), ("two", 50000), ("expired", -1))
        self.share(2, ("earlier", 60000))
        self.cluster.cli(2, "SET", "name", "token")
        lines = [line.split() for line in self.end()]
        last = {master: [it[2:] for it in lines if it[0] == looks[-1]] for master in (1, 2)
                if (looks := [it[0] for it in lines if it[1] == f"master-{master}"])}
        self.assertEqual([it[:2] for it in last[1]],
                         [["name", "redlock:shared"], ["name", "two"], ["name", "one"],
                          ["redlock:holders:name", "3"]])
        self.assertTrue(all(0 < int(left) <= ms for (*_, left), ms
                            in zip(last[1][1:3], (50000, 60000))), last)
        self.assertEqual(last[2], [["name", "token", "-1"], ["redlock:holders:name", "1", "-1"]])

    def test_ends_though_a_master_does_not_answer(self):
        until(lambda: self.looks_at(1), "master 1 is watched")
        self.cluster.pause(2)
        self.cluster.cli(1, "SET", "name", "token")
        self.assertRegex([line for line in self.end() if " master-1 " in line][-1], "name token -1$")
        self.cluster.resume(2)


if __name__ == "__main__":
    unittest.main()
