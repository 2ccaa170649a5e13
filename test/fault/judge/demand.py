"""How long a wanted name has no holder, and which workers ask in vain.

A worker wants a name while it asks for it, and after an attempt that failed if the next follows closely. This
and the moments when the name was free give the time for which the name was wanted and unheld. The promise of
doc/design/waiting.md, which only workers of the library have, is in bounds.py.
"""

from bisect import bisect_right

from .bounds import CALM, Excuses, majority_healed, majority_spans, minority_struck

PAUSE = 250_000  # us: a worker that asks again within this time has wanted the name all the while
NOTABLE = 5_000  # us: shorter gaps are not reported
HUNGER = 4  # times the bound for one name
HANDED = 100_000  # us: a name that is unheld for less is handed over
HELD = ("REDLOCK_E_HELD", "75")
DIFFERS = ("REDLOCK_E_DIFFERS",)
ENDED = ("REDLOCK_E_CLOSED", "REDLOCK_E_CANCELLED")


class Windows:
    """2 x ttl after each fault begins, and for as long as there is no quorum and 2 x ttl after."""

    def __init__(self, worker, faults, run, more=()):
        spans = [(it.begin, it.begin) for it in faults.all] + list(more)
        spans += [(begin, end) for begin, end, _ in majority_spans(faults.of_masters(worker), run)]
        self.begins, self.ends = union((begin, end + 2 * run.ttl) for begin, end in spans)

    def touch(self, begin, end):
        index = bisect_right(self.begins, end) - 1
        return index >= 0 and self.ends[index] >= begin


class Void:
    """When a worker can get no name: no quorum votes for it, or it is stopped."""

    def __init__(self, worker, faults, run):
        spans = [(begin, end + majority_healed(run))
                 for begin, end, _ in majority_spans(faults.of_masters(worker), run)]
        spans += [(begin, end + minority_struck(run))
                  for begin, end in faults.stops.get(worker, ())]
        self.begins, self.ends = union(spans)

    def within(self, begin, end):
        return sum(max(0, min(end, until) - max(begin, since))
                   for since, until in zip(self.begins, self.ends))


def union(spans):
    begins, ends = [], []
    for begin, end in sorted(spans):
        if ends and begin <= ends[-1]:
            ends[-1] = max(end, ends[-1])
        else:
            begins.append(begin)
            ends.append(end)
    return begins, ends


class Demand:
    def __init__(self, court, run, faults):
        self.court, self.run, self.faults = court, run, faults
        self.figures = court.figures
        self.excuses, self.windows, self.void = {}, {}, {}
        self.worst = {}  # label: (us, bound)
        self.longest_wait = 0

    def of_worker(self, cache, kind, worker):
        if worker not in cache:
            cache[worker] = kind(worker, self.faults, self.run)
        return cache[worker]

    # ---- the facts ---------------------------------------------------------------------------

    def asks(self, lane, wanted, now):
        if lane.since is None or now - lane.last > PAUSE or lane.wanted != wanted:
            self.wants_no_more(lane, now)
            lane.since = now
        lane.wanted = wanted
        self.is_hungry(lane.life, now)
        lane.asked = lane.began = lane.last = now

    def gets(self, lane, name, now):
        """Before the lease is noted as the name's."""
        free = self.free_since(name, now)
        self.judge_gap(name, name.lanes, free, now)
        if now - free > HANDED:
            name.long_gap = (free, now)
        self.judge_attempt(lane, True)
        self.wants_no_more(lane, now, name)
        self.is_answered(lane, now)
        lane.life.hungry_since = now

    def wants_no_more(self, lane, now, judged=None):
        """Any of these would have done."""
        for name in lane.wanted:
            if lane.since is not None and name is not judged:
                self.judge_gap(name, [lane], self.free_since(name, now), now)
        lane.since = None

    def fails(self, lane, now, code):
        if code not in ENDED and not self.is_contended(lane, now, code) and not self.slept(lane, now, code):
            self.judge_attempt(lane, False)
        self.is_answered(lane, now)
        self.judge_hunger(lane.life, now)

    def is_answered(self, lane, now):
        self.judge_wait(lane, now)
        lane.asked, lane.last, lane.life.answered_at = None, now, now

    def gone(self, lane, now):
        if lane.asked is not None:
            self.is_answered(lane, now)

    def ends(self, names):
        """At the end of the run: names that are still wanted."""
        for name in names:
            self.judge_gap(name, name.lanes, self.free_since(name, self.run.end), self.run.end)

    # ---- judging -----------------------------------------------------------------------------

    @staticmethod
    def free_since(name, now):
        """A lease that was not released is held to its end; that of a command while the command
        lives."""
        free = name.free_since
        for lease in name.open:
            free = max(free, now if lease.lane.life.kind == "command" else min(lease.end, now))
        return free

    def judge_gap(self, name, lanes, free, now):
        now = min(now, self.run.end)
        if now - free < NOTABLE:
            return
        late = None
        for lane in lanes:
            if lane.since is None or name not in lane.wanted or not lane.life.is_ours():
                continue
            begin = max(free, lane.since)
            end = now if lane.asked is not None else min(now, lane.last)
            if end - begin >= NOTABLE:
                late = self.judge_span(lane, begin, end) or late
        if late:
            self.complain(name, *late)

    def judge_span(self, lane, begin, end):
        excuses = self.of_worker(self.excuses, Excuses, lane.life.worker)
        explained, is_too_long = excuses.explain(begin, end)
        for label, since, until, bound in explained:
            if until - since > self.worst.get(label, (-1,))[0]:
                self.worst[label] = (until - since, bound)
        return (lane, *explained[-1]) if is_too_long else None

    def complain(self, name, lane, label, since, until, bound):
        after = "with nothing struck" if label == CALM else f"after {label}"
        self.court.complain("unavailable", f"{name.name}: {lane.life.label} wanted it, nobody held "
                                           f"it for {(until - since) // 1000} ms from {since} on, "
                                           f"{after}, bound {bound // 1000} ms")

    def is_contended(self, lane, now, code):
        """Others held the name throughout, one after the other, or each of the slots."""
        if code not in HELD:
            return False
        gaps = [gap for name in lane.wanted
                for gap in (name.long_gap, (self.free_since(name, now), now))]
        return all(end - max(begin, lane.asked) <= HANDED for begin, end in gaps)

    def slept(self, lane, now, code):
        """While its list of masters was replaced: it is refused until it has read the next one."""
        return code in DIFFERS and self.faults.is_just_woken(lane.life.worker, now)

    def judge_attempt(self, lane, has_succeeded):
        """The attempts that began with enough quiet time ahead, whenever they ended: otherwise slow
        failures would count less than successes."""
        until = lane.asked + minority_struck(self.run)
        if not lane.life.is_ours() or until > self.run.end:
            return
        windows = self.of_worker(self.windows, Windows, lane.life.worker)
        if not windows.touch(lane.asked, until):
            self.figures["attempts_judged"] += 1
            self.figures["attempts_succeeded"] += has_succeeded

    def judge_wait(self, lane, now):
        waited = now - lane.asked
        if not lane.life.is_ours():
            return
        stop = self.faults.stop_over(lane.life.worker, lane.asked, now)
        if self.longest_wait < waited and not stop:
            self.longest_wait = waited
        longest = self.run.longest_ms * 1000
        if longest and waited > longest and not stop:
            self.court.complain("stuck", f"{lane.life.where(lane.number)} waited for {lane.name} "
                                         f"for {waited // 1000} ms, not {self.run.longest_ms} ms")

    @staticmethod
    def is_hungry(life, now):
        """Since its last success, or since it began to ask after a rest."""
        asks = any(it.asked is not None for it in life.lanes.values())
        if not asks and now - life.answered_at > PAUSE:
            life.hungry_since = now

    def judge_hunger(self, life, now):
        """For a process that asks again and again, for any names, and gets none."""
        since = life.hungry_since
        if not life.is_ours() or now - since <= HUNGER * minority_struck(self.run):
            return
        void = self.of_worker(self.void, Void, life.worker).within(since, now)
        if now - since - void > HUNGER * minority_struck(self.run):
            life.hungry_since = now
            self.court.complain("stuck", f"{life.label} got nothing from {since} to {now}, though "
                                         "a quorum voted")

    def availability(self):
        """In percent, or None without attempts to judge."""
        judged = self.figures["attempts_judged"]
        return 100 * self.figures["attempts_succeeded"] / judged if judged else None

    def judge_availability(self):
        if not self.run.availability:
            return
        reached = self.availability()
        if reached is None:
            self.court.complain("few", "no attempt outside of the windows after faults")
        elif reached < self.run.availability:
            self.court.complain("availability", f"{reached:.2f} % of attempts outside of the "
                                                "windows after faults, not "
                                                f"{self.run.availability} %")
