"""Who waits is not overtaken by one that asked later, unless both are readers.

Judged where nothing was struck: faults, and the processes that they stop, cost places in the queue.
So does a client that reaches no masters: it stands in no line. A command tells late that it holds, so
it is never the one that was overtaken.
"""

from .demand import HELD


class Turns:
    def __init__(self, court, run, windows):
        self.court, self.figures, self.windows = court, court.figures, windows
        self.margin = run.ttl // 4  # of a request: by then a waiter stands in line on a quorum

    @staticmethod
    def asks(lane):
        lane.passed_by = None

    def acquired(self, lane, name, lease, now):
        """The lane asks no more, the lease is its."""
        if now - lane.began > self.margin and not self.windows.touch(lane.began, now):
            self.figures["turns_judged"] += 1
            self.judge(lane, now)
        if not lane.life.is_ours() or self.is_plain(lane):
            return
        for other in name.lanes:
            if self.is_passed(other, lane):
                other.passed_by = other.passed_by or f"{lease}, which asked at {lane.began}"

    def failed(self, lane, now, code):
        if code in HELD and not self.windows.touch(lane.began, now):
            self.judge(lane, now)

    def judge(self, lane, now):
        if lane.passed_by:
            self.court.complain("turn", f"{lane.name}: {lane.life.where(lane.number)} waited from "
                                        f"{lane.began} to {now}, overtaken by {lane.passed_by}")

    def is_passed(self, waiter, lane):
        return (waiter.asked is not None and waiter.life.kind == "library"
                and "tries" not in waiter.wish and lane.began - waiter.asked > self.margin
                and not (waiter.is_shared and lane.is_shared))

    @staticmethod
    def is_plain(lane):
        """SET NX knows no queue."""
        return {"tries", "unfenced"} <= lane.wish and not lane.is_shared
