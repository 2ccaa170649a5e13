"""One redis-server with deploy/redis.conf, and with lines that cluster-scripts/cluster does not write."""

import os
import random
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import redis_cli
from harness import DEADLINE, DEPLOY, environment, until

SERVER = os.environ.get("REDLOCK_SERVER") or os.environ.get("REDIS_SERVER") or "redis-server"
BIND_TRIES = 20
# As cluster-scripts/cluster has it: links to the clusters whose masters, if only dead ones, have the ports.
CLAIMS = Path(os.environ.get("XDG_RUNTIME_DIR") or "/tmp") / f"redlock-ports-{os.getuid()}"
ACL = DEPLOY / "users.acl"


def free_port():
    """Perhaps; below Linux' ephemeral range, and no dead master's."""
    while True:
        port = random.randrange(10000, 32000)
        if not (CLAIMS / str(port)).is_dir():
            return port


class Server:
    """Runs until stop().  `login` is for redis-cli: a user or none, and a password, each behind its option.
    The test decides what the user may do."""

    def __init__(self, *lines, login=(), arguments=()):
        self.dir = Path(tempfile.mkdtemp(prefix="redlock-server-"))
        self.login = login
        for _ in range(BIND_TRIES):
            self.port = free_port()
            self._start(lines, arguments)
            if until(self._is_up_or_dead, "the server is up") == "up":
                return
        log = (self.dir / "log").read_text()
        self.stop()
        raise AssertionError(log)

    def _start(self, lines, arguments):
        conf = self.dir / "redis.conf"
        conf.write_text("\n".join([(DEPLOY / "redis.conf").read_text(), 'aclfile ""', "appendonly no",
                                   "bind 127.0.0.1", f"port {self.port}", "unixsocket cli.sock", *lines, ""]))
        self._launch([SERVER, "redis.conf", *arguments])

    def _launch(self, command):
        with open(self.dir / "log", "ab") as log:
            self.process = subprocess.Popen(command, cwd=self.dir, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=environment())

    def _is_up_or_dead(self):
        if self.process.poll() is not None:
            return "dead"
        return "up" if "PONG" in self.cli("PING", check=False) else None

    @property
    def node(self):
        return f"127.0.0.1:{self.port}"

    def uri(self, login=""):
        return f"redis://{login}{self.node}"

    def cli(self, *arguments, check=True):
        """The first arguments may be options. Without `check` the server may be down."""
        if check and not str(arguments[0]).startswith("--"):
            return redis_cli.told(redis_cli.by_path(self.dir / "cli.sock", DEADLINE), self.login[1::2],
                                  arguments)
        done = subprocess.run(["redis-cli", "--no-auth-warning", "-s", "cli.sock", *self.login,
                               *map(str, arguments)], cwd=self.dir, env=environment(), text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=DEADLINE)
        return done.stdout.strip()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        self.process.kill()
        self.process.wait(DEADLINE)
        shutil.rmtree(self.dir, ignore_errors=True)
