"""Fifty clients sleep through a change of masters. They are stopped before it, and go on a minute after the
former list has ended for good. Each has lost its lease, none holds beside another, and each leads again, on
the next masters, without a restart. It takes four minutes: python3 -m unittest -v slept"""

import os
import signal
import time

from harness import until
from test_change import Lead

CLIENTS = 50
TTL = "4s"
LONG = 300  # seconds
# The command writes when it begins and ends; it is killed if the guardian has to.
WORK = 'echo "$$ begins $EPOCHREALTIME" >>"$0"; trap "exit 1" TERM; while [[ -e $1 ]]; do ' \
       'echo "$$ works $EPOCHREALTIME" >>"$0"; sleep 0.1; done'


class Slept(Lead):
    def setUp(self):
        super().setUp()
        self.lend_login()

    def elect(self, number, nodes, who):
        log, work = self.tmp / f"{number}.{who}", self.tmp / f"{number}.{who}.work"
        work.touch()
        process = self.spawn("elect", "--again", "--ttl", TTL, "--max-ttl", "5s", "--label", who,
                             f"name-{number}", "--", "bash", "-c", WORK, str(log), str(work),
                             env=self.of(*nodes))
        return process, log, work

    @staticmethod
    def lines(log, word):
        if not log.exists():
            return []
        return [float(line.split()[2]) for line in log.read_text().splitlines() if f" {word} " in line]

    def test_fifty(self):
        first = [self.elect(i, (1, 2, 3), "sleeper") for i in range(CLIENTS)]
        until(lambda: all(self.lines(log, "works") for _, log, _ in first), "each leads", LONG)
        for process, _, _ in first:
            os.kill(process.pid, signal.SIGSTOP)
        change, lines = self.begin((1, 2, 3), (2, 3, 4), "--max-ttl", "5s", "--patience", "0")
        others = [self.elect(i, (1, 2, 3, 4), "other") for i in range(CLIENTS)]
        until(lambda: all(self.lines(log, "works") for _, log, _ in others), "each has a successor", LONG)
        self.assertEqual(change.wait(LONG), 0, "".join(lines.passed))
        print("".join(line + "\n" for line in lines.passed[-4:]))
        time.sleep(60)
        slept_until = time.time()
        for process, _, _ in first:
            os.kill(process.pid, signal.SIGCONT)
        time.sleep(5)
        for (_, before, _), (_, after, _) in zip(first, others):
            # The guardian ended the command, and nobody wrote after the successor had begun.
            self.assertLess(max(self.lines(before, "works")), min(self.lines(after, "begins")))
            self.assertEqual(len(self.lines(before, "begins")), 1)
        for process, _, work in others:
            work.unlink()
        for process, _, _ in others:
            self.finish(process, 0)
        until(lambda: all(max(self.lines(log, "begins")) > slept_until for _, log, _ in first),
              "each leads again", LONG)
        for process, _, work in first:
            work.unlink()
        for process, _, _ in first:
            self.finish(process, 0)
        print(f"{CLIENTS} of {CLIENTS} lost their lease, and led again without a restart")
