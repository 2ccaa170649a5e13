"""Masters that are replaced while the load goes on: each of them in the end, and no lease is lost by that.

The file `changes` has, after the moment in us, of change N:
    begin N OLD NEW        a step later gives the place of one master to the other
    list N STEP MASTERS    from now on the clients' file has these
    over N STEP            `masters change` says that the list before is over, for all clients
    broken-off N           the command was ended; it is run again
    done N                 by the command
    stopped OLD            its process
"""

from .bounds import RECONNECT, majority_spans
from .faults import WAKE, Fault

FACTS = ("begin", "list", "over", "broken-off", "done", "stopped")


class Replaced:
    def __init__(self, begun, old, new):
        self.begun, self.old, self.new = begun, old, new
        self.lists, self.over = {}, {}  # of each step: when
        self.broken_off, self.done = 0, None

    def __str__(self):
        took = " + ".join(f"{(over - self.lists[step]) / 1e6:.1f}"
                          for step, over in sorted(self.over.items()))
        again = ", the command broken off" if self.broken_off else ""
        return f"{self.new} in place of {self.old}: {took or '?'} s{again}"


class Change:
    def __init__(self, court, run, faults):
        self.court, self.run, self.faults = court, run, faults
        self.all, self.void = {}, {}

    # ---- the file --------------------------------------------------------------------------------

    def read(self, path):
        with open(path, encoding="ascii") as file:
            for number, line in enumerate(file, 1):
                try:
                    self.take(*line.split())
                except (ValueError, IndexError, KeyError, TypeError) as error:
                    self.court.complain("malformed", f"changes:{number}: {line.strip()!r} ({error!r})")

    def take(self, now, fact, which, *said):
        now = int(now)
        if fact not in FACTS:
            raise ValueError("no such fact")
        if fact == "begin":
            self.all[int(which)] = Replaced(now, *said)
        elif fact in ("list", "over"):
            of = self.all[int(which)]
            (of.lists if fact == "list" else of.over).setdefault(int(said[0]), now)
        elif fact == "broken-off":
            self.all[int(which)].broken_off += 1
        elif fact == "done":
            self.all[int(which)].done = now

    # ---- judging ---------------------------------------------------------------------------------

    def lost(self, lease, now):
        """A change takes nothing away: it needs a quorum that does not answer, or a process that stood still
        or was cut off."""
        if not self.run.changes or self.is_struck(lease.lane.life.worker, lease.begin, now):
            return
        self.court.complain("change", f"{lease} was lost at {now}, though its process was well, and a "
                                      "quorum of masters voted and could be reached")

    def is_struck(self, worker, begin, end):
        if worker not in self.void:
            again = 2 * self.run.ttl + RECONNECT
            faults = [*self.faults.of_masters(worker), *self.joining()]
            self.void[worker] = [(at, until + again) for at, until, _ in majority_spans(faults, self.run)]
            self.void[worker] += [(at, until + WAKE) for at, until in self.faults.stops.get(worker, ())]
        return any(at <= end and begin <= until for at, until in self.void[worker])

    def joining(self):
        """A master that joins may have given the name to a waiter, who has a minority. Meanwhile a lease that
        moves has the votes of the others alone."""
        return [Fault("frozen", it.new, it.lists[1], it.over.get(1, self.run.end) + 2 * self.run.ttl)
                for it in self.all.values() if 1 in it.lists]

    def ends(self):
        done = sum(it.done is not None for it in self.all.values())
        if done < self.run.changes:
            self.court.complain("change", f"{done} masters were replaced, not {self.run.changes}")

    def told(self):
        return [str(it) for _, it in sorted(self.all.items())]
