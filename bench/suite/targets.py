"""targets.py - the one table at the end: what was measured of each target, and whether it was reached."""
from suite import FLOOR, RAW_FLOOR, RING
from table import align, number

HEAD = ("row", "measured", "target", "reached")
LINEAR = 1.5  # of a lease among ten times as many, whose memory is farther away


class Rows:
    """A figure of a row and its spread; None where it was not measured."""

    def __init__(self, rows):
        self.rows = {(row.group, row.name): row for row in rows}
        self.first, self.used = {}, []
        for row in rows:
            self.first.setdefault(row.group, row)

    def row(self, group, name):
        row = self.rows.get((group, name))
        self.used += [self.first[group], row] if row else []
        return row

    def failed(self):
        """In what was looked at: a pair that failed, a slice that was not measured, a master that died."""
        return any(row.notes or row.failed() for row in self.used)

    def ratio(self, group, name, what):
        """Of the first row of the group to this one."""
        row = self.row(group, name)
        return row and row.ratios.get(what)

    def fact(self, group, name, what):
        row = self.row(group, name)
        return (row.facts[what], 0) if row and what in row.facts else None


class Target:
    def __init__(self, row, find, limit, unit="x", at_least=False, if_named=False):
        self.row, self.find, self.limit, self.unit, self.at_least = row, find, limit, unit, at_least
        self.if_named = if_named  # a whole run does not measure it

    def says(self, found):
        if self.unit == "x":
            return f"{found[0]:.2f} x" + (f" ±{found[1]:.0%}" if found[1] else "")
        return f"{number(found[0], 2 if found[0] < 2 else 1 if found[0] < 100 else 0)} {self.unit}"

    def wanted(self):
        if not self.limit:
            return "its figure"
        return f"{'at least' if self.at_least else 'at most'} {self.limit:g} {self.unit}"

    def reached(self, found):
        if not self.limit:
            return "–"
        return "yes" if (found[0] >= self.limit if self.at_least else found[0] <= self.limit) else "no"

    def line(self, rows):
        found = self.find(rows)
        if not found:
            return None
        reached = self.reached(found) + (", with failures" if rows.failed() else "")
        return self.row, self.says(found), self.wanted(), reached


def beside(group, name, what):
    return lambda rows: rows.ratio(group, name, what)


def fact(group, name, what):
    return lambda rows: rows.fact(group, name, what)


def divided(find, by):
    """The one by the other; where only the other is a ratio, 1 by it."""
    def quotient(rows):
        above, below = find(rows), by(rows)
        return (above[0] / below[0], below[1]) if above and below and below[0] else None
    return quotient


def fenced(group, what):
    """The rows have plain by fenced."""
    return divided(lambda rows: (1, 0), beside(group, "redlock, fenced", what))


def of_floor(c, least_pairs, most_cpu):
    group, words = f"c = {c}", "against a floor that waits for three releases"
    return [Target(f"{group}: pairs/s, {words}", beside(group, FLOOR, "pairs_per_s"), least_pairs,
                   at_least=True),
            Target(f"{group}: client CPU, {words}", beside(group, FLOOR, "cpu_us_per_pair"), most_cpu)]


def closing(leases, what):
    return fact("renewals", f"{leases} leases closed", what)


def held(leases):
    return Target(f"memory of a held lease, one of {leases:,}", closing(leases, "memory_bytes_per_lease"),
                  256, "bytes")


def renewal(leases, ttl_s, most):
    return Target(f"client CPU of a renewal, {leases:,} leases",
                  fact("renewals", f"{leases} leases, ttl {ttl_s} s", "cpu_us_per_renewal"), most, "us")


def at_once(kind, number):
    return Target(f"client CPU of one of {number:,} {kind} at once",
                  fact("many at once", f"{number} {kind}", "cpu_us_per_task"), 6, "us")


def handoff(share, most):
    return Target(f"handoff among 8 processes, {share}, against its floor",
                  beside("handoff, in turn", f"{RING}, 8 processes", f"handoff_{share}_us"), most)


MANY, FEWER = (closing(leases, "cpu_us_per_closed_lease") for leases in (1000000, 100000))
TARGETS = [
    *of_floor(256, 1.25, 0.95), *of_floor(4096, 1.2, 1.0),
    Target("c = 1: acquire p50, against raw sockets with epoll", beside("c = 1", RAW_FLOOR, "p50"), 1.05),
    Target("fenced against plain, c = 1: acquire p50", fenced("fences, c = 1", "p50"), 1.35),
    Target("fenced against plain, c = 16: acquire p50", fenced("fences, c = 16", "p50"), 1.35),
    Target("fenced against plain, c = 256: pairs/s", fenced("fences, c = 256", "pairs_per_s"), 0.75,
           at_least=True),
    Target("a reader against a fenced writer, c = 256: CPU of the masters",
           beside("readers beside writers, c = 256", "writer, fenced", "masters_us_per_pair"), 1.5),
    held(100000), held(1000000),
    Target("memory of a waiter, one of 10,000",
           fact("waiters of one process", "10000 waiters", "memory_bytes_per_waiter"), 450, "bytes"),
    renewal(1000, 10, 7), renewal(100000, 30, 3.3), renewal(1000000, 120, 4.5),
    Target("closing 1,000,000 leases", closing(1000000, "closing_s"), None, "s"),
    Target("closing 1,000,000 leases: client CPU of each, against 100,000", divided(MANY, FEWER), LINEAR),
    *(at_once(kind, number) for kind in ("observers", "surveys", "parties") for number in (20000, 100000)),
    handoff("p50", 1.08), handoff("p99", 1.15),
    Target("handoff among 8 processes on a network of 2 ms",
           fact("network, 2 ms", "redlock, handoff among 8 processes", "handoff_p50_round_trips"), 1.1,
           "round trips", if_named=True),
    Target("`redlock run -- true` against flock", beside("commands", "flock", "run_us"), 1.6),
    Target("hello: CPU of a master, a connection of clients that come back",
           fact("storm", "clients that come back", "master_us_per_connection"), 50, "us")]


KEY = """Floors go on with the third of five releases, as redlock does, or wait for all releases.
Raw sockets have ready-made bytes.
Memory is what malloc has given out, by the number of leases or waiters.
Renewals are those of 1,000 leases of 10 s, 100,000 of 30 s and 1,000,000 of 120 s.
Handoff: the floor is DEL and PUBLISH in a fixed ring.
run: from posix_spawn to waitpid, by turns with flock and with the command alone.
hello: 4,000 clients, 1,000 at once, lose all connections by CLIENT KILL and come back."""


def lines(rows, whole):
    """A line for each target; of a run of some parts only, for those that were measured."""
    found = [(target, target.line(Rows(rows))) for target in TARGETS]
    return [line or (target.row, "not measured", target.wanted(), "–") for target, line in found
            if line or whole and not target.if_named]


def title(warning):
    return "targets" + (", on a machine that was not quiet" if warning else "")


def as_text(found, warning=""):
    return "\n".join(["", f"== {title(warning)}", *align([HEAD, *found]), KEY, ""]) if found else ""


def as_markdown(found, warning=""):
    if not found:
        return ""
    head, *body = ["| " + " | ".join(line) + " |" for line in [HEAD, *found]]
    return "\n".join(["", f"### {title(warning)}", "", head, "|---|--:|--:|---|", *body, "",
                      *("- " + line for line in KEY.split("\n")), ""])


def as_json(found):
    return [dict(zip(HEAD, line)) for line in found]
