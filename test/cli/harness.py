"""Shared by the tests of the `redlock` command: a private cluster, the command, deadlines."""

import json
import os
import pty
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from urllib.parse import urlsplit

import redis_cli
import schema

ROOT = Path(__file__).resolve().parents[2]
REDLOCK = os.environ.get("REDLOCK") or str(ROOT / "build" / "bin" / "redlock")
CLUSTER = str(ROOT / "cluster-scripts" / "cluster")
DEPLOY = ROOT / "deploy"
DEADLINE = 30.0  # for a step that should be quick, on a busy machine


def environment(**more):
    """Our environment, without variables that the caller of the tests set for another cluster."""
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith("REDLOCK") or k == "REDLOCK_SERVER"}
    for other in ("REDISCLI_AUTH", "NOTIFY_SOCKET"):
        kept.pop(other, None)
    kept["REDLOCK"] = REDLOCK
    kept.update(more)
    return kept


def until(condition, what, deadline=DEADLINE):
    """Polls until the condition is true and returns its value: less often after a while."""
    begun = time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        lasts = time.monotonic() - begun
        if lasts > deadline:
            raise AssertionError(f"not within {deadline} s: {what}")
        time.sleep(min(0.005 + lasts / 50, 0.05))


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    @property
    def json(self):
        """The one document on stdout."""
        return schema.check(json.loads(self.out))

    @property
    def json_lines(self):
        """The events on stderr."""
        return [schema.check(json.loads(line), "event") for line in self.err.splitlines()]

    def events(self, kind):
        return [line for line in self.json_lines if line["event"] == kind]


class Cluster:
    def __init__(self, count=5, *options):
        self.dir = tempfile.mkdtemp(prefix="redlock-cli-")
        try:
            self.call("start", "-n", str(count), "-p", "free", *options)
            self.nodes = self.call("nodes").strip()
        except BaseException:
            self.stop()
            raise
        self.uris = self.nodes.split(",")
        self.ports = [urlsplit(uri).port for uri in self.uris]
        # Without passwords, as redlock shows them.
        self.shown = [uri.rpartition("@")[2].partition("?")[0] for uri in self.uris]
        self.passwords = [urlsplit(uri).password for uri in self.uris]

    def call(self, command, *arguments):
        done = subprocess.run([CLUSTER, command, *arguments, "--dir", self.dir],
                              env=environment(), stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=90)
        if done.returncode:
            raise AssertionError(f"cluster {command}: {done.stderr}")
        return done.stdout

    def each(self, command, *masters):
        self.call(command, *map(str, masters))

    def kill(self, *masters):
        self.each("kill", *masters)

    def pause(self, *masters):
        self.each("pause", *masters)

    def resume(self, *masters):
        self.each("resume", *masters)

    def restart(self, *masters):
        self.each("restart", *masters)

    def cli(self, master, *arguments):
        """redis-cli on a master, counted from 1 as the cluster script does."""
        ca = f"{self.dir}/tls/ca.crt" if self.uris[0].startswith("rediss:") else None
        return redis_cli.told(redis_cli.by_port(self.ports[master - 1], DEADLINE, ca),
                              [self.passwords[master - 1]], arguments)

    def each_cli(self, *arguments):
        """Answers of the masters, in their order."""
        return [self.cli(i + 1, *arguments) for i in range(len(self.ports))]

    def values(self, name):
        """The value of the name on each master; "" if it has none."""
        return self.each_cli("GET", name)

    def stop(self):
        try:
            self.call("stop")
        finally:
            shutil.rmtree(self.dir, ignore_errors=True)


class Case(unittest.TestCase):
    """Tests without masters; each has a folder of its own."""

    cluster = None
    # A busy machine must not look like slow masters.  () where some do not answer.
    patience = ("--connect-timeout", "20s", "--request-timeout", "2s")

    def setUp(self):
        self.tmp = Path(tempfile.mkdtemp(prefix="redlock-cli-"))
        self.addCleanup(shutil.rmtree, self.tmp, ignore_errors=True)
        self.name = self.id().rsplit(".", 1)[1]

    def env(self, **more):
        if self.cluster:
            more.setdefault("REDLOCK_NODES_FILE", f"{self.cluster.dir}/nodes")
        return environment(**more)

    def redlock(self, *arguments, status=None, env=None, stdin=subprocess.DEVNULL,
                deadline=DEADLINE, **more):
        """Runs the command to its end; checks its status if one is given."""
        done = subprocess.run([REDLOCK, *self.patience, *arguments], env=env or self.env(), stdin=stdin,
                              stdout=more.pop("stdout", subprocess.PIPE),
                              stderr=subprocess.PIPE, timeout=deadline, **more)
        result = Result(done.returncode, (done.stdout or b"").decode(), done.stderr.decode())
        if status is not None:
            self.assertEqual(result.status, status, f"{arguments}: {result.out}{result.err}")
        return result

    def spawn(self, *arguments, **more):
        """Starts the command; it is gone when the test ends."""
        return self.program(REDLOCK, *self.patience, *arguments, **more)

    def program(self, *words, env=None, **more):
        """As spawn(), for any program."""
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(words, env=env or self.env(), **{**streams, **more})
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.wait(DEADLINE)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()

    def finish(self, process, status=None):
        out, err = process.communicate(timeout=DEADLINE)
        result = Result(process.returncode, (out or b"").decode(), (err or b"").decode())
        if status is not None:
            self.assertEqual(result.status, status, f"{result.out}{result.err}")
        return result

    @staticmethod
    def end_input(process):
        """Its readers find the end of their stdin."""
        process.stdin.close()
        process.stdin = None

    def let_end(self, process, status=None):
        self.end_input(process)
        return self.finish(process, status)

    def terminate(self, process, status=128 + signal.SIGTERM):
        process.send_signal(signal.SIGTERM)
        return self.finish(process, status)

    def lock(self, *arguments):
        return self.redlock("lock", *arguments, status=0).out.strip()

    def lock_on_all(self, *arguments, names=None):
        """Locks until one lock has all masters: it ends with a quorum, and leaves late masters out. A late
        request of an earlier try may come after its unlock, and is deleted then. `names`: if not the last
        argument alone."""
        names, tokens = names or arguments[-1:], []

        def locked():
            tokens.append(self.lock(*arguments))
            values = [value for name in names for value in self.cluster.values(name)]
            if all(values) and len(set(values)) == 1:
                return True
            self.redlock("unlock", "--token", tokens[-1], *names, status=0)
            self.cluster.each_cli("DEL", *names)
            return False

        until(locked, f"every master has {' '.join(names)}")
        return tokens[-1]

    def unlock(self, token, *names):
        return self.redlock("unlock", "--token", token, *(names or (self.name,)), status=0)

    def found(self, name=None):
        """The answer of `status` about the name."""
        return self.redlock("status", "--json", name or self.name, status=0).json["names"][0]

    def started(self, path, what="the command has started"):
        until(path.exists, what)

    def held(self, script="exec sleep 60", *options, **more):
        """A command that has begun under the lock. `script` finds the test's folder as $0."""
        began = self.tmp / "began"
        began.unlink(missing_ok=True)
        process = self.spawn("run", *options, self.name, "--", "sh", "-c", f'echo > "$0/began"; {script}',
                             str(self.tmp), **more)
        self.started(began)
        return process

    def told_while(self, *arguments, **more):
        """Starts the command, and gives what tells all that it has written to stderr."""
        path = self.tmp / f"told-{len(list(self.tmp.iterdir()))}"
        with path.open("wb") as err:
            process = self.spawn(*arguments, stderr=err, **more)
        return process, path.read_text

    def terminal(self, *arguments, **variables):
        terminal = Terminal(list(arguments), self.env(**variables))
        self.addCleanup(terminal.close)
        return terminal


class FreshCase(Case):
    """Tests that each have masters of their own, which they may stop."""

    masters = 3

    def setUp(self):
        super().setUp()
        self.cluster = Cluster(self.masters)
        self.addCleanup(self.cluster.stop)


class ClusterCase(Case):
    """Tests on masters that are started once for the class and always all run."""

    masters = 5

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(cls.masters)
        cls.addClassCleanup(cls.cluster.stop)

    def is_free(self, name):
        return not any(self.cluster.values(name))

    def assert_held(self, name, value):
        """On a quorum; on a busy machine a master may have answered too late to count."""
        def held():
            values = self.cluster.values(name)
            return values.count(value) > self.masters // 2 and set(values) <= {value, ""}
        until(held, f"a quorum has {name} as {value}")

    def waiters(self):
        """The number of waiters on each master."""
        return list(map(int, self.cluster.each_cli("ZCARD", f"redlock:queue:{self.name}")))

    def assert_free(self, name):
        until(lambda: self.is_free(name), f"{name} is free")


class Terminal:
    """A program on a terminal of its own, as under a terminal emulator."""

    def __init__(self, arguments, env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.execvpe(arguments[0], arguments, env)
            finally:
                os._exit(127)
        self.seen = b""
        self.status = None

    def expect(self, text, deadline=DEADLINE):
        """Reads until the text appears and forgets everything up to its end."""
        end = time.monotonic() + deadline
        while text not in self.seen:
            ready, _, _ = select.select([self.fd], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"{text} not within {deadline} s; seen: {self.seen}")
            try:
                self.seen += os.read(self.fd, 4096)
            except OSError:
                raise AssertionError(f"end before {text}; seen: {self.seen}") from None
        before, _, self.seen = self.seen.partition(text)
        return before

    def send(self, data):
        os.write(self.fd, data)

    def talk(self, *steps, status=None):
        """Expects each text, and sends all bytes. Gives what came before the last text; then the program
        ends, if a status is given."""
        before = b""
        for step in steps:
            if isinstance(step, str):
                before = self.expect(step.encode())
            else:
                self.send(step)
        if status is not None and self.wait() != status:
            raise AssertionError(f"it ended with {self.status}, not with {status}")
        return before

    def has_ended(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        # Unread output would keep it from ending.
        ready, _, _ = select.select([self.fd], [], [], 0)
        if ready:
            try:
                self.seen += os.read(self.fd, 4096)
            except OSError:
                pass
        return self.status is not None

    def wait(self):
        until(self.has_ended, "the program on the terminal has ended")
        return self.status

    def close(self):
        if not self.has_ended():
            os.kill(self.pid, signal.SIGKILL)
            self.wait()
        os.close(self.fd)
