"""Elections, barriers, latches, work that is done once, and wishes: what both kinds of clients share."""

from __future__ import annotations

import datetime
import logging
from collections.abc import Awaitable
from typing import Any, Callable, Optional

from ._library import ffi, text
from .errors import Code, EndedError, Error, LostError, NotRecordedError, error_of
from .events import Asked, Done, Leader, Tally, leader_of
from .terms import FOREVER, Duration, Struct, ms_or_zero, timeout_ms

_log = logging.getLogger("redlocks")
TURN_MS = 1000  # a signal of Python waits no longer for a leader
_WORD_MAX = 64  # bytes of a key or a note
_WHEN = "%Y-%m-%dT%H:%M:%SZ"
_LIFE_MAX_MS = 30 * 24 * 3600 * 1000


def log_end(names: Any, error: Exception) -> None:
    """The end of a block does not raise this: its own error goes before, or the lease was good."""
    _log.warning("the lease on %s was %s: %s", names, "lost" if isinstance(error, LostError) else
                 "given back, which no quorum has confirmed", error)


def take_entered(entered: dict[Any, list[Any]], key: Any) -> Any:
    """The lease of the block that ends. A generator may be closed by another thread or task than the one that
    entered: then it is the lease of the only one that is inside."""
    inside = [each for each, leases in list(entered.items()) if leases]
    if key not in inside:
        if len(inside) != 1:
            raise error_of(Code.E_STATE, "others entered this lock, and it is not clear whose block ends")
        key = inside[0]
    lease = entered[key].pop()
    if not entered[key]:
        del entered[key]
    return lease


def terms_of_leader(terms: Any, timeout: Optional[Duration]) -> Any:
    if "wait" in terms:
        raise TypeError("an election has no `wait`: give it a `timeout`")
    return {**terms, "fence": True, "wait": FOREVER if timeout is None else timeout}


def read_leader(call: Any, *arguments: Any) -> Leader:
    told = Struct("redlock_leader").at
    result = Struct("redlock_sync_result").at
    value = ffi.new("char[]", 65536)
    code = call(*arguments, told, value, len(value), result)
    if code:
        raise error_of(code, text(result.text), text(result.votes))
    return leader_of(told, bytes(ffi.buffer(value, told.length)))


def barrier_options(parties: int, generation: int, ttl: Optional[Duration], timeout: Optional[Duration],
                    token: Optional[str]) -> Struct:
    options = Struct("redlock_barrier_options")
    options.set("parties", parties)
    options.set("generation", generation)
    options.set("ttl_ms", 0 if ttl is None else ms_or_zero(ttl))
    options.set("timeout_ms", timeout_ms(timeout))
    options.set_text("token", token)
    return options


def latch_options(timeout: Optional[Duration], arrivals: int = 0, life: Optional[Duration] = None,
                  id: Optional[str] = None, arrival: Optional[str] = None) -> Struct:
    options = Struct("redlock_latch_options")
    options.set("arrivals", arrivals)
    options.set("life_ms", 0 if life is None else ms_or_zero(life))
    options.set("timeout_ms", timeout_ms(timeout))
    options.set_text("id", id)
    options.set_text("arrival", arrival)
    return options


def once_options(key: str, life: Optional[Duration] = None, note: Optional[str] = None) -> Struct:
    options = Struct("redlock_once_options")
    options.set_text("key", key)
    options.set("life_ms", 0 if life is None else ms_or_zero(life))
    options.set_text("note", note)
    return options


def check_record(life: Duration, note: Optional[str]) -> None:
    """The library looks at these when the work is done, which is late."""
    if not 1000 <= ms_or_zero(life) <= _LIFE_MAX_MS:
        raise error_of(Code.E_ARGUMENT, "a record lives for 1 s to 30 days")
    if note is not None and not isinstance(note, str):
        raise TypeError(f"a note is a str, not {note!r}")
    if note is not None and not (note.isascii() and note.isprintable() and " " not in note
                                 and 0 < len(note) <= _WORD_MAX):
        raise error_of(Code.E_ARGUMENT,
                       f"a note has 1 to {_WORD_MAX} bytes of printable ASCII without spaces")


def do_work(work: Callable[[Any], Any], lease: Any) -> Any:
    """A thread awaits nothing. So what it returns to be awaited was not done, and gets no record."""
    value = work(lease)
    if isinstance(value, Awaitable):
        raise TypeError(f"work returned what nobody would await, so it was not done: {value!r}")
    return value


def note_of(token: str) -> str:
    """The label of the client, and the time, as `redlock once` notes them."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime(_WHEN)
    return f"{token.partition(':')[2][:_WORD_MAX - len(now) - 1]}@{now}"


def done_of(note: str, ran: bool = False, value: Any = None) -> Done:
    who, _, when = note.rpartition("@")
    try:
        at = datetime.datetime.strptime(when, _WHEN).replace(tzinfo=datetime.timezone.utc)
    except ValueError:
        return Done(ran, note, None, value)
    return Done(ran, who, at, value)


def not_recorded(error: Error, begun: bool) -> NotRecordedError:
    """The work was done, and this came of its record. A loss or a release may end one that was begun."""
    tally: Optional[Tally] = error.result
    undecided = tally.undecided if tally else begun and isinstance(error, (LostError, EndedError))
    is_late = tally and tally.open
    stands = ("is recorded, but the lease was lost before: somebody else may have begun" if is_late
              else "may be recorded or not: the next one may do it again" if undecided
              else "is not recorded: the next one does it again")
    found = NotRecordedError(error.code, f"the work is done, and {stands} ({error})", error.votes)
    found.result, found.undecided = tally, undecided
    return found


def ask_options(text: str, timeout: Optional[Duration]) -> Struct:
    options = Struct("redlock_ask_options")
    options.set_text("text", text)
    options.set("timeout_ms", timeout_ms(timeout))
    return options


def asked_or_none(code: int, asked: Asked, sentence: str) -> Optional[Asked]:
    """None: nobody has the name."""
    found: Asked = result_of(Code.OK if code == Code.E_GONE else code, asked, sentence)
    return None if code == Code.E_GONE else found


def of_latch(code: int) -> str:
    """The words for a code that says something else of a lease."""
    return {Code.E_HELD: "the name has another latch",
            Code.E_GONE: "the name has no such latch: its life is over, or masters lost it"}.get(code, "")


def result_of(code: int, result: Any, sentence: str) -> Any:
    if code:
        raise error_of(code, sentence).with_result(result)
    return result
