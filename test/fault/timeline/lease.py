"""One attempt to get a name, from asking to the end of its lease."""

import re
from dataclasses import dataclass, field
from functools import cache

# With the validity left.
TOLD = ("valid", "at_risk", "healthy", "moving", "moved", "unmoved", "lost", "act", "releasing")


def slot_key(name, slot):
    """A slot has a lane of its own, and goes by its key on the masters."""
    return f"redlock:permit:{slot}:{name}"


@cache
def slots(name, permits):
    return tuple(slot_key(name, slot) for slot in range(permits))


def called(name):
    found = re.match(r"redlock:permit:(\d+):(.+)$", name)
    return f"{found[2]} #{found[1]}" if found else name


@dataclass
class Attempt:
    """Times are us, as recorded."""
    worker: str
    name: str               # of a permit, that of its slot; before it has one, of the first
    number: int
    asked: int
    shared: bool = False    # as a reader
    whole: str = ""         # of a permit: the name that it is of
    wanted: tuple = ()      # and the slots of which any would have done
    acquired: int = None
    until: int = None       # the end of validity, as computed last
    fence: int = 0
    answered: int = None    # the end of an attempt without a lease
    stopped: int = None     # when it was held no more, by an action or an event of its worker
    ending: str = ""        # how it came to that
    given_back: bool = False
    last: int = 0
    renewals: int = 0
    risks: list = field(default_factory=list)      # [begin, end]
    losses: list = field(default_factory=list)
    refrained: list = field(default_factory=list)

    def hears(self, now, fact, words):
        self.last = now
        if fact == "acquired":
            self.acquired, self.until, self.fence = now, int(words[0]), int(words[2])
            self.name = slot_key(self.whole, int(words[3])) if self.wanted else self.name
        elif fact in TOLD:
            self.follow(now, fact, int(words[0]))
        elif fact == "refrained":
            self.refrained.append(now)
        elif fact == "failed":
            self.answered = now

    def follow(self, now, fact, until):
        if self.acquired is None:
            raise ValueError(f"{fact} of what was not acquired")
        if self.given_back:
            return
        # With no validity left it ended by itself, no later than computed before.
        self.until = until if until > now else min(self.until, now)
        self.renewals += fact == "valid"
        if fact == "at_risk":
            self.risks.append([now, None])
        elif self.risks and self.risks[-1][1] is None and fact in ("healthy", "lost", "releasing"):
            self.risks[-1][1] = now
        if fact == "lost":
            self.losses.append(now)
            self.stop(now, "lost")
        elif fact == "releasing":
            self.stop(now, "given back")
            self.given_back, self.until = True, min(self.until, now)

    def stop(self, now, ending):
        if self.stopped is None:
            self.stopped, self.ending = now, ending

    def would_have(self, name):
        return name == self.name or name in self.wanted

    def settle(self, kind, gone, ending):
        """At the end of its process' record; `gone`, when the process was."""
        if self.acquired is None:
            self.answered = self.answered or gone
            return
        if kind == "command":  # until its job does nothing any more, it holds
            self.until = max(self.until, self.stopped or self.last)
        self.stop(gone, ending)
        for risk in self.risks:
            risk[1] = risk[1] or self.held_until

    @property
    def held_until(self):
        """A process that was stopped past its lease held nothing after that."""
        return max(self.acquired, min(self.stopped, self.until))

    @property
    def shown_until(self):
        """The rest of validity, and the events after its end."""
        return max([self.held_until, self.until, *self.losses, *self.refrained])
