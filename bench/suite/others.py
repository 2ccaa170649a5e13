"""others.py - what processes that are not ours use of the processors: those that were there before us."""
import os
from collections import namedtuple

# own: its ticks; dead: those of its children that have ended
Process = namedtuple("Process", "start parent own dead")


def look(pid):
    """None if there is none, and for those of the kernel, which work for us too."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            words = file.read().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None
    own, dead = (sum(map(int, words[at:at + 2])) for at in (11, 13))
    return Process(words[19], int(words[1]), own, dead) if words[20] != "0" else None


def look_at_all():
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return {pid: process for pid in pids if pid != os.getpid() and (process := look(pid))}


class Others:
    def __init__(self):
        self.before = look_at_all()

    def adopts(self, pid):
        """Init and its children adopt dead processes of others, perhaps ours."""
        return 1 in (pid, self.before[pid].parent)

    def used(self, pid, process):
        return process.own + (0 if self.adopts(pid) else process.dead)

    def living(self):
        now = {pid: look(pid) for pid in self.before}
        return {pid: process for pid, process in now.items()
                if process and process.start == self.before[pid].start}

    def is_told(self, pid, living):
        """Whether one that has ended is among the dead of one that lives."""
        parent = self.before[pid].parent
        if parent not in self.before or self.adopts(parent):
            return False
        return parent in living or self.is_told(parent, living)

    def ticks(self):
        """Since then."""
        living = self.living()
        now = sum(self.used(pid, process) for pid, process in living.items())
        before = sum(self.used(pid, process) for pid, process in self.before.items()
                     if pid in living or self.is_told(pid, living))
        return max(0, now - before)
