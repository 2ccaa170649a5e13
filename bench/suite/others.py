"""others.py - what processes that are not ours use of the processors: those that were there before us."""
import os

def read_stat(pid):
    """(its start, its parent, its own ticks, those of its dead children), or None for none and for the kernel's."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            words = file.read().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None
    parent, own, dead, start, memory = words[1], words[11:13], words[13:15], words[19], words[20]
    if memory == "0":
        return None
    return start, int(parent), sum(map(int, own)), sum(map(int, dead))


def used(pid):
    """(start, ticks). Who adopts orphans has dead children that may be of ours."""
    found = read_stat(pid)
    if not found:
        return None
    start, parent, own, dead = found
    return start, own if 1 in (pid, parent) else own + dead


class Others:
    def __init__(self):
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
        self.before = {pid: found for pid in pids if (found := used(pid))}

    def ticks(self):
        """Since then; of a process that has ended, its parent tells."""
        sum_of = 0
        for pid, (start, ticks) in self.before.items():
            now = used(pid)
            if now and now[0] == start:
                sum_of += now[1] - ticks
        return sum_of
