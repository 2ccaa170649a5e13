"""The names of a run, and the slots of those that have permits.

A slot is a name of its own: one has it at a time. It goes by its key on the masters, so a client of
another kind may ask for it as well.
"""

import re

SLOT = re.compile(r"redlock:permit:(-?\d+):(.+)$")
ALL_SLOTS = "redlock:permits:"


def slot_key(name, slot):
    return f"redlock:permit:{slot}:{name}"


def whole_of(key):
    """The name to which a slot belongs; of all else itself."""
    found = SLOT.match(key)
    return found[2] if found else key


def pool_of(key):
    """All slots of a name together, as lanes that ask for permits have them; of all else itself."""
    found = SLOT.match(key)
    return ALL_SLOTS + found[2] if found else key


class Name:
    def __init__(self, name):
        self.name = name
        self.lanes = []
        self.holders = []  # whose end may be to come
        self.open = []  # who have neither given back nor lost it
        self.newest = {}  # the last to come, by whether it is shared
        self.highest = self.highest_writer = None
        self.free_since = 0
        self.long_gap = (0, 0)


class Names:
    def __init__(self, run):
        self.of = {it: Name(it) for it in run.names}
        self.slots = {}  # those below K of a name, by the name and K
        if run.permits:
            for name in run.names:
                self.of[ALL_SLOTS + name] = Name(ALL_SLOTS + name)
                self.slots_below(name, run.permits)

    def __contains__(self, key):
        return key in self.of

    def get(self, key):
        return self.of.get(key)

    def all(self):
        return self.of.values()

    def slot(self, name, number):
        """The slot that a worker claims to hold; perhaps there is none with that number."""
        key = slot_key(name, number)
        if key not in self.of:
            self.of[key] = Name(key)
            self.of[key].lanes = self.pool(name).lanes
        return self.of[key]

    def pool(self, name):
        return self.of.setdefault(ALL_SLOTS + name, Name(ALL_SLOTS + name))

    def slots_below(self, name, permits):
        if (name, permits) not in self.slots:
            self.slots[name, permits] = [self.slot(name, i) for i in range(permits)]
        return self.slots[name, permits]

    def wanted(self, name, permits):
        """Any of these satisfies the attempt."""
        return self.slots_below(name, permits) if permits else [self.of[name]]
