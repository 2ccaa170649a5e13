"""The kinds of fault, each with a line."""

# Of masters.
CRASHES = {
    "crashed": "SIGKILL; restarted with what its disk has: nothing, unless the masters persist",
    "emptied": "SIGKILL; its data is deleted before it restarts",
    "rolled-back": "SIGKILL; restarted with an older snapshot",
    "terminated": "SIGTERM; restarted with all its data",
}
DELAYS = {
    "frozen": "SIGSTOP, and SIGCONT later",
    "asleep": "DEBUG SLEEP",
    "slow-script": "a script that runs for long",
}
NUISANCES = {
    "flushed": "SCRIPT FLUSH",
    "disconnected": "CLIENT KILL of all connections",
    "full": "maxmemory is reached: writes are refused",
    "crowded": "connections up to maxclients, ours ended: nobody gets back in",
}
# They take keys from under their holder: one master at a time, and nothing else around it.
SOLITARY = {
    "evicting": "maxmemory is reached: any key may go",
    "clock-stepped": "the wall clock of one master steps, and steps back",
    "wiped": "FLUSHALL",
    "lying": "gives to everybody what others hold, and its logical clock goes back and forth",
}
MASTERS = {**CRASHES, **DELAYS, **NUISANCES, **SOLITARY}

WORKERS = {
    "killed": "SIGKILL; a new process takes its place",
    "ended": "SIGTERM: closes in good order; a new process takes its place",
    "stopped": "SIGSTOP, and SIGCONT later, often past the lease",
}

CUTS = {
    "cut": "nothing passes, neither way",
    "half-cut": "requests vanish, or replies do",
}
# These need a queueing discipline in the kernel: tbf, netem.
SHAPED = {
    "limited": "a few kilobytes a second (tc tbf)",
    "delayed": "every packet is late (tc netem)",
    "lossy": "packets get lost (tc netem)",
    "reordering": "packets overtake each other (tc netem)",
}
LINKS = {**CUTS, **SHAPED}

ALL = {**MASTERS, **WORKERS, **LINKS}
