"""Mutual exclusion, end to end: many commands increment one counter under one lock, alone and while
others read it side by side."""

import os
import signal
import subprocess
import time

from harness import Case, Cluster, REDLOCK, until

LOOPS = 8
TIMES = 200
WRITES = 40  # of each loop, beside readers
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

# The count is in two files, and a writer pauses between them. A reader beside it finds two counts, or none
# between opening and writing.
WRITER = LOOP.replace("""
        rmdir""", """
        sleep 0.005
        echo $((n + 1)) > "$0.second"
        rmdir""")

# $0 the counter, $1 a file that ends it, the rest: the command line that gets the lease.
READER = """
end=$1 i=0
shift
while [ ! -e "$end" ]; do
    "$@" sh -c '
        mkdir "$0.reading.$$"
        set -- "$0".reading.*
        [ $# -eq 1 ] || : > "$0.together"
        read first < "$0"
        sleep 0.005
        read second < "$0.second"
        rmdir "$0.reading.$$"
        [ "$first" = "$second" ] && exit
        echo "torn: $first, $second" >&2
        exit 3' "$0" || exit
    i=$((i + 1))
done
echo $i
"""
LEASE = (REDLOCK, "run", "--shared", "--ttl", "2s", "--wait", "forever", "counter", "--")


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

    def start(self, script=LOOP, *words):
        loop = subprocess.Popen(["sh", "-c", script, str(self.counter), *(words or [str(TIMES)])],
                                env=self.env(), stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self.end_loop, loop)
        return loop

    def end_loop(self, loop):
        """With the command that it runs, which would else wait for ever."""
        try:
            os.killpg(loop.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # all have ended
        self.end(loop)

    def finish_all(self, loops):
        """The output of each."""
        printed = []
        for loop in loops:
            out, told = loop.communicate(timeout=DEADLINE)
            self.assertEqual(loop.returncode, 0, told)
            printed.append(out)
        return printed

    def await_with_a_master_less(self, whole):
        until(lambda: self.count() > whole // 4, "a quarter", DEADLINE)
        self.cluster.kill(2)
        until(lambda: self.count() > whole // 2, "half", DEADLINE)
        self.cluster.restart(2)

    def test_every_increment_counts(self):
        loops = [self.start() for _ in range(LOOPS)]
        begin = time.monotonic()
        self.await_with_a_master_less(LOOPS * TIMES)
        self.finish_all(loops)
        self.assertEqual(self.count(), LOOPS * TIMES)
        print(f"{LOOPS * TIMES} increments in {time.monotonic() - begin:.1f} s with {REDLOCK}")

    def start_both(self, *lease):
        """Writers, and readers under that."""
        self.over, self.second = self.tmp / "over", self.tmp / "counter.second"
        self.second.write_text("0\n")
        return ([self.start(WRITER, str(WRITES)) for _ in range(LOOPS)],
                [self.start(READER, str(self.over), *lease) for _ in range(LOOPS)])

    def test_no_read_is_torn(self):
        begin = time.monotonic()
        writers, readers = self.start_both(*LEASE)
        self.await_with_a_master_less(LOOPS * WRITES)
        self.finish_all(writers)
        self.over.touch()
        reads = [int(it) for it in self.finish_all(readers)]
        self.assertEqual((self.count(), int(self.second.read_text())), (LOOPS * WRITES,) * 2)
        self.assertTrue(all(reads), reads)
        self.assertTrue((self.tmp / "counter.together").exists(), "no two readers at once")
        print(f"{LOOPS * WRITES} increments and {sum(reads)} reads in "
              f"{time.monotonic() - begin:.1f} s with {REDLOCK}")

    def test_without_leases_a_read_is_torn(self):
        _, readers = self.start_both("env")
        until(lambda: any(it.poll() is not None for it in readers), "a torn read", DEADLINE)
        torn = next(it for it in readers if it.poll() is not None)
        self.assertEqual(torn.returncode, 3)
        self.assertIn("torn:", torn.stderr.read())
