#!/usr/bin/env python3
"""Pairs of acquire and release of names that nobody else wants, beside other locks of Python.

    REDLOCK_NODES=redis://... PYTHONPATH=build/python /usr/bin/python3 bench/python_locks.py [ROUNDS]

A round takes a second of each entrant, by turns. It prints medians, with half the distance of the quartiles.
Entrants that are not installed are left out: redis (one server, the first), redlock (redlock-py), pottery."""

import asyncio
import importlib
import os
import statistics
import sys
import threading
import time

import redlocks
import redlocks.aio

SLICE = 1.0
NODES = os.environ["REDLOCK_NODES"].replace(",", " ").split()


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


redis, redlock_py, pottery = map(optional, ("redis", "redlock", "pottery"))

# ---- one thread, and several ----


def of_redlocks(client, **terms):
    def acquire(name):
        return client.acquire(name, ttl=10, **terms).release
    return acquire


def of_redis(server):
    def acquire(name):
        lock = server.lock(name, timeout=10)
        assert lock.acquire()
        return lock.release
    return acquire


def of_redlock_py(manager):
    def acquire(name):
        lock = manager.lock(name, 10000)
        assert lock
        return lambda: manager.unlock(lock)
    return acquire


def of_pottery(masters):
    def acquire(name):
        lock = pottery.Redlock(key=name, masters=masters, auto_release_time=10)
        assert lock.acquire()
        return lock.release
    return acquire


def pairs_of(acquire, name, until, took):
    while time.perf_counter() < until:
        began = time.perf_counter()
        release = acquire(name)
        took.append(time.perf_counter() - began)
        release()


def in_threads(acquire, count):
    took, until = [], time.perf_counter() + SLICE
    if count == 1:  # the main thread, which hears of Ctrl-C
        pairs_of(acquire, "bench-0", until, took)
        return took
    threads = [threading.Thread(target=pairs_of, args=(acquire, f"bench-{i}", until, took))
               for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return took

# ---- asyncio ----


async def pairs_on_loop(make, count):
    took, until = [], time.perf_counter() + SLICE

    async def work(name):
        while time.perf_counter() < until:
            began = time.perf_counter()
            lock = await make(name)
            took.append(time.perf_counter() - began)
            await lock.release()
    await asyncio.gather(*(work(f"bench-{i}") for i in range(count)))
    return took


async def loop_of_redlocks(count):
    async with redlocks.aio.Client() as client:
        await client.ready()
        return await pairs_on_loop(lambda name: client.acquire(name, ttl=10), count)


async def loop_of_redis(count):
    from redis.asyncio import Redis
    async with Redis.from_url(NODES[0]) as server:
        async def make(name):
            lock = server.lock(name, timeout=10)
            assert await lock.acquire()
            return lock
        await server.ping()
        return await pairs_on_loop(make, count)


async def loop_of_pottery(count):
    from redis.asyncio import Redis
    masters = [Redis.from_url(node) for node in NODES]

    async def make(name):
        lock = pottery.AIORedlock(key=name, masters=masters, auto_release_time=10)
        assert await lock.acquire()
        return lock
    try:
        return await pairs_on_loop(make, count)
    finally:
        await asyncio.gather(*(master.close() for master in masters))


def entrants():
    client = redlocks.Client()
    client.ready()
    servers = [redis.Redis.from_url(node) for node in NODES] if redis else []
    threads = {"redlocks": of_redlocks(client), "redlocks, fenced": of_redlocks(client, fence=True),
               "redlocks, may wait": of_redlocks(client, wait=10)}
    loops = {"redlocks": loop_of_redlocks}
    if redis:
        threads["redis-py Lock, one server"] = of_redis(servers[0])
        loops["redis-py Lock, one server"] = loop_of_redis
    if redis and redlock_py:
        threads["redlock-py"] = of_redlock_py(redlock_py.Redlock(servers))
    if redis and pottery:
        threads["pottery Redlock"] = of_pottery(servers)
        loops["pottery Redlock"] = loop_of_pottery
    for name, acquire in threads.items():
        for count in (1, 8):
            yield f"threads, c = {count}: {name}", lambda a=acquire, c=count: in_threads(a, c)
    for name, run in loops.items():
        for count in (1, 64):
            yield f"asyncio, c = {count}: {name}", lambda r=run, c=count: asyncio.run(r(c))


def with_spread(values, digits=0):
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:,.{digits}f} ±{50 * (high - low) / middle:.0f} %"


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    everybody = dict(entrants())
    p50, rate = {name: [] for name in everybody}, {name: [] for name in everybody}
    for _ in range(rounds):
        for name, run in everybody.items():
            began = time.perf_counter()
            took = run()
            p50[name].append(statistics.median(took) * 1e6)
            rate[name].append(len(took) / (time.perf_counter() - began))
    print(f"{'':45} {'acquire p50, us':>20} {'pairs/s':>20}")
    for name in everybody:
        print(f"{name:45} {with_spread(p50[name]):>20} {with_spread(rate[name]):>20}")


main()
