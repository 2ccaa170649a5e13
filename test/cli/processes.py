"""The processes that come of a command, which the tests know by their pids."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

from harness import REDLOCK, Case, until

NOBODY = 65534


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


class OtherUserCase(ProcessCase):
    """The command changes to a user to whom `redlock run` may send no signal."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("only root can make a program that changes its user")
        self.tmp.chmod(0o755)
        self.redlock_path = shutil.copy(REDLOCK, self.tmp / "redlock")
        self.become = shutil.copy(shutil.which("setpriv"), self.tmp / "become")
        os.chmod(self.become, 0o4755)
        (self.tmp / "pids").mkdir()
        (self.tmp / "pids").chmod(0o777)

    def start_as_nobody(self, script, *options, **more):
        """$0 becomes root, in the script."""
        become = f"become() {{ exec '{self.become}' --reuid 0 --regid 0 --clear-groups \"$@\"; }}; "
        return self.program("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups",
                            self.redlock_path, *self.patience, "run", *options, self.name, "--", "sh", "-c",
                            become + script, f"{self.tmp}/pids", stdin=subprocess.PIPE,
                            env=self.env(REDLOCK_NODES=self.cluster.nodes), **more)

    def other_users(self, of):
        """The program that changes the user is root's before it is out of our reach."""
        pid = self.pid(f"pids/{of}")
        owned = lambda: Path(f"/proc/{pid}").stat().st_uid == 0 and \
            Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep")
        until(owned, "it is another user's")
        return pid
