"""The parts of a run."""

from dataclasses import dataclass

from . import changing, kinds

FOREVER_MS = 2 ** 63 - 1
ALL = 9
DRIFT = 0.01  # the library's default
UPTIME_MS = 1000  # a master tells its uptime in whole seconds, so it may abstain that much longer
COMMAND_SKEW_MS = 1000  # the command's, which has no option for it


@dataclass(frozen=True)
class Profile:
    name: str
    line: str
    seconds: float = 60
    masters: int = 5
    workers: int = 8
    names: int = 4
    holders: int = 1  # with fewer leases in all the run is no test
    # Kinds of workers, dealt in turn.
    programs: tuple = ("library",)
    ttl_ms: int = 1000
    wait_ms: int = 2000
    skew_ms: int = 50
    spare: int = 0  # spare votes; nothing is excused
    steps_s: tuple = (-5, -2, -1, 1, 2, 5)  # of clocks
    # Percent of the attempts: as readers; without waiting; without a fence.
    readers: int = 0
    tries: int = 0
    unfenced: int = 0
    # The attempts ask for one of this number of permits. Percent of them: for one of fewer; for the name.
    permits: int = 0
    fewer: int = 0
    whole: int = 0
    hold_us: int = 1000
    rest_ms: int = 0  # after a lease, at most; 0: a moment
    long_every: int = 250  # one lease in this many is held beyond its ttl
    persist: int = 0  # of the masters, the first ones
    shape: str = "scattered"  # which function of schedule draws the faults
    of_masters: tuple = ()
    of_workers: tuple = ()
    of_links: tuple = ()
    needs_links: bool = True  # no run without them
    recipes: tuple = ()  # (kind, how many) of chaos/recipes.py, beside the workers
    gap_s: tuple = (0.5, 2.0)  # from the begin of a fault to that of the next
    apart_s: float = 0.3  # one votes again, and then the next goes down
    spared: int = 0  # workers that live as long as the run, and must not grow
    longest_ms: int = 0
    takeover_ms: int = 0  # the most in the median from a strike at a leader to the next announcement
    availability: int = 0

    @property
    def max_ttl_ms(self):
        """The max_ttl of all clients, so that restarted masters abstain no longer than needed."""
        return self.ttl_ms

    @property
    def quarantine_ms(self):
        return int(self.max_ttl_ms * (1 + DRIFT)) + self.skew_ms + UPTIME_MS

    @property
    def quiet_s(self):
        """Before and after a solitary fault."""
        return (self.max_ttl_ms + self.quarantine_ms) / 1000


OFTEN = 60  # of long leases: then most faults hit one
BOTH = ("library", "library", "library", "command")
WRONG = ("evicting", "wiped", "clock-stepped", "emptied", "lying")
# With a plain majority, a lost key is excused for leases on a bare majority.
TOLERATED = tuple(kind for kind in kinds.MASTERS if kind not in ("wiped", "lying"))
# Kinds that lose no data, as clients of other libraries know no quarantine.
HARMLESS = (*kinds.DELAYS, *kinds.NUISANCES, "terminated")

PROFILES = {profile.name: profile for profile in (
    Profile("quick", "every kind of fault of masters and workers, under a minute in all",
            seconds=35, names=6, programs=BOTH, skew_ms=COMMAND_SKEW_MS, holders=500,
            long_every=OFTEN, gap_s=(0.4, 1.6),
            of_masters=TOLERATED, of_workers=tuple(kinds.WORKERS)),
    Profile("full", "the same for ten minutes",
            seconds=600, names=6, programs=BOTH, skew_ms=COMMAND_SKEW_MS, holders=10000,
            long_every=OFTEN,
            of_masters=TOLERATED, of_workers=tuple(kinds.WORKERS)),
    Profile("soak", "the same for half an hour, or as long as --seconds says",
            seconds=1800, names=6, programs=BOTH, skew_ms=COMMAND_SKEW_MS, holders=10000,
            long_every=OFTEN, hold_us=5000, gap_s=(0.5, 4.0), spared=2,
            of_masters=TOLERATED, of_workers=tuple(kinds.WORKERS)),
    Profile("fences", "masters that persist, and lose nothing when they restart",
            persist=ALL, holders=500, of_masters=("crashed", "terminated", "frozen"),
            of_workers=("killed", "stopped")),
    Profile("turns", "two masters die again and again, all wait in turn, nobody for long",
            names=1, shape="turns", programs=BOTH, skew_ms=COMMAND_SKEW_MS, wait_ms=FOREVER_MS,
            holders=100, of_masters=("crashed", "emptied"), longest_ms=15000),
    Profile("moving", "two masters are down at any one time, others every few seconds",
            shape="moving", holders=1000, availability=99,
            of_masters=(*kinds.CRASHES, "frozen")),
    Profile("wrong", "one master after the other lies or forgets; a spare vote, nothing excused",
            seconds=300, spare=1, shape="alone", programs=BOTH, skew_ms=COMMAND_SKEW_MS,
            holders=10000, long_every=OFTEN, gap_s=(0.0, 0.3), availability=99,
            steps_s=(-10, 10), of_masters=WRONG),
    Profile("mixed", "clients of other kinds on the same names",
            programs=("library", "plain", "command", "node-redlock"), skew_ms=COMMAND_SKEW_MS,
            holders=500, of_masters=HARMLESS, of_workers=tuple(kinds.WORKERS)),
    Profile("cut", "masters and workers in network namespaces, links cut and slowed",
            workers=6, names=6, holders=200, long_every=OFTEN, of_links=tuple(kinds.LINKS)),
    Profile("recipes",
            "elections, barriers, latches beside leases; two of five masters persist, two are down at a time",
            programs=BOTH, workers=4, names=2, ttl_ms=2000, skew_ms=COMMAND_SKEW_MS, holders=500, persist=2,
            recipes=(("elector", 3), ("party", 6), ("arriver", 5)), shape="moving", gap_s=(0.3, 1.2),
            apart_s=1.5,  # most latches are mended by then on a master that votes again
            of_masters=(*kinds.CRASHES, "frozen"), of_workers=tuple(kinds.WORKERS)),
    Profile("elections", "whoever leads is killed, or stopped until its lease is over, again and again",
            workers=2, names=1, holders=100, recipes=(("elector", 5),), shape="leaders", gap_s=(1.2, 2.2),
            of_workers=("killed", "stopped"), takeover_ms=2000),
    Profile("tokens",
            "leases go by their tokens beside others; masters come back from older data, also a quorum",
            workers=2, names=2, ttl_ms=2500, skew_ms=COMMAND_SKEW_MS, holders=200, recipes=(("bearer", 6),),
            shape="older", gap_s=(1.0, 3.5), of_masters=("rolled-back", "frozen"),
            of_workers=tuple(kinds.WORKERS)),
    Profile("change",
            "each master is replaced by `masters change`, which ends the former lists, under load and faults",
            seconds=300, workers=32, names=4, ttl_ms=2000, wait_ms=6000, skew_ms=COMMAND_SKEW_MS,
            holders=5000, programs=(*("library",) * 7, "command"), persist=2 * ALL, readers=10, tries=5,
            unfenced=10, permits=2, whole=60, hold_us=20000, rest_ms=1500, long_every=100,
            recipes=(("elector", 3), ("party", 3)), shape="change",
            of_masters=changing.KINDS["masters"], of_workers=changing.KINDS["workers"],
            of_links=changing.KINDS["links"], needs_links=False, availability=99.9),
    Profile("small", "a first look: two workers, one name; two of five masters die; its picture is small",
            seconds=5.7, workers=2, names=1, ttl_ms=2000, wait_ms=FOREVER_MS, long_every=1, holders=2,
            shape="deaths", of_masters=("crashed",)),
    Profile("calm", "no faults", seconds=20, programs=BOTH, skew_ms=COMMAND_SKEW_MS, holders=1000),
    Profile("tries", "no faults, and nobody waits", seconds=20, programs=BOTH,
            skew_ms=COMMAND_SKEW_MS, wait_ms=0, holders=1000),
)}
