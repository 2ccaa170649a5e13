"""Clients and leases for threads that wait."""

from __future__ import annotations

import atexit
import itertools
import os
import sys
import threading
import time
import warnings
import weakref
from types import TracebackType
from typing import Any, Callable, Optional, Self, Union, Unpack

from . import recipes
from ._library import Time, address, ffi, lib, text
from .errors import Code, Error, HeldError, LostError, error_of
from .events import (Asked, Callback, Done, Leader, Passage, Tally, asked_of, callable_of, callback_of,
                     event_of, passage_of, tally_of)
from .terms import (FOREVER, Duration, Name, Names, Options, Struct, Terms, c_string, client_options,
                    lease_options, ms, ms_or_zero, string)

_clients: weakref.WeakSet[Client] = weakref.WeakSet()
_numbers = itertools.count(1)
_SLICE_MS = 50  # a signal of Python waits no longer
_PATIENCE = 1.0
_AGES = 1e9  # seconds


def may_be_interrupted() -> bool:
    return not Time.is_virtual and threading.current_thread() is threading.main_thread()


def _result() -> Any:
    return ffi.new("redlock_sync_result *", {"size": ffi.sizeof("redlock_sync_result")})


def _check(code: int, result: Any) -> None:
    if code:
        raise error_of(code, text(result.text), text(result.votes))


class _Held:
    """The library's part of a lease. The collector may end it before a __del__ that uses the lease: then it
    is NULL."""

    def __init__(self, made: Any, kept: object) -> None:
        self._kept, self._was_valid = kept, False
        self.at, self.lease = made, ffi.NULL

    def was_valid(self) -> bool:
        return self._was_valid or lib.redlock_sync_lease_valid_for(self.lease) > 0

    def loss(self) -> int:
        return lib.held_loss(self.at) if self.at else Code.OK

    def __del__(self) -> None:
        self.end()

    def end(self) -> None:
        """The library may read what was kept until it has the handle back."""
        self._was_valid = self.was_valid()
        self.lease, (at, self.at) = ffi.NULL, (self.at, ffi.NULL)
        if at:
            lib.held_free(at)


class Lease:
    """A lease that this process has. `with lease:` gives it back at the end; so does lease.release()."""

    def __init__(self, client: Client, held: _Held, names: tuple[Name, ...], ear: Optional[_Ear]) -> None:
        self._client, self._held, self.names, self._ear = client, held, names, ear
        self._pid = os.getpid()
        self._released = False

    @property
    def valid_for(self) -> float:
        """Seconds left, rounded down to milliseconds; 0: not held. Look before each step."""
        return lib.redlock_sync_lease_valid_for(self._held.lease) / 1000

    @property
    def exclusive_for(self) -> float:
        """Likewise, but 0 while a name is shared."""
        return lib.redlock_sync_lease_exclusive_for(self._held.lease) / 1000

    @property
    def valid(self) -> bool:
        return lib.redlock_sync_lease_valid_for(self._held.lease) > 0

    @property
    def fence(self) -> int:
        """The number that the resource should check; 0: not asked for."""
        return lib.redlock_sync_lease_fence(self._held.lease)

    @property
    def slot(self) -> int:
        """Which permit it is, from 0; -1: none."""
        return lib.redlock_sync_lease_slot(self._held.lease)

    @property
    def token(self) -> str:
        return text(lib.redlock_sync_lease_token(self._held.lease))

    def check(self, needed: Duration = 0) -> None:
        """Raises LostError unless the lease is valid for more than `needed`."""
        if lib.redlock_sync_lease_valid_for(self._held.lease) <= ms(needed):
            raise self._loss()

    def _loss(self, otherwise: int = Code.E_EXPIRED) -> LostError:
        code = self._held.loss() or otherwise
        return LostError(code, f"the lease on {self.names} has too little time left, or is over: "
                         + text(lib.redlock_code_text(code)))

    def extend(self, ttl: Optional[Duration] = None) -> None:
        """Renews it now; from now on for another ttl, if one is given."""
        self._call(lib.redlock_sync_lease_extend, 0 if ttl is None else ms_or_zero(ttl))

    def downgrade(self) -> None:
        """From a writer to a reader."""
        self._call(lib.redlock_sync_lease_downgrade)

    def upgrade(self) -> None:
        """From the only reader to the writer, with a new fence; HeldError: others read."""
        self._call(lib.redlock_sync_lease_upgrade)

    def announce(self, value: Union[str, bytes]) -> None:
        """As a leader: waits until a quorum has the value."""
        chars, size = string(value)
        self._call(lib.redlock_sync_lease_announce, chars, size)

    def once_look(self, key: str) -> Tally:
        """Whether the work of this name was done for the key: `open`, and `who` has the note."""
        return self._once(lib.redlock_sync_once_look, recipes.once_options(key))

    def once_record(self, key: str, life: Duration, note: Optional[str] = None) -> Tally:
        """Records that it was done. An error has a `result`, which may be undecided."""
        note = recipes.note_of(self.token) if note is None else note
        return self._once(lib.redlock_sync_once_record, recipes.once_options(key, life, note))

    def _once(self, function: Any, options: Struct) -> Tally:
        told, result = Struct("redlock_latch_result").at, _result()
        code = function(self._held.lease, options.at, told, result)
        found: Tally = recipes.result_of(code, tally_of(told), text(result.text))
        return found

    def release(self) -> None:
        """Gives it back, and waits until the masters have it. LostError: it was over before."""
        self._released = True
        self._call(lib.redlock_sync_lease_release)

    def _call(self, function: Any, *arguments: Any) -> None:
        result = _result()
        _check(function(self._held.lease, *arguments, result), result)

    def __enter__(self) -> Self:
        self.check()
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if not self._released:
            self._end(error)

    def _end(self, error: Optional[BaseException]) -> None:
        """An error of the block goes on; a loss is one, where there is none."""
        was_valid = self.valid
        try:
            self.release()
        except Error as other:
            if error is None and isinstance(other, LostError):
                raise self._loss(other.code) from other
            if error is None and not was_valid:
                raise
            recipes.log_end(self.names, other)

    def __del__(self) -> None:
        if not getattr(self, "_released", True) and self._pid == os.getpid() and self._held.was_valid():
            warnings.warn(f"the lease on {self.names} was not given back; it is now", ResourceWarning,
                          source=self)


class Lock:
    """Names and terms: each `with lock as lease:` acquires, and gives back. Threads may share it."""

    def __init__(self, client: Client, names: tuple[Name, ...], terms: dict[str, Any]) -> None:
        self._client, self._names, self._terms = client, names, terms
        self._entered: dict[threading.Thread, list[Lease]] = {}

    def acquire(self) -> Lease:
        return self._client.acquire(*self._names, **self._terms)

    def __enter__(self) -> Lease:
        lease = self.acquire()
        try:
            leases = self._entered.setdefault(threading.current_thread(), [])
        except BaseException as error:  # of a signal
            lease.__exit__(type(error), error, None)
            raise
        leases += (lease,)
        return lease

    def __exit__(self, *error: Any) -> None:
        lease: Lease = recipes.take_entered(self._entered, threading.current_thread())
        lease.__exit__(*error)


class Client:
    """A client for threads that wait. Any thread may use it. Without `nodes` the environment has the masters:
    REDLOCK_NODES."""

    def __init__(self, nodes: Optional[str] = None, **options: Unpack[Options]) -> None:
        asked = client_options(nodes, dict(options))
        handle, why = ffi.new("redlock_sync **"), ffi.new("char[512]")
        code = lib.redlock_sync_open(handle, asked.at, why, len(why))
        if code:
            raise error_of(code, text(why))
        self._handle = handle[0]
        self._pid, self._closed = os.getpid(), False
        self._ears: Optional[_Ears] = None
        self._beginning = threading.RLock()  # a handler of signals may close
        _clients.add(self)

    # ---- the client ----

    def ready(self, timeout: Duration = 10) -> None:
        """Waits until each master was reached or tried in vain. UnavailableError: no quorum can vote."""
        why = ffi.new("char[4096]")
        code = lib.redlock_sync_ready(self._handle, ms(timeout), why, len(why))
        if code:
            raise error_of(code, text(why))

    def metrics(self) -> str:
        """OpenMetrics text."""
        found = lib.metrics_of(self._handle)
        if not found:
            raise error_of(Code.E_CLOSED)
        try:
            return text(found)
        finally:
            lib.text_free(found)

    def close(self, patience: Duration = _PATIENCE) -> int:
        """Gives all leases back, and waits for the masters. Returns the number of releases still owed."""
        waits = ms(patience)
        if self._pid != os.getpid():  # another thread of the parent may have had the lock
            return 0
        with self._beginning:
            self._closed, ears, self._ears = True, self._ears, None
        left: int = lib.redlock_sync_close(self._handle, waits)
        if ears:
            ears.close()
        return left

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __del__(self) -> None:
        """Others that the collector ends may still ask the client: it is NULL then, which the library
        refuses."""
        if hasattr(self, "_beginning"):
            if not self._closed and self._pid == os.getpid():
                self.close()
            handle, self._handle = self._handle, ffi.NULL
            lib.redlock_sync_free(handle)

    # ---- leases ----

    def lock(self, *names: Name, on_event: Optional[Callback] = None, **terms: Unpack[Terms]) -> Lock:
        """For `with`: the names, all or none."""
        return Lock(self, names, {"on_event": on_event, **terms})

    def acquire(self, *names: Name, on_event: Optional[Callback] = None, **terms: Unpack[Terms]) -> Lease:
        """Raises HeldError if another holder has a name, after `wait`; UnavailableError without a quorum."""
        asked, called = lease_options(dict(terms)), Names(names)
        number, callback = next(_numbers), callback_of(on_event)
        ear = _Ear(callback) if callback else None
        box = self._listen(number, ear) if ear else ffi.NULL
        made = lib.held_new(self._handle, box, number)
        if not made:
            raise MemoryError
        held = _Held(made, (asked, called))
        try:
            waits = asked.at.wait_ms and may_be_interrupted()
            if waits and lib.held_begin(made, called.at, called.count, asked.at):
                _wait(made, lib.held_wait)
                code = made.result.code
            else:
                code = lib.held_acquire(made, called.at, called.count, asked.at)
            held.lease = made.lease
            _check(code, made.result)
            return Lease(self, held, names, ear)
        except BaseException:  # a signal may have come when it was granted
            held.end()
            raise

    def try_acquire(self, *names: Name, on_event: Optional[Callback] = None,
                    **terms: Unpack[Terms]) -> Optional[Lease]:
        """None if another holder has a name."""
        try:
            return self.acquire(*names, on_event=on_event, **terms)
        except HeldError:
            return None

    def _listen(self, number: int, ear: _Ear) -> Any:
        if self._pid != os.getpid():
            raise error_of(Code.E_FORKED)
        with self._beginning:
            if self._closed:
                raise error_of(Code.E_CLOSED)
            self._ears = self._ears or _Ears()
            return self._ears.listen(number, ear)

    # ---- recipes ----

    def lead(self, name: Union[str, bytes], value: Union[str, bytes, None] = None, *,
             timeout: Optional[Duration] = None, on_event: Optional[Callback] = None,
             **terms: Unpack[Terms]) -> Lease:
        """Waits until this thread leads, and announces the value. The fence of the lease is the term."""
        terms = recipes.terms_of_leader(terms, timeout)
        lease = self.acquire(name, on_event=on_event, **terms)
        try:
            if value is not None:
                lease.announce(value)
        except BaseException as error:
            lease.__exit__(type(error), error, None)
            raise
        return lease

    def leader(self, name: Union[str, bytes]) -> Leader:
        """The leader that is announced now."""
        return recipes.read_leader(lib.redlock_sync_leader_get, self._handle, c_string(name))

    def next_leader(self, name: Union[str, bytes], after_term: int = 0,
                    timeout: Optional[Duration] = None) -> Leader:
        """Waits for a leader with a term above that one; UnavailableError: not in time."""
        until = time.monotonic() + min(ms(FOREVER if timeout is None else timeout) / 1000, _AGES)
        while True:
            left = max(0, round((until - time.monotonic()) * 1000))
            part = min(left, recipes.TURN_MS) if may_be_interrupted() else left
            try:
                return recipes.read_leader(lib.redlock_sync_leader_next, self._handle, c_string(name),
                                           after_term, part or -1)
            except Error as error:
                if error.code != Code.E_UNAVAILABLE or part == left:
                    raise

    def arrive(self, name: Union[str, bytes], parties: int, generation: int = 0, *,
               ttl: Optional[Duration] = None, timeout: Optional[Duration] = None,
               token: Optional[str] = None) -> Passage:
        """Waits at a barrier until all parties are there. Without that an error, whose `result` tells."""
        options = recipes.barrier_options(parties, generation, ttl, timeout, token)
        return recipes.result_of(*self._carry_out(
            "passage", "redlock_barrier_result", passage_of, lib.redlock_sync_barrier_arrive, lib.task_arrive,
            c_string(name), options.at))

    def latch_create(self, name: Union[str, bytes], arrivals: int, *, life: Optional[Duration] = None,
                     timeout: Optional[Duration] = None) -> Tally:
        return self._latch("redlock_latch_create", name, timeout, arrivals=arrivals, life=life)

    def latch_arrive(self, name: Union[str, bytes], arrival: Optional[str] = None, *,
                     id: Optional[str] = None, timeout: Optional[Duration] = None) -> Tally:
        return self._latch("redlock_latch_arrive", name, timeout, arrival=arrival, id=id)

    def latch_wait(self, name: Union[str, bytes], *, id: Optional[str] = None,
                   timeout: Optional[Duration] = None) -> Tally:
        return self._latch("redlock_latch_await", name, timeout, id=id)

    def latch_count(self, name: Union[str, bytes], *, id: Optional[str] = None) -> Tally:
        return self._latch("redlock_latch_count", name, None, id=id)

    def _latch(self, call: str, name: Union[str, bytes], timeout: Optional[Duration], **more: Any) -> Tally:
        options = recipes.latch_options(timeout, **more)
        code, tally, said = self._carry_out(
            "tally", "redlock_latch_result", tally_of,
            getattr(lib, call.replace("redlock_", "redlock_sync_")),
            lambda task, *asked: lib.task_latch(task, address(call), *asked), c_string(name), options.at)
        return recipes.result_of(code, tally, recipes.of_latch(code) or said)

    def once(self, name: Union[str, bytes], key: str, work: Callable[[Lease], Any], *, life: Duration,
             note: Optional[str] = None, on_event: Optional[Callback] = None, **terms: Unpack[Terms]) -> Done:
        """Calls work(lease) under the lock, unless that was done for the key before, and records it for
        `life`. If it raises, the next one tries. NotRecordedError: it was done, and may be done again."""
        recipes.check_record(life, note)
        callable_of(work, "work")
        lease = self.acquire(name, on_event=on_event, **terms)
        try:
            found = lease.once_look(key)
            done = recipes.done_of(found.who) if found.open else self._work(lease, key, work, life, note)
        except BaseException as error:
            lease.__exit__(type(error), error, None)
            raise
        try:
            lease.release()
        except Error as other:  # all that needed it is done
            recipes.log_end(lease.names, other)
        return done

    @staticmethod
    def _work(lease: Lease, key: str, work: Callable[[Lease], Any], life: Duration,
              note: Optional[str]) -> Done:
        value = recipes.do_work(work, lease)
        note = recipes.note_of(lease.token) if note is None else note
        begun = False
        try:
            lease.check()
            begun = True
            lease.once_record(key, life, note)
        except Error as error:
            raise recipes.not_recorded(error, begun) from error
        return recipes.done_of(note, True, value)

    def ask(self, name: Union[str, bytes], text: str = "", *, timeout: Optional[Duration] = None
            ) -> Optional[Asked]:
        """Asks the holder of the name to let go. None: nobody has it."""
        options = recipes.ask_options(text, timeout)
        return recipes.asked_or_none(*self._carry_out(
            "asked", "redlock_asked", asked_of, lib.redlock_sync_ask, lib.task_ask,
            c_string(name), options.at))

    def _carry_out(self, field: str, struct: str, read: Callable[[Any], Any], call: Any, begin: Any,
                   *asked: Any) -> tuple[int, Any, str]:
        """The code, the outcome, and a text: of the call, or of a task where signals may come."""
        if not may_be_interrupted():
            told, result = Struct(struct).at, _result()
            code = call(self._handle, *asked, told, result)
            return code, read(told), text(result.text)
        made = lib.task_new(self._handle)
        if not made:
            raise MemoryError
        task = ffi.gc(made, lib.task_free)
        try:
            if refused := begin(task, *asked):
                raise error_of(refused)
            _wait(task, lib.task_wait)
        except BaseException:  # whoever keeps the traceback
            ffi.release(task)
            raise
        return task.code, read(getattr(task, field)), text(task.text)


def _wait(handle: Any, function: Any) -> None:
    """Signals come between two slices. If one raises, the caller ends the call."""
    while not function(handle, _SLICE_MS):
        pass


class _Ear:
    """A callback, which lives as long as its lease: it may refer to that."""

    def __init__(self, callback: Callback) -> None:
        self.callback = callback


class _Ears:
    """The thread that calls the callbacks of leases. Those run one after the other; a busy or blocked one
    holds up no renewal."""

    def __init__(self) -> None:
        self._ears: weakref.WeakValueDictionary[int, _Ear] = weakref.WeakValueDictionary()
        self._box = ffi.gc(lib.inbox_new(), lib.inbox_drop)
        self._thread = threading.Thread(target=self._run, name="redlocks", daemon=True)
        self._thread.start()

    def listen(self, number: int, ear: _Ear) -> Any:
        self._ears[number] = ear
        return self._box

    def _run(self) -> None:
        while letter := lib.inbox_take(self._box):
            try:
                event = event_of(letter.event)
                ear = self._ears.get(letter.lease)
            finally:
                lib.letter_free(letter)
            if ear:
                _call(ear.callback, event)
            del ear  # the next letter may come late

    def close(self) -> None:
        lib.inbox_close(self._box)
        if self._thread is not threading.current_thread():
            self._thread.join(_PATIENCE)


def _call(callback: Callback, event: Any) -> None:
    """The thread goes on, whatever it raises, sys.exit() too: others must hear of their loss."""
    try:
        callback(event)
    except BaseException:
        try:
            sys.excepthook(*sys.exc_info())
        except BaseException:
            sys.__excepthook__(*sys.exc_info())


@atexit.register
def _close_all() -> None:
    """Gives leases back when the interpreter ends."""
    for client in list(_clients):
        if not client._closed and client._pid == os.getpid():
            left = client.close()
            if left:
                print(f"redlocks: {left} releases were not answered;",
                      "the masters drop the names after the ttl", file=sys.stderr)
