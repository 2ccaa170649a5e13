"""machine.py - the machine of a run, and whether others used it too."""
import os
import platform
import subprocess
import time

BUSY_MOST = 0.1  # of the machine; more is said


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
            "load_before": os.getloadavg()[0], "busy_before": busy()}


def cpu_times():
    with open("/proc/stat") as file:
        times = [int(word) for word in file.readline().split()[1:9]]
    return sum(times), times[3] + times[4]  # all; idle, and waiting for a disk


def busy(seconds=1.0):
    """The share of the machine that others use while none of our programs runs."""
    all_before, idle_before = cpu_times()
    time.sleep(seconds)
    all_after, idle_after = cpu_times()
    return round(1 - (idle_after - idle_before) / max(1, all_after - all_before), 2)


def warning(facts):
    most = max(facts["busy_before"], facts["busy_after"])
    if most <= BUSY_MOST:
        return ""
    return (f"WARNING: others used {most:.0%} of this machine before or after the run: these figures, "
            "and the ratios too, may be far off; stop what runs beside, and measure again.\n")
