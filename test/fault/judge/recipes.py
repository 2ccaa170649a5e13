"""Elections, barriers, latches, and leases that go by their tokens, beside the other leases.

Each has a judge of its own, which looks at the records of its processes alone. A kind more is a row of KINDS,
and a class of chaos/recipes.py."""

import re
from collections import Counter
from statistics import median

from calls import EACH, OF_BARRIERS, OF_LATCHES
from tokens import judge as tokens
from tokens import keys as token_keys

from . import barriers, elections, latches

LIFE = re.compile(r"([a-z]+-\d+)(?:\.(\d+))?$")


def judge_elections(lives, trial):
    """The figures, and the violations."""
    records = [elections.read(label, lines) for label, _, lines in lives]
    taken_ms = list(elections.takeovers(records, trial.faults.of_recipes))
    return ({"terms": sum(len(it.terms) for it in records),
             "answers to observers": sum(len(it.told) for it in records), "leaders struck": len(taken_ms),
             "ms to the next in the median": round(median(taken_ms or [0]))},
            [*elections.violations(records), *elections.slow(taken_ms, trial.run.takeover_ms)])


def judge_barriers(lives, trial):
    calls = [call for _, _, lines in lives for call in barriers.read(lines)]
    many = trial.run.recipes["party"]
    workers = {f"party-{number}" for number in range(1, many + 1)}
    of = Counter(call.outcome for call in calls)
    return ({"barriers": min(sum(call.outcome == "passed" for call in calls) // many, trial.run.generations),
             **{outcome: of[outcome] for outcome in (*OF_BARRIERS, "killed")}},
            barriers.violations(calls, many, trial.run.generations, workers))


def judge_latches(lives, trial):
    calls = [call for _, _, lines in lives for call in latches.read(lines)]
    many = trial.run.recipes["arriver"]
    places = {f"arriver-{number}" for number in range(1, many + 1)}
    finished = {f"latch-{number}" for number in range(trial.run.latches)}
    of = Counter(call.outcome for call in calls)
    return ({"latches": len({call.latch for call in calls if call.outcome == "open"}),
             **{outcome: of[outcome] for outcome in (*OF_LATCHES, "killed")}},
            latches.violations(calls, EACH * many, places, finished))


def judge_tokens(lives, trial):
    record = tokens.read((label, lines) for label, _, lines in lives)
    faults = [it for it in trial.faults.all if it.master]
    seen = token_keys.looks(trial.folder / "keys", tokens.NAME)
    return tokens.figures(record, faults), [*tokens.violations(record, faults, trial.run.quorum),
                                            *token_keys.set_again(record, seen, faults, trial.run.quarantine)]


KINDS = {"elector": ("elections", judge_elections), "party": ("barriers", judge_barriers),
         "arriver": ("latches", judge_latches), "bearer": ("tokens", judge_tokens)}


def lives_of(folder, kind):
    """(label, its place, its lines) of each process, in the order of places and lives."""
    found = []
    for path in folder.glob(f"{kind}-*"):
        match = LIFE.match(path.name)
        if match:
            lines = path.read_text(encoding="ascii", errors="replace").splitlines(keepends=True)
            found.append((match[1], int(match[2] or 1), path.name, lines))
    return [(name, place, lines) for place, _, name, lines in sorted(found)]


def judge(trial):
    """The figures of each kind that was there."""
    court, told = trial.court, {}
    for kind, many in trial.run.recipes.items():
        rule, judge_kind = KINDS[kind]
        lives = lives_of(trial.folder, kind)
        court.at_least(f"places of kind {kind}", len({place for _, place, _ in lives}), many)
        struck = Counter(it.kind for it in trial.faults.of_recipes if it.recipe == kind)
        try:
            figures, found = judge_kind(lives, trial)
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
