"""Elections, barriers and latches beside the leases. Each has a judge of its own, which looks at the records of
its processes alone: a kind more is a row of KINDS, and a class of chaos/recipes.py."""

import re
from collections import Counter

from barriers import judge as barriers
from elections import judge as elections
from latches import judge as latches
from latches.call import EACH

LIFE = re.compile(r"([a-z]+-\d+)(?:\.(\d+))?$")


def judge_elections(lives, _run):
    """The figures, and the violations."""
    records = [elections.read(label, lines) for label, _, lines in lives]
    return {"terms": sum(len(it.terms) for it in records),
            "answers to observers": sum(len(it.told) for it in records)}, elections.violations(records)


def judge_barriers(lives, run):
    calls = [call for _, _, lines in lives for call in barriers.read(lines)]
    many = run.recipes["party"]
    workers = {f"party-{number}" for number in range(1, many + 1)}
    of = Counter(call.outcome for call in calls)
    return ({"barriers": min(sum(call.outcome == "passed" for call in calls) // many, run.generations),
             **{outcome: of[outcome] for outcome in (*barriers.OUTCOMES, "killed")}},
            barriers.violations(calls, many, run.generations, workers))


def judge_latches(lives, run):
    calls = [call for _, _, lines in lives for call in latches.read(lines)]
    many = run.recipes["arriver"]
    places = {f"arriver-{number}" for number in range(1, many + 1)}
    finished = {f"latch-{number}" for number in range(run.latches)}
    of = Counter(call.outcome for call in calls)
    return ({"latches": len({call.latch for call in calls if call.outcome == "open"}),
             **{outcome: of[outcome] for outcome in (*latches.OUTCOMES, "killed")}},
            latches.violations(calls, EACH * many, places, finished))


KINDS = {"elector": ("elections", judge_elections), "party": ("barriers", judge_barriers),
         "arriver": ("latches", judge_latches)}


def lives_of(folder, kind):
    """(label, its place, its lines) of each process, in the order of places and lives."""
    found = []
    for path in folder.glob(f"{kind}-*"):
        match = LIFE.match(path.name)
        if match:
            lines = path.read_text(encoding="ascii", errors="replace").splitlines(keepends=True)
            found.append((match[1], int(match[2] or 1), path.name, lines))
    return [(name, place, lines) for place, _, name, lines in sorted(found)]


def judge(court, run, faults, folder):
    """The figures of each kind that was there."""
    told = {}
    for kind, many in run.recipes.items():
        rule, judge_kind = KINDS[kind]
        lives = lives_of(folder, kind)
        court.at_least(f"places of kind {kind}", len({place for _, place, _ in lives}), many)
        struck = Counter(it.kind for it in faults.of_recipes if it.recipe == kind)
        try:
            figures, found = judge_kind(lives, run)
        except (ValueError, IndexError, KeyError) as error:
            court.complain("malformed", f"records of kind {kind} ({error!r})")
            continue
        for violation in found:
            court.complain(rule, violation)
        told[rule] = {"processes": len(lives), **figures,
                      **{f"times {it}": count for it, count in sorted(struck.items())},
                      "violations": len(found)}
    return told


def shown(told):
    """A line for each kind, by title."""
    return {rule: ", ".join(f"{count} {what}" for what, count in figures.items())
            for rule, figures in told["recipes"].items()}
