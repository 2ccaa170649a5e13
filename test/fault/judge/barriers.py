"""Judges parties at barriers, by the records of a run.

A record is one call of one party: (generation, party, begun, ended, outcome), times in microseconds of
one clock; `ended` is None of a party that was killed. In a file these are two lines, `BEGUN arrives
GENERATION PARTY` and `ENDED told GENERATION PARTY OUTCOME`.
"""

from collections import namedtuple

from calls import OF_BARRIERS, read_calls

Call = namedtuple("Call", "generation party begun ended outcome")


def read(lines):
    return [Call(int(generation), party, begun, ended, outcome)
            for (generation, party), begun, ended, (outcome,)
            in read_calls(lines, "arrives", 2, OF_BARRIERS, ["killed"])]


def violations(calls, parties, generations, workers):
    """Each worker had to pass this number of generations, from the first on."""
    found, of = [], {generation: [] for generation in range(generations)}
    for call in calls:
        of.setdefault(call.generation, []).append(call)
    for generation, its in sorted(of.items()):
        found += early(generation, its, parties)
        found += told_otherwise(generation, its, parties)
        if generation < generations:
            found += left_behind(generation, its, workers)
    return found


def passed(calls):
    return [call for call in calls if call.outcome == "passed"]


def early(generation, calls, parties):
    """Nobody passes before this number of parties have begun to arrive."""
    first = min((call.ended for call in passed(calls)), default=None)
    begun = {call.party for call in calls if first is not None and call.begun <= first}
    if first is not None and len(begun) < parties:
        yield f"generation {generation} was passed at {first} by {len(begun)} of {parties} parties"


def told_otherwise(generation, calls, parties):
    """A party that heard `not passed` was not among those that had to be there."""
    first = min((call.ended for call in passed(calls)), default=None)
    left = {call.party for call in calls if call.outcome == "not-passed"}
    there = {call.party for call in calls if first is not None and call.begun <= first} - left
    if first is not None and len(there) < parties:
        yield f"generation {generation} was passed, and {sorted(left)} hear that they did not"


def left_behind(generation, calls, workers):
    """Each worker has passed in the end, with whatever process."""
    missing = workers - {call.party.split(".")[0] for call in passed(calls)}
    if missing:
        yield f"generation {generation} left {sorted(missing)} behind"
