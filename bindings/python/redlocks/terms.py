"""Options in the words of Python: durations are seconds or timedeltas, and 0 is 0."""

from __future__ import annotations

import datetime
import math
from typing import Any, Callable, NamedTuple, Optional, TypedDict, Union

from ._library import ffi, lib
from .errors import Code, error_of

FOREVER = math.inf
Duration = Union[float, datetime.timedelta]
_FOREVER_MS = 2**63 - 1
_ZERO = -1


class Shared(NamedTuple):
    """One name of several that the lease has shared."""
    name: Union[str, bytes]


Name = Union[str, bytes, Shared]


class Terms(TypedDict, total=False):
    """The terms of a lease, as redlock_lease_options in redlock/leases.h."""
    ttl: Duration
    wait: Duration
    margin: Duration
    max_hold: Duration
    at_least: Duration
    renew: bool
    fence: bool
    shared: bool
    permits: int


class Options(TypedDict, total=False):
    """The options of a client, as redlock_options in redlock.h."""
    label: str
    prefix: str
    fleet: str
    max_ttl: Duration
    drift_factor: float
    clock_skew: Duration
    connect_timeout: Duration
    request_timeout: Duration
    trust_restarts: bool
    spare: int
    nodes_file: str
    tls_ca: str
    tls_cert: str
    tls_key: str
    tls_name: str
    tls_sni: str
    tls_verify: str
    local_turn: Duration
    config: str


def ms(duration: Duration) -> int:
    seconds = duration.total_seconds() if isinstance(duration, datetime.timedelta) else duration
    if seconds == FOREVER:
        return _FOREVER_MS
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"a duration is a number of seconds or a timedelta, not {duration!r}")
    whole = round(seconds * 1000) if abs(seconds) < 1e12 else -1
    if whole < 0 or (seconds and not whole):
        raise ValueError(f"a duration is 0, or 1 ms and longer, not {duration!r}")
    return whole


def ms_or_zero(duration: Duration) -> int:
    """Of a field whose 0 is its default."""
    return ms(duration) or _ZERO


def timeout_ms(timeout: Optional[Duration]) -> int:
    """None and FOREVER: no limit."""
    return 0 if timeout is None or timeout == FOREVER else ms_or_zero(timeout)


def _flag(value: Any) -> bool:
    return bool(value)


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**31:
        raise error_of(Code.E_ARGUMENT, f"it is no number that fits: {value!r}")
    return value


Field = tuple[str, Callable[[Any], Any]]
_TERMS: dict[str, Field] = {
    "ttl": ("ttl_ms", ms_or_zero), "wait": ("wait_ms", ms), "margin": ("margin_ms", ms_or_zero),
    "max_hold": ("max_hold_ms", ms), "at_least": ("at_least_ms", ms),
    "renew": ("no_renew", lambda renew: not renew), "fence": ("fence", _flag),
    "shared": ("mode", lambda shared: lib.REDLOCK_SHARED if shared else lib.REDLOCK_EXCLUSIVE),
    "permits": ("permits", _number),
}
_TIMES = {"max_ttl": ms, "clock_skew": ms_or_zero, "connect_timeout": ms, "request_timeout": ms,
          "local_turn": ms_or_zero}
_TEXTS = ("nodes", "label", "prefix", "fleet", "nodes_file", "tls_ca", "tls_cert", "tls_key", "tls_name",
          "tls_sni", "tls_verify", "config")


class Struct:
    """A struct of options with its size, and all that it points to."""

    def __init__(self, kind: str) -> None:
        self.at = ffi.new(f"{kind} *")
        self.at.size = ffi.sizeof(kind)
        self._kept: list[Any] = []

    def set(self, field: str, value: Any) -> None:
        try:
            setattr(self.at, field, value)
        except OverflowError:
            raise error_of(Code.E_ARGUMENT, f"{field} cannot be {value!r}") from None

    def set_text(self, field: str, value: Union[str, bytes, None]) -> None:
        if value is not None:
            self._kept.append(c_string(value))
            setattr(self.at, field, self._kept[-1])


def string(value: Union[str, bytes]) -> tuple[Any, int]:
    """A string of C, and its length."""
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"it is neither str nor bytes: {value!r}")
    data = value.encode() if isinstance(value, str) else value
    return ffi.new("char[]", data), len(data)


def c_string(value: Union[str, bytes]) -> Any:
    """A string without a NUL inside."""
    chars, size = string(value)
    if len(ffi.string(chars)) != size:
        raise error_of(Code.E_ARGUMENT, f"there is a NUL in {value!r}")
    return chars


def _unknown(given: dict[str, Any], known: Any) -> None:
    for name in given:
        if name not in known:
            raise TypeError(f"there is no option {name!r}")


def lease_options(terms: dict[str, Any]) -> Struct:
    _unknown(terms, _TERMS)
    options = Struct("redlock_lease_options")
    for name, value in terms.items():
        field, convert = _TERMS[name]
        options.set(field, convert(value))
    return options


def client_options(nodes: Optional[str], given: dict[str, Any]) -> Struct:
    _unknown(given, {**_TIMES, **dict.fromkeys(_TEXTS), "drift_factor": 0, "spare": 0, "trust_restarts": 0})
    options = Struct("redlock_options")
    named: dict[str, Any] = {"nodes": nodes, **given}
    for name, value in named.items():
        if name in _TEXTS:
            options.set_text(name, value)
        elif name in _TIMES:
            options.set(f"{name}_ms", _TIMES[name](value))
        elif name == "trust_restarts":
            options.at.restart_policy = lib.REDLOCK_RESTART_TRUST if value else lib.REDLOCK_RESTART_ABSTAIN
        else:
            options.set(name, float(value) if name == "drift_factor" else _number(value))
    return options


class Names:
    """The names of a lease, for C."""

    def __init__(self, names: tuple[Name, ...]) -> None:
        self.count = len(names)
        self.at = ffi.new("redlock_name[]", self.count)
        self._kept = []
        for place, name in zip(self.at, names):
            bare = name.name if isinstance(name, Shared) else name
            place.size = ffi.sizeof("redlock_name")
            chars, length = string(bare)
            place.bytes = chars
            place.length = length
            place.mode = lib.REDLOCK_SHARED if isinstance(name, Shared) else lib.REDLOCK_EXCLUSIVE
            self._kept.append(chars)
