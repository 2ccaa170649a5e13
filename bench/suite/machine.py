"""machine.py - the machine of a run, and whether others used it too."""
import os
import platform
import subprocess
import time

import others

# Shares of the machine; more is said.
BUSY_MOST = 0.1
MEANWHILE_MOST = 0.03
STOLEN_MOST = 0.02


def first_line(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return "not there"


def describe(quick):
    model = "unknown"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
    return {"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "quick": quick,
            "cpu": f"{os.cpu_count()} x {model}", "kernel": platform.release(),
            "redis": first_line(os.environ.get("REDLOCK_SERVER") or "redis-server", "--version"),
            "hiredis": first_line("pkg-config", "--modversion", "hiredis"),
            "compiler": first_line("gcc", "--version"), "node": first_line("node", "--version"),
            "load_before": os.getloadavg()[0], "busy_before": still_busy()}


def cpu_times(path="/proc/stat"):
    with open(path) as file:
        times = [int(word) for word in file.readline().split()[1:9]]
    return sum(times), times[3] + times[4], times[7]  # all; idle, and waiting for a disk; stolen by the host


def busy(seconds=1.0):
    """The share of the machine that others use while none of our programs runs."""
    all_before, idle_before, _ = cpu_times()
    time.sleep(seconds)
    all_after, idle_after, _ = cpu_times()
    return round(1 - (idle_after - idle_before) / max(1, all_after - all_before), 2)


def still_busy(seconds=1.0):
    """As busy(), but load that ends within that time does not count: a program of ours may be ending."""
    share = busy(seconds)
    return share if share <= BUSY_MOST else min(share, busy(seconds))


class Watch:
    """From its making on, which is before any program of ours starts."""

    def __init__(self):
        self.all, _, self.stolen = cpu_times()
        self.others = others.Others()

    def facts(self):
        everything, _, stolen = cpu_times()
        share = lambda ticks: round(min(1, ticks / max(1, everything - self.all)), 3)
        return {"stolen": share(stolen - self.stolen), "others_meanwhile": share(self.others.ticks())}


def troubles(facts):
    """Sentences of what disturbed the run; () if nothing did."""
    busy_most = max(facts[key] for key in ("busy_before", "busy_between", "busy_after"))
    told = [(busy_most, BUSY_MOST, "others used {:.0%} of this machine before, between or after the parts"),
            (facts["others_meanwhile"], MEANWHILE_MOST,
             "processes that were there before used {:.0%} of it meanwhile"),
            (facts["stolen"], STOLEN_MOST, "its host took {:.0%} of its time for other machines")]
    return [words.format(share) for share, most, words in told if share > most]


def warning(facts):
    disturbed = troubles(facts)
    if not disturbed:
        return ""
    return (f"WARNING: this machine was not quiet: {'; '.join(disturbed)}. "
            "These figures, and the ratios too, may be far off; stop what runs beside, and measure again.\n")
