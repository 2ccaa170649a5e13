"""Keys that outlive the release that is owed for them.

The watcher looks at all masters in turn. A token's owner is the worker of its label. When its lease
or attempt is over, so is its key, promptly if nothing was struck, after its ttl at the latest.
A look comes after the moment that is recorded with it; so no key is judged when first seen.
"""

from collections import deque

from .bounds import LIFE_MOST
from .names import pool_of

COARSE = 100_000  # us: drift of ttl, whole ms, and a watcher's moment
DISORDER = 10_000_000  # us: one master may answer long after the next
KEPT_TTLS = 20  # how long tokens are remembered after their end
NEVER = -1
QUEUE, HOLDERS = "redlock:queue:", "redlock:holders:"
MARK = "redlock:shared"  # the value of a name that has readers


def read_keys(path, index, court):
    """Yields facts for the merge: a key of a master, or None if it has none."""
    last = 0
    with open(path, encoding="ascii", errors="replace") as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            try:
                now, master = int(words[0]), int(words[1].removeprefix("master-"))
                if words[2:] == ["-"]:
                    said = None
                else:
                    name, token, left = words[2:]
                    said = name, token, int(left)
                if now < last - DISORDER:
                    raise ValueError("time goes back")
            except (ValueError, IndexError) as error:
                court.complain("malformed", f"keys:{number}: {line.strip()!r} ({error})")
                continue
            last = max(last, now)
            yield (2 * now + 1, index, now, None, master, said)


class Sighting:
    __slots__ = ("token", "first", "last", "is_told")

    def __init__(self, token, now):
        self.token, self.first, self.last, self.is_told = token, now, now, False


class Keys:
    def __init__(self, court, run, faults, windows, names):
        self.court, self.run, self.windows, self.names = court, run, windows, names
        self.lanes = {}  # (label, name, or all its slots together)
        self.over, self.order = {}, deque()  # tokens of leases given back
        self.seen = {}  # (master, key): {token: its sighting}
        self.of_master = {}
        for fault in faults.all:
            if fault.master:
                self.of_master.setdefault(fault.master, []).append(fault)

    # ---- what workers say --------------------------------------------------------------------

    def is_over(self, lane, now, is_promptly):
        """The end of a lease or an attempt, for any reason."""
        lane.over_at = now
        if lane.is_shared:
            lane.read_until = now
        lease = lane.lease
        if lease and lease.number == lane.number:
            self.over[lease.token] = (now, is_promptly)
            self.order.append((now, lease.token))
        while self.order and self.order[0][0] < now - KEPT_TTLS * self.run.ttl:
            self.over.pop(self.order.popleft()[1], None)

    # ---- what masters have -------------------------------------------------------------------

    def looks(self, now, master, words):
        if words is None:
            return
        name, token, left = words
        self.court.figures["keys_seen"] += 1
        sighting = self.sighting(now, master, name, token)
        if not sighting.is_told:
            self.judge(now, master, name, sighting, left)

    def sighting(self, now, master, name, token):
        """Of a token that was seen within a ttl it is the same one; so it is of a key whose token is
        a number."""
        seen = self.seen.setdefault((master, name), {})
        for old in [it for it, one in seen.items() if now - one.last > self.run.ttl]:
            del seen[old]
        which = "" if name.startswith((QUEUE, HOLDERS)) else token
        sighting = seen.setdefault(which, Sighting(token, now))
        sighting.last = now
        return sighting

    def masters_with(self, name, token, by):
        return sum(1 for (_master, its), seen in self.seen.items()
                   if its == name and token in seen and seen[token].first <= by
                   and seen[token].last == max(it.last for it in seen.values()))

    def judge(self, now, master, name, sighting, left):
        if left == NEVER:
            sighting.is_told = True
            self.complain(now, master, name, sighting.token, "never expires")
            return
        if sighting.first == now:
            return
        if name.startswith(QUEUE):
            limit, since = self.limit_of_queue(name)
        elif sighting.token == MARK or name.startswith(HOLDERS):
            limit, since = self.limit_of_readers(name.removeprefix(HOLDERS))
        else:
            limit, since = self.limit_of_token(now, name, sighting)
        if limit is None or now <= limit or self.is_struck(now, master, since):
            return
        sighting.is_told = True
        self.complain(now, master, name, sighting.token, f"is over since {since}")

    def complain(self, now, master, name, token, why):
        self.court.complain("orphan", f"master-{master} still has {name} {token} at {now}, which "
                                      f"{why}")

    def limit_of_token(self, now, name, sighting):
        lane = self.lanes.get((sighting.token.partition(":")[2], pool_of(name)))
        if lane is None:
            return None, None
        if sighting.token in self.over:
            since, is_promptly = self.over[sighting.token]
            return since + self.owed(since, now, is_promptly), since
        lease = lane.lease
        if lease and lease.token == sighting.token:
            return None, None
        return self.limit_of_unknown(lane, sighting)

    def limit_of_unknown(self, lane, sighting):
        """A token of an attempt: each of its rounds has its own, and the record knows only the one
        that won. A token seen before the present attempt began is of a former one."""
        if lane.over_at is not None:
            since = lane.over_at
        elif sighting.first < lane.began:
            since = lane.began
        else:
            return None, None
        return since + self.run.ttl + COARSE, since

    def owed(self, since, now, is_promptly):
        """A request is answered within a quarter of the ttl, or repeated once."""
        if is_promptly and not self.windows.touch(since - 2 * self.run.ttl, now):
            return self.run.ttl // 2 + COARSE
        return self.run.ttl + COARSE

    def limit_of_queue(self, name):
        """It expires two lives after the last refresh."""
        name = self.names.get(name[len(QUEUE):])
        if name is None or any(lane.asked is not None for lane in name.lanes):
            return None, None
        since = max((lane.last for lane in name.lanes), default=0)
        return since + 2 * min(self.run.ttl, LIFE_MOST) + COARSE, since

    def limit_of_readers(self, name):
        """The marker and the set expire with the last reader."""
        name = self.names.get(name)
        if name is None or any(lane.is_shared and lane.over_at is None for lane in name.lanes):
            return None, None
        since = max((lane.read_until for lane in name.lanes), default=0)
        return since + self.run.ttl + COARSE, since

    def is_struck(self, now, master, since):
        """A stopped master may carry out old requests late, and its clock may have been stepped.
        After it is mended a ttl must be enough."""
        return any(it.begin <= now and it.end + 2 * self.run.ttl + COARSE >= now
                   and it.end >= since - self.run.ttl
                   for it in self.of_master.get(master, ()))
