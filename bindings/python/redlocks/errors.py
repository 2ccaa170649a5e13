"""Exceptions: one for each class of the codes of redlock.h."""

from __future__ import annotations

import enum
from typing import Any

from ._library import lib, text


class Code(enum.IntEnum):
    """The codes of redlock.h, without REDLOCK_."""
    OK = 0
    E_ARGUMENT = 1
    E_NODES = 2
    E_NAME = 3
    E_TTL = 4
    E_STATE = 5
    E_REPLICA = 6
    E_SAME_MASTER = 7
    E_HELD = 8
    E_UNAVAILABLE = 9
    E_TOO_SLOW = 10
    E_EXPIRED = 11
    E_GONE = 12
    E_MAX_HOLD = 13
    E_CANCELLED = 14
    E_CLOSED = 15
    E_FORKED = 16
    E_MEMORY = 17
    E_SYSTEM = 18
    E_NOT_PASSED = 19
    E_PARTIES = 20
    E_NOT_OPEN = 21
    E_NO_MASTER = 22
    E_OVER = 23
    E_UNDECIDED = 24
    E_DIFFERS = 25
    E_OVERLOAD = 26


class Error(Exception):
    """The base of all. `code` says what it is, str() is a sentence, `votes` has a line for each master."""

    def __init__(self, code: int, sentence: str = "", votes: str = "") -> None:
        try:
            self.code: int = Code(code)
        except ValueError:  # of a later library
            self.code = code
        self.votes = votes
        self.result: Any = None  # of a barrier or latch: Passage, Tally
        super().__init__(sentence or text(lib.redlock_code_text(code)))

    def __reduce__(self) -> Any:
        """For pickle: a pool of processes hands it to the parent."""
        return type(self), (int(self.code), str(self), self.votes), {"result": self.result}

    def with_result(self, result: Any) -> Error:
        self.result = result
        return self


class MisuseError(Error):
    """The call or the configuration is wrong; to try again does not help."""


class ForkedError(MisuseError):
    """The parent of this process has the client: open another one."""


class ContendedError(Error):
    """Others are in the way: an outcome, not a failure."""


class HeldError(ContendedError):
    """Another holder has the lock."""


class UnavailableError(Error):
    """No quorum of masters could be asked."""


class LostError(Error):
    """The lease was held, and is not held any more."""


class NotRecordedError(Error):
    """The work was done, and the next one may do it again. Its cause says why it has no record; `undecided`:
    it may have one."""

    undecided = False

    def __reduce__(self) -> Any:
        kind, arguments, state = super().__reduce__()
        return kind, arguments, {**state, "undecided": self.undecided}


class EndedError(Error):
    """You ended the lease or the client yourself."""


class SystemFailure(Error):
    """This machine lacked memory, or a system call failed."""


_CLASSES = (Error, MisuseError, ContendedError, UnavailableError, LostError, EndedError, SystemFailure)
_OWN: dict[int, type[Error]] = {Code.E_HELD: HeldError, Code.E_FORKED: ForkedError}


def error_of(code: int, sentence: str = "", votes: str = "") -> Error:
    kind = _OWN.get(code) or _CLASSES[lib.redlock_code_class(code)]
    return kind(code, sentence, votes)
