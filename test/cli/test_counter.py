"""Mutual exclusion, end to end: many commands increment one counter under one lock."""

import subprocess
import time
import unittest

from harness import Case, Cluster, REDLOCK, until

LOOPS = 8
TIMES = 200
DEADLINE = 400.0

# $0 the counter, $1 how often.  Reading and writing are two steps, so any overlap
# of two commands may lose an increment; the folder shows an overlap for certain.
LOOP = """
i=0
while [ $i -lt $1 ]; do
    i=$((i + 1))
    "$REDLOCK" run --ttl 2s --wait forever counter -- sh -c '
        mkdir "$0.inside" || exit 1
        read n < "$0"
        echo $((n + 1)) > "$0"
        rmdir "$0.inside"' "$0" || exit
done
"""


class Counter(Case):
    def setUp(self):
        super().setUp()
        self.cluster = Cluster(5)
        self.addCleanup(self.cluster.stop)
        self.counter = self.tmp / "counter"
        self.counter.write_text("0\n")

    def count(self):
        # Empty for the moment between opening and writing.
        return int(self.counter.read_text() or "-1")

    def start(self):
        loop = subprocess.Popen(["sh", "-c", LOOP, str(self.counter), str(TIMES)],
                                env=self.env(), stdin=subprocess.DEVNULL,
                                stderr=subprocess.PIPE)
        self.addCleanup(self.end, loop)
        return loop

    def test_every_increment_counts(self):
        loops = [self.start() for _ in range(LOOPS)]
        begin = time.monotonic()
        until(lambda: self.count() > LOOPS * TIMES // 4, "a quarter", DEADLINE)
        self.cluster.kill(2)
        until(lambda: self.count() > LOOPS * TIMES // 2, "half", DEADLINE)
        self.cluster.restart(2)
        for loop in loops:
            told = loop.communicate(timeout=DEADLINE)[1].decode()
            self.assertEqual(loop.returncode, 0, told)
        self.assertEqual(self.count(), LOOPS * TIMES)
        print(f"{LOOPS * TIMES} increments in {time.monotonic() - begin:.1f} s with {REDLOCK}")


if __name__ == "__main__":
    unittest.main()
