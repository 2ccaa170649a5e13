"""One writer of a name at a time, or readers; validity that ends when it should; fences that grow.

Facts come in the order of time. A lease's end is the one that its worker computed last, even if the
worker was killed: no other may have the name before.
"""

from .faults import EDGE, WAKE

ROUNDED = 2_000  # us: validity is told in whole ms, a moment after the time was read
FENCE_LIMIT = 2 ** 53
FORGETTING = ("crashed", "emptied", "rolled-back")
TAKING = ("evicting", "clock-stepped")  # single keys, from under their holder


def higher(one, other):
    """The lease with the higher fence; either may be None."""
    return max((it for it in (one, other) if it), key=lambda it: it.fence, default=None)


class Lease:
    __slots__ = ("lane", "number", "asked", "begin", "end", "due", "token", "fence", "key", "is_shared",
                 "is_over", "is_lost", "is_judged", "is_excused", "may_have_moved")

    def __init__(self, lane, now, number, until, token, fence, changes=0):
        self.lane, self.number, self.token, self.fence = lane, number, token, fence
        self.key = lane.place.name  # by which the masters have it
        self.is_shared = lane.is_shared
        self.asked, self.begin = lane.began, now
        self.end = self.due = max(until, now)  # due: LOST has to be told by then
        self.is_over = False  # released, withdrawn, or its process is gone
        self.is_lost = self.is_judged = False
        self.is_excused = False  # an overlap with it is
        # To another list: a master that leaves, or was asked in vain, keeps it to the end of its ttl.
        self.may_have_moved = bool(changes) and lane.life.kind == "command"

    def __str__(self):
        reader = ", a reader" if self.is_shared else ""
        return f"{self.token} of {self.lane.life.where(self.number)}{reader}"

    def goes_with(self, other):
        """Both may hold the name at once."""
        return self.is_shared and other.is_shared


class Lane:
    """The actions of one life of a worker on one name; those on its permits have another lane."""

    __slots__ = ("life", "name", "number", "wish", "permits", "wanted", "place", "asked", "began",
                 "since", "last", "lease", "over_at", "before", "read_until", "passed_by")

    def __init__(self, life, name, place):
        self.life, self.name, self.wish = life, name, frozenset()
        self.permits = 0  # K, as the present attempt has it
        self.wanted = [place]  # the names of which any will do
        self.place = place  # the one that it holds, or held last
        self.number = self.asked = None  # asked: when, while it asks
        self.began = 0  # the present attempt or lease
        self.read_until = 0  # the end of the last one as a reader
        self.since = self.last = None  # of wanting, see demand.py
        self.lease = self.over_at = None
        self.before = None  # of those told before it asked, the lease with the highest fence
        self.passed_by = None  # the first that came later and was first, see turns.py

    @property
    def is_shared(self):
        return "shared" in self.wish


class Leases:
    def __init__(self, court, run, faults, permits, masters_with):
        """masters_with(name, token, by): the number of masters on which the watcher saw it by then, and saw
        no other since."""
        self.court, self.run, self.faults, self.permits = court, run, faults, permits
        self.masters_with = masters_with
        self.tokens = set()
        self.figures = court.figures

    # ---- the facts ---------------------------------------------------------------------------

    @staticmethod
    def asks(lane):
        lane.before = lane.place.highest

    def acquired(self, lane, name, lease, now, until):
        self.figures["holders"] += 1
        self.figures["readers"] += lease.is_shared
        if until <= now and lane.life.kind != "command":
            self.has_none_left(lease, now)
        self.judge_token(lease)
        self.judge_overlap(name, lease, now)
        if lease.fence or lane.life.is_ours() and "unfenced" not in lane.wish:
            self.judge_fence(name, lease)
        name.newest[lease.is_shared] = lease
        name.holders.append(lease)
        name.open.append(lease)

    def hears(self, fact, name, lease, now, until):
        """Of valid, at_risk, healthy, act, lost, releasing."""
        kind = lease.lane.life.kind
        if kind == "command":
            self.claims(fact, name, lease, now)
        elif fact == "act" and until <= now:
            self.court.complain("act", f"{lease} acted {now - lease.end} us after its end")
        else:
            self.follows(fact, name, lease, now, until)
        if fact == "lost":
            self.told_lost(lease, now)
        elif fact == "releasing":
            self.judge_lost(lease, now)
        if fact in ("lost", "releasing"):
            self.closes(name, lease, now)

    def follows(self, fact, name, lease, now, until):
        """Validity is what the worker computed last. With none left it ended by itself, no later
        than computed before; a release ends it at once."""
        if until <= now:
            lease.end = min(lease.end, now)
        else:
            self.judge_resurrected(lease, now, until)
            self.extends(name, lease, now, until)
            lease.due = until
        if fact == "releasing":
            lease.end = min(lease.end, now)

    def claims(self, fact, name, lease, now):
        """A command holds while it is seen alive. A stopped one acts until it learns that its lease
        is gone: only fences help there."""
        if fact != "act":
            return
        if self.faults.is_just_woken(lease.lane.life.worker, now, self.run.ttl // 2):
            self.figures["just_woken"] += 1
        elif lease.is_over:
            self.court.complain("act", f"{lease} acted after it was over")
        else:
            self.extends(name, lease, now, now)

    def refrained(self, lease, now):
        self.figures["refrained"] += 1
        lease.end = min(lease.end, now)

    def released(self, name, lease, now):
        if not lease.is_over:
            self.judge_lost(lease, now)
            lease.end = min(lease.end, now)
            self.closes(name, lease, now)

    def gone(self, name, lease, now):
        """The process is gone. Its leases end by themselves."""
        if not lease.is_over:
            self.judge_lost(lease, now if lease.lane.life.killed_at is None else now - EDGE)
            self.closes(name, lease, now)

    def closes(self, name, lease, now):
        lease.is_over = True
        if lease in name.open:
            name.open.remove(lease)
            name.free_since = max(name.free_since, min(lease.end, now))
            self.permits.closes(lease)

    # ---- overlap -----------------------------------------------------------------------------

    def extends(self, name, lease, now, until):
        """A lease whose end had passed before a renewal reported a new one was held in between as well."""
        for newest in name.newest.values():
            if newest is not lease and lease.end < newest.begin < now:
                self.overlap(newest, lease, until)
        lease.end = until
        if lease not in name.holders:
            name.holders.append(lease)

    def judge_overlap(self, name, lease, now):
        name.holders = [it for it in name.holders if it.end > now]
        if lease.end == now and lease.lane.life.kind != "command":
            return
        self.figures["side_by_side"] += any(map(lease.goes_with, name.holders))
        for other in name.holders:
            self.overlap(lease, other, other.end)

    def overlap(self, lease, other, until):
        if lease.goes_with(other):
            return
        if self.is_excused(lease, other):
            self.figures["overlaps_excused"] += 1
            lease.is_excused = other.is_excused = True
        else:
            self.court.complain("overlap", f"{lease.key}: {lease}, holds it from "
                                           f"{lease.begin} on, {other} until {until}")

    def is_excused(self, lease, other):
        """Clients of other libraries ignore quarantines."""
        ours = lease.lane.life.is_ours() and other.lane.life.is_ours()
        begin = min(lease.begin, other.begin)
        return self.is_taken(lease, other) or not ours and any(
            it.kind in FORGETTING and it.begin <= lease.begin and it.end >= begin
            for it in self.faults.all)

    def is_taken(self, lease, other):
        """With plain majorities a lease on a bare one does not survive the loss of a key. The one with the
        lower fence was granted first, though a slow process may tell it last. Without fences either may have
        been."""
        if lease.fence and other.fence:
            return self.was_taken(*sorted((lease, other), key=lambda it: it.fence))
        return self.was_taken(lease, other) or self.was_taken(other, lease)

    def was_taken(self, first, second):
        """From under the first, for the second."""
        if self.run.spare or self.masters_with(first.key, first.token, second.begin) > self.run.quorum:
            return False
        since = first.begin if first.begin <= second.begin else first.asked
        return any(it.kind in TAKING and it.begin <= second.begin <= it.end + self.run.ttl
                   and it.end >= since for it in self.faults.all)

    # ---- fences and tokens -------------------------------------------------------------------

    def judge_token(self, lease):
        token = hash(lease.token)
        if token in self.tokens:
            self.court.complain("token", f"{lease} is used twice")
        self.tokens.add(token)

    def judge_fence(self, name, lease):
        if not 0 < lease.fence < FENCE_LIMIT:
            self.court.complain("fence", f"{name.name}: {lease}, {lease.fence} is no fence")
            return
        highest = self.highest_before(name, lease)
        if highest and lease.fence <= highest.fence and not self.comes_late(lease, highest):
            self.court.complain("fence", f"{name.name}: {lease}, fence {lease.fence}, comes "
                                         f"after {highest}, fence {highest.fence}")
        name.highest = higher(name.highest, lease)
        if not lease.is_shared:
            name.highest_writer = higher(name.highest_writer, lease)

    def comes_late(self, lease, highest):
        """The lease was granted before, and another process got the name before this one told of it."""
        return self.is_told_late(lease) or lease.fence < highest.fence and self.is_taken(lease, highest)

    @staticmethod
    def highest_before(name, lease):
        """The one that its fence must be above. Readers may tie, or come in either order, unless
        one heard before the other asked."""
        return higher(name.highest_writer, lease.lane.before) if lease.is_shared else name.highest

    def is_told_late(self, lease):
        """A worker that was stopped before it recorded its lease may record it after the next
        holder."""
        life = lease.lane.life
        least = self.run.ttl // 2 if life.kind == "command" else 0
        return (lease.end == lease.begin
                and self.faults.is_just_woken(life.worker, lease.begin, least))

    # ---- the end of validity -----------------------------------------------------------------

    def judge_resurrected(self, lease, now, until):
        life = lease.lane.life
        if life.kind != "library":
            return
        if lease.is_over:
            self.court.complain("resurrected", f"{lease} is valid again until {until}, after it "
                                               "was lost or given back")
        elif now > lease.end + ROUNDED and not self.faults.stop_over(life.worker, lease.end, now):
            self.court.complain("resurrected", f"{lease} ended at {lease.end}, and is valid again "
                                               f"at {now} until {until}")

    def has_none_left(self, lease, now):
        """A worker that hears ACQUIRED this late was stopped meanwhile, or this was not tested."""
        life = lease.lane.life
        if life.kind != "library":
            return
        if self.faults.is_just_woken(life.worker, now):
            self.figures["stopped_past_lease"] += 1
        else:
            self.court.complain("lost", f"{lease} heard that it holds with no validity left")
        lease.is_judged = True

    def told_lost(self, lease, now):
        self.figures["lost_in_time"] += now <= lease.due + ROUNDED
        self.judge_lost(lease, now)
        lease.is_lost = True

    def judge_lost(self, lease, now):
        """At LOST, or without it at the release or the end of the process."""
        life = lease.lane.life
        if lease.is_lost or lease.is_judged or life.kind != "library":
            return
        lease.is_judged = True
        if now <= lease.due + ROUNDED:
            return
        stop = self.faults.stop_over(life.worker, lease.due - EDGE, lease.due)
        if stop:
            self.figures["stopped_past_lease"] += 1
        if not stop or now > max(stop[1], lease.due) + WAKE:
            self.is_late(lease, now)

    def is_late(self, lease, now):
        self.figures["lost_late"] += 1
        self.court.complain("lost", f"{lease} ended at {lease.due}, which was not told for "
                                    f"{now - lease.due} us")
