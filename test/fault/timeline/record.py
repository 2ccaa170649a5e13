"""Reads the folder of a run: attempts, leases with their ends, and faults."""

import re
from dataclasses import dataclass
from pathlib import Path

from .lease import Attempt, slots

RESTARTS = ("crashed", "emptied", "rolled-back", "terminated")
ENDS = ("killed", "ended")   # of a worker's process
PERMITS = "permits="
# The least number of words after the fact's own.
LEASE_FACTS = {"attempt": 2, "acquired": 5, "valid": 3, "at_risk": 3, "healthy": 3, "moving": 3, "moved": 3,
               "unmoved": 3, "lost": 3, "act": 3, "acted": 4, "refrained": 2, "releasing": 3,
               "released": 3, "failed": 3}


class Unreadable(Exception):
    pass


@dataclass
class Fault:
    number: int
    kind: str
    targets: list
    begin: int
    end: int = None


@dataclass
class Life:
    """One process of a worker."""
    kind: str
    begin: int
    end: int
    whole: bool = False   # ended in good order


class Record:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.read_run()
        self.faults = []
        self.read_faults()
        self.lives = {worker: [] for worker in self.workers}
        self.attempts = []
        self.stale = {"refused": 0, "stale": 0}   # writes, by the register that checks or not
        for worker in self.workers:
            self.read_worker(worker)
        self.attempts.sort(key=lambda it: it.asked)
        self.holders = sorted((it for it in self.attempts if it.acquired is not None),
                              key=lambda it: it.acquired)

    def lines(self, file):
        """The words of each whole line, and its place."""
        path = self.folder / file
        try:
            text = path.read_text(encoding="ascii", errors="replace")
        except FileNotFoundError as error:
            raise Unreadable(f"{path}: no such file: is this the folder of a run?") from error
        except OSError as error:
            raise Unreadable(f"{path}: {error.strerror}") from error
        # Text after the last newline is from a process that was killed as it wrote.
        for number, line in enumerate(text.split("\n")[:-1], 1):
            yield line.split(" "), f"{path}:{number}: malformed line: {line!r}"

    def each(self, file, read):
        for words, where in self.lines(file):
            try:
                read(words)
            except (ValueError, IndexError, KeyError) as error:
                raise Unreadable(where) from error

    def read_run(self):
        self.run = {words[0]: " ".join(words[1:]) for words, _ in self.lines("run")}
        try:
            self.begin, self.end = int(self.run["begin"]), int(self.run["end"])
            masters, workers = int(self.run["masters"]), int(self.run["workers"])
            self.quarantine = int(self.run.get("quarantine_ms", 0)) * 1000
        except KeyError as error:
            raise Unreadable(f"{self.folder / 'run'}: no line {error}") from error
        except ValueError as error:
            raise Unreadable(f"{self.folder / 'run'}: {error}") from error
        if self.end <= self.begin:
            raise Unreadable(f"{self.folder / 'run'}: it ends before it begins")
        self.masters = [f"master-{i + 1}" for i in range(masters)]
        self.workers = [f"worker-{i + 1}" for i in range(workers)]
        self.names = [it for it in self.run.get("names", "").split(",") if it]
        if permits := int(self.run.get("permits", 0)):
            self.names = [slot for name in self.names for slot in slots(name, permits)]

    def read_faults(self):
        begun = {}

        def read(words):
            now, fact, number = int(words[0]), words[1], int(words[2])
            if fact == "begin":
                begun[number] = Fault(number, words[3], words[4:], now)
                self.faults.append(begun[number])
            else:
                begun[number].end = now
        self.each("faults", read)
        for fault in self.faults:
            fault.end = fault.end or max(self.end, fault.begin)

    def faults_of(self, target):
        return [it for it in self.faults if target in it.targets]

    def quarantines(self, master):
        """(number of the fault, begin, end)"""
        return [(it.number, it.end, it.end + self.quarantine) for it in self.faults_of(master)
                if master in self.masters and it.kind in RESTARTS]

    # ---- workers -----------------------------------------------------------------------------

    def read_worker(self, worker):
        """All its lives: worker-K, worker-K.2, ..."""
        files = [it.name for it in self.folder.glob(f"{worker}*")
                 if re.fullmatch(rf"{worker}(\.\d+)?", it.name)]
        for file in sorted(files, key=lambda it: int(it.partition(".")[2] or 1)):
            self.read_life(worker, file)

    def read_life(self, worker, file):
        attempts, life = {}, Life("", None, None)

        def read(words):
            now, fact, rest = int(words[0]), words[1], words[2:]
            life.begin, life.end = life.begin or now, now
            if fact == "begin":
                life.kind = rest[0]
            elif fact == "end":
                life.whole = True
            elif fact in LEASE_FACTS:
                self.read_lease_fact(worker, attempts, now, fact, rest)
        self.each(file, read)
        if life.begin is not None:
            self.bury(worker, life, attempts.values())

    def read_lease_fact(self, worker, attempts, now, fact, words):
        if len(words) < LEASE_FACTS[fact]:
            raise ValueError("too few words")
        key = words[0], int(words[1])
        if fact == "attempt":
            attempts[key] = self.attempt(worker, *key, now, words[2:])
        elif fact == "acted":
            self.stale["refused"] += words[2] == "refused"
            self.stale["stale"] += words[3] == "stale"
        attempts[key].hears(now, fact, words[2:])

    @staticmethod
    def attempt(worker, name, number, now, wish):
        permits = next((int(it.removeprefix(PERMITS)) for it in wish if it.startswith(PERMITS)), 0)
        wanted = slots(name, permits)
        return Attempt(worker, wanted[0] if wanted else name, number, now, "shared" in wish, name,
                       wanted)

    def bury(self, worker, life, attempts):
        ending = "its process ended"
        if not life.whole:
            life.end, ending = self.killed_at(worker, life), "its process was killed"
        for attempt in attempts:
            attempt.settle(life.kind, life.end, ending)
            if attempt.name not in self.names:
                self.names.append(attempt.name)
        self.lives[worker].append(life)
        self.attempts += attempts

    def killed_at(self, worker, life):
        """Its record ends about then: the faults know when."""
        return next((it.begin for it in self.faults_of(worker)
                     if it.kind in ENDS and it.begin > life.begin), life.end)
