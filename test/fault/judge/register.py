"""The protected resource's log: replayed, and compared with its answers to the workers.

A write needs a fence at or above all that wrote and all that read, a read one at or above all that
wrote.

The log has no times. It is read on as far as the workers' facts ask for it, so that little of it
is in memory at once.
"""

from collections import Counter

from .lives import ACTS
from .names import whole_of


class Register:
    def __init__(self, path, court):
        self.court, self.figures = court, court.figures
        self.path, self.is_there = path, path.exists()
        self.lines = self.read()
        self.highest = {act: {} for act in ACTS}  # name: fence
        self.pending = {}  # worker: {(name, number, checked, unchecked): so many}
        self.used = {}  # worker: {(name, number): (name or slot, fence, act)}, of the pending
        self.served = 0

    def read(self):
        if not self.is_there:
            return
        with open(self.path, encoding="ascii", errors="replace") as file:
            for number, line in enumerate(file, 1):
                try:
                    sequence, name, fence, worker, lease, act, checked, unchecked = line.split()
                    if act not in ACTS:
                        raise ValueError("no such act")
                    yield (int(sequence), name, int(fence), worker, int(lease), act, checked,
                           unchecked)
                except ValueError as error:
                    self.court.complain("malformed",
                                        f"register:{number}: {line.strip()!r} ({error})")

    # ---- what it did -------------------------------------------------------------------------

    def serve(self, served, name, fence, worker, number, act, checked, unchecked):
        self.figures[f"{act}s"] += 1
        if served <= self.served:
            self.complain(f"{served} served after {self.served}")
        self.served = served
        self.replay(served, name, fence, act, checked, unchecked)
        whole = whole_of(name)
        self.pending.setdefault(worker, Counter())[whole, number, checked, unchecked] += 1
        self.used.setdefault(worker, {})[whole, number] = name, fence, act

    def least(self, name, act):
        return max(of_name.get(name, 0) for of, of_name in self.highest.items()
                   if "write" in (of, act))

    def replay(self, served, name, fence, act, checked, unchecked):
        highest = self.least(name, act)
        if fence == 0:
            right = "unfenced", unchecked
        elif fence < highest:
            right = "refused", "stale"
            self.figures["stale_acts_taken_unchecked"] += 1
            self.figures["stale_acts_refused"] += checked == "refused"
        else:
            right = "accepted", "fresh"
            self.highest[act][name] = max(fence, self.highest[act].get(name, 0))
        if (checked, unchecked) != right:
            self.complain(f"{served} {name}: a {act} with fence {fence} after {highest} was "
                          f"{checked}, {unchecked}, not {' '.join(right)}")

    def complain(self, text):
        self.court.complain("register", text)

    # ---- what workers were answered ----------------------------------------------------------

    def answered(self, life, lease, name, number, checked, unchecked):
        name = whole_of(name)
        key = (name, number, checked, unchecked)
        where = f"{life.where(number)} on {name}"
        if not self.find(life.label, key):
            self.forget(life.label, name, number)
            self.complain(f"{where} was answered {checked}, {unchecked}, of which the log has "
                          "nothing")
            return
        self.take(life.label, key)
        used = self.used[life.label].pop((name, number), None)
        if used and lease and lease.number == number:
            self.compare(where, lease, *used)

    def compare(self, where, lease, name, fence, act):
        if name != lease.key:
            self.complain(f"{where}: a {act} of {name}, and it has {lease.key}")
        if fence != lease.fence:
            self.complain(f"{where}: a {act} with fence {fence}, and it has {lease.fence}")
        if act != ("read" if lease.is_shared else "write"):
            self.complain(f"{where}: a {act}, which is not what it holds the name for")

    def take(self, worker, key):
        mine = self.pending[worker]
        mine[key] -= 1
        if not mine[key]:
            del mine[key]

    def forget(self, worker, name, number):
        """Reports a difference between the log and the worker's answer once only."""
        for key in self.pending.get(worker, ()):
            if key[:2] == (name, number):
                self.take(worker, key)
                return

    def find(self, worker, key):
        """Reads on until there is such a line."""
        while not self.pending.get(worker, {}).get(key):
            line = next(self.lines, None)
            if line is None:
                return False
            self.serve(*line)
        return True

    def ends(self, lives):
        """A use without an answer needs an act without one; otherwise no worker was there."""
        for line in self.lines:
            self.serve(*line)
        unanswered = {it.label: it.acts - it.acteds for it in lives}
        for worker, pending in sorted(self.pending.items()):
            left = sum(pending.values())
            if left > max(0, unanswered.get(worker, 0)):
                self.complain(f"{left} uses by {worker} of which it says nothing")
