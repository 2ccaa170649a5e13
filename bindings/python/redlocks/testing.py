"""Masters inside the process, for tests of programs that use redlocks: no server, no socket, no waiting.

Import it before the first client is opened, and give that client nodes="memory://5". It needs
libredlock-testing.so (Debian: libredlock-dev), or the variable REDLOCK_TESTING_LIBRARY with its path.

    def test_it():
        redlocks.testing.run(program())   # time is virtual: asyncio.sleep(60) takes none

A client of one thread waits in virtual time after begin(virtual=True). Otherwise time is real, and any thread
may wait. All of redlock/testing.h is here, with durations in seconds."""

from __future__ import annotations

import asyncio
import ctypes
import os
import selectors
from typing import Any, Coroutine, Optional, TypeVar, Union

from ._library import Time, is_loaded, raise_kept
from .aio import drop_clients
from .errors import error_of
from .terms import Duration, ms

T = TypeVar("T")
_AGES_MS = 10 * 60 * 1000
_ROUNDS = 16  # of the loop, in each of which messages arrive

if is_loaded():
    raise ImportError("import redlocks.testing before the first client is opened")
try:
    # Its functions go before those of libredlock, which the part in C is linked with.
    _library = ctypes.CDLL(os.environ.get("REDLOCK_TESTING_LIBRARY", "libredlock-testing.so"),
                           ctypes.RTLD_GLOBAL)
except OSError as error:
    raise ImportError("redlocks.testing needs libredlock-testing.so (Debian: libredlock-dev): "
                      f"{error}") from None
for _name, _types in {"begin": [ctypes.c_int], "advance": [ctypes.c_int64], "kill": [ctypes.c_uint],
                      "restart": [ctypes.c_uint, ctypes.c_bool], "hang": [ctypes.c_uint, ctypes.c_bool],
                      "cut": [ctypes.c_uint, ctypes.c_bool], "forget": [ctypes.c_uint],
                      "lie": [ctypes.c_uint, ctypes.c_bool],
                      "step_clock": [ctypes.c_uint, ctypes.c_int64],
                      "hold": [ctypes.c_char_p, ctypes.c_int64], "give": [ctypes.c_char_p],
                      "break": [ctypes.c_char_p]}.items():
    getattr(_library, f"redlock_testing_{_name}").argtypes = _types
_library.redlock_testing_why.restype = ctypes.c_char_p
_library.redlock_testing_now_ms.restype = ctypes.c_int64


def _call(name: str, *arguments: Any) -> None:
    code = getattr(_library, f"redlock_testing_{name}")(*arguments)
    raise_kept()
    if code:
        raise error_of(code, _library.redlock_testing_why().decode())


def _key(key: Union[str, bytes]) -> bytes:
    return key.encode() if isinstance(key, str) else key


def begin(virtual: bool = False) -> None:
    """All masters are up, and know nothing. MisuseError: a client is still there."""
    _call("begin", virtual)
    Time.is_virtual = virtual


def advance(duration: Duration) -> None:
    """Virtual time goes on, in which callbacks come at the millisecond that is due."""
    _call("advance", ms(duration))


def now() -> float:
    """Virtual seconds since begin()."""
    return _library.redlock_testing_now_ms() / 1000


def kill(master: int) -> None:
    _call("kill", master)


def restart(master: int, with_data: bool) -> None:
    _call("restart", master, with_data)


def hang(master: int, hangs: bool = True) -> None:
    _call("hang", master, hangs)


def cut(master: int, is_cut: bool = True) -> None:
    _call("cut", master, is_cut)


def forget(master: int) -> None:
    _call("forget", master)


def lie(master: int, lies: bool = True) -> None:
    _call("lie", master, lies)


def step_clock(master: int, seconds: float) -> None:
    _call("step_clock", master, round(seconds * 1000))


def hold(key: Union[str, bytes], ttl: Duration) -> None:
    """Another client takes the key, and renews nothing."""
    _call("hold", _key(key), ms(ttl))


def give(key: Union[str, bytes]) -> None:
    """It gives the key back, to the first waiter if there is one."""
    _call("give", _key(key))


def break_(key: Union[str, bytes]) -> None:
    """An operator takes the key from its holder."""
    _call("break", _key(key))


class _Selector(selectors.SelectSelector):
    """Where a loop would wait, virtual time goes on: to the millisecond in which something happens."""

    loop: Loop

    def select(self, timeout: Optional[float] = None) -> Any:
        _call("advance", 0)
        left = _AGES_MS if timeout is None else round(timeout * 1000)
        go_on, ready = _library.redlock_testing_advance, self.loop.ready()
        while left > 0 and not ready and not go_on(1):
            left -= 1
        raise_kept()
        if timeout is None and not ready:
            raise RuntimeError(f"nothing has happened for {_AGES_MS // 1000} s of virtual time")
        return super().select(0)


class Loop(asyncio.SelectorEventLoop):
    """A loop whose time is virtual."""

    def __init__(self) -> None:
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return now()

    def ready(self) -> Any:
        """The callbacks that are due."""
        return self._ready  # type: ignore[attr-defined]


async def settle() -> None:
    """All happens that can happen at this moment of virtual time."""
    for _ in range(_ROUNDS):
        await asyncio.sleep(0)


def run(program: Coroutine[Any, Any, T]) -> T:
    """As asyncio.run(), in virtual time that begins anew. Clients that are left end with it."""
    begin(virtual=True)
    try:
        with asyncio.Runner(loop_factory=Loop) as runner:
            return runner.run(program)
    finally:
        drop_clients()
