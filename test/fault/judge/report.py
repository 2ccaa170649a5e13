"""The report of a run: one dictionary for machines, a page for people."""

from collections import Counter

from .recipes import shown

SHOWN = 20  # complaints
COUNTS = ("lives", "attempts", "holders", "valid", "at_risk", "lost_in_time", "lost_late",
          "stopped_past_lease", "refrained", "act", "acted", "reads", "writes",
          "stale_acts_taken_unchecked", "stale_acts_refused", "rounds", "raises", "readers",
          "side_by_side", "permits", "turns_judged",
          "attempts_judged", "keys_seen", "overlaps_excused", "just_woken", "most_rss_kb",
          "most_descriptors", "moved", "unmoved")


def report(trial):
    court, run, faults = trial.court, trial.run, trial.faults
    told = {"profile": run.profile, "seed": run.seed, "masters": run.masters,
            "workers": run.workers, "seconds": (run.end - run.begin) / 1e6}
    told |= {key: court.figures[key] for key in COUNTS}
    told["renewals"] = told.pop("valid")
    told["acts"] = told.pop("act")
    told["failed"] = dict(sorted(court.failed.items()))
    told["faults"] = dict(sorted(Counter(it.kind for it in faults.all).items()))
    told["longest_wait_ms"] = trial.demand.longest_wait // 1000
    told["recipes"] = trial.recipes
    told["slots_in_use"] = trial.permits.told()
    told["availability"] = trial.demand.availability()
    told["unavailable_ms"] = {label: {"worst": worst / 1000, "bound": bound / 1000}
                              for label, (worst, bound) in sorted(trial.demand.worst.items())}
    told["growth"] = [f"{label}, {seconds} s: {kb[0]} to {kb[1]} kB, "
                      f"{fds[0]} to {fds[1]} descriptors"
                      for label, seconds, kb, fds in trial.usage.told]
    told["changes"] = trial.change.told()
    told["violations"] = dict(sorted(court.count.items()))
    told["complaints"] = court.complaints
    return told


def listed(counts):
    return ", ".join(f"{count} {what}" for what, count in counts.items()) or "none"


def summary(told):
    """By title."""
    return {
        "operations": f"{told['attempts']} attempts, {told['holders']} holders "
                      f"({told['holders'] / max(1, told['seconds']):.0f}/s), {told['renewals']} renewals, "
                      f"{told['writes']} writes, {told['reads']} reads",
        "readers": f"{told['readers']} of the holders, {told['side_by_side']} came beside another reader",
        "second rounds": f"{100 * told['raises'] / max(1, told['holders']):.1f} % of holders",
        "failed": listed(told["failed"]),
        "faults": listed(told["faults"]),
        "violations": listed(told["violations"]),
        "outside of it": f"{told['overlaps_excused']} overlaps, see doc/chaos.md",
        "losses": f"{told['lost_in_time']} told in time, {told['lost_late']} late "
                  f"({told['at_risk']} times at risk)",
        "stopped": f"{told['stopped_past_lease']} leases ended meanwhile, "
                   f"{told['refrained']} acts refrained from",
        "stale acts": f"{told['stale_acts_refused']} refused by the register that checks fences, "
                      f"{told['stale_acts_taken_unchecked']} taken by the other",
        "availability": availability(told),
        "longest wait": f"{told['longest_wait_ms']} ms",
        "in turn": f"{told['turns_judged']} waited for a quarter of the ttl with nothing struck",
        "keys": f"{told['keys_seen']} seen on masters",
        "most used": f"{told['most_rss_kb']} kB, {told['most_descriptors']} descriptors",
        **slots_in_use(told), **shown(told)}


def page(told):
    lines = [f"{told['profile']}: seed {told['seed']}, {told['seconds']:.0f} s, {told['masters']} masters, "
             f"{told['workers']} workers, {told['lives']} processes"]
    lines += [f"  {title:<14} {text}" for title, text in summary(told).items()]
    lines += [f"  growth         {it}" for it in told["growth"]]
    lines += [f"  {title:<14} {text}" for title, text in changes(told)]
    lines += unavailable(told)
    lines += [f"  WRONG          {it}" for it in told["complaints"][:SHOWN]]
    hidden = sum(told["violations"].values()) - SHOWN
    if hidden > 0:
        lines.append(f"  and {hidden} more")
    return "\n".join(lines)


def availability(told):
    if told["availability"] is None:
        return "not judged: no attempt was clear of faults"
    return f"{told['availability']:.2f} % of the {told['attempts_judged']} attempts that were clear of faults"


def slots_in_use(told):
    if not told["slots_in_use"]:
        return {}
    use = told["slots_in_use"]
    return {"permits": f"{told['permits']} of the holders, at most {use['most']} of a name at once",
            "slots in use": f"{share(use['a_quorum_voted'])} somebody waited and a quorum voted, "
                            f"{share(use['all_masters_up'])} all masters were up"}


def share(use):
    if use["percent"] is None:
        return "none of the 0.0 s in which"
    return f"{use['percent']:.2f} % of the {use['seconds']:.1f} s in which"


def changes(told):
    """A line for each step, and one for the leases that went along."""
    if told["changes"]:
        yield "moves", f"{told['moved']} of leases to the client of another list, {told['unmoved']} in vain"
    for text in told["changes"]:
        yield "changed", text


def unavailable(told):
    worst = told["unavailable_ms"]
    if not worst:
        return ["  unheld         no name that was wanted for 5 ms or more"]
    return ["  unheld         worst of names that were wanted, and its bound, after"] + [
        f"    {label:<25}{it['worst']:8.0f} ms of {it['bound']:.0f}" for label, it in worst.items()]
