"""Masters, and the faults that befall them. A fault is a generator: it strikes, yields how long to
wait, and mends. Other faults go on while it waits."""

import contextlib
import mmap
import os
import random
import re
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

from .process import POLL_S, Process, Trouble, drive, environment, is_frozen, until
from .redis import Connection, RedisError

# Below Linux' ephemeral range, so that no outgoing connection takes the port of a dead master.
PORTS = (10000, 31999)
PORT_TRIES = 50
# As cluster-scripts/cluster has it: links to the folders of those whose masters, dead ones too, have ports.
CLAIMS = Path(os.environ.get("XDG_RUNTIME_DIR") or "/tmp") / f"redlock-ports-{os.getuid()}"
MAXCLIENTS = 600
FLOOD = 20
BALLAST, EVICTED_BYTES = 200, 60_000  # keys of a kilobyte
FILL = """for i = 1, ARGV[1] do
    redis.call('set', 'ballast:' .. i, string.rep('x', 1000), 'ex', 60)
end"""
UNFILL = """for i = 1, ARGV[1] do redis.call('del', 'ballast:' .. i) end"""
LIE = """for _, key in ipairs(redis.call('keys', '*')) do
    if key ~= KEYS[1] then redis.call('del', key) end
end
local time = redis.call('time')
redis.call('hset', KEYS[1], 'h', string.format('%.0f', time[1] * 1000000 + time[2] + ARGV[1]))"""
LIE_S = 0.002
CLOCK_LIES_US = (-3_600_000_000, -1_000_000, 0, 1_000_000, 55_000_000)  # from its wall clock
SOCKET = "redis.sock"
PASSWORD = "password"  # a file beside it
DATA = ("dump.rdb", "appendonlydir", "appendonly.aof")

# Behind the configuration of deploy. No path in it: it is read in the server's own folder. With a save point
# SIGTERM saves; this one is never reached before.
DEPLOYED = Path(__file__).resolve().parents[3] / "deploy" / "redis.conf"
CONFIG = """
aclfile ""
bind {host}
port {port}
protected-mode no
requirepass {password}
unixsocket {socket}
unixsocketperm 700
daemonize no
maxclients {maxclients}
save 2000000000 2000000000
appendonly {append}
appendfsync always
"""
# No path of ours in it, either; of two lines for a port the later one counts.
TLS = """
port 0
tls-port {port}
tls-cert-file {folder}/master.crt
tls-key-file {folder}/master.key
tls-ca-cert-file {folder}/ca.crt
tls-auth-clients no
"""
CERTIFICATES = Path(__file__).resolve().parents[3] / "cluster-scripts" / "certificates"


def make_certificates(folder, hosts):
    folder.mkdir()
    done = subprocess.run([str(CERTIFICATES), str(folder), *hosts], stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, check=False, env=environment())
    if done.returncode:
        raise Trouble(f"openssl makes no certificates: {done.stderr[-500:]}")
    return folder


def server():
    return os.environ.get("REDLOCK_SERVER") or "redis-server"


def server_version():
    try:
        said = subprocess.run([server(), "--version"], stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, check=False, env=environment()).stdout
    except OSError:
        raise Trouble(f"{server()} cannot be run (Debian: apt install redis-server)") from None
    found = re.search(r"v=(\d+)", said)
    return int(found[1]) if found else 0


def free_port(host, folder):
    """A port that others leave alone while there is the folder."""
    CLAIMS.mkdir(exist_ok=True)
    for _ in range(PORT_TRIES):
        port = random.randint(*PORTS)
        claim = CLAIMS / str(port)
        with socket.socket() as probe:
            if not claim.is_dir() and probe.connect_ex((host, port)):
                claim.unlink(missing_ok=True)
                claim.symlink_to(folder)
                return port
    raise Trouble("no free port")


class Server:
    """One redis-server with a folder of its own. `inside` are the words that bring it into its network
    namespace; `tls` is the folder of its certificates if it speaks TLS alone."""

    def __init__(self, name, folder, host="127.0.0.1", inside=(), persist=False, clock=None, tls=None,
                 password=None):
        self.name, self.folder, self.host, self.inside = name, folder, host, tuple(inside)
        self.tls = tls
        self.persist, self.process, self.port = persist, None, 0
        self.restarted = None  # when; by time.monotonic()
        self.clock = clock
        self.password = password or secrets.token_hex(16)
        folder.mkdir(0o700)
        (folder / PASSWORD).touch(0o600)
        (folder / PASSWORD).write_text(self.password, encoding="ascii")

    def configure(self):
        # A namespace of our own has no other listeners.
        self.port = PORTS[0] if self.inside else free_port(self.host, self.folder)
        debug = "enable-debug-command yes\n" if server_version() >= 7 else ""
        (self.folder / "redis.conf").write_text(DEPLOYED.read_text(encoding="ascii") + CONFIG.format(
            host=self.host, port=self.port, password=self.password, socket=SOCKET,
            maxclients=MAXCLIENTS, append="yes" if self.persist else "no") + debug + self.tls_lines(),
            encoding="ascii")

    def tls_lines(self):
        return TLS.format(port=self.port, folder=os.path.relpath(self.tls, self.folder)) if self.tls else ""

    def address(self):
        """The part of a URI after redis://; for environments, as every user can see arguments."""
        return f":{self.password}@{self.host}:{self.port}"

    def uri(self):
        if self.tls:
            return f"rediss://{self.address()}?ca={quote(str(self.tls))}/ca.crt"
        return f"redis://{self.address()}"

    def first_start(self):
        """Another process may take a port between our look at it and Redis' bind."""
        for _ in range(PORT_TRIES):
            self.configure()
            self.launch()
            drive(until(lambda: self.answers() or self.is_dead(), f"{self.name} does not answer"))
            if not self.is_dead():
                return
            if "already in use" not in self.log_text():
                break
        raise Trouble(f"{self.name} ends at once: {self.log_text()[-500:]}")

    def log_text(self):
        return (self.folder / "log").read_text(encoding="ascii", errors="replace")

    def launch(self):
        with contextlib.suppress(FileNotFoundError):
            (self.folder / SOCKET).unlink()
        self.process = Process(self.name, [*self.inside, server(), "redis.conf"], self.folder / "log",
                               cwd=self.folder,
                               env=environment(**(self.clock.environment() if self.clock else {})))

    def start(self):
        """Steps until the master answers. Its disk is loaded then; the next start finds only what a
        later fault saves."""
        self.launch()
        self.restarted = time.monotonic()
        yield from until(lambda: self.answers() or self.is_dead(), f"{self.name} does not answer")
        if self.is_dead():
            raise Trouble(f"{self.name} does not restart: {self.log_text()[-500:]}")
        if not self.persist:
            self.delete_data()

    def is_dead(self):
        return self.process is None or self.process.status() is not None

    def is_up(self):
        return not self.is_dead() and not is_frozen(self.process.child.pid)

    def is_young(self, seconds):
        return self.restarted is not None and time.monotonic() < self.restarted + seconds

    def connect(self, timeout=5.0):
        # A short path, wherever the folder is: a socket's may have 107 bytes.
        folder = os.open(self.folder, os.O_PATH)
        try:
            return Connection(f"/proc/self/fd/{folder}/{SOCKET}", timeout, self.password)
        finally:
            os.close(folder)

    def answers(self):
        try:
            with self.connect(1.0) as connection:
                return connection.do("PING") == "PONG"
        except (OSError, RedisError):
            return False

    def keys(self, pattern):
        """None: it does not answer."""
        try:
            with self.connect(1.0) as connection:
                return connection.do("KEYS", pattern)
        except (OSError, RedisError):
            return None

    def delete_data(self):
        for name in DATA:
            path = self.folder / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def save(self):
        """Keeps a snapshot for later; none while it is down."""
        if not self.is_up():
            return
        kept = self.folder / "kept"
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir()
        if not self.persist:
            with self.connect() as connection:
                connection.do("SAVE")
        for name in DATA:
            path = self.folder / name
            if path.is_dir():
                shutil.copytree(path, kept / name)
            elif path.exists():
                shutil.copy(path, kept / name)
        if not self.persist:
            self.delete_data()

    def roll_back(self):
        self.delete_data()
        kept = self.folder / "kept"
        if kept.is_dir():
            shutil.copytree(kept, self.folder, dirs_exist_ok=True)


class Clock:
    """The wall clock of one master, off by what a file says, which the master has mapped."""

    def __init__(self, library, path):
        self.library, self.path = library, path
        path.write_bytes(struct.pack("q", 0))

    def environment(self):
        return {"LD_PRELOAD": str(self.library), "WALL_CLOCK_FILE": str(self.path)}

    def set(self, seconds):
        with open(self.path, "r+b") as file, mmap.mmap(file.fileno(), 8) as mapped:
            mapped[:8] = struct.pack("q", seconds)


# ---- faults ---------------------------------------------------------------------------------


def dies(master, fault, meanwhile=lambda: None):
    master.process.kill()
    meanwhile()
    yield fault.lasts
    yield from master.start()


def emptied(master, fault):
    return dies(master, fault, master.delete_data)


def rolled_back(master, fault):
    return dies(master, fault, master.roll_back)


def terminated(master, fault):
    master.process.signal(signal.SIGTERM)
    yield from master.process.ended()
    yield fault.lasts
    yield from master.start()


def frozen(master, fault):
    yield from master.process.stop()
    yield fault.lasts
    master.process.resume()


def asleep(master, fault):
    with master.connect() as connection:
        connection.send("DEBUG", "SLEEP", f"{fault.lasts:.3f}")
        yield from until(connection.look, f"{master.name} does not wake up")


def slow_script(master, fault):
    """Silent for the first half, then it answers that it is busy, until the script is killed."""
    with master.connect() as control, master.connect() as connection:
        usual = control.do("CONFIG", "GET", "lua-time-limit")[1]
        control.do("CONFIG", "SET", "lua-time-limit", max(1, int(fault.lasts * 500)))
        connection.send("EVAL", "while true do end", 0)
        yield fault.lasts
        control.send("SCRIPT", "KILL")
        yield from until(connection.look, f"{master.name} does not end a script")
        control.answer()
        control.do("CONFIG", "SET", "lua-time-limit", usual)


def ordered(*commands):
    """A fault of one moment: the master gets these commands."""
    def fault(master, _fault):
        with master.connect() as connection:
            for command in commands:
                connection.do(*command.split())
        yield 0
    return fault


def memory_used(connection):
    return int(re.search(r"used_memory:(\d+)", connection.do("INFO", "memory"))[1])


def out_of_memory(connection, fault, policy, most):
    connection.do("CONFIG", "SET", "maxmemory-policy", policy)
    connection.do("CONFIG", "SET", "maxmemory", most)
    yield fault.lasts
    connection.do("CONFIG", "SET", "maxmemory", 0)
    connection.do("CONFIG", "SET", "maxmemory-policy", "noeviction")


def full(master, fault):
    with master.connect() as connection:
        yield from out_of_memory(connection, fault, "noeviction", memory_used(connection) // 2)


def evicting(master, fault):
    """Our keys are few and small: of those that fill the memory with them, some are evicted, not
    all."""
    with master.connect() as connection:
        connection.do("EVAL", FILL, 0, BALLAST)
        yield from out_of_memory(connection, fault, "allkeys-random",
                                 memory_used(connection) - EVICTED_BYTES)
        connection.do("EVAL", UNFILL, 0, BALLAST)


def lying(master, fault):
    """The master grants again what it has granted, forgets all waiters, and lies about its logical
    clock, as if no request had come. When it is honest again it knows no clock."""
    end = time.monotonic() + fault.lasts
    with master.connect() as connection:
        while time.monotonic() < end:
            connection.do("EVAL", LIE, 1, "redlock:clock", random.choice(CLOCK_LIES_US))
            yield LIE_S
        connection.do("DEL", "redlock:clock")


def crowded(master, fault):
    """The flood comes over the Unix socket, as our own connection does, up to the limit: all others
    are closed, and cannot connect again."""
    with contextlib.ExitStack() as stack:
        control = stack.enter_context(master.connect())
        for _ in range(FLOOD):
            stack.enter_context(master.connect(1.0)).do("PING")
        clients = [dict(word.partition("=")[::2] for word in line.split(" "))
                   for line in control.do("CLIENT", "LIST").splitlines()]
        others = [it["id"] for it in clients if SOCKET not in it["addr"]]
        control.do("CONFIG", "SET", "maxclients", len(clients) - len(others))
        for client in others:
            with contextlib.suppress(RedisError):
                control.do("CLIENT", "KILL", "ID", client)
        yield fault.lasts
        control.do("CONFIG", "SET", "maxclients", MAXCLIENTS)


def clock_stepped(master, fault):
    master.clock.set(fault.detail)
    yield fault.lasts
    master.clock.set(0)
    yield POLL_S


FAULTS = {"crashed": dies, "emptied": emptied, "rolled-back": rolled_back,
          "terminated": terminated, "frozen": frozen, "asleep": asleep,
          "slow-script": slow_script, "flushed": ordered("SCRIPT FLUSH"),
          "disconnected": ordered("CLIENT KILL TYPE normal SKIPME yes", "CLIENT KILL TYPE pubsub"),
          "full": full, "evicting": evicting, "wiped": ordered("FLUSHALL"), "lying": lying,
          "crowded": crowded, "clock-stepped": clock_stepped}
