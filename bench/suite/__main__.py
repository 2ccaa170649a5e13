"""Runs the suite. bench/run calls it, and says where everything is."""
import argparse
import json
import os
import signal
import sys
import time

import machine
import pictures
import table
import targets
from masters import Masters
from suite import MASTERS, Suite


class Place:
    """Where the parts are."""

    def __init__(self, asked):
        here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        self.bench = os.path.join(asked.build, "bin/redlock-bench")
        self.proxy = os.path.join(asked.build, "bin/bench-delay-proxy")
        self.network = os.path.join(asked.build, "bin/bench-network")
        self.redlock = os.path.join(asked.build, "bin/redlock")
        self.cluster = os.path.join(os.path.dirname(here), "cluster-scripts/cluster")
        self.servers = os.path.join(here, "peers/servers.sh")
        self.raw = os.path.join(here, "floor_raw.sh")
        self.peers, self.no_peers, self.work = asked.peers or here, asked.no_peers, asked.work
        self.memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else asked.work
        self.memory = os.path.join(self.memory, f"redlock-bench-{os.getpid()}")


def publish(suite, facts, watch, folder, began):
    os.makedirs(folder, exist_ok=True)
    facts.update(watch.facts(), busy_between=suite.busy)
    facts["took_s"] = round(time.monotonic() - began)
    facts["parts_took_s"] = suite.took_s
    facts["busy_after"] = machine.still_busy()
    warning, reached = machine.warning(facts), targets.lines(suite.rows, suite.whole)
    text = warning + table.as_text(suite.rows) + targets.as_text(reached, warning)
    sys.stdout.write(text + "\n" + "\n".join(f"{k}: {v}" for k, v in facts.items()) + "\n")
    with open(os.path.join(folder, "results.json"), "w") as file:
        json.dump({"machine": facts, "rows": [row.as_json() for row in suite.rows],
                   "targets": targets.as_json(reached)}, file)
    marked = warning + table.as_markdown(suite.rows) + targets.as_markdown(reached, warning)
    for name, words in (("table.txt", text), ("table.md", marked)):
        with open(os.path.join(folder, name), "w") as file:
            file.write(words)
    drawn = pictures.draw(suite.rows, folder)
    print(f"written to {folder}: results.json table.txt table.md",
          *[os.path.basename(path) for path in drawn])


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser()
    for name in ("build", "work", "out", "peers", "no-peers", "only"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    place, began, status = Place(asked), time.monotonic(), 0
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGHUP, interrupt)
    watch = machine.Watch()
    masters = Masters(place.cluster, os.path.join(asked.work, "masters"), MASTERS)
    suite = Suite(place, masters, asked.quick)
    facts = machine.describe(asked.quick)
    try:
        suite.run(set(filter(None, asked.only.split(","))))
    except KeyboardInterrupt:
        suite.say("interrupted: this is what was measured so far")
        status = 130
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        suite.clean_up()
        masters.stop()
        publish(suite, facts, watch, asked.out, began)
    return status


sys.exit(main())
