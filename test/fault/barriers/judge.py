"""What must be true of parties at barriers, by the records of a run.

A record is one call of one party: (generation, party, begun, ended, outcome), times in microseconds of
one clock; `ended` is None of a party that was killed.
"""

from collections import namedtuple

Call = namedtuple("Call", "generation party begun ended outcome")


def violations(calls, parties, generations, workers):
    found = []
    for generation in range(generations):
        of = [call for call in calls if call.generation == generation]
        found += early(generation, of, parties)
        found += told_otherwise(generation, of, parties)
        found += left_behind(generation, of, workers)
    return found


def passed(calls):
    return [call for call in calls if call.outcome == "passed"]


def early(generation, calls, parties):
    """Nobody passes before so many have begun to arrive."""
    first = min((call.ended for call in passed(calls)), default=None)
    begun = {call.party for call in calls if first is not None and call.begun <= first}
    if first is not None and len(begun) < parties:
        yield f"generation {generation} was passed at {first} by {len(begun)} of {parties} parties"


def told_otherwise(generation, calls, parties):
    """Who is told that it did not pass was not among those who had to be there."""
    first = min((call.ended for call in passed(calls)), default=None)
    left = {call.party for call in calls if call.outcome == "not passed"}
    there = {call.party for call in calls if first is not None and call.begun <= first} - left
    if first is not None and len(there) < parties:
        yield f"generation {generation} was passed, and {sorted(left)} are told that they did not"


def left_behind(generation, calls, workers):
    """Each worker has passed in the end, with whatever process."""
    missing = workers - {call.party.split(".")[0] for call in passed(calls)}
    if missing:
        yield f"generation {generation} left {sorted(missing)} behind"
