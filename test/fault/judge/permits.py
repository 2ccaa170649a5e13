"""The permits of a name: a slot is one of K, no more than K are held at once, and they are in use.

The time of a hold is certain once its lease is over, so all this is counted at the end. A slot's holders are
judged as those of any name; here they are counted by name, whatever slots they tell.
"""

from array import array
from heapq import merge

from .bounds import majority_spans
from .names import SLOT

HELD, FOREIGN, WANTED, APART = range(4)


class Spans:
    """Times from begin to end, in any order."""

    def __init__(self):
        self.begins, self.ends = array("q"), array("q")

    def add(self, begin, end):
        if begin < end:
            self.begins.append(begin)
            self.ends.append(end)

    def edges(self, kind):
        """Of equal moments the end comes first."""
        return merge(((end, 0, kind, -1) for end in sorted(self.ends)),
                     ((begin, 1, kind, 1) for begin in sorted(self.begins)))


class Pool:
    """The times of one name: permits held, slots held by clients of other kinds, somebody waits."""

    def __init__(self):
        self.held, self.foreign, self.wanted = Spans(), Spans(), Spans()


class Share:
    """Of the time in which a slot could have been held, that in which it was."""

    def __init__(self):
        self.us = self.used = self.could = 0

    def add(self, us, used, could):
        self.us += us
        self.used += us * min(used, could)
        self.could += us * could

    def percent(self):
        return 100 * self.used / self.could if self.could else None

    def told(self):
        return {"percent": self.percent(), "seconds": self.us / 1e6}


class Permits:
    def __init__(self, court, run, faults):
        self.court, self.run, self.faults = court, run, faults
        self.pools = {}
        self.voting, self.all_up = Share(), Share()

    def pool(self, name):
        return self.pools.setdefault(name, Pool())

    # ---- the facts ---------------------------------------------------------------------------

    def acquired(self, lease, slot):
        if slot is None:
            return
        self.court.figures["permits"] += 1
        if not 0 <= slot < lease.lane.permits:
            self.court.complain("slot", f"{lease.key}: {lease}, from {lease.begin} on, which asked "
                                        f"for one of {lease.lane.permits} permits")

    def closes(self, lease):
        """Of an excused overlap it is unknown who held."""
        found = SLOT.match(lease.key)
        if not found or lease.is_excused:
            return
        pool = self.pool(found[2])
        (pool.held if lease.lane.permits else pool.foreign).add(lease.begin, lease.end)

    def answered(self, lane, now):
        """All slots satisfy an attempt that asks for the most permits."""
        if lane.asked is not None and lane.permits == self.run.permits and "tries" not in lane.wish:
            self.pool(lane.name).wanted.add(lane.asked, now)

    # ---- the end -----------------------------------------------------------------------------

    def ends(self):
        if not self.run.permits:
            return
        apart = self.spans((begin, end) for begin, end, _ in
                           majority_spans(self.faults.of_masters(0), self.run))
        struck = self.spans((it.begin, it.end) for it in self.faults.all if it.master)
        for name, pool in sorted(self.pools.items()):
            self.judge_count(name, pool)
            self.measure(self.voting, pool, apart)
            self.measure(self.all_up, pool, struck)
        self.judge_use()

    @staticmethod
    def spans(of):
        spans = Spans()
        for begin, end in of:
            spans.add(begin, end)
        return spans

    def judge_count(self, name, pool):
        count = 0
        for now, _, _, step in pool.held.edges(HELD):
            count += step
            if step > 0 and count > self.run.permits:
                self.court.complain("permits", f"{name}: {count} hold a permit at {now}, not "
                                               f"{self.run.permits}")

    def measure(self, share, pool, apart):
        level, last = [0, 0, 0, 0], 0
        for now, _, kind, step in merge(pool.held.edges(HELD), pool.foreign.edges(FOREIGN),
                                        pool.wanted.edges(WANTED), apart.edges(APART)):
            begin, end = max(last, self.run.begin), min(now, self.run.end)
            if begin < end and level[WANTED] and not level[APART]:
                share.add(end - begin, level[HELD], self.run.permits - level[FOREIGN])
            level[kind] += step
            last = now

    def judge_use(self):
        least, reached = self.run.least_use, self.voting.percent()
        if not least:
            return
        if reached is None:
            self.court.complain("few", "no time in which a quorum voted and somebody waited for a permit")
        elif reached < least:
            self.court.complain("use", f"{reached:.2f} % of the slots were in use while a quorum voted "
                                       f"and somebody waited, not {least} %")

    def told(self):
        if not self.run.permits:
            return None
        return {"most": self.run.permits, "a_quorum_voted": self.voting.told(),
                "all_masters_up": self.all_up.told()}
