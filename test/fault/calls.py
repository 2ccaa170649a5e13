"""Calls of the command about a barrier or a latch, their answers, and the workers that make them."""

import os
import signal
import subprocess
import sys

from facts import Record, die_with_parent, document, read_facts

DONE, UNAVAILABLE, NOT_YET, GONE, DIFFERS = 0, 69, 75, 76, 78
DEPARTED = (128 + signal.SIGTERM, -signal.SIGTERM)  # the latter before it knows what to do
OF_BARRIERS = ("passed", "undecided", "not-passed", "departed")
OF_LATCHES = ("made", "there", "arrived", "open", "shut", "undecided", "gone")
LOOK_S = 0.2  # at the file with the masters
EACH = 4  # arrivals of each place at one latch


class Caller:
    """A worker of a chaos run that makes one call of the command after the other, and records them."""

    def __init__(self, record):
        self.record, self.process, self.ending = Record(record, new=True), None, False

    def stop(self, *_):
        self.ending = True
        if self.process and self.process.poll() is None:
            self.process.terminate()

    def call(self, *words):
        """Its status and its output."""
        self.process = subprocess.Popen([os.environ["REDLOCK"], *map(str, words)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        if self.ending:
            self.stop()
        output = self.wait()
        return self.process.returncode, output

    def wait(self):
        """For the output. A call whose list of masters is not that of the file any more is ended."""
        path, is_told = os.environ.get("REDLOCK_NODES_FILE"), False
        began = path and os.stat(path).st_ino
        while True:
            try:
                return self.process.communicate(timeout=LOOK_S if path else None)[0]
            except subprocess.TimeoutExpired:
                if os.stat(path).st_ino != began and not is_told:
                    is_told = True
                    self.process.terminate()

    def take_turn(self):
        raise NotImplementedError

    def run(self):
        signal.signal(signal.SIGTERM, self.stop)
        self.record.put("begin", os.getpid())
        while not self.ending:
            self.take_turn()
        self.record.put("end")


def main(worker, usage):
    """`usage` ends in the words that it takes."""
    words = usage.rpartition("\n\n")[2].rstrip()
    if len(sys.argv) != len(words.partition("   the masters")[0].split()):
        print("usage:" + words, file=sys.stderr)
        sys.exit(64)
    worker(*sys.argv[1:]).run()


def read_calls(lines, asks, size, outcomes, unanswered):
    """(its words, begun, ended, words of its answer) of each call. `size` words say which it is.
    A process that was killed leaves its last call unanswered."""
    calls = []
    for at, fact, words in read_facts(lines):
        if fact == asks:
            calls.append((words, at, None, unanswered))
        elif fact == "told":
            asked, begun, *_ = calls[-1] if calls else (None, None)
            if words[size] not in outcomes or words[:size] != asked:
                raise ValueError(f"{at} {fact} {words}")
            calls[-1] = asked, begun, at, words[size:]
    return calls


def barrier_told(status, output):
    """With the token to come back with, if it is undecided; None of a command that failed."""
    if status == DONE:
        return "passed", None
    if status == NOT_YET:
        return "not-passed", None
    if status in DEPARTED:
        return "departed", None
    if status not in (UNAVAILABLE, DIFFERS):
        return None
    told = document(output)
    return ("undecided", told["token"]) if told["undecided"] else ("not-passed", None)


def latch_told(action, status, output):
    """The answer, and how many have arrived; None of a command that failed."""
    if status not in (DONE, UNAVAILABLE, NOT_YET, GONE):
        return None, None
    told = document(output)
    if status == UNAVAILABLE:
        return "undecided", None
    if status == GONE:
        return "gone", None
    if action == "create":
        return "made" if status == DONE else "there", None
    if told["open"]:
        return "open", told["arrived"]
    return ("arrived" if action == "arrive" else "shut"), told["arrived"]
