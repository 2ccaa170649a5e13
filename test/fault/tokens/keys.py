"""The keys that the watcher saw on masters: a token that was given back is never set again."""

from .judge import given_back

EDGE = 20_000  # us: a fault is recorded a little before or after it happens


def looks(path, name):
    """(when it was asked, the master, the token or None) of each answer."""
    found = {}
    with open(path, encoding="ascii", errors="replace") as file:
        for line in file:
            words = line.split()
            at, master = int(words[0]), int(words[1].removeprefix("master-"))
            found.setdefault((at, master), None)
            if words[2] == name:
                found[at, master] = words[3]
    return sorted((at, master, token) for (at, master), token in found.items())


def is_struck(faults, quarantine, master, begin, end):
    """Older data may have the token, or a queue in which it waits. A frozen master may not have heard of the
    release, and still have the token in its queue."""
    return any(it.master == master and it.end + quarantine >= begin - EDGE and it.begin <= end + EDGE
               for it in faults)


def set_again(record, seen, faults, quarantine):
    """It was gone from that master after it was given back, and then there, with nothing struck."""
    ends, before = given_back(record), {}
    for at, master, token in seen:
        was_at, was = before.get(master, (0, token))
        before[master] = (at, token)
        if (token in ends and token != was and was_at > ends[token]
                and not is_struck(faults, quarantine, master, ends[token], at)):
            yield (f"master-{master} has {token} again at {at}, "
                   f"which was given back at {ends[token]} and gone at {was_at}")
