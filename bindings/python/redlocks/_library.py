"""The part in C. It is loaded when it is first used, so that redlocks.testing can put its masters in place
before."""

from __future__ import annotations

import importlib
import threading
from typing import Any, Callable

_externs: list[Callable[..., None]] = []
_raised: list[BaseException] = []
_loading = threading.RLock()


class Time:
    """In virtual time one thread has all clients, and its own waits let time go on."""
    is_virtual = False


def is_loaded() -> bool:
    return "new" in vars(ffi)


def _load() -> None:
    try:
        module = importlib.import_module("redlocks._redlocks")
    except ImportError as error:
        raise ImportError(f"redlocks needs libredlock.so.0 and its own part in C: {error}") from error
    for name in dir(module.lib):
        setattr(lib, name, getattr(module.lib, name))
    for function in _externs:
        module.ffi.def_extern(name=function.__name__, onerror=_keep)(function)
    for name in ("gc", "release", "cast", "string", "buffer", "NULL", "sizeof", "addressof", "def_extern",
                 "new"):  # the last one says that all is there
        setattr(ffi, name, getattr(module.ffi, name))


class _Part:
    """Loads all when its first attribute is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        with _loading:  # several threads may open the first client
            if not is_loaded():
                _load()
        return object.__getattribute__(self, name)


ffi: Any = _Part()
lib: Any = _Part()


def _keep(kind: type, error: BaseException, trace: object) -> None:
    _raised.append(error)


def _define(function: Callable[..., None]) -> None:
    ffi.def_extern(name=function.__name__, onerror=_keep)(function)


def extern(function: Callable[..., None]) -> Callable[..., None]:
    """The library calls it, by the name that it has in build_redlocks.py."""
    _externs.append(function)
    if is_loaded():
        _define(function)
    return function


def raise_kept() -> None:
    """Raises the exception of a function of extern(), such as KeyboardInterrupt."""
    if _raised:
        raise _raised.pop(0)


def address(name: str) -> Any:
    """A function of the library, for another one to call."""
    return ffi.addressof(importlib.import_module("redlocks._redlocks").lib, name)


def text(chars: Any) -> str:
    return ffi.string(chars).decode(errors="replace") if chars else ""
