"""Passes all facts of a run to the judges, in the order of time."""

from heapq import merge

from . import recipes
from .change import Change
from .court import Court
from .demand import Demand, Windows
from .faults import Faults, read_faults
from .keys import Keys, read_keys
from .leases import Lane, Lease, Leases
from .lives import Reader, find_lives
from .names import Names
from .permits import Permits
from .register import Register
from .run import read_run
from .turns import Turns
from .usage import Usage

VALIDITY = ("valid", "at_risk", "healthy", "moving", "moved", "unmoved", "lost", "act", "releasing")


class Trial:
    def __init__(self, folder):
        """Raises OSError, ValueError or KeyError without a usable `run`."""
        self.folder, self.court = folder, Court()
        self.run = read_run(folder)
        self.faults = self.needs("faults", Faults([]), self.read_faults)
        self.lives = find_lives(folder, self.run, self.faults, self.court)
        self.names = Names(self.run)
        self.demand = Demand(self.court, self.run, self.faults)
        windows = Windows(0, self.faults, self.run)
        self.keys = Keys(self.court, self.run, self.faults, windows, self.names)
        self.turns = Turns(self.court, self.run, self.faults)
        self.permits = Permits(self.court, self.run, self.faults)
        self.change = Change(self.court, self.run, self.faults)
        if self.run.changes:
            self.needs("changes", None, lambda: self.change.read(folder / "changes"))
        self.leases = Leases(self.court, self.run, self.faults, self.permits,
                             self.keys.masters_with)
        self.register = Register(folder / "register", self.court)
        self.usage, self.recipes = Usage(self.court), {}

    def read_faults(self):
        return read_faults(self.folder, self.run, self.court)

    def needs(self, file, otherwise, read):
        if (self.folder / file).exists():
            return read()
        self.court.complain("truncated", f"there is no file {file}")
        return otherwise

    # ---- the course of it --------------------------------------------------------------------

    def facts(self):
        streams = [Reader(life, i, self.court).facts() for i, life in enumerate(self.lives)]
        keys = self.folder / "keys"
        streams.append(self.needs("keys", iter(()),
                                  lambda: read_keys(keys, len(streams), self.court)))
        return merge(*streams)

    def hold(self):
        for _order, _index, now, life, fact, said in self.facts():
            if life is None:
                self.keys.looks(now, fact, said)
            elif fact in OF_LIVES:
                OF_LIVES[fact](self, life, now, *said)
            else:
                self.hear(life, now, fact, *said)
        self.conclude()
        return self.court

    def conclude(self):
        figures = self.court.figures
        if self.register.is_there:
            self.register.ends(self.lives)
        elif figures["acted"]:
            self.court.complain("truncated", "there is no file register")
        self.demand.ends(self.names.all())
        self.demand.judge_availability()
        self.usage.ends(self.lives)
        self.permits.ends()
        self.change.ends()
        self.recipes = recipes.judge(self)
        self.court.at_least("processes that lived for long", len(self.usage.told), self.run.grown)
        self.court.at_least("holders", figures["holders"], self.run.holders)

    # ---- facts of a process ------------------------------------------------------------------

    def begins(self, life, _now, kind, _pid):
        self.court.figures["lives"] += 1

    def uses(self, life, now, rss, descriptors):
        self.usage.uses(life, now, rss, descriptors)

    def ends(self, _life, _now, _lines, _acquired, rounds, raises):
        self.court.figures["rounds"] += rounds
        self.court.figures["raises"] += raises

    def gone(self, life, now):
        for lane in life.lanes.values():
            self.permits.answered(lane, now)
            self.demand.gone(lane, now)
            if lane.lease:
                self.leases.gone(lane.place, lane.lease, now)
            if lane.over_at is None:
                self.keys.is_over(lane, now, False)

    # ---- facts of leases ---------------------------------------------------------------------

    def hear(self, life, now, fact, name, number, *said):
        if name not in self.names:
            self.malformed(life, now, fact, number, f"no such name: {name}")
        elif fact == "attempt":
            self.attempt(self.lane(life, name, *said), now, number, *said)
        else:
            lane = life.present.get(name) or self.lane(life, name)
            self.hear_more(life, lane, now, fact, number, said)

    def hear_more(self, life, lane, now, fact, number, said):
        if fact == "acted":
            self.acted(life, lane, number, *said)
        elif lane.number != number:
            self.malformed(life, now, fact, number, "of an attempt that there was not")
        elif fact in ("acquired", "failed"):
            self.outcome(lane, now, fact, said)
        elif lane.lease is None or lane.lease.number != number:
            self.malformed(life, now, fact, number, "of a lease that it did not get")
        else:
            self.of_lease(lane, now, fact, said)

    def malformed(self, life, now, fact, number, why):
        self.court.complain("malformed", f"{life.where(number)}: {now} {fact} {why}")

    def lane(self, life, name, _wish=None, permits=0):
        place = self.names.pool(name) if permits else self.names.get(name)
        lane = life.lanes.get(place.name)
        if lane is None:
            lane = life.lanes[place.name] = Lane(life, name, place)
            place.lanes.append(lane)
            if life.is_ours():
                self.keys.lanes[life.label, place.name] = lane
        life.present[name] = lane
        return lane

    def attempt(self, lane, now, number, wish, permits):
        self.court.figures["attempts"] += 1
        if lane.number is not None and number <= lane.number:
            self.malformed(lane.life, now, "attempt", number, f"comes after {lane.number}")
        lane.number, lane.wish, lane.permits, lane.over_at = number, wish, permits, None
        self.leases.asks(lane)
        self.turns.asks(lane)
        self.demand.asks(lane, self.names.wanted(lane.name, permits), now)

    def outcome(self, lane, now, fact, said):
        if lane.asked is None:
            self.malformed(lane.life, now, fact, lane.number, "has come already")
            return
        self.permits.answered(lane, now)
        if fact == "acquired":
            self.acquired(lane, now, *said)
            return
        self.court.failed[said[0]] += 1
        self.demand.fails(lane, now, *said)
        self.turns.failed(lane, now, *said)
        self.keys.is_over(lane, now, False)

    def acquired(self, lane, now, until, token, fence, slot=None):
        if (slot is None) != (lane.permits == 0):
            self.malformed(lane.life, now, "acquired", lane.number, "tells a slot, or should")
            return
        if slot is not None:
            lane.place = self.names.slot(lane.name, slot)
        name, lane.lease = lane.place, Lease(lane, now, lane.number, until, token, fence,
                                             self.run.changes)
        self.permits.acquired(lane.lease, slot)
        self.demand.gets(lane, name, now)
        self.leases.acquired(lane, name, lane.lease, now, until)
        self.turns.acquired(lane, name, lane.lease, now)

    def of_lease(self, lane, now, fact, said):
        name = lane.place
        if fact in VALIDITY:
            self.court.figures[fact] += 1
            lane.life.acts += fact == "act"
            lane.lease.may_have_moved |= fact == "moving"
            if fact == "lost":
                self.change.lost(lane.lease, now)
            self.leases.hears(fact, name, lane.lease, now, *said)
        elif fact == "refrained":
            self.leases.refrained(lane.lease, now)
        else:
            self.leases.released(name, lane.lease, now)
            self.keys.is_over(lane, now, said[0] == "REDLOCK_OK" and not lane.lease.may_have_moved)

    def acted(self, life, lane, number, checked, unchecked):
        self.court.figures["acted"] += 1
        life.acteds += 1
        if self.register.is_there:
            self.register.answered(life, lane.lease, lane.name, number, checked, unchecked)


OF_LIVES = {"begin": Trial.begins, "usage": Trial.uses, "end": Trial.ends, "gone": Trial.gone}
