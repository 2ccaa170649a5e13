"""Events of leases, and results of recipes."""

from __future__ import annotations

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


def callback_of(on_event: Any) -> Optional[Callback]:
    if on_event is not None and not callable(on_event):
        raise TypeError(f"on_event cannot be called: {on_event!r}")
    if getattr(getattr(on_event, "__code__", None), "co_flags", 0) & _COROUTINE:
        raise TypeError(f"on_event is a coroutine function, which nobody would await: {on_event!r}")
    callback: Optional[Callback] = on_event
    return callback


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


def passage_of(told: Any) -> Passage:
    return Passage(told.parties, told.arrived, told.others, told.answered, told.masters, text(told.token),
                   told.undecided, told.latest)


def tally_of(told: Any) -> Tally:
    return Tally(told.open, told.arrivals, told.arrived, text(told.id), text(told.arrival), told.answered,
                 told.masters, told.undecided)


def leader_of(told: Any, value: bytes) -> Leader:
    return Leader(told.term, value, told.said, told.masters, told.code == lib.REDLOCK_OK)
