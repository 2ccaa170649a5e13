"""Elections, barriers and latches: what both kinds of clients share."""

from __future__ import annotations

import logging
from typing import Any, Optional

from ._library import ffi, text
from .errors import Code, LostError, error_of
from .events import Leader, leader_of
from .terms import FOREVER, Duration, Struct, ms_or_zero, timeout_ms

_log = logging.getLogger("redlocks")
TURN_MS = 1000  # a signal of Python waits no longer for a leader


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


def result_of(code: int, result: Any, sentence: str) -> Any:
    if code:
        raise error_of(code, sentence).with_result(result)
    return result
