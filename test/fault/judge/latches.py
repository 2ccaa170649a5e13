"""Judges latches, by the records of a run.

A record is one call: (latch, action, who, begun, ended, outcome, arrived), times in microseconds of one
clock. Of `arrive` `who` is the arrival, which is the same each time that it is repeated. `ended` is None
of a call that was killed. In a file these are two lines, `BEGUN asks LATCH ACTION WHO` and
`ENDED told LATCH ACTION WHO OUTCOME ARRIVED`, with -1 where nobody was counted.
"""

from collections import namedtuple

from calls import OF_LATCHES, read_calls

Call = namedtuple("Call", "latch action who begun ended outcome arrived")


def read(lines):
    return [Call(*asked, begun, ended, outcome, int(arrived) if int(arrived) >= 0 else None)
            for asked, begun, ended, (outcome, arrived)
            in read_calls(lines, "asks", 3, OF_LATCHES, ["killed", "-1"])]


def violations(calls, arrivals, waiters, finished):
    """Each latch had to open for this number of arrivals, and each of these waiters had to hear of those
    that had to be finished."""
    found, of = [], {latch: [] for latch in finished}
    for call in calls:
        of.setdefault(call.latch, []).append(call)
    for latch, its in sorted(of.items()):
        for rule in (early, shut_again, miscounted, forgotten, gone):
            found += rule(latch, its, arrivals)
        if latch in finished:
            found += left_behind(latch, its, arrivals, waiters)
    return found


def begun_by(calls, moment):
    """The arrivals that somebody had asked for by then."""
    return {call.who for call in calls if call.action == "arrive" and call.begun <= moment}


def arrived_by(calls, moment):
    """The arrivals that somebody had been told of by then."""
    return {call.who for call in calls if call.action == "arrive" and call.ended is not None
            and call.ended <= moment and call.outcome in ("arrived", "open")}


def opened(calls):
    """When the first heard that it is open; None: nobody did."""
    return min((call.ended for call in calls if call.outcome == "open"), default=None)


def early(latch, calls, arrivals):
    """Nobody hears that it is open before this number of arrivals have begun."""
    first = opened(calls)
    begun = begun_by(calls, first) if first is not None else ()
    if first is not None and len(begun) < arrivals:
        yield f"{latch} was open at {first} for {len(begun)} of {arrivals} arrivals"


def shut_again(latch, calls, _):
    """A call that begins after somebody heard that it is open does not hear that it is not."""
    first = opened(calls)
    for call in calls:
        if first is not None and call.begun > first and call.outcome in ("shut", "arrived"):
            yield f"{latch} was open at {first}, and {call.who} hears that it is not at {call.ended}"


def miscounted(latch, calls, _):
    """Nobody counts more than have begun to arrive."""
    for call in calls:
        if call.arrived is not None and call.arrived > len(begun_by(calls, call.ended)):
            yield f"{latch}: {call.who} hears of {call.arrived} arrivals at {call.ended}"


def forgotten(latch, calls, arrivals):
    """Nobody counts fewer arrivals than had heard before that they are counted."""
    for call in calls:
        least = min(arrivals, len(arrived_by(calls, call.begun - 1)))
        if call.arrived is not None and call.arrived < least:
            yield f"{latch}: {call.who} hears of {call.arrived} arrivals at {call.ended}, not {least}"


def gone(latch, calls, _):
    """The masters are struck so that a quorum has it at any time, once it was made."""
    made = min((call.ended for call in calls if call.outcome in ("made", "arrived", "open", "shut")),
               default=None)
    for call in calls:
        if call.outcome == "gone" and made is not None and made < call.begun:
            yield f"{latch}: {call.who} hears at {call.ended} that it is gone"


def left_behind(latch, calls, arrivals, waiters):
    """All arrive in the end, and each waiter hears it."""
    last = max((call.ended for call in calls if call.ended is not None), default=0)
    missing = arrivals - len(arrived_by(calls, last))
    told = {call.who for call in calls if call.action == "wait" and call.outcome == "open"}
    if missing > 0:
        yield f"{latch}: {missing} arrivals are not counted"
    if waiters - told:
        yield f"{latch} left {sorted(waiters - told)} behind"
