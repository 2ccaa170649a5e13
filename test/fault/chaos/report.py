"""The checker's judgement of a run's folder, in a few lines."""

import json
import subprocess
import sys
from pathlib import Path

from judge.recipes import shown

from .process import Trouble

FAULT = Path(__file__).resolve().parents[1]
SHOWN = 20  # complaints


def judge(folder):
    """(figures, whether all is well)"""
    done = subprocess.run([sys.executable, "-B", FAULT / "check", "--json", folder],
                          stdin=subprocess.DEVNULL, text=True, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise Trouble(f"the checker failed: {done.stderr.strip()[-1000:]}")
    judgement_of(folder).write_text(done.stdout, encoding="utf-8")
    return json.loads(done.stdout), done.returncode == 0


def judgement_of(folder):
    return folder / "log" / "check"


def slots_in_use(figures):
    use = figures["slots_in_use"]
    if not use:
        return {}
    return {"permits": f"{figures['permits']} of the leases, at most {use['most']} of a name at once",
            "slots in use": f"{share(use['a_quorum_voted'])} somebody waited and a quorum voted, "
                            f"{share(use['all_masters_up'])} all masters were up"}


def share(use):
    if use["percent"] is None:
        return "none of the 0.0 s in which"
    return f"{use['percent']:.2f} % of the {use['seconds']:.1f} s in which"


def show(given, figures):
    if given.json:
        print(json.dumps(figures))
        return
    print(f"{given.profile.name}: seed {given.seed}, {figures['seconds']:.0f} s, "
          f"{given.masters} masters, {given.workers} workers, {len(given.names)} names")
    for title, text in {**summary(figures), **slots_in_use(figures), **shown(figures)}.items():
        print(f"  {title:15} {text}")
    for grown in figures["growth"]:
        print(f"  {'growth':15} {grown}")
    print_unavailability(figures["unavailable_ms"])
    for complaint in figures["complaints"][:SHOWN]:
        print(f"  WRONG           {complaint}")
    if len(figures["complaints"]) > SHOWN:
        print(f"  and {len(figures['complaints']) - SHOWN} more")


def listed(counts):
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) or "none"


def summary(figures):
    holders = figures["holders"]
    return {
        "operations": f"{figures['attempts']} attempts, {holders} leases "
                      f"({holders / max(1, figures['seconds']):.0f}/s), "
                      f"{figures['renewals']} renewals, {figures['writes']} writes, "
                      f"{figures['reads']} reads",
        "readers": f"{figures['readers']} of the leases, {figures['side_by_side']} came beside "
                   "another reader",
        "second rounds": f"{100 * figures['raises'] / max(1, holders):.1f} % of leases",
        "no lease": listed(figures["failed"]),
        "faults": listed(figures["faults"]),
        "violations": listed(figures["violations"]),
        "outside of it": f"{figures['overlaps_excused']} overlaps, see doc/chaos.md",
        "losses": f"{figures['lost_in_time']} told in time, {figures['lost_late']} late "
                  f"({figures['at_risk']} times at risk)",
        "stopped": f"{figures['stopped_past_lease']} leases ended meanwhile, "
                   f"{figures['refrained']} acts refrained from",
        "stale acts": f"{figures['stale_acts_refused']} refused by the register that checks "
                      f"fences, {figures['stale_acts_taken_unchecked']} taken by the other",
        "availability": availability(figures),
        "longest wait": f"{figures['longest_wait_ms']} ms",
        "in turn": f"{figures['turns_judged']} waited for a quarter of the ttl with nothing struck",
    }


def availability(figures):
    if figures["availability"] is None:
        return "not judged: no attempt was clear of faults"
    return (f"{figures['availability']:.2f} % of the {figures['attempts_judged']} attempts that "
            "were clear of faults")


def print_unavailability(worst):
    """By kind: how long a wanted name had no holder."""
    print("  unavailable     worst, and the bound for it")
    for kind, figure in sorted(worst.items()):
        print(f"    {kind:30} {figure['worst']:6.0f} ms {figure['bound']:6.0f} ms")


def draw(folder, path):
    done = subprocess.run([sys.executable, "-B", FAULT / "picture", "-o", path,
                           "--complaints", judgement_of(folder), folder],
                          stdin=subprocess.DEVNULL, text=True, capture_output=True, check=False)
    if done.returncode:
        raise Trouble(f"no picture: {done.stderr.strip()[-1000:]}")
