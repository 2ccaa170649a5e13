"""The faults of a run, their times and targets: drawn from the seed alone."""

import random
from dataclasses import dataclass

from . import changing, kinds

TAIL_S = 1.0  # before the end, without faults
SLACK_S = 0.5  # a fault may come this much late
ALL = 99
LEADER = "leader"  # a target: the elector that leads when it is struck
TOGETHER = (1, 1, 1, 1, 1, 2, 2, 3, ALL)  # masters or workers struck at once

LASTS_S = {
    "frozen": (0.1, 2.0), "asleep": (0.1, 1.5), "slow-script": (0.1, 1.0),
    "flushed": (0, 0), "disconnected": (0, 0), "full": (0.3, 1.5), "crowded": (0.3, 1.5),
    "evicting": (0.3, 1.0), "clock-stepped": (0.3, 1.0), "wiped": (0, 0), "lying": (0.3, 2.0),
    "killed": (0.1, 0.8), "ended": (0.1, 0.8), "stopped": (0.2, 2.2),
    "cut": (0.3, 3.0), "half-cut": (0.3, 3.0),
    "limited": (1.0, 3.0), "delayed": (1.0, 3.0), "lossy": (1.0, 3.0), "reordering": (1.0, 3.0),
}
DOWN_S = (0.1, 0.8)  # a master that dies; every second time it restarts at once
SNAPSHOT_AGE_S = (0.3, 1.5)

MOVE_S = (4.0, 6.0)
STILL_TTLS = 1.3  # then all their promises are over
AWAKE_S = 0.1


OLDER_AGE_S = (0.3, 0.9)  # the sooner, the longer is what was given back there again
DEAF_SHARE, DEAF_S = 0.5, (0.0, 0.5)
APART_S = (0.1, 1.0)

TURNS_DOWN_S = (1.0, 3.0)
TURNS_UP_S = (3.0, 5.0)  # they abstain for a while, and then vote


@dataclass(frozen=True)
class Fault:
    at: float  # seconds after the begin of the load
    kind: str
    targets: tuple
    lasts: float = 0.0
    detail: object = None  # rolled-back: age of the snapshot; clock-stepped: seconds; half-cut: way;
    # killed: perhaps changing.AFTER_ALL

    @property
    def end(self):
        return self.at + self.lasts


def plan(profile, seed, seconds, masters, workers, without=()):
    """The faults in the order of their beginning; `without` the kinds that cannot be had here."""
    cast = Cast(seed, profile, seconds, masters, workers, set(without))
    return sorted(SHAPES[profile.shape](cast), key=lambda fault: fault.at)


class Cast:
    """The possible targets, until when each is struck, and the dice."""

    def __init__(self, seed, profile, seconds, masters, workers, without):
        self.seed, self.draw, self.profile, self.without = seed, random.Random(seed), profile, without
        self.seconds, self.end = seconds, seconds - TAIL_S
        self.masters = [f"master-{i}" for i in range(1, masters + 1)]
        self.workers = [f"worker-{k}" for k in range(1, workers + 1)]
        self.recipes = [f"{kind}-{k}" for kind, many in profile.recipes for k in range(1, many + 1)]
        self.busy, self.alone = {}, []

    def free(self, targets, at):
        return [target for target in targets if self.busy.get(target, 0.0) <= at]

    def some(self, targets):
        many = min(self.draw.choice(TOGETHER), len(targets))
        return sorted(self.draw.sample(targets, many))

    def gap(self):
        return self.draw.uniform(*self.profile.gap_s)

    def fault(self, at, kind, targets, lasted=None, more=None):
        """None if it would not be over in time."""
        more = more or detail(self.draw, kind, self.profile)
        if kind == "rolled-back":
            more = min(more, at - self.busy.get(targets[0], 0.0))
        lasted = lasts(self.draw, kind) if lasted is None else lasted
        fault = Fault(at, kind, targets, lasted, more)
        if fault.end > self.end:
            return None
        for target in targets:
            self.busy[target] = fault.end
        return fault


def lasts(draw, kind):
    if kind in kinds.CRASHES:
        return draw.choice((0.0, draw.uniform(*DOWN_S)))
    return draw.uniform(*LASTS_S[kind])


def detail(draw, kind, profile):
    if kind == "rolled-back":
        return draw.uniform(*SNAPSHOT_AGE_S)
    if kind == "clock-stepped":
        return draw.choice(profile.steps_s)
    if kind == "half-cut":
        return draw.choice(("requests", "replies"))
    return None


# ---- scattered: every kind in turn, in a new order each time -----------------------------------


def deal(draw, given, without):
    """Solitary kinds are neighbours: they can share the quiet between them."""
    lonely = [kind for kind in given if kind in kinds.SOLITARY and kind not in without]
    others = [kind for kind in given if kind not in kinds.SOLITARY and kind not in without]
    while lonely or others:
        yield from draw.sample(lonely, len(lonely))
        yield from draw.sample(others, len(others))


def scattered(cast):
    profile = cast.profile
    return [*masters_struck(cast),
            *spread(cast, profile.of_workers, workers_struck),
            *spread(cast, profile.of_links, links_struck),
            *processes_of_recipes_struck(cast)]


def masters_struck(cast):
    faults, at = [], 0.0
    for kind in deal(cast.draw, cast.profile.of_masters, cast.without):
        at += cast.gap()
        if kind in kinds.SOLITARY:
            struck, at = strike_alone(cast, kind, at)
        else:
            struck, at = strike(cast, kind, at)
        faults += struck
        if at > cast.end:
            return faults
    return faults


def strike(cast, kind, at):
    """A master in the middle of another fault is left alone: the next fault waits for a free
    master."""
    at = max(at, min(cast.busy.get(master, 0.0) for master in cast.masters))
    hit = cast.some(cast.free(cast.masters, at))
    return [f for f in (cast.fault(at, kind, (master,)) for master in hit) if f], at


def strike_alone(cast, kind, at):
    quiet = cast.profile.quiet_s + SLACK_S
    at = max(at, max(cast.busy.values(), default=at - quiet) + quiet)
    fault = cast.fault(at, kind, (cast.draw.choice(cast.masters),))
    if not fault:
        return [], at
    cast.alone.append((fault.at - quiet, fault.end + quiet))
    return [fault], fault.end + quiet


def spread(cast, given, pick):
    """Faults of workers and links keep clear of the solitary ones, and of each other."""
    faults, at = [], 0.0
    for kind in deal(cast.draw, given, cast.without):
        at += cast.gap()
        at = after_alone(cast, kind, at)
        if at > cast.end:
            break
        for targets in pick(cast, kind):
            if len(cast.free(targets, at)) == len(targets):
                faults += [f for f in (cast.fault(at, kind, targets),) if f]
    return faults


def after_alone(cast, kind, at):
    longest = LASTS_S[kind][1]
    for begin, end in cast.alone:
        if begin < at + longest + SLACK_S and at < end:
            at = end
    return at


def link(worker, master):
    return f"link-{worker.split('-')[1]}-{master.split('-')[1]}"


def workers_struck(cast, kind):
    mortal = cast.workers if kind == "stopped" else cast.workers[cast.profile.spared:]
    return [(each,) for each in cast.some(mortal)]


def recipes_struck(cast, _kind):
    return [(each,) for each in cast.some(cast.recipes)]


def processes_of_recipes_struck(cast):
    return spread(cast, cast.profile.of_workers, recipes_struck) if cast.recipes else []


def links_struck(cast, kind):
    """All links of one node, or, as only cuts can be that fine, any links of one worker."""
    worker, master = cast.draw.choice(cast.workers), cast.draw.choice(cast.masters)
    if cast.draw.random() < 0.4:
        return [tuple(link(each, master) for each in cast.workers)]
    masters = cast.some(cast.masters) if kind in kinds.CUTS else cast.masters
    return [tuple(link(worker, each) for each in masters)]


def alone(cast):
    """One at a time: two masters that forget soon after each other would both be wrong at once.
    Until then as many masters as may be dead are stopped, so that leases have the votes of a bare
    quorum only."""
    faults, at = [], AWAKE_S + STILL_TTLS * cast.profile.ttl_ms / 1000
    for kind in deal(cast.draw, cast.profile.of_masters, cast.without):
        struck, at = strike_alone(cast, kind, at + cast.gap())
        if not struck:
            return faults
        faults += struck + (still_before(cast, struck[0]) if kind != "emptied" else [])
    return faults


def still_before(cast, fault):
    dead = len(cast.masters) - (len(cast.masters) + cast.profile.spare + 2) // 2
    others = [master for master in cast.masters if master not in fault.targets]
    lasts_s = STILL_TTLS * cast.profile.ttl_ms / 1000
    return [Fault(fault.at - AWAKE_S - lasts_s, "frozen", (master,), lasts_s)
            for master in sorted(cast.draw.sample(others, dead))]


# ---- moving, turns ------------------------------------------------------------------------------


def moving(cast):
    """Always two without a vote: the older one comes back, and when it votes again, another goes
    down."""
    profile, at, faults = cast.profile, 0.0, []
    moves = []
    while at < cast.end:
        moves.append(at)
        at += cast.draw.uniform(*MOVE_S)
    down = []
    for index, at in enumerate(moves):
        kind = cast.draw.choice(cast.profile.of_masters)
        until = min(moves[index + 2] if index + 2 < len(moves) else cast.end, cast.end)
        end = until - profile.apart_s - silence_after(cast.profile, kind)
        if end <= at:
            break
        master = cast.draw.choice([m for m in cast.masters if m not in down])
        faults.append(Fault(at, kind, (master,), end - at,
                            detail(cast.draw, kind, profile)))
        down = [*down, master][-2:]
    return faults + spread(cast, profile.of_workers, workers_struck) + processes_of_recipes_struck(cast)


def silence_after(profile, kind):
    """A restarted master abstains."""
    return profile.quarantine_ms / 1000 if kind in kinds.CRASHES else 0.0


def turns(cast):
    """Two masters again and again, always these two, so that a quorum always votes."""
    two = sorted(cast.draw.sample(cast.masters, 2))
    faults, at = [], cast.gap()
    while True:
        down = cast.draw.uniform(*TURNS_DOWN_S)
        if at + down > cast.end:
            return faults
        kind = cast.draw.choice(cast.profile.of_masters)
        faults += [Fault(at, kind, (master,), down) for master in two]
        at += down + cast.draw.uniform(*TURNS_UP_S)


# ---- deaths: for a first look --------------------------------------------------------------------


def deaths(cast):
    """Two masters die one after the other. Neither votes when the first holder gives the lock back, for each
    hold lasts 1.5 ttls."""
    ttl_s, (first, second) = cast.profile.ttl_ms / 1000, cast.draw.sample(cast.masters, 2)
    faults = [Fault(ttl_s * cast.draw.uniform(*times), "crashed", (master,), 0.25 * ttl_s)
              for master, times in ((first, (0.3, 0.4)), (second, (0.8, 0.9)))]
    return [fault for fault in faults if fault.end <= cast.end]


# ---- older: what was given back is there again -------------------------------------------------


def how_many(cast):
    """A quorum in every second case, else fewer."""
    quorum = len(cast.masters) // 2 + 1
    return quorum if cast.draw.random() < 0.5 else cast.draw.randint(1, quorum - 1)


def older(cast):
    """Some masters come back at once, each from its data of one moment. In some cases another one hears
    nothing from that moment on. The next ones go down once these vote."""
    faults, at = [], OLDER_AGE_S[1] + cast.draw.uniform(*APART_S)
    while True:
        age, down = cast.draw.uniform(*OLDER_AGE_S), lasts(cast.draw, "rolled-back")
        end = at + down + silence_after(cast.profile, "rolled-back")
        if end > cast.end:
            break
        deaf, *masters = cast.draw.sample(cast.masters, 1 + how_many(cast))
        faults += [Fault(at, "rolled-back", (master,), down, age) for master in sorted(masters)]
        if cast.draw.random() < DEAF_SHARE:
            faults.append(Fault(at - age, "frozen", (deaf,), age + down + cast.draw.uniform(*DEAF_S)))
        at = end + OLDER_AGE_S[1] + cast.draw.uniform(*APART_S)
    return faults + spread(cast, cast.profile.of_workers, workers_struck) + processes_of_recipes_struck(cast)


# ---- leaders: the process that leads at that moment ---------------------------------------------


def leaders(cast):
    """A stop is longer than what is left of the lease."""
    faults, at, ttl_s = [], cast.gap(), cast.profile.ttl_ms / 1000
    while True:
        kind = cast.draw.choice(cast.profile.of_workers)
        lasted = cast.draw.uniform(1.2 * ttl_s, 2.2 * ttl_s) if kind == "stopped" else lasts(cast.draw, kind)
        if at + lasted > cast.end:
            return faults
        faults.append(Fault(at, kind, (LEADER,), lasted))
        at += lasted + cast.gap()


SHAPES = {"scattered": scattered, "alone": alone, "moving": moving, "turns": turns, "older": older,
          "leaders": leaders, "deaths": deaths, "change": changing.change}
