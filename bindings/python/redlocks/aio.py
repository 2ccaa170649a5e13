"""Clients and leases on a loop of asyncio. All of a client belongs to the thread of its loop.

    async with redlocks.aio.Client() as client:
        async with client.lock("nightly", ttl=10) as lease:
            await work(lease)

If the lease is lost, the block is cancelled, and LostError comes out of it."""

from __future__ import annotations

import asyncio
import atexit
import itertools
import os
import select
import sys
import threading
import time
import warnings
import weakref
from typing import Any, AsyncIterator, Awaitable, Callable, Optional, Self, Union, Unpack

from . import recipes
from ._library import extern, ffi, lib, raise_kept, text
from .errors import Code, Error, HeldError, LostError, error_of
from .events import (Asked, Callback, Done, Event, EventKind, Leader, Passage, Tally, Wish, asked_of,
                     callable_of, callback_of, event_of, leader_of, passage_of, tally_of, wish_of)
from .terms import (Duration, Name, Names, Options, Struct, Terms, c_string, client_options, lease_options,
                    ms, ms_or_zero, string)

_PATIENCE = 1.0
_numbers = itertools.count(1)
# The objects that the library calls back, by their numbers: a handle that is gone hears nothing.
_listeners: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
_clients: set[Client] = set()  # that are open


def _register(listener: Any) -> Any:
    number = next(_numbers)
    _listeners[number] = listener
    return ffi.cast("void *", number)


def _hear(data: Any, *told: Any) -> None:
    listener = _listeners.get(int(ffi.cast("uintptr_t", data)))
    if listener is not None:
        listener._hear(*told)


@extern
def on_lease_event(lease: Any, event: Any, data: Any) -> None:
    _hear(data, event_of(event))


@extern
def on_passage_here(party: Any, told: Any, data: Any) -> None:
    _hear(data, told.code, passage_of(told), text(told.text))


@extern
def on_tally_here(latch: Any, told: Any, data: Any) -> None:
    _hear(data, told.code, tally_of(told), "")


@extern
def on_record_here(once: Any, told: Any, data: Any) -> None:
    _hear(data, told.code, tally_of(told))


@extern
def on_asked_here(asker: Any, told: Any, data: Any) -> None:
    _hear(data, told.code, asked_of(told), "")


@extern
def on_wish(heeder: Any, told: Any, data: Any) -> None:
    _hear(data, wish_of(told))


@extern
def on_leader(observer: Any, told: Any, data: Any) -> None:
    _hear(data, leader_of(told, bytes(ffi.buffer(told.value, told.length))))


@extern
def on_ready(client: Any, code: int, said: Any, data: Any) -> None:
    _hear(data, code, text(said))


@extern
def on_closed(client: Any, left: int, data: Any) -> None:
    _hear(data, left)


class _Answer:
    """The future of one call."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.future: asyncio.Future[Any] = loop.create_future()

    def settle(self, value: Any) -> None:
        if not self.future.done():
            self.future.set_result(value)

    def fail(self, error: Error) -> None:
        if not self.future.done():
            self.future.set_exception(error)

    def _hear(self, *told: Any) -> None:
        self.settle(told)


class _Part:
    """A handle of the library that ends before its lease: a look, a record, or the ear for wishes."""

    def __init__(self, parts: list[_Part], free: Any, told: Callable[..., object]) -> None:
        self._parts, self._free, self._told = parts, free, told
        self._handle: Any = None

    def begin(self, client: Client, kind: str, call: Any, lease: Any, *arguments: Any) -> None:
        place = ffi.new(f"{kind} **")
        client._check(call(lease, place, *arguments, _register(self)))
        self._handle = place[0]
        self._parts.append(self)

    def _hear(self, *told: Any) -> None:
        self._told(*told)

    def end(self, free: Callable[[Any, Any], None]) -> None:
        handle, self._handle = self._handle, None
        if handle:
            self._parts.remove(self)
            free(self._free, handle)


# Which events answer which call.
_ANSWERS: dict[int, str] = {
    EventKind.ACQUIRED: "acquire", EventKind.NOT_ACQUIRED: "acquire", EventKind.EXTENDED: "extend",
    EventKind.NOT_EXTENDED: "extend", EventKind.CHANGED: "change", EventKind.NOT_CHANGED: "change",
    EventKind.ANNOUNCED: "announce", EventKind.RELEASED: "release",
}


class Lease:
    """A lease that this client has. `async with lease:` gives it back at the end; so does lease.release()."""

    def __init__(self, client: Client, names: tuple[Name, ...], on_event: Optional[Callback]) -> None:
        self._client, self.names, self._on_event = client, names, on_event
        self._handle: Any = None
        self._answers: dict[str, _Answer] = {}
        self._lost: Optional[Event] = None
        self._over = _Answer(client._loop)
        self._guarded: Optional[asyncio.Task[Any]] = None
        self._cancelled = self._released = False
        self._cancels = 0
        self._parts: list[_Part] = []
        self.slot, self.token = -1, ""
        self._fence = 0

    # ---- what is so now ----

    def _ms(self) -> int:
        return lib.redlock_lease_valid_for(self._handle) if self._is_there() else 0

    def _is_there(self) -> bool:
        return bool(self._handle) and self._client._is_open()

    @property
    def valid_for(self) -> float:
        """Seconds left, rounded down to milliseconds; 0: not held. Look before each step."""
        return self._ms() / 1000

    @property
    def exclusive_for(self) -> float:
        """Likewise, but 0 while a name is shared."""
        shared = self._is_there() and lib.redlock_lease_is_shared(self._handle)
        return 0.0 if shared else self.valid_for

    @property
    def valid(self) -> bool:
        return self._ms() > 0

    @property
    def fence(self) -> int:
        """The number that the resource should check; 0: not asked for."""
        if self._is_there():
            self._fence = lib.redlock_lease_fence(self._handle)
        return self._fence

    def check(self, needed: Duration = 0) -> None:
        """Raises LostError unless the lease is valid for more than `needed`."""
        if self._ms() <= ms(needed):
            raise self._loss()

    def _loss(self) -> LostError:
        code = self._lost.code if self._lost else Code.E_EXPIRED
        return LostError(code, self._lost.text if self._lost else
                         f"the lease on {self.names} has too little time left, or is over")

    # ---- events ----

    def _hear(self, event: Event) -> None:
        if event.kind == EventKind.LOST:
            self._lose(event)
        answer = self._answers.pop(_ANSWERS.get(event.kind, ""), None)
        if answer:
            answer.settle(event)
        if event.kind == EventKind.CHANGED:
            self._cancel("announce")
        if event.kind in (EventKind.NOT_ACQUIRED, EventKind.RELEASED):
            self._end(event)
        if self._on_event:
            self._client._loop.call_soon(self._on_event, event)

    def _cancel(self, call: str) -> None:
        """The library answers it no more."""
        if answer := self._answers.pop(call, None):
            answer.fail(error_of(Code.E_CANCELLED, f"another call ended this one: {call}"))

    def _lose(self, event: Event) -> None:
        self._lost = event
        self._over.settle(event)
        for call in ("extend", "change", "announce"):
            if answer := self._answers.pop(call, None):
                answer.settle(event)
        if self._guarded:
            self._cancelled = True
            self._guarded.cancel()

    def _end_parts(self, free: Callable[[Any, Any], None]) -> None:
        self._cancel("once")
        for part in list(self._parts):
            part.end(free)

    def _end(self, event: Event) -> None:
        self._end_parts(self._client._free)
        lib.redlock_lease_free(self._handle)
        self._handle = None
        self._over.settle(event)
        for answer in self._answers.values():
            answer.settle(event)
        self._answers.clear()

    # ---- calls ----

    def _usable(self) -> Any:
        self._client._use()
        if not self._handle:
            raise error_of(Code.E_STATE, f"the lease on {self.names} is over")
        return self._handle

    async def _ask(self, call: str, function: Any, *arguments: Any) -> Event:
        self._client._check(function(self._usable(), *arguments))
        self._cancel(call)
        answer = self._answers[call] = _Answer(self._client._loop)
        event: Event = await answer.future
        if event.kind == EventKind.RELEASED and call != "release":
            raise error_of(Code.E_CANCELLED, f"the lease on {self.names} was given back meanwhile")
        if event.code:
            raise error_of(event.code, event.text, event.votes)
        return event

    async def extend(self, ttl: Optional[Duration] = None) -> None:
        """Renews it now; from now on for another ttl, if one is given."""
        await self._ask("extend", lib.redlock_lease_extend, 0 if ttl is None else ms_or_zero(ttl))

    async def downgrade(self) -> None:
        """From a writer to a reader."""
        await self._ask("change", lib.redlock_lease_downgrade)

    async def upgrade(self) -> None:
        """From the only reader to the writer, with a new fence; HeldError: others read."""
        await self._ask("change", lib.redlock_lease_upgrade)

    async def announce(self, value: Union[str, bytes]) -> None:
        """As a leader: waits until a quorum has the value."""
        chars, size = string(value)
        await self._ask("announce", lib.redlock_lease_announce, chars, size)

    async def once_look(self, key: str) -> Tally:
        """Whether the work of this name was done for the key: `open`, and `who` has the note."""
        return await self._once(lib.redlock_once_look, recipes.once_options(key))

    async def once_record(self, key: str, life: Duration, note: Optional[str] = None) -> Tally:
        """Records that it was done. An error has a `result`, which may be undecided."""
        note = recipes.note_of(self.token) if note is None else note
        return await self._once(lib.redlock_once_record, recipes.once_options(key, life, note))

    async def _once(self, call: Any, options: Struct) -> Tally:
        handle, answer = self._usable(), _Answer(self._client._loop)
        part = _Part(self._parts, lib.redlock_once_free, lambda *told: answer.settle(told))
        part.begin(self._client, "redlock_once", call, handle, options.at, lib.on_record_here)
        self._cancel("once")
        self._answers["once"] = answer
        try:
            code, tally = await answer.future
        finally:
            part.end(self._client._free)
        found: Tally = recipes.result_of(code, tally, "")
        return found

    def heed(self, on_wish: Callable[[Wish], object]) -> None:
        """Calls it on the loop for each wish of another client, until the lease ends."""
        handle, callback, loop = self._usable(), callable_of(on_wish, "on_wish"), self._client._loop
        part = _Part(self._parts, lib.redlock_heeder_free, lambda wish: loop.call_soon(callback, wish))
        part.begin(self._client, "redlock_heeder", lib.redlock_heed, handle, lib.on_wish)

    async def release(self) -> None:
        """Gives it back, and waits until the masters have it. LostError: it was over before."""
        self._released = True
        await self._ask("release", lib.redlock_lease_release)

    async def lost(self) -> Optional[LostError]:
        """Waits until it is over: the loss, or None if it was given back."""
        await asyncio.shield(self._over.future)
        return self._loss() if self._lost else None

    async def __aenter__(self) -> Self:
        self.check()
        self._guarded = asyncio.current_task()
        self._cancels = self._guarded.cancelling() if self._guarded else 0
        return self

    async def __aexit__(self, kind: Any, error: Optional[BaseException], trace: Any) -> None:
        task, self._guarded = self._guarded, None
        if task and self._cancelled and await self._was_alone(task, error):
            error = None
        if not self._released:
            await self._give_back(error)
        if self._lost and error is None:
            raise self._loss() from None

    async def _was_alone(self, task: asyncio.Task[Any], error: Optional[BaseException]) -> bool:
        """Takes back the cancel of _lose(), which may not have come yet. True: nobody else cancelled."""
        alone = task.uncancel() <= self._cancels
        if error is None and alone:
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                if task.cancelling() > self._cancels:  # somebody has cancelled meanwhile
                    self._abandon()
                    raise
        return alone and (error is None or isinstance(error, asyncio.CancelledError))

    def _abandon(self) -> None:
        self._released = True
        self._end_parts(self._client._free)
        handle, self._handle = self._handle, None
        if handle:
            self._client._free(lib.redlock_lease_free, handle)

    async def _give_back(self, error: Optional[BaseException]) -> None:
        was_valid = self.valid
        try:
            await self.release()
        except Error as other:
            if error is None and self._lost:
                return
            if error is None and (isinstance(other, LostError) or not was_valid):
                raise
            recipes.log_end(self.names, other)

    def __del__(self) -> None:
        if getattr(self, "_handle", None) and self._client._is_open():
            if not self._released and not self._lost:
                warnings.warn(f"the lease on {self.names} was not given back; it is now", ResourceWarning,
                              source=self)
            self._end_parts(self._client._free_soon)
            self._client._free_soon(lib.redlock_lease_free, self._handle)


class Lock:
    """Names and terms: each `async with lock as lease:` acquires, and gives back. Tasks may share it."""

    def __init__(self, client: Client, names: tuple[Name, ...], terms: dict[str, Any]) -> None:
        self._client, self._names, self._terms = client, names, terms
        self._entered: dict[Any, list[Lease]] = {}

    async def acquire(self) -> Lease:
        return await self._client.acquire(*self._names, **self._terms)

    async def __aenter__(self) -> Lease:
        lease = await (await self.acquire()).__aenter__()
        self._entered.setdefault(asyncio.current_task(), []).append(lease)
        return lease

    async def __aexit__(self, *error: Any) -> None:
        lease: Lease = recipes.take_entered(self._entered, asyncio.current_task(self._client._loop))
        await lease.__aexit__(*error)


class Client:
    """A client on the running loop. Without `nodes` the environment has the masters: REDLOCK_NODES."""

    def __init__(self, nodes: Optional[str] = None, **options: Unpack[Options]) -> None:
        self._handle: Any = None
        self._loop = asyncio.get_running_loop()
        self._ready, self._closing, self._closes = _Answer(self._loop), _Answer(self._loop), False
        self._thread, self._pid = threading.get_ident(), os.getpid()
        self._watches: weakref.WeakSet[_News] = weakref.WeakSet()
        asked = client_options(nodes, dict(options))
        asked.at.on_ready, asked.at.data = lib.on_ready, _register(self._ready)
        handle, why = ffi.new("redlock **"), ffi.new("char[512]")
        code = lib.redlock_open(handle, ffi.NULL, asked.at, why, len(why))
        if code:
            raise error_of(code, text(why))
        self._handle, self._fd = handle[0], lib.redlock_fd(handle[0])
        if self._fd >= 0:
            self._loop.add_reader(self._fd, self._process)
        _clients.add(self)

    def _process(self) -> None:
        if self._handle:
            lib.redlock_process(self._handle)
            raise_kept()

    def _is_open(self) -> bool:
        return bool(self._handle) and self._pid == os.getpid() and self._thread == threading.get_ident()

    def _use(self) -> Any:
        if self._pid != os.getpid():
            raise error_of(Code.E_FORKED)
        if self._thread != threading.get_ident():
            raise error_of(Code.E_STATE, "the client belongs to the thread of its loop")
        if asyncio._get_running_loop() not in (self._loop, None):
            raise error_of(Code.E_STATE, "the client belongs to another loop: close it before that ends")
        if not self._handle:
            raise error_of(Code.E_CLOSED)
        return self._handle

    def _check(self, code: int) -> None:
        if code:
            raise error_of(code, text(lib.redlock_last_error(self._handle)))

    def _free_soon(self, function: Any, handle: Any) -> None:
        """The garbage collector may run anywhere, in a callback of the library or in another thread."""
        try:
            self._loop.call_soon_threadsafe(self._free, function, handle)
        except RuntimeError:  # the loop is closed
            pass

    def _free(self, function: Any, handle: Any) -> None:
        if self._is_open():
            function(handle)

    # ---- the client ----

    async def ready(self, timeout: Duration = 10) -> None:
        """Waits until each master was reached or tried in vain, once. UnavailableError: no quorum."""
        self._use()
        try:
            code, said = await asyncio.wait_for(asyncio.shield(self._ready.future), ms(timeout) / 1000)
        except asyncio.TimeoutError:
            raise error_of(Code.E_UNAVAILABLE, "not each master was reached or tried in time") from None
        if code:
            raise error_of(code, said)

    def metrics(self) -> str:
        """OpenMetrics text."""
        handle = self._use()
        room = lib.redlock_stats_text(handle, ffi.NULL, 0) + 1
        buffer = ffi.new("char[]", room)
        lib.redlock_stats_text(handle, buffer, room)
        return text(buffer)

    async def close(self, patience: Duration = _PATIENCE) -> int:
        """Gives all leases back, and waits for the masters. Returns the number of releases still owed."""
        self._begin_close(patience)
        left: int = await asyncio.shield(self._closing.future)
        return left

    def _begin_close(self, patience: Duration) -> None:
        if not self._closes:
            lib.redlock_close(self._use(), ms(patience), lib.on_closed, _register(self))
            self._closes = True

    def _hear(self, left: int) -> None:
        """The client is closed. A cancelled wait for that changes nothing."""
        self._drop()
        self._closing.settle(left)
        for news in self._watches:
            news.queue.put_nowait(None)

    def _drop(self) -> None:
        _clients.discard(self)
        handle, self._handle = self._handle, None
        if self._fd >= 0 and not self._loop.is_closed():
            self._loop.remove_reader(self._fd)
        lib.redlock_free(handle)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.close()

    # ---- leases ----

    def lock(self, *names: Name, on_event: Optional[Callback] = None, **terms: Unpack[Terms]) -> Lock:
        """For `async with`: the names, all or none."""
        return Lock(self, names, {"on_event": on_event, **terms})

    async def acquire(self, *names: Name, on_event: Optional[Callback] = None,
                      **terms: Unpack[Terms]) -> Lease:
        """Raises HeldError if another holder has a name, after `wait`; UnavailableError without a quorum."""
        handle, asked, called = self._use(), lease_options(dict(terms)), Names(names)
        lease, place = Lease(self, names, callback_of(on_event)), ffi.new("redlock_lease **")
        answer = lease._answers["acquire"] = _Answer(self._loop)
        data = _register(lease)
        self._check(lib.redlock_acquire_names(handle, place, called.at, called.count, asked.at,
                                              lib.on_lease_event, data))
        lease._handle = place[0]
        try:
            event: Event = await answer.future
        except BaseException:
            lease._abandon()
            raise
        if event.code:
            raise error_of(event.code, event.text, event.votes)
        lease.slot = lib.redlock_lease_slot(lease._handle) if lease._is_there() else -1
        lease.token = text(lib.redlock_lease_token(lease._handle)) if lease._is_there() else ""
        lease._fence = event.fence
        return lease

    async def try_acquire(self, *names: Name, on_event: Optional[Callback] = None,
                          **terms: Unpack[Terms]) -> Optional[Lease]:
        """None if another holder has a name."""
        try:
            return await self.acquire(*names, on_event=on_event, **terms)
        except HeldError:
            return None

    # ---- recipes ----

    async def lead(self, name: Union[str, bytes], value: Union[str, bytes, None] = None, *,
                   timeout: Optional[Duration] = None, on_event: Optional[Callback] = None,
                   **terms: Unpack[Terms]) -> Lease:
        """Waits until it leads, and announces the value. The fence of the lease is the term."""
        lease = await self.acquire(name, on_event=on_event, **recipes.terms_of_leader(terms, timeout))
        try:
            if value is not None:
                await lease.announce(value)
        except BaseException:
            lease._abandon()
            raise
        return lease

    async def observe(self, name: Union[str, bytes]) -> AsyncIterator[Leader]:
        """Yields the announced leader: as it is now, then each change. A close of the client ends it."""
        news = _News()
        place = ffi.new("redlock_observer **")
        data = _register(news)
        self._check(lib.redlock_observer_begin(self._use(), place, c_string(name), lib.on_leader, data))
        self._watches.add(news)
        try:
            while leader := await news.queue.get():
                yield leader
            raise error_of(Code.E_CLOSED)
        finally:
            self._free(lib.redlock_observer_free, place[0])

    async def arrive(self, name: Union[str, bytes], parties: int, generation: int = 0, *,
                     ttl: Optional[Duration] = None, timeout: Optional[Duration] = None,
                     token: Optional[str] = None) -> Passage:
        """Waits at a barrier until all parties are there. Without that an error, whose `result` tells."""
        options = recipes.barrier_options(parties, generation, ttl, timeout, token)
        return await self._carry_out("redlock_barrier", lib.redlock_barrier_arrive, name, options,
                                     lib.on_passage_here)

    async def latch_create(self, name: Union[str, bytes], arrivals: int, *, life: Optional[Duration] = None,
                           timeout: Optional[Duration] = None) -> Tally:
        return await self._latch("redlock_latch_create", name, timeout, arrivals=arrivals, life=life)

    async def latch_arrive(self, name: Union[str, bytes], arrival: Optional[str] = None, *,
                           id: Optional[str] = None, timeout: Optional[Duration] = None) -> Tally:
        return await self._latch("redlock_latch_arrive", name, timeout, arrival=arrival, id=id)

    async def latch_wait(self, name: Union[str, bytes], *, id: Optional[str] = None,
                         timeout: Optional[Duration] = None) -> Tally:
        return await self._latch("redlock_latch_await", name, timeout, id=id)

    async def latch_count(self, name: Union[str, bytes], *, id: Optional[str] = None) -> Tally:
        return await self._latch("redlock_latch_count", name, None, id=id)

    async def _latch(self, call: str, name: Union[str, bytes], timeout: Optional[Duration],
                     **more: Any) -> Tally:
        options = recipes.latch_options(timeout, **more)
        code, tally, said = await self._told("redlock_latch", getattr(lib, call), name, options,
                                             lib.on_tally_here)
        return recipes.result_of(code, tally, recipes.of_latch(code) or said)

    async def once(self, name: Union[str, bytes], key: str, work: Callable[[Lease], Awaitable[Any]], *,
                   life: Duration, note: Optional[str] = None, on_event: Optional[Callback] = None,
                   **terms: Unpack[Terms]) -> Done:
        """Awaits work(lease) under the lock, unless that was done for the key before, and records it for
        `life`. If it raises, the next one tries. NotRecordedError: it was done, and may be done again."""
        recipes.check_record(life, note)
        if not callable(work):
            raise TypeError(f"work cannot be called: {work!r}")
        done: Optional[Done] = None
        worked = begun = False
        lease = await self.acquire(name, on_event=on_event, **terms)
        try:
            async with lease:
                found = await lease.once_look(key)
                if found.open:
                    done = recipes.done_of(found.who)
                else:
                    value, worked = await work(lease), True
                    note = recipes.note_of(lease.token) if note is None else note
                    lease.check()
                    begun = True
                    await lease.once_record(key, life, note)
                    done = recipes.done_of(note, True, value)
        except Error as error:
            if worked and not done:
                raise recipes.not_recorded(error, begun) from error
            if not done:
                raise
            recipes.log_end(lease.names, error)
        return done

    async def ask(self, name: Union[str, bytes], text: str = "", *, timeout: Optional[Duration] = None
                  ) -> Optional[Asked]:
        """Asks the holder of the name to let go. None: nobody has it."""
        options = recipes.ask_options(text, timeout)
        return recipes.asked_or_none(*await self._told("redlock_asker", lib.redlock_ask, name, options,
                                                       lib.on_asked_here))

    async def _carry_out(self, kind: str, call: Any, name: Union[str, bytes], options: Any,
                         callback: Any) -> Any:
        return recipes.result_of(*await self._told(kind, call, name, options, callback))

    async def _told(self, kind: str, call: Any, name: Union[str, bytes], options: Any, callback: Any) -> Any:
        """A handle that is freed leaves the barrier, or ends the call at the latch."""
        answer, place = _Answer(self._loop), ffi.new(f"{kind} **")
        self._check(call(self._use(), place, c_string(name), options.at, callback, _register(answer)))
        try:
            return await answer.future
        finally:
            self._free(getattr(lib, f"{kind}_free"), place[0])


class _News:
    """Reports of an observer that its user has not had yet."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[Optional[Leader]] = asyncio.Queue()

    def _hear(self, leader: Leader) -> None:
        self.queue.put_nowait(leader)


def drop_clients() -> None:
    """After a test, whose loop is over: what they hold goes with the masters."""
    for client in list(_clients):
        client._drop()


@atexit.register
def _close_all() -> None:
    """Gives leases back when the interpreter ends, though the loop is over."""
    for client in list(_clients):
        if client._pid == os.getpid() and not _run_out(client):
            print("redlocks: a client was not closed; the masters drop its leases after the ttl",
                  file=sys.stderr)


def _run_out(client: Client) -> bool:
    if not client._is_open() or client._fd < 0:
        return False
    client._begin_close(_PATIENCE)
    until = time.monotonic() + 2 * _PATIENCE
    while client._handle and time.monotonic() < until:
        select.select([client._fd], [], [], _PATIENCE)
        lib.redlock_process(client._handle)
    return not client._handle
