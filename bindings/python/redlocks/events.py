"""Events of leases, and results of recipes."""

from __future__ import annotations

import datetime
import enum
from typing import Any, Callable, NamedTuple, Optional

from ._library import ffi, lib, text


class EventKind(enum.IntEnum):
    """The kinds of redlock/leases.h, without REDLOCK_."""
    ACQUIRED = 0
    NOT_ACQUIRED = 1
    EXTENDED = 2
    NOT_EXTENDED = 3
    AT_RISK = 4
    HEALTHY = 5
    LOST = 6
    RELEASED = 7
    CHANGED = 8
    NOT_CHANGED = 9
    ANNOUNCED = 10
    MOVED = 11
    NOT_MOVED = 12


_KINDS: dict[int, int] = {int(kind): kind for kind in EventKind}


class Event(NamedTuple):
    """As redlock_event: the validity left when it was made, in seconds; below 0 in `ends` if it is late. On a
    loop `votes` has a line for each master, if something is wrong."""
    kind: int
    code: int
    text: str
    valid_for: float
    ends: float
    fence: int
    granted: int
    quorum: int
    masters: int
    votes: str = ""


def _vote(vote: Any) -> str:
    line = f"{text(vote.node)} {text(lib.redlock_vote_name(vote.kind))}"
    if vote.kind == lib.REDLOCK_VOTE_HELD:
        return f"{line} by {text(vote.holder) or 'unknown'}, {vote.remaining_ms} ms left"
    return f"{line}: {text(vote.text)}" if text(vote.text) else line


def event_of(event: Any) -> Event:
    kind = _KINDS.get(event.kind, event.kind)
    votes = ""
    if (event.code or kind == EventKind.AT_RISK) and event.votes != ffi.NULL:
        votes = "\n".join(_vote(event.votes[i]) for i in range(event.masters))
    return Event(kind, event.code, text(event.text), event.valid_ms / 1000, event.ends_ms / 1000, event.fence,
                 event.granted, event.quorum, event.masters, votes)


Callback = Callable[[Event], object]
_COROUTINE = 0x80  # inspect.CO_COROUTINE


def callable_of(callback: Any, what: str) -> Callable[[Any], object]:
    if not callable(callback):
        raise TypeError(f"{what} cannot be called: {callback!r}")
    if getattr(getattr(callback, "__code__", None), "co_flags", 0) & _COROUTINE:
        raise TypeError(f"{what} is a coroutine function, which nobody would await: {callback!r}")
    checked: Callable[[Any], object] = callback
    return checked


def callback_of(on_event: Any) -> Optional[Callback]:
    return None if on_event is None else callable_of(on_event, "on_event")


class Leader(NamedTuple):
    """A leader as it is announced. `term` 0: nobody announces, or it is not known."""
    term: int
    value: bytes
    said: int
    masters: int
    is_known: bool = True


class Passage(NamedTuple):
    """A barrier was passed; or the `result` of an error, whose `token` arrives as the same party again."""
    parties: int
    arrived: int
    others: int
    answered: int
    masters: int
    token: str
    undecided: bool
    latest: int


class Tally(NamedTuple):
    """The state of a latch, as far as it is known; or the `result` of an error."""
    open: bool
    arrivals: int
    arrived: int
    id: str
    arrival: str
    answered: int
    masters: int
    undecided: bool
    who: str = ""


class Done(NamedTuple):
    """Work that is done once per key: whether this call did it, and then what it returned. `at` None: another
    program wrote the record, and `by` is what it says."""
    ran: bool
    by: str
    at: Optional[datetime.datetime]
    value: Any = None


class Asked(NamedTuple):
    """A holder was asked to let go; it learns nothing if `heard` is 0."""
    holder: str
    heard: int
    waiting: int
    told: int
    masters: int


class Wish(NamedTuple):
    """Somebody asks the holder to let go: the label of that client, its text, and how many wait."""
    who: str
    text: str
    waiting: int


def passage_of(told: Any) -> Passage:
    return Passage(told.parties, told.arrived, told.others, told.answered, told.masters, text(told.token),
                   told.undecided, told.latest)


def tally_of(told: Any) -> Tally:
    return Tally(told.open, told.arrivals, told.arrived, text(told.id), text(told.arrival), told.answered,
                 told.masters, told.undecided, text(told.who))


def asked_of(told: Any) -> Asked:
    return Asked(text(told.holder), told.heard, told.waiting, told.told, told.masters)


def wish_of(told: Any) -> Wish:
    return Wish(text(told.who), text(told.text), told.waiting)


def leader_of(told: Any, value: bytes) -> Leader:
    return Leader(told.term, value, told.said, told.masters, told.code == lib.REDLOCK_OK)
