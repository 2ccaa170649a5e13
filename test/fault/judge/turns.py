"""A waiter is not overtaken by a process that asked later, unless both are readers.

Judged where nothing was struck: faults, and the processes that they stop, cost places in the queue.
So does a master that votes again: it has no holder, and gives the name to the first in its line, who
withdraws from all lines for a moment. A client that reaches no masters stands in no line. A command
tells late that it holds, so it is never the one that was overtaken. Permits are not judged: a lease
that waits stands in the queue of one slot, and others may be faster.
"""

from .bounds import no_vote
from .demand import HELD, Windows


def returns(faults, run):
    """A restarted master votes again at some time in its quarantine."""
    return [(it.end, span[1]) for it in faults.all if it.master and (span := no_vote(it, run))]


class Turns:
    def __init__(self, court, run, faults):
        self.court, self.figures = court, court.figures
        self.windows = Windows(0, faults, run, returns(faults, run))
        self.margin = run.ttl // 4  # of a request: by then a waiter stands in line on a quorum

    @staticmethod
    def asks(lane):
        lane.passed_by = None

    def acquired(self, lane, name, lease, now):
        """The lane asks no more, the lease is its."""
        if lane.permits:
            return
        if now - lane.began > self.margin and not self.windows.touch(lane.began, now):
            self.figures["turns_judged"] += 1
            self.judge(lane, now)
        if not lane.life.is_ours() or self.is_plain(lane):
            return
        for other in name.lanes:
            if self.is_passed(other, lane):
                other.passed_by = other.passed_by or (now, lease, lane.began)

    def failed(self, lane, now, code):
        """It gave its place up before it told so."""
        if code in HELD and not self.windows.touch(lane.began, now):
            self.judge(lane, now - self.margin)

    def judge(self, lane, until):
        if lane.passed_by and lane.passed_by[0] <= until:
            when, lease, asked = lane.passed_by
            self.court.complain("turn", f"{lane.name}: {lane.life.where(lane.number)}, which asked at "
                                        f"{lane.began}, was overtaken at {when} by {lease}, which "
                                        f"asked at {asked}")

    def is_passed(self, waiter, lane):
        return (waiter.asked is not None and waiter.life.kind == "library"
                and "tries" not in waiter.wish and lane.began - waiter.asked > self.margin
                and not (waiter.is_shared and lane.is_shared))

    @staticmethod
    def is_plain(lane):
        """SET NX knows no queue."""
        return {"tries", "unfenced"} <= lane.wish and not lane.is_shared
