"""The processes that come of a command, which the tests know by their pids."""

import os
import signal
from pathlib import Path

from harness import Case, until


def facts(pid):
    """State, parent and group; None if there is no such process."""
    try:
        state, parent, group = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[:3]
    except (FileNotFoundError, ProcessLookupError):
        return None
    return state, int(parent), int(group)


def alive(pid):
    """A zombie is dead."""
    known = facts(pid)
    return known is not None and known[0] not in "ZX"


class ProcessCase(Case):
    """Each process writes its pid into a file of the test's folder, and is gone when the test ends."""

    def told(self, of):
        path = self.tmp / of
        return until(lambda: path.exists() and path.read_text(), f"{of} is written")

    def pid(self, of):
        pid = int(self.told(of))
        self.addCleanup(self.end_pid, pid)
        return pid

    @staticmethod
    def end_pid(pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def gone(self, pids):
        until(lambda: not any(map(alive, pids)), "all have ended")
