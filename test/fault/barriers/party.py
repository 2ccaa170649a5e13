"""One party at one barrier after the other: the command that arrives, and what it was told."""

import signal

from facts import document

PASSED, UNAVAILABLE, NOT_PASSED = 0, 69, 75
DEPARTED = (128 + signal.SIGTERM, -signal.SIGTERM)  # the latter before it knows what to do
OUTCOMES = ("passed", "undecided", "not-passed", "departed")


def command(redlock, name, parties, generation, token=None, ttl="1s", max_ttl="2s"):
    words = [redlock, "barrier", "--json", "--parties", parties, "--generation", generation,
             "--ttl", ttl, "--max-ttl", max_ttl, *(("--token", token) if token else ()), name]
    return [str(word) for word in words]


def outcome(status, output):
    """With the token to come back with, if it is undecided; None of a command that failed."""
    if status == PASSED:
        return "passed", None
    if status == NOT_PASSED:
        return "not-passed", None
    if status in DEPARTED:
        return "departed", None
    if status != UNAVAILABLE:
        return None
    told = document(output)
    return ("undecided", told["token"]) if told["undecided"] else ("not-passed", None)
