#!/usr/bin/env python3
"""Ten steps of work under a lock, on asyncio, by ctypes.  The masters: REDLOCK_NODES."""
import asyncio
import ctypes
import os
import sys

lib = ctypes.CDLL(os.environ.get("REDLOCK_LIBRARY", "libredlock.so.0"))
P, S = ctypes.c_void_p, ctypes.c_char_p
lib.redlock_open.argtypes = [ctypes.POINTER(P), P, P, S, ctypes.c_size_t]
lib.redlock_acquire.argtypes = [P, ctypes.POINTER(P), S, P, P, P]
lib.redlock_event_name.restype = S
lib.redlock_lease_valid_for.restype = ctypes.c_int64
CALLBACK = ctypes.CFUNCTYPE(None, P, ctypes.POINTER(ctypes.c_int), P)


class Lease:
    """Waits for the outcomes of one lease: acquired, released and the others."""
    def __init__(self, client, name):
        self.handle, self.told = P(), asyncio.Queue()
        self.callback = CALLBACK(self.on_event)  # kept for as long as the library may call it
        if lib.redlock_acquire(client, ctypes.byref(self.handle), name, None, self.callback, None):
            raise OSError("redlock_acquire")

    def on_event(self, lease, event, data):
        self.told.put_nowait(lib.redlock_event_name(event[0]).decode())  # the kind comes first

    async def wait_for(self, *kinds):
        while (kind := await self.told.get()) not in kinds:
            print(kind)
        print(kind)
        return kind


async def work(client):
    steps, lease = 10, Lease(client, b"ten-steps")
    if await lease.wait_for("acquired", "not acquired") == "acquired":
        # One step takes less than 200 ms: none is begun with less validity than that.
        while steps and (valid := lib.redlock_lease_valid_for(lease.handle)) > 200:
            print(f"{steps} to go, valid for {valid} ms")
            steps -= 1
            await asyncio.sleep(0.1)
        lib.redlock_lease_release(lease.handle)
        await lease.wait_for("released")
    lib.redlock_lease_free(lease.handle)
    return steps > 0


async def main():
    client, why = P(), ctypes.create_string_buffer(256)
    if lib.redlock_open(ctypes.byref(client), None, None, why, len(why)):
        sys.exit(why.value.decode())
    loop = asyncio.get_running_loop()
    loop.add_reader(lib.redlock_fd(client), lib.redlock_process, client)
    failed = await work(client)
    loop.remove_reader(lib.redlock_fd(client))
    lib.redlock_free(client)
    sys.exit(failed)

asyncio.run(main())
