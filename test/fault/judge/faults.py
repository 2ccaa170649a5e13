"""The file `faults`: each fault, its target, its begin and its end."""

import re

from .recipes import KINDS as RECIPES

EDGE = 20_000  # us: a fault is recorded a little before or after it happens
WAKE = 1_000_000  # us: a process that runs again needs a moment to notice what it missed

MASTER_KINDS = ("crashed", "emptied", "rolled-back", "terminated", "frozen", "asleep",
                "slow-script", "flushed", "disconnected", "full", "evicting", "crowded",
                "clock-stepped", "wiped", "lying")
WORKER_KINDS = ("killed", "ended", "stopped")
LINK_KINDS = ("cut", "half-cut", "limited", "delayed", "lossy", "reordering")
KINDS = MASTER_KINDS + WORKER_KINDS + LINK_KINDS
TARGET = re.compile(r"(?:master-(\d+)|worker-(\d+)|link-(\d+)-(\d+)|"
                    rf"({'|'.join(RECIPES)})-\d+)$")


class Fault:
    def __init__(self, kind, target, begin, end):
        match = TARGET.match(target)
        if kind not in KINDS or not match:
            raise ValueError(f"{kind} {target}")
        self.kind, self.target, self.begin, self.end = kind, target, begin, end
        self.master = int(match[1] or match[4] or 0)
        self.worker = int(match[2] or match[3] or 0)
        self.recipe = match[5]


class Faults:
    """One Fault for each target of each fault. A process of a recipe holds no lease that is judged: its
    faults excuse nothing."""

    def __init__(self, faults):
        self.all = sorted((it for it in faults if not it.recipe), key=lambda it: it.begin)
        self.of_recipes = [it for it in faults if it.recipe]
        self.stops, self.deaths = {}, {}
        for fault in self.all:
            if fault.kind == "stopped":
                self.stops.setdefault(fault.worker, []).append((fault.begin, fault.end))
            elif fault.kind in WORKER_KINDS:
                self.deaths.setdefault(fault.worker, []).append(fault)

    def of_masters(self, worker):
        """The faults of masters, and of this worker's links to them."""
        return [it for it in self.all if it.master and it.worker in (0, worker)]

    def stop_over(self, worker, begin, end):
        """The last stop of this worker that touches this time, or None."""
        for stop in reversed(self.stops.get(worker, ())):
            if stop[0] - EDGE <= end and begin <= stop[1] + EDGE:
                return stop
        return None

    def is_just_woken(self, worker, now, least=0):
        """From a stop of at least this length."""
        stop = self.stop_over(worker, now - WAKE, now)
        return stop is not None and stop[1] - stop[0] >= least

    def killed_at(self, worker, life):
        """When this life (1, 2, ...) of a worker was ended by SIGKILL, or None."""
        deaths = self.deaths.get(worker, [])
        if life > len(deaths) or deaths[life - 1].kind != "killed":
            return None
        return deaths[life - 1].begin


def read_faults(folder, run, court):
    """A fault that was not mended lasts to the end of the run."""
    begun, faults = {}, []
    with open(folder / "faults", encoding="ascii") as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            try:
                now, fact, which = int(words[0]), words[1], int(words[2])
                if fact == "begin":
                    begun[which] = [Fault(words[3], target, now, max(now, run.end))
                                    for target in words[4:]]
                    faults += begun[which]
                elif fact == "end":
                    for fault in begun.pop(which):
                        fault.end = now
                else:
                    raise ValueError(fact)
            except (ValueError, IndexError, KeyError) as error:
                court.complain("malformed", f"faults:{number}: {line.strip()!r} ({error})")
    return Faults(faults)
