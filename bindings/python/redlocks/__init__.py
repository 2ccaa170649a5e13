"""Locks over independent Redis masters, by the library redlock. The masters: REDLOCK_NODES.

    import redlocks
    with redlocks.Client().lock("nightly", ttl=10) as lease:
        work(lease)

For asyncio: redlocks.aio. For tests without a server: redlocks.testing. The page: doc/python.md."""

from .client import Client, Lease, Lock
from .errors import (Code, ContendedError, EndedError, Error, ForkedError, HeldError, LostError, MisuseError,
                     NotRecordedError, SystemFailure, UnavailableError)
from .events import Asked, Done, Event, EventKind, Leader, Passage, Tally, Wish
from .terms import FOREVER, Shared

__all__ = ["Asked", "Client", "Code", "ContendedError", "Done", "EndedError", "Error", "Event", "EventKind",
           "FOREVER", "ForkedError", "HeldError", "Leader", "Lease", "Lock", "LostError", "MisuseError",
           "NotRecordedError", "Passage", "Shared", "SystemFailure", "Tally", "UnavailableError", "Wish"]
