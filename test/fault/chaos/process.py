"""Processes of a run: each ends with the run, however the run ends."""

import contextlib
import os
import signal
import subprocess
import time

from facts import die_with_parent

PATIENCE_S = 15
POLL_S = 0.005
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)  # that end a run
STARTED = []


class Trouble(Exception):
    """The run itself failed: there is nothing to judge."""


def environment(**more):
    """The environment of our children: it has no setting of the caller's shell."""
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith("REDLOCK") and k != "REDISCLI_AUTH"}
    return {**kept, **{k: v for k, v in more.items() if v is not None}}


@contextlib.contextmanager
def undisturbed():
    """No signal comes between the start of a process and our record of it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def end_all():
    """The youngest first: workers before the masters that they need."""
    for process in reversed(STARTED):
        process.signal(signal.SIGKILL)
    for process in STARTED:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.child.wait(PATIENCE_S)


def die_with(parent):
    """Called in the child; the parent may be dead already."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    die_with_parent()
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


class Process:
    def __init__(self, name, command, log, cwd=None, env=None):
        """The child has its own session: Ctrl-C reaches the runner only, which ends its children in
        order."""
        self.name = name
        runner = os.getpid()
        with open(log, "ab") as output, undisturbed():
            self.child = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, cwd=cwd, env=env or environment(), start_new_session=True,
                preexec_fn=lambda: die_with(runner))
            STARTED.append(self)

    def status(self):
        """None while it runs."""
        return self.child.poll()

    def signal(self, number):
        if self.status() is None:
            self.child.send_signal(number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.child.wait(PATIENCE_S)

    def stop(self):
        """Sends SIGSTOP to it and all that it started, until every thread has stopped."""
        yield from until(self.freeze, f"{self.name} does not stop")

    def freeze(self):
        moving = [pid for pid in self.family() if not is_frozen(pid)]
        for pid in moving:
            send(pid, signal.SIGSTOP)
        return not moving

    def resume(self):
        for pid in self.family():
            send(pid, signal.SIGCONT)

    def family(self):
        """A child whose parent is stopped stays a zombie: no pid of these goes to another."""
        return family(self.child.pid) if self.status() is None else []

    def ended(self):
        """Waits for its end."""
        yield from until(lambda: self.status() is not None, f"{self.name} does not end")


def send(pid, number):
    """It may have ended since we looked: no error."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def read(path):
    """Empty, if the process is gone."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def threads(pid):
    try:
        return [f"/proc/{pid}/task/{thread}" for thread in os.listdir(f"/proc/{pid}/task")]
    except (FileNotFoundError, ProcessLookupError):
        return []


def is_frozen(pid):
    """Or dead."""
    return all(read(f"{thread}/stat").rpartition(") ")[2][:1] in "TtZX" for thread in threads(pid))


def family(pid):
    """The process itself first, so that it can add no child meanwhile."""
    children = " ".join(read(f"{thread}/children") for thread in threads(pid)).split()
    return [pid, *(each for child in children for each in family(int(child)))]


def until(condition, complaint, seconds=PATIENCE_S):
    """For a caller that goes step by step: yields how long to wait until the next look."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Trouble(complaint)
        yield POLL_S


def drive(steps):
    """All steps at once, for a caller with nothing else to do."""
    for pause in steps:
        time.sleep(pause)
