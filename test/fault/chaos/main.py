"""The command line of cluster-scripts/chaos."""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from judge.report import page

from . import kinds, masters, network, report, schedule, workers
from .process import SIGNALS, Trouble
from .profiles import PROFILES, Profile
from .redis import RedisError
from .stage import Stage

USAGE, SKIPPED = 64, 77
CLOCK_LIBRARY = Path(os.environ.get("REDLOCK_WALL_CLOCK") or
                     workers.ROOT / "build" / "test" / "live" / "libwall_clock.so")
NAMES_MOST = 64
LONG_S = 300  # a process that was spared has lived for long by then
LEAST_S = 30  # in less time too few attempts are clear of faults
PERMITS_MOST = 1024
OF_PERMITS = ("fewer", "whole")
PERCENTS = ("readers", "tries", "unfenced", *OF_PERMITS)
OF_PROFILE = ("spare", "permits", *PERCENTS)
NUMBERS = {"masters": (int, 3, 9), "workers": (int, 1, 64), "names": (int, 1, NAMES_MOST),
           "holders": (int, 0, 10 ** 9),
           "spare": (int, 0, 6), "seconds": (float, 1, 10 ** 6), "permits": (int, 1, PERMITS_MOST),
           "least-use": (float, 0, 100), "seed": (int, 0, 2 ** 32), "hold": (float, 0, 10 ** 5),
           **dict.fromkeys(PERCENTS, (int, 0, 100))}
HELP = """usage: chaos PROFILE [--seed X] [--masters N] [--seconds S] [--workers M]
             [--names K] [--spare F] [--readers PERCENT] [--tries PERCENT]
             [--unfenced PERCENT] [--hold MS] [--holders LEAST]
             [--permits K] [--fewer PERCENT] [--whole PERCENT]
             [--least-use PERCENT]
             [--picture FILE.svg] [--tls] [--keep] [--json] [--server PATH]
       chaos --list | --help

Runs M workers on K names against N real masters for S seconds, strikes
them as the seed says, and lets a checker judge from the records alone whether
the lock kept its promise. `--list` shows the profiles and the kinds of fault.

  --seed X         draws the faults; their effects differ from run to run
  --masters N      3 to 9, odd
  --spare F        votes: how many masters may be wrong; nothing is excused
  --seconds S      of load; starting and ending come on top
  --workers M      processes that contend      --names K   names, 1 to 64
  --readers PERCENT   of the attempts are as readers, the others as writers
  --tries PERCENT     of the attempts wait for nothing
  --unfenced PERCENT  of the attempts ask for no fence
  --permits K         the attempts ask for one of K permits of a name
  --fewer PERCENT     of these ask for one of fewer permits than K
  --whole PERCENT     of these ask for the name itself
  --least-use PERCENT of the slots must be in use while somebody waits for one
  --hold MS        how long a lease is held on average, but for the long ones
  --holders LEAST  fewer leases held make the run no test
  --picture FILE   draws the run
  --tls            the masters speak TLS alone, with certificates made on the spot
  --keep           keeps the run's folder, as is done where something is wrong
  --json           prints the checker's figures
  --server PATH    the masters' program, such as valkey-server

Environment: REDLOCK (the command), REDLOCK_CHAOS_WORKER, REDLOCK_ELECTOR, REDLOCK_BEARER,
REDLOCK_WALL_CLOCK (the library that lets a master's clock step), REDLOCK_SERVER (as --server).
Without a worker given, what is missing is installed and built, in build/.
Exit status: 0 all is well, 1 it is not, 64 usage, 77 cannot be run here.
"""


class Skipped(Exception):
    """The profile cannot be run on this machine."""


class Interrupted(Exception):
    """Ended by a signal."""


@dataclass(frozen=True)
class Given:
    profile: Profile
    seed: int
    seconds: float
    masters: int
    names: tuple
    holders: int
    availability: int
    grown: int
    least_use: float
    programs: tuple  # one for each worker
    tls: bool
    without: tuple  # kinds of faults
    clock_library: Path
    picture: str
    keep: bool
    json: bool

    @property
    def links(self):
        """The kinds of faults of these."""
        return tuple(kind for kind in self.profile.of_links if kind not in self.without)

    @property
    def workers(self):
        return len(self.programs)

    @property
    def slots(self):
        """The masters' keys for all slots of the names."""
        return tuple(f"redlock:permit:{slot}:{name}" for name in self.names
                     for slot in range(self.profile.permits))


def say(text):
    print(f"chaos: {text}", file=sys.stderr)


def misuse(text):
    say(f"{text}; `chaos --help` explains")
    sys.exit(USAGE)


def print_list():
    width = max(map(len, (*PROFILES, *kinds.ALL))) + 2
    print("profiles")
    for profile in PROFILES.values():
        print(f"  {profile.name:{width}}{profile.line}")
    for title, given in (("masters", kinds.MASTERS), ("workers", kinds.WORKERS),
                         ("links", kinds.LINKS)):
        print(f"faults of {title}")
        for kind, line in given.items():
            print(f"  {kind:{width}}{line}")


# ---- what is given ------------------------------------------------------------------------------


def parse():
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.error = misuse
    parser.add_argument("profile", nargs="?")
    parser.add_argument("--help", "-h", action="store_true")
    parser.add_argument("--list", action="store_true")
    for option, (kind, _, _) in NUMBERS.items():
        parser.add_argument(f"--{option}", type=kind)
    parser.add_argument("--picture")
    parser.add_argument("--server", default=os.environ.get("REDLOCK_SERVER"))
    for option in ("tls", "keep", "json"):
        parser.add_argument(f"--{option}", action="store_true")
    return parser.parse_args()


def check(asked):
    if not asked.profile:
        misuse("which profile?")
    if asked.profile not in PROFILES:
        misuse(f"no profile {asked.profile}: there are {', '.join(PROFILES)}")
    for option, (_, least, most) in NUMBERS.items():
        value = getattr(asked, option.replace("-", "_"))
        if value is not None and not least <= value <= most:
            misuse(f"--{option} takes {least} to {most}, not {value:g}")
    if (asked.permits or 0) * (asked.names or PROFILES[asked.profile].names) > PERMITS_MOST:
        misuse(f"--permits times --names is {PERMITS_MOST} at most: each slot is watched")
    for option in (*OF_PERMITS, "least-use"):
        if getattr(asked, option.replace("-", "_")) and not asked.permits:
            misuse(f"--{option} is about permits, so it needs --permits")
    if asked.picture and not os.access(Path(asked.picture).resolve().parent, os.W_OK):
        misuse(f"--picture: {asked.picture} cannot be written")
    if asked.masters is not None and asked.masters % 2 == 0:
        misuse(f"--masters takes an odd number, not {asked.masters}")
    take_server(asked.server)
    profile = profile_of(asked)
    if profile.spare and (asked.masters or profile.masters) < profile.spare + 3:
        misuse(f"{profile.spare} spare votes take {profile.spare + 3} masters or more")
    if profile.shape in ("moving", "turns", "deaths", "change") and asked.masters == 3:
        misuse(f"{asked.profile} takes two masters down, so it needs five of them")


def take_server(path):
    """Masters run in folders of their own: no relative path would lead to it."""
    if not path:
        return
    found = shutil.which(path)
    if not found:
        misuse(f"--server or REDLOCK_SERVER: {path} is no program that can be run")
    os.environ["REDLOCK_SERVER"] = os.path.abspath(found)


def profile_of(asked):
    told = {it: getattr(asked, it) for it in OF_PROFILE if getattr(asked, it) is not None}
    if asked.hold is not None:
        told["hold_us"] = asked.hold * 1000
    return replace(PROFILES[asked.profile], **told)


def gather(asked):
    default = profile_of(asked)

    def value(name):
        mine = getattr(asked, name)
        return getattr(default, name) if mine is None else mine

    seconds = value("seconds")
    # In less time fewer leases are held.
    least = default.holders if seconds >= default.seconds else 1
    names = tuple(f"name-{i}" for i in range(1, value("names") + 1))
    return Given(profile=default, seed=random.randrange(1, 10 ** 6) if asked.seed is None
                 else asked.seed, seconds=seconds, masters=value("masters"), names=names,
                 holders=least if asked.holders is None else asked.holders,
                 availability=default.availability if seconds >= LEAST_S else 0,
                 grown=default.spared if seconds >= LONG_S else 0, least_use=asked.least_use or 0,
                 programs=programs_of(default, value("workers"), asked.tls), tls=asked.tls, without=(),
                 clock_library=CLOCK_LIBRARY, picture=asked.picture, keep=asked.keep,
                 json=asked.json)


def programs_of(profile, count, tls):
    """Kinds that are not at hand are left out; without the library there is nothing to test."""
    at_hand = []
    for program in dict.fromkeys(profile.programs):
        why = workers.missing(program)
        if tls and program in workers.FOREIGN:
            why = "it is not told of the masters' CA"
        if not why:
            at_hand.append(program)
        elif program == "library":
            raise Trouble(f"{why}: build it first")
        else:
            say(f"skipped: workers of kind {program}: {why}")
    dealt = [program for program in profile.programs if program in at_hand]
    return tuple(dealt[i % len(dealt)] for i in range(count))


def without(given):
    """The kinds of faults of its profile that cannot be had here."""
    missing = []
    if "clock-stepped" in given.profile.of_masters and not given.clock_library.exists():
        say(f"skipped: clock-stepped: {given.clock_library} is not there")
        missing.append("clock-stepped")
    if "asleep" in given.profile.of_masters and not masters.server_version():
        say("skipped: asleep: the version of the server is not known")
        missing.append("asleep")
    shaped = [kind for kind in given.profile.of_links if kind in kinds.SHAPED]
    if given.profile.of_links and (why := network.missing()):
        say(f"skipped: {', '.join(given.profile.of_links)}: {why}")
        missing += given.profile.of_links
    elif shaped:
        shapeless = network.shapes_missing()
        missing += shapeless
        for kind in shapeless:
            say(f"skipped: {kind}: this kernel has no {network.SHAPES[kind].split()[0]}")
    return tuple(missing)


# ---- the run --------------------------------------------------------------------------------


def interrupted(number, _frame):
    raise Interrupted(signal.Signals(number).name)


def run(stage):
    """No process is left running in any case."""
    try:
        stage.begin()
        stage.rage()
        stage.finish()
    finally:
        on_signals(signal.SIG_IGN)
        stage.close()
        on_signals(interrupted)


def on_signals(action):
    for number in SIGNALS:
        signal.signal(number, action)


def chaos(given):
    given = replace(given, without=without(given))
    plan = schedule.plan(given.profile, given.seed, given.seconds, given.masters, given.workers,
                         given.without)
    stage = Stage(given, plan)
    kept = given.keep
    try:
        try:
            run(stage)
        except (OSError, RedisError, subprocess.TimeoutExpired) as error:
            raise Trouble(f"{type(error).__name__}: {error}") from error
        figures, well = report.judge(stage.folder)
        print(json.dumps(figures) if given.json else page(figures))
        if given.picture:
            report.draw(stage.folder, given.picture, given.profile.name == "small" and len(given.names) == 1)
        kept = kept or not well
        return 0 if well else 1
    except Trouble:
        kept = True
        raise
    finally:
        if kept:
            say(f"the run is in {stage.folder}")
        else:
            stage.clear()


def build():
    """The packages that a newcomer lacks."""
    if os.environ.get("REDLOCK_CHAOS_WORKER"):
        return
    script = (". cluster-scripts/lib.sh && cluster-scripts/install build && "
              "bring_up_to_date redlock redlock-chaos-worker redlock-elector redlock-bearer wall_clock")
    done = subprocess.run(["bash", "-euc", script, "chaos"], cwd=workers.ROOT, check=False)
    if done.returncode:
        raise Trouble("what it needs could not be built")


def main():
    asked = parse()
    if asked.help or asked.list:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # of `--list | head`
        if asked.help:
            print(HELP, end="")
        else:
            print_list()
        return 0
    check(asked)
    on_signals(interrupted)
    try:
        build()
        profile = PROFILES[asked.profile]
        if profile.of_links and profile.needs_links and (why := network.missing()):
            raise Skipped(f"skipped: {asked.profile}: {why}")
        return chaos(gather(asked))
    except Skipped as skipped:
        say(str(skipped))
        return SKIPPED
    except Interrupted as why:
        say(f"ended by {why}")
        return 1
    except Trouble as trouble:
        say(str(trouble))
        return 1
