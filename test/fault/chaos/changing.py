"""When masters are replaced in a run, and the faults around it: drawn from the seed alone.

A master lists a client that was killed for two minutes and more, or until it restarts. So a step of a change
waits for these."""

import random
import signal
from dataclasses import dataclass

from . import kinds

BEGIN_S, END_S = 4.0, 12.0
LEAST_S = 12.0  # of a change, with what comes after it: each of its two steps takes five seconds
WORD_S = 120.0
LONG_S = 240.0  # in a shorter run nobody is killed before the end
AWAKE_S = 18.0  # after the next change: by then it is done
AFTER_S = 8.0
RESTARTING = ("crashed", "terminated")
LASTING = ("frozen", "asleep", "slow-script", "disconnected", "flushed")
RESTARTS = 4  # of five masters
MOST_S = 1.0  # of faults in a short run
AFTER_ALL = "after all changes"  # the detail of a fault


@dataclass(frozen=True)
class Change:
    """A master is replaced."""
    at: float
    seat: int  # which one
    way: str  # the faults around it
    patience: str = None  # of `masters change`, where clients are killed; None: as long as it takes
    is_dead: bool = False  # the master dies before, and does not come back
    broken_off: tuple = ()  # (after how many seconds, signal): the command is, and run again


# Of storm and slow: workers are killed. In the one masters restart, in the other workers sleep. Of restarts:
# masters restart. Of dead: so is the master that goes; with a spare vote another one lies instead.
#
# A storm is the last, as `masters change` begins no other one while masters list clients of a former list.
WAYS = ("slow", "quiet", "restarts", "dead", "storm")
SHORT_WAYS = ("short", "quiet", "short")


def listed_s(profile):
    """How long a master lists a client that was killed."""
    return (WORD_S + profile.quarantine_ms / 1000) * 1.01 + 5


def ways_of(seconds, masters):
    if seconds >= LONG_S:
        return [WAYS[i % len(WAYS)] for i in range(masters)]
    many = min(masters, max(1, int((seconds - BEGIN_S) / LEAST_S)))
    return [SHORT_WAYS[i % len(SHORT_WAYS)] for i in range(many)]


def changes(profile, seed, seconds, masters):
    if profile.shape != "change":
        return []
    draw, ways = random.Random(seed), ways_of(seconds, masters)
    waits = [listed_s(profile) + AFTER_S if way == "slow" else 0 for way in ways]
    each = (seconds - BEGIN_S - END_S - sum(waits)) / (len(ways) - sum(map(bool, waits)))
    at, found = BEGIN_S, []
    for seat, way, wait in zip(draw.sample(range(1, masters + 1), masters), ways, waits):
        broken_off = (draw.uniform(0.5, 8.0), draw.choice((signal.SIGKILL, signal.SIGTERM)))
        found.append(Change(at, seat, way, "8s" if way in ("storm", "slow") else None,
                            way == "dead" and not profile.spare,
                            broken_off if way in ("storm", "restarts") else ()))
        at += wait or each
    return found


def change(cast):
    """All faults."""
    plan = changes(cast.profile, cast.seed, cast.seconds, len(cast.masters))
    ends = [it.at for it in plan[1:]] + [cast.end]
    faults = []
    for it, end in zip(plan, ends):
        faults += AROUND[it.way](cast, it.at, min(end, cast.end))
    return faults + killed_at_last(cast)


def strike(cast, at, kind, target, lasts=None, more=None):
    fault = cast.fault(at, kind, target if isinstance(target, tuple) else (target,), lasts, more) \
        if kind not in cast.without else None
    return [fault] if fault else []


def free(cast, targets, at, many):
    """Some that are in no other fault."""
    it = cast.free(targets, at)
    return cast.draw.sample(it, min(many, len(it)))


def everybody(cast):
    return cast.workers + cast.recipes


def killed(cast, at, many):
    return [fault for _ in range(many) for moment in [at + cast.draw.uniform(-0.5, 3.0)]
            for each in free(cast, everybody(cast), moment, 1)
            for fault in strike(cast, moment, "killed", each)]


def struck_workers(cast, at):
    """One sleeps through a step, some for a moment, one ends."""
    faults = []
    for kind, lasts in (("stopped", 5.0), ("stopped", None), ("stopped", None), ("ended", None)):
        moment = at + cast.draw.uniform(-0.5, 2.0)
        for each in free(cast, everybody(cast), moment, 1):
            faults += strike(cast, moment, kind, each, lasts)
    return faults


def cut_links(cast, at):
    """Of one worker, to one master or more."""
    faults = []
    for kind in cast.profile.of_links:
        moment, worker = at + cast.draw.uniform(0, 3), cast.draw.choice(cast.workers)
        links = tuple(f"link-{worker.split('-')[1]}-{master.split('-')[1]}"
                      for master in cast.some(cast.masters))
        if len(cast.free(links, moment)) == len(links):
            faults += strike(cast, moment, kind, links)
    return faults


def restarts(cast, at, end):
    """Of most masters, each when the one before votes again."""
    faults = []
    for master in cast.draw.sample(cast.masters, RESTARTS):
        struck = strike(cast, at, cast.draw.choice(RESTARTING), master)
        faults += struck
        at += (struck[0].lasts if struck else 0) + cast.profile.quarantine_ms / 1000 + 0.5
        if at > end:
            break
    return faults


def lies(cast, at, lasts=None):
    """With a spare vote, and always the same master: others must not have forgotten which lists are over."""
    return strike(cast, at, "lying", cast.masters[0], lasts) if cast.profile.spare else []


def storm(cast, at, end):
    return [*killed(cast, at, 4), *restarting(cast, at, end)]


def restarting(cast, at, end):
    return [*struck_workers(cast, at), *cut_links(cast, at), *restarts(cast, at + 3.5, end)]


def dead(cast, at, _end):
    return [*lies(cast, at + 0.5), *struck_workers(cast, at), *cut_links(cast, at)]


def slow(cast, at, end):
    """Some sleep until the next but one list is in use, or the next but three."""
    faults = killed(cast, at, 4)
    for lasts in (listed_s(cast.profile) + 4, end - at + AWAKE_S, end - at + AWAKE_S):
        for each in free(cast, everybody(cast), at - 0.5, 1):
            faults += strike(cast, at - 0.5, "stopped", each, lasts)
    moment = at
    while moment < end - AFTER_S:
        faults += struck_workers(cast, moment) + cut_links(cast, moment)
        faults += cast.draw.random() < 0.5 and lies(cast, moment) or \
            strike(cast, moment, cast.draw.choice(LASTING), cast.draw.choice(cast.masters))
        moment += cast.draw.uniform(18, 24)
    return faults


def quiet(_cast, _at, _end):
    return []


def short(cast, at, _end):
    kind = cast.draw.choice(("frozen", "disconnected", "asleep"))
    master = lies(cast, at, MOST_S) or strike(cast, at, kind, cast.draw.choice(cast.masters),
                                              cast.draw.uniform(0.1, MOST_S))
    return [*master, *struck_workers(cast, at)]


AROUND = {"slow": slow, "quiet": quiet, "restarts": restarting, "dead": dead, "storm": storm, "short": short}


def killed_at_last(cast):
    return [fault for each in free(cast, everybody(cast), cast.end - 2, 4)
            for fault in strike(cast, cast.end - 2, "killed", each, more=AFTER_ALL)]


KINDS = {"masters": (*RESTARTING, *LASTING), "workers": tuple(kinds.WORKERS), "links": tuple(kinds.CUTS)}
