"""Judges leases that go from process to process by their tokens, from the records of these alone.

A token is one holder, however many processes have it. It holds until the last of them has no validity left.
It also ends when any of them begins to give it back, or somebody begins to break it: the belief of a process
after that is its users' own fault.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass

from facts import read_facts

NAME = "token"  # of the lease
ROUNDED = 20_000  # us: times are told in whole ms, and looked at a little later
FOREVER = 2 ** 62
OLDER, HOLDS = "rolled-back", "holds"


@dataclass
class Claim:
    """A process believes that the token holds; microseconds. `over`: it does not ask for it any more."""
    process: str
    token: str
    way: str
    asked: int
    begun: int
    until: int
    over: int = FOREVER


@dataclass
class Act:
    """An attach without ACQUIRED, or a release: with the token."""
    process: str
    token: str
    way: str
    begun: int
    told: int = FOREVER
    code: str = None


@dataclass
class Break:
    process: str
    token: str
    begun: int
    told: int = FOREVER
    status: int = None
    until: int = FOREVER  # so long its holder may write


class Record:
    def __init__(self):
        self.claims, self.refusals, self.returns, self.breaks = [], [], [], []
        self.counts = Counter()


class Reader:
    """Of one process, that does one thing after the other."""

    def __init__(self, process, record):
        self.process, self.record = process, record
        self.way, self.asked, self.claim, self.give = None, 0, None, None

    def asks(self, at, way, token):
        self.way, self.asked = way, at
        self.give = Act(self.process, token, way, at)
        (self.record.returns if way == "unlock" else self.record.refusals).append(self.give)

    def holds(self, at, token, until):
        self.record.counts[self.way] += 1
        self.record.refusals.pop()
        self.claim = Claim(self.process, token, self.way, self.asked, at, int(until))
        self.record.claims.append(self.claim)

    def valid(self, at, _token, until):
        """With none left it ended by itself, no later than computed before."""
        self.claim.until = int(until) if int(until) > at else min(self.claim.until, at)

    detaching = valid

    def refused(self, at, _token, code):
        self.record.counts["refused"] += self.way in ("attach", "extend")
        self.give.told, self.give.code = at, code

    def detached(self, at, _token):
        self.record.counts["detached"] += 1
        self.claim.over = at

    def lost(self, at, _token):
        self.record.counts["lost"] += 1
        self.claim.until = min(self.claim.until, at)

    def releasing(self, at, token):
        self.claim.until = min(self.claim.until, at)
        self.give = Act(self.process, token, "release", at)
        self.record.returns.append(self.give)

    def released(self, at, _token, code):
        self.give.told, self.give.code = at, code
        if self.give.way == "release":
            self.claim.over = at

    def breaking(self, at, token):
        self.record.breaks.append(Break(self.process, token, at))

    def broke(self, at, _token, status, may_write_ms):
        last = self.record.breaks[-1]
        last.told, last.status = at, int(status)
        self.record.counts["broken"] += last.status == 0
        if last.status == 0 and int(may_write_ms) >= 0:
            last.until = at + int(may_write_ms) * 1000


FACTS = {name: getattr(Reader, name) for name in (
    "asks", "holds", "valid", "refused", "detaching", "detached", "lost", "releasing", "released", "breaking",
    "broke")}
FACTS |= {"begin": lambda *_: None, "end": lambda *_: None}


def read(lives):
    """Of (label, lines) of all processes."""
    record = Record()
    for label, lines in lives:
        reader = Reader(label, record)
        for at, fact, words in read_facts(lines):
            FACTS[fact](reader, at, *words)
    return record


# ---- one holder ------------------------------------------------------------------------------------


def first(acts):
    """By token: when the first of them was begun."""
    found = {}
    for act in acts:
        found[act.token] = min(act.begun, found.get(act.token, FOREVER))
    return found


def two_holders(record):
    """Each with the one of another token that is the last to end."""
    ends, active = first([*record.returns, *record.breaks]), []
    for claim in sorted(record.claims, key=lambda it: it.begun):
        end = min(claim.until, ends.get(claim.token, FOREVER))
        if end <= claim.begun:
            continue
        active = [it for it in active if it[0] > claim.begun]
        others = [it for it in active if it[1].token != claim.token]
        if others:
            until, other = max(others, key=lambda it: it[0])
            yield (f"{claim.process} has {claim.token} ({claim.way}) from {claim.begun} on, and "
                   f"{other.process} has {other.token} ({other.way}) until {until}")
        active.append((end, claim))


# ---- what was given back ---------------------------------------------------------------------------


def given_back(record):
    """When each token was given back for good: a quorum confirmed it, and no other process asked anything of
    that token meanwhile, or may have left a request behind."""
    found, beside = {}, spans(record)
    for act in record.returns:
        if act.code == "REDLOCK_OK" and is_alone(act, beside[act.token]):
            found[act.token] = min(act.told, found.get(act.token, FOREVER))
    return found


def spans(record):
    """By token: the process that asked, from when to when."""
    found = defaultdict(list)
    for it in record.claims:
        found[it.token].append((it.process, it.asked, it.over))
    for it in (*record.refusals, *record.returns, *record.breaks):
        found[it.token].append((it.process, it.begun, it.told))
    return found


def is_alone(act, beside):
    return not any(process != act.process and begun <= act.told and end >= act.begun
                   for process, begun, end in beside)


def back_again(record):
    ends = given_back(record)
    for claim in record.claims:
        if claim.asked > ends.get(claim.token, FOREVER):
            yield (f"{claim.process} asked at {claim.asked} to {claim.way} {claim.token}, "
                   f"which was given back at {ends[claim.token]}, and has it until {claim.until}")
    for act in record.returns:
        if act.begun > ends.get(act.token, FOREVER) and act.code == "REDLOCK_OK":
            yield (f"{act.process} asked at {act.begun} to {act.way} {act.token}, "
                   f"which was given back at {ends[act.token]}, and heard that it did")


# ---- what was broken -------------------------------------------------------------------------------


def outlives(record, faults, quorum):
    """A broken holder hears so by the time that the breaker heard, unless a quorum of masters has data from
    before the break."""
    ends = first(record.returns)
    for one in record.breaks:
        for claim in record.claims:
            until = min(claim.until, ends.get(claim.token, FOREVER))
            if (claim.token == one.token and claim.asked < one.begun and until > one.until + ROUNDED
                    and len(older(faults, one.begun, until)) < quorum):
                yield (f"{claim.process} has {claim.token} until {until}, which was broken at {one.told}: "
                       f"its holder may write until {one.until}")


def older(faults, begin, end):
    """The masters that came back, in this time, from older data."""
    return {it.master for it in faults if it.kind == OLDER and it.end >= begin and it.begin <= end}


def violations(record, faults, quorum):
    return [*two_holders(record), *back_again(record), *outlives(record, faults, quorum)]


def figures(record, faults):
    counts = record.counts
    return {"acquired": counts["acquire"], "attached": counts["attach"], "extended": counts["extend"],
            "refused": counts["refused"], "detached": counts["detached"], "broken": counts["broken"],
            "told lost": counts["lost"],
            "masters from older data": sum(it.kind == OLDER for it in faults)}
