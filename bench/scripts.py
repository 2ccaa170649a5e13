#!/usr/bin/env python3
"""scripts.py - what the scripts cost a master, in two versions by turns.

    bench/scripts.py OLD [NEW] [--server PATH] [--rounds N] [--only WORD]

OLD and NEW are folders like lib/wire/scripts, which is the default of NEW; `git worktree add` makes one of an
earlier commit. Each case is asked 200 times in a pipeline, of one version and the other by turns, on one
server at a socket in a scratch folder. The processor time of the server (/proc/PID/schedstat) is divided by
the number of leases; preparations of a case do not count. The table has the lower quartile of the rounds,
for other work on the machine only adds. Both versions must be called alike: older ones of permits, and
of several grants in one, are not.
"""
import argparse
import hashlib
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CALLS = 200
CALLED = ("grant", "grant_each", "grant_shared", "grant_shared_each", "release", "release_each", "renew",
          "renew_each", "queue", "grant_slot", "release_slot", "renew_slot", "peek")
TTL = 30000
WINDOW = 60000000
TOKEN = "AAAAAAAAAAAAAAAAAAAAAQ:bench"
OTHER = "BBBBBBBBBBBBBBBBBBBBBQ:bench"


def script_text(path):
    """As cmake/EmbedScripts.cmake makes it."""
    text = []
    for line in path.read_text().splitlines():
        line = line.strip()
        if line.startswith("-- uses ") and line.count(" ") == 2:
            text.append(script_text(path.parent / line.split()[2]))
        elif line and not line.startswith("--"):
            text.append(line + "\n")
    return "".join(text)


class Scripts:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def text(self, name):
        return script_text(self.folder / (name + ".lua"))

    def call(self, name, keys, arguments):
        digest = hashlib.sha1(self.text(name).encode()).hexdigest()
        return command("EVALSHA", digest, len(keys), *keys, *arguments)


def command(*words):
    encoded = [str(word).encode() for word in words]
    parts = [b"*%d\r\n" % len(encoded)]
    parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded]
    return b"".join(parts)


class Server:
    def __init__(self, program, folder):
        path = os.path.join(folder, "socket")
        self.process = subprocess.Popen(
            [program, "--port", "0", "--unixsocket", path, "--save", "", "--dir", folder, "--logfile", "log"])
        self.socket = socket.socket(socket.AF_UNIX)
        until = time.monotonic() + 10
        while self.socket.connect_ex(path) != 0:
            if time.monotonic() > until:
                raise SystemExit("scripts.py: the server does not start")
            time.sleep(0.01)
        self.buffer = self.socket.makefile("rb")

    def read(self):
        line = self.buffer.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"$":
            return None if rest == b"-1" else self.buffer.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        if kind == b"-":
            return RuntimeError(rest.decode())
        return int(rest) if kind == b":" else rest

    def ask(self, commands):
        """Their replies; none may be an error."""
        replies = []
        for at in range(0, len(commands), 50):
            part = commands[at:at + 50]
            self.socket.sendall(b"".join(part))
            replies += [self.read() for _ in part]
        for reply in replies:
            for one in reply if isinstance(reply, list) else [reply]:
                if isinstance(one, RuntimeError):
                    raise SystemExit(f"scripts.py: {one}")
        return replies

    def cpu_us(self):
        with open(f"/proc/{self.process.pid}/schedstat") as stat:
            return int(stat.read().split()[0]) / 1000

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


# ---- the cases: a title, the number of leases in a call, what is done before, the call ----

def names(i, n):
    return [f"lock:{i}:{j}" for j in range(n)]


def held(_, i, n, token=TOKEN):
    return [command("SET", name, token, "PX", TTL) for name in names(i, n)]


def free(*_):
    return []


def grant(fenced):
    def call(scripts, i, _):
        proposal = int(time.time() * 1e6) + i if fenced else 0
        return scripts.call("grant", names(i, 1) + ["redlock:clock"], [TOKEN, TTL, proposal, WINDOW])
    return call


def grant_each(fenced):
    def call(scripts, i, n):
        proposal = int(time.time() * 1e6) + i if fenced else 0
        return scripts.call("grant_each", names(i, n) + ["redlock:clock"],
                            [WINDOW, TTL, proposal] + [TOKEN] * n)
    return call


def grant_shared(scripts, i, n):
    proposal, keys = int(time.time() * 1e6) + i, names(i, n) + ["redlock:clock"]
    if n == 1:
        return scripts.call("grant_shared", keys, [TOKEN, TTL, proposal, WINDOW, "s"])
    return scripts.call("grant_shared_each", keys, [WINDOW, TTL, proposal] + [TOKEN] * n)


def held_by_reader(scripts, i, n):
    """Another one, who read first."""
    return [scripts.call("grant_shared", [name, "redlock:clock"], [OTHER, TTL, 0, WINDOW, "s"])
            for name in names(i, n)]


def read(scripts, i, n):
    return [grant_shared(scripts, i, n)]


def read_beside(scripts, i, n):
    return held_by_reader(scripts, i, n) + read(scripts, i, n)


def release(scripts, i, n):
    if n == 1:
        return scripts.call("release", names(i, n), [TOKEN])
    return scripts.call("release_each", names(i, n), [TOKEN] * n)


def renew(scripts, i, n):
    limit = int(time.time() * 1e6) + 60000000
    if n == 1:
        return scripts.call("renew", names(i, n), [TOKEN, TTL, 1, limit])
    return scripts.call("renew_each", names(i, n), [TOKEN, TTL, 1, limit] * n)


def soon(_, i, n):
    """Held, for less than a renewal gives."""
    return [command("SET", name, TOKEN, "PX", TTL // 2) for name in names(i, n)]


def queue(scripts, i, _, life=3000):
    return scripts.call("queue", names(i, 1) + ["redlock:clock"],
                        [TOKEN + str(i), 1000 + i, life, "redlock:channel"])


def held_by_other(scripts, i, n):
    return held(scripts, i, n, OTHER)


def held_and_awaited(scripts, i, n):
    return held_by_other(scripts, i, n) + [queue(scripts, i, 1, TTL)]


def handover(scripts, i, _):
    return scripts.call("release", names(i, 1), [OTHER])


def slots(i, n, j):
    """The j-th slot of each name."""
    return [f"redlock:permit:{j}:{name}" for name in names(i, n)]


def take_permit(fenced, j=0):
    def call(scripts, i, n):
        proposal = int(time.time() * 1e6) + i if fenced else 0
        return scripts.call("grant_slot", slots(i, n, j) + ["redlock:clock"],
                            [WINDOW] + [TOKEN, TTL, proposal, 4] * n)
    return call


def one_permit_out(scripts, i, n):
    return [take_permit(False, j=1)(scripts, i, n)]


def give_permit_back(scripts, i, n):
    return scripts.call("release_slot", slots(i, n, 1), [TOKEN] * n)


def renew_permit(scripts, i, n):
    return scripts.call("renew_slot", slots(i, n, 1), [TOKEN, TTL, 1, int(time.time() * 1e6) + 60000000] * n)


def look(scripts, i, n):
    return scripts.call("peek", names(i, n), [16])


def hello(scripts, _, __):
    return command("EVAL", scripts.text("hello"), 1, "redlock:clock", 60000, 10000, 1000, 0, 0, WINDOW)


def cases():
    for n in (1, 2, 8, 32):
        call = grant(True) if n == 1 else grant_each(True)
        yield f"grant, fenced, {n}", n, free, call
    for n in (1, 8):
        call = grant(False) if n == 1 else grant_each(False)
        yield f"grant, no fence, {n}", n, free, call
    for n in (1, 8):
        call = grant(True) if n == 1 else grant_each(True)
        yield f"grant, refused, {n}", n, held_by_other, call
    for n in (1, 8, 32):
        yield f"read, {n}", n, free, grant_shared
        yield f"read beside another, {n}", n, held_by_reader, grant_shared
    for n in (1, 2, 8, 32):
        yield f"release, {n}", n, held, release
    for n in (1, 8, 32):
        yield f"release of the only reader, {n}", n, read, release
        yield f"release beside another reader, {n}", n, read_beside, release
    for n in (1, 2, 8, 32):
        yield f"renew, {n}", n, soon, renew
    yield "queue, a new place", 1, held_by_other, queue
    yield "queue, a refresh", 1, held_and_awaited, queue
    yield "release, handed over", 1, held_and_awaited, handover
    for n in (1, 8):
        yield f"permit, the first of its name, {n}", n, free, take_permit(False)
        for word, fenced in ("", False), (", fenced", True):
            yield f"permit, a further one{word}, {n}", n, one_permit_out, take_permit(fenced)
        yield f"permit, given back, {n}", n, one_permit_out, give_permit_back
        yield f"permit, renewed, {n}", n, one_permit_out, renew_permit
    yield "look, a free name", 1, free, look
    yield "look, a held name", 1, held, look
    yield "hello", 1, free, hello


def measure(server, scripts, n, before, call):
    server.ask([command("SCRIPT", "LOAD", scripts.text(name)) for name in CALLED])
    server.ask([command("FLUSHDB"), command("HSET", "redlock:clock", "h", int(time.time() * 1e6))])
    prepared = [one for i in range(CALLS) for one in before(scripts, i, n)]
    if prepared:
        server.ask(prepared)
    calls = [call(scripts, i, n) for i in range(CALLS)]
    began = server.cpu_us()
    server.ask(calls)
    return (server.cpu_us() - began) / CALLS / n


def lower_quartile(values):
    return statistics.quantiles(values, n=4)[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old")
    parser.add_argument("new", nargs="?", default=HERE.parent / "lib/wire/scripts")
    parser.add_argument("--server", default=os.environ.get("REDLOCK_SERVER") or "redis-server")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    versions = Scripts(options.old), Scripts(options.new)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(options.server, folder)
        try:
            print("| master CPU, us a lease | old | new | new/old |\n|---|--:|--:|--:|")
            for title, n, before, call in cases():
                if options.only not in title:
                    continue
                told = [[measure(server, scripts, n, before, call) for scripts in versions]
                        for _ in range(options.rounds)]
                old, new = (lower_quartile(column) for column in zip(*told))
                print(f"| {title} | {old:.2f} | {new:.2f} | {new / old:.2f} |", flush=True)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
