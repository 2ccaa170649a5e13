"""entrant.py - a process that measures a slice for each line that it is sent."""
import json
import os
import select
import signal
import subprocess
import time

from figures import together

READY_S = 20
LATE_S = 15


class Entrant:
    def __init__(self, name, command, environment=None, cwd=None):
        self.name, self.note, self.rest = name, "", b""
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
            env={**os.environ, **(environment or {})}, start_new_session=True)

    def wait_until_ready(self):
        ready = self.read_line(READY_S)
        if not ready or not ready.get("ready"):
            self.fail("did not start")

    def fail(self, what):
        said = b""
        end(self.process)
        try:
            said = self.process.stderr.read() or b""
        except OSError:
            pass
        lines = said.decode(errors="replace").strip().splitlines()
        self.note = what + (": " + lines[-1][:160] if lines else "")

    def alive(self):
        return not self.note and self.process.poll() is None

    def read_line(self, timeout):
        until = time.monotonic() + timeout
        while b"\n" not in self.rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            got = os.read(self.process.stdout.fileno(), 1 << 20)
            if not got:
                return None
            self.rest += got
        line, self.rest = self.rest.split(b"\n", 1)
        try:
            return json.loads(line)
        except ValueError:
            return None

    def begin(self, seconds):
        if not self.alive():
            self.note = self.note or "ended by itself"
            return
        try:
            self.process.stdin.write(b"%g\n" % seconds)
            self.process.stdin.flush()
        except OSError:
            self.fail("ended by itself")

    def result(self, seconds):
        """The figures of a slice, or None: then self.note says why."""
        if self.note:
            return None
        got = self.read_line(seconds + LATE_S)
        if got is None:
            self.fail("ended in a slice" if self.process.poll() is not None
                      else "did not end its slice in time")
        return got

    def slice(self, seconds):
        self.begin(seconds)
        return self.result(seconds)

    def ask_to_end(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass

    def close(self):
        self.ask_to_end()
        try:
            self.process.wait(8)
        except subprocess.TimeoutExpired:
            pass
        end(self.process)


class Crowd:
    """Entrants that measure at the same time and count as one."""

    def __init__(self, name, members):
        self.name, self.members = name, members

    @property
    def note(self):
        return next((member.note for member in self.members if member.note), "")

    def slice(self, seconds):
        for member in self.members:
            member.begin(seconds)
        results = [member.result(seconds) for member in self.members]
        return together(results) if all(results) else None


def end(process):
    """Ends it and what it started: it leads a session of its own."""
    for number, timeout in ((signal.SIGTERM, 3), (signal.SIGKILL, 3)):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout)
        except (ProcessLookupError, PermissionError):
            process.poll()
            return
        except subprocess.TimeoutExpired:
            continue


def once(command, timeout, environment=None, cwd=None):
    """Runs a program that prints one line of JSON; returns that, or a sentence."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
                               env={**os.environ, **(environment or {})}, start_new_session=True)
    try:
        out, err = process.communicate(timeout=timeout)
        return json.loads(out.decode().strip().splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"note": f"took over {timeout:.0f} s"}
    except (ValueError, IndexError):
        said = err.decode(errors="replace").strip().splitlines()
        return {"note": said[-1][:200] if said else "printed nothing"}
    finally:
        end(process)
