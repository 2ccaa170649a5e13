"""pictures.py - the plots of a run, as SVG, and as PNG where rsvg-convert is there."""
import os
import re
import shutil
import subprocess

import plots

MASTERS = "five masters (etcd, ZooKeeper: three members)"

def best_of_peers(rows):
    """Each peer with the setting that is faster, at each concurrency."""
    best = {}
    for row in rows:
        found = re.fullmatch(r"c = (\d+), peers", row.group)
        if found and row.rate() and row.name != "redlock":
            peer, c = row.name.split(",")[0], int(found.group(1))
            best.setdefault(peer, {})
            best[peer][c] = max(best[peer].get(c, 0), row.rate())
    return [(peer, sorted(points.items())) for peer, points in best.items()]


def throughput(rows, path):
    ours = {}
    for row in rows:
        found = re.fullmatch(r"c = (\d+)", row.group)
        if found and row.rate():
            ours.setdefault(row.name, []).append((int(found.group(1)), row.rate()))
    series = [(name, points) for name, points in ours.items() if len(points) > 1] + best_of_peers(rows)
    return plots.lines(path, "Throughput against concurrency",
                       f"uncontended pairs; {MASTERS}; peers: the better setting",
                       series, "pairs in flight", "pairs per second", y_log=True, dots=True)


def of_group(rows, group):
    return [row for row in rows if row.group == group and row.acquire]


def latencies(rows, path):
    members = of_group(rows, "c = 1") + [row for row in of_group(rows, "c = 1, peers")
                                         if row.name != "redlock" and "default" in row.name]
    return plots.lines(path, "Latency of an acquire", f"one pair in flight, uncontended; {MASTERS}",
                       [(row.name, plots.cdf(row.acquire)) for row in members],
                       "microseconds", "share of acquires that took at most this time",
                       y_range=(0, 1), y_text=lambda value: f"{value * 100:.0f} %")


def tails(rows, path):
    members = of_group(rows, "one master in trouble, c = 1")
    return plots.lines(path, "Tail of an acquire with one of five masters in trouble", "one pair in flight",
                       [(row.name, plots.tail(row.acquire)) for row in members],
                       "microseconds", "share of acquires that took longer", y_log=True,
                       y_range=(1e-4, 1), y_text=lambda value: f"{value * 100:g} %")


def cpu(rows, path):
    members = [row for row in rows if row.group == "c = 256" and row.cpu()]
    members += [row for row in rows
                if row.group == "c = 256, peers" and row.cpu() and row.name != "redlock"]
    return plots.bars(path, "Client CPU for a pair", f"256 pairs in flight, {MASTERS}",
                      [(row.name, row.cpu()) for row in members],
                      "microseconds of CPU (user and system) per pair")


def networks(rows, path):
    """An acquire in round trips, where all masters are equally far."""
    ours = {}
    for row in rows:
        found = re.fullmatch(r"network, ([\d.]+) ms", row.group)
        if found and row.p(0.5):
            rtt_ms = float(found[1])
            ours.setdefault(row.name, []).append((rtt_ms, row.p(0.5) / 1000 / rtt_ms))
    return plots.lines(path, "An acquire on a network", f"one pair in flight, median; {MASTERS}",
                       list(ours.items()), "round trip to each master, ms", "round trips that it took",
                       y_text=lambda value: f"{value:.2f}", dots=True)


def draw(rows, folder):
    drawn = []
    for name, make in (("throughput", throughput), ("latency", latencies), ("tail", tails), ("cpu", cpu),
                       ("network", networks)):
        path = os.path.join(folder, f"{name}.svg")
        if not make(rows, path):
            continue
        drawn.append(path)
        if shutil.which("rsvg-convert"):
            png = path[:-3] + "png"
            subprocess.run(["rsvg-convert", "-z", "1.5", "-o", png, path], check=False)
            drawn.append(png)
    return drawn
