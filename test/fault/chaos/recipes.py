"""The processes of the recipes, beside the workers, and struck as these are.

They stand for leader, meet at barriers, arrive at latches or hand leases on by their tokens. Each kind is a
class here, and has a judge in judge/recipes.py."""

import os

from facts import now_us
from judge import barriers, elections, latches
from tokens import judge as tokens

from .process import until
from .workers import BIN, FAULT, Worker

MEET_S = 20


class Elector(Worker):
    """Stands for leader, and observes."""

    kind, name_of = "elector", "election"
    program = os.environ.get("REDLOCK_ELECTOR") or str(BIN / "redlock-elector")

    def command(self, label, _seed):
        return [self.program, self.name_of, self.options.ttl_ms, label, self.folder / label,
                self.options.max_ttl_ms, self.options.spare]

    def leads(self):
        """It has announced, and its term is not over."""
        return any(term.announced and term.end > now_us() for lines in self.lines()[-1:]
                   for term in elections.read(self.name, lines).terms)

    @staticmethod
    def settle(electors):
        """Steps, until one leads."""
        yield from until(lambda: leaders(electors), "nobody leads, though all masters are up")
        return {}


class Party(Worker):
    """Meets the others of its kind."""

    kind, name_of = "party", "barrier"
    program = str(FAULT / "party_worker")

    def command(self, label, seed):
        return [self.program, self.folder / label, label, seed, self.options.many[self.kind],
                self.passed(), self.options.max_ttl_ms, self.name_of]

    def passed(self):
        """The number of generations that it passed: its next life goes on there."""
        done = [call.generation for lines in self.lines() for call in barriers.read(lines)
                if call.outcome == "passed"]
        return max(done, default=-1) + 1

    @staticmethod
    def settle(parties):
        """Steps, until all have met once more. A party that does not is for the judge."""
        goal, end = max(it.passed() for it in parties) + 1, now_us() + MEET_S * 1_000_000
        yield from until(lambda: min(it.passed() for it in parties) >= goal or now_us() > end, "", 2 * MEET_S)
        return {"generations": goal}


class Arriver(Worker):
    """Arrives at latches, one after the other, and waits until each is open."""

    kind, name_of = "arriver", "latch"
    program = str(FAULT / "arriver_worker")
    asked_for = 3  # the last ones: others may go, as nobody mends them any more

    def command(self, label, seed):
        return [self.program, self.folder / label, self.name, seed, self.options.many[self.kind],
                self.opened(), self.options.max_ttl_ms, self.name_of]

    def opened(self):
        """The number of latches that opened: its next life goes on there."""
        return len({call.latch for lines in self.lines() for call in latches.read(lines)
                    if call.action == "wait" and call.outcome == "open"})

    @classmethod
    def can_spare(cls, name, masters, abstain_s):
        """Without this master each latch that is asked for has a quorum, of masters that answer and vote. A
        latch from the disk of a master does not count before: nobody mends it while the master abstains."""
        prefix = f"redlock:latch:{cls.name_of}-"
        told = [it.keys(f"{prefix}*") for it in masters.values()
                if it.name != name and it.is_up() and not it.is_young(abstain_s)]
        has = [{int(key.removeprefix(prefix)) for key in keys} for keys in told if keys is not None]
        quorum, last = len(masters) // 2 + 1, max((number for its in has for number in its), default=-1)
        return len(has) >= quorum and all(sum(number in its for its in has) >= quorum
                                          for number in range(max(0, last - cls.asked_for + 1), last + 1))

    @staticmethod
    def settle(arrivers):
        """Steps, until one more latch was opened for all. The judge looks for callers that do not hear it."""
        goal, end = max(it.opened() for it in arrivers) + 1, now_us() + MEET_S * 1_000_000
        yield from until(lambda: min(it.opened() for it in arrivers) >= goal or now_us() > end, "",
                         2 * MEET_S)
        return {"latches": goal}


class Bearer(Worker):
    """Bears leases that go from process to process by their tokens; the first one takes locks away."""

    kind, name_of, box = "bearer", tokens.NAME, "box"
    program = os.environ.get("REDLOCK_BEARER") or str(BIN / "redlock-bearer")
    breaker = str(FAULT / "breaker_worker")

    def command(self, label, seed):
        if self.number == 1:
            return [self.breaker, self.name_of, self.options.max_ttl_ms, self.folder / label]
        (self.folder / self.box).mkdir(exist_ok=True)
        return [self.program, self.name_of, self.options.ttl_ms, label, seed, self.folder / label,
                self.folder / self.box, self.options.max_ttl_ms]

    @staticmethod
    def settle(bearers):
        """Steps, until each has had the lock once more, the breaker aside."""
        def had():
            return [sum(1 for lines in it.lines() for line in lines if f" {tokens.HOLDS} " in line)
                    for it in bearers[1:]]
        before = had()
        yield from until(lambda: all(now > was for now, was in zip(had(), before)),
                         "a bearer gets nothing, though all masters are up")
        return {}


KINDS = {it.kind: it for it in (Elector, Party, Arriver, Bearer)}


def leaders(workers):
    """The names of the electors that lead: one, or none."""
    return tuple(it.name for it in workers if it.kind == Elector.kind and it.leads())


def can_spare(name, masters, many, abstain_s):
    """Whether the recipes allow that this master goes now. A restarted one abstains for these seconds."""
    return all(Arriver.can_spare(name, masters, abstain_s) for kind, _ in many if kind == Arriver.kind)


def watched(many):
    """The names of leases that a judge wants to know of what masters have."""
    return [Bearer.name_of for kind, _ in many if kind == Bearer.kind]


def begin(many, folder, options, inside=()):
    """One place for each, by name."""
    places = [KINDS[kind](number, KINDS[kind].program, folder, options, inside)
              for kind, count in many for number in range(1, count + 1)]
    for place in places:
        place.start()
    return {place.name: place for place in places}


def settle(workers):
    """Steps, until what must come of it in the end has come; returns lines for `run`."""
    facts = {}
    for kind, its in KINDS.items():
        here = [it for it in workers if it.kind == kind]
        if here:
            facts |= yield from its.settle(here)
    return facts
