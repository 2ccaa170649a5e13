"""How long a wanted name may stay unheld: the promise of doc/design/waiting.md, by kind of fault.

Each fault excuses spans of time, from when it may hinder to when a name must be held again. They
may chain: a second fault strikes before the first is overcome. All other time is not excused.
"""

from bisect import bisect_right
from collections import namedtuple

from .faults import LINK_KINDS

RECONNECT = 1_000_000  # us: the longest pause before a client tries a master again
RETRY = 200_000  # us: the longest pause between two tries of an attempt that has no ticket
LIFE_MOST = 3_000_000  # us: the longest life of a place between two refreshes

RESTARTS = ("crashed", "emptied", "rolled-back", "terminated")
NO_VOTE = ("frozen", "asleep", "slow-script", "disconnected", "full", "evicting", "crowded",
           "clock-stepped", "wiped", "lying")  # flushed ones vote: scripts are then sent whole

Span = namedtuple("Span", "begin end label bound")
CALM = "calm"


def life(run):
    """The life of a place: rule W4."""
    return min(run.ttl, LIFE_MOST)


def turn(run):
    """The first waiter asks again at its next refresh, a third of its life later. A request to a silent
    master takes a quarter of the ttl. A waiter with a minority yields and asks again."""
    return life(run) // 3 + 2 * (run.ttl // 4) + RETRY


def dead_worker(run):
    """A dead holder's lease lives out its ttl: no other may have the name before. A name handed to
    a dead or stopped waiter is free no later: its life is no longer than a ttl. Then the next
    waiter has its turn."""
    return run.ttl + turn(run)


def minority_struck(run):
    """A quorum still votes. In the worst case a name was granted or handed over by masters of which
    some answers were lost: a release is owed, and the ttl is its backstop. Then the next waiter has
    its turn."""
    return run.ttl + turn(run)


def minority_mended(run):
    """A master that runs again may first carry out requests from before its stop: grants for leases
    that are over, each ended by its release or its ttl."""
    return run.ttl + turn(run)


def link_struck(run):
    """A holder that is cut off can neither renew nor release, like a dead one."""
    return dead_worker(run)


def majority_healed(run):
    """Without a quorum nothing is promised. After a quorum votes again, quarantines included, all
    clients must connect again, and grants from before live out their ttl."""
    return RECONNECT + minority_struck(run)


def nothing_struck(run):
    """Busy machines lose a message too; the backstop is the same."""
    return run.ttl + turn(run)


def no_vote(fault, run):
    """From when to when this master grants nothing, or nothing over this link; a restarted one
    abstains. None if it goes on voting."""
    if fault.kind in RESTARTS:
        return fault.begin, fault.end + run.quarantine
    if fault.kind in NO_VOTE or fault.kind in LINK_KINDS:
        return fault.begin, fault.end
    return None


def majority_spans(faults, run):
    """When too few masters could vote, each with the last fault that made it so. One master may
    be struck several times at once."""
    edges = []
    for fault in faults:
        span = no_vote(fault, run)
        if span:
            edges += [(span[0], 1, fault), (span[1], -1, fault)]
    struck, spans, begin, label = {}, [], None, ""
    for at, step, fault in sorted(edges, key=lambda it: it[:2]):
        struck[fault.master] = struck.get(fault.master, 0) + step
        is_void = sum(1 for it in struck.values() if it) > run.masters - run.quorum
        if is_void and begin is None:
            begin, label = at, fault.kind
        elif not is_void and begin is not None:
            spans.append((begin, at, label))
            begin = None
    return spans


class Excuses:
    """The spans of one worker: what strikes all, what strikes its links, and its own stops."""

    def __init__(self, worker, faults, run):
        self.calm = nothing_struck(run)
        spans = [span for fault in faults.all for span in self.of_fault(fault, worker, run)]
        start = majority_healed(run)
        spans.append(Span(run.begin, run.begin + start, "start", start))
        for begin, end, label in majority_spans(faults.of_masters(worker), run):
            end += majority_healed(run)
            spans.append(Span(begin, end, f"{label}, a majority", end - begin))
        self.spans = sorted(spans)
        self.begins = [it.begin for it in self.spans]
        self.furthest = self.find_furthest()

    @staticmethod
    def of_fault(fault, worker, run):
        def span(begin, end):
            return Span(begin, end, fault.kind, end - begin)
        if fault.worker and fault.master:
            return [span(fault.begin, fault.begin + link_struck(run)),
                    span(fault.end, fault.end + minority_mended(run))]
        if fault.master:
            return [span(fault.begin, fault.begin + minority_struck(run)),
                    span(fault.end, fault.end + minority_mended(run))]
        if fault.worker == worker and fault.kind == "stopped":
            return [span(fault.begin, max(fault.begin + dead_worker(run), fault.end + turn(run)))]
        return [span(fault.begin, fault.begin + dead_worker(run))]

    def find_furthest(self):
        """Of all spans that begin up to each, the one that ends last."""
        furthest, best = [], None
        for span in self.spans:
            best = span if best is None or span.end > best.end else best
            furthest.append(best)
        return furthest

    def reaching(self, at):
        """Of the spans that had begun by then, the end of the longest."""
        index = bisect_right(self.begins, at) - 1
        return self.furthest[index] if index >= 0 else None

    def explain(self, begin, end):
        """[(label, unheld since, until, bound)] and whether that is too long: only the last can
        be longer than its bound."""
        calm = Span(begin, begin + self.calm, CALM, self.calm)
        best = self.reaching(min(calm.end, end))
        if best is None or best.end <= begin:
            best = calm
        told = []
        while True:
            told.append((best.label, max(begin, best.begin), min(end, best.end), best.bound))
            reached = max(best.end, calm.end)
            further = self.reaching(reached)
            if end <= reached or further is None or further.end <= reached:
                break
            best = further
        is_too_long = end > reached
        if is_too_long:
            told[-1] = (best.label, max(begin, best.begin), end, best.bound)
        return told, is_too_long
