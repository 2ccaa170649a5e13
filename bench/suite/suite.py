"""suite.py - the comparisons, their entrants, and how long each takes."""
import os
import re
import signal
import subprocess
import sys
import time

import machine
from entrant import Crowd, Entrant, end, once
from figures import Row, facts_of, ratio

DEAD, FROZEN, FAR, MASTERS = 10, 11, 12, 12
FIVE = (1, 2, 3, 4, 5)
FAR_MS = 20
PEERS = ["node-redlock", "redis-semaphore", "etcd", "zookeeper"]
FLOOR, PATIENT_FLOOR = "floor, hiredis async", "floor, hiredis async, for all releases"
RAW_FLOOR = "floor, raw sockets and epoll"
RING = "floor, DEL and PUBLISH in a ring"
WORDS = {"default": "default", "best": "best setting"}
# As bench-network takes them: round trips in ms, ~ how much longer, / how many of 100 packets are lost.
NETWORKS = {"0.5 ms": ["0.5"] * 5, "2 ms": ["2"] * 5, "20 ms": ["20"] * 5, "200 ms": ["200"] * 5,
            "2 to 4 ms": ["2~2"] * 5, "2 ms, 1 % lost": ["2/1"] * 5,
            "three at 0.5 ms, two at 40": ["0.5"] * 3 + ["40"] * 2}
# New masters abstain: none of these has granted anything.
ADOPT = '"$0" nodes --adopt >/dev/null && exec "$@"'
WARM_S = 0.06

COMPARED = ("pairs_per_s", "p50", "p99", "cpu_us_per_pair", "masters_us_per_pair")

# Rounds A B B A of each comparison: quick, whole.
ROUNDS = {"floors": (3, 12), "peers": (1, 3), "handoffs": (2, 4), "troubles": (2, 4), "fences": (2, 6),
          "spare": (1, 4), "fleet": (2, 8), "readers": (1, 4), "permits": (2, 4), "loops": (2, 8),
          "masters": (1, 3), "open": (1, 3), "extremes": (1, 2), "network": (1, 3),
          "commands": (20, 100)}


def whole_pairs(result, slice_s):
    """A look from outside includes the warm-up and the drain of the slice, and their pairs."""
    return result["pairs"] * (slice_s + WARM_S) / slice_s


class Suite:
    def __init__(self, place, masters, quick):
        self.place, self.masters, self.quick = place, masters, quick
        self.slice_s = 0.3 if quick else 0.6
        self.rounds = {part: few if quick else many for part, (few, many) in ROUNDS.items()}
        self.rows, self.helpers, self.entrants, self.waiting = [], [], [], []
        self.served, self.peer_nodes, self.missing = {}, {}, {}  # by peer
        self.took_s = {}  # by part
        self.whole = False  # all parts are wanted
        self.busy = 0.0  # at most, between the parts

    def say(self, words):
        print(f"{time.strftime('%H:%M:%S')} {words}", file=sys.stderr, flush=True)

    # ---- entrants ----

    def bench(self, scenario, c=1, nodes=None, name=None, more=(), cwd=None):
        command = [self.place.bench, "-c", str(c), "--slice", "1", "--warm", str(WARM_S), *more, scenario]
        return self.keep(Entrant(name or scenario, command, self.of_masters(nodes), cwd))

    def of_masters(self, nodes=None):
        """The list is not an argument: it has passwords in it."""
        return {"REDLOCK_NODES": nodes or self.masters.list(*FIVE)}

    def peer(self, peer, variant, c, nodes=None):
        name = f"{peer}, {WORDS[variant]}"
        command = ["node", "driver.mjs", peer, variant, "-c", str(c), "--warm", str(WARM_S)]
        return self.keep(Entrant(name, command, self.peer_environment(peer, nodes), self.place.peers))

    def peer_environment(self, peer, nodes=None):
        return {**self.of_masters(nodes), "PEER_NODES": self.peer_nodes.get(peer, "")}

    def keep(self, entrant):
        self.entrants.append(entrant)
        self.waiting.append(entrant)
        return entrant

    def wait_until_ready(self):
        """They were started one beside the other."""
        for entrant in self.waiting:
            entrant.wait_until_ready()
        self.waiting = []

    def dismiss(self):
        for entrant in self.entrants:
            entrant.ask_to_end()
        for entrant in self.entrants:
            entrant.close()
        self.entrants, self.waiting = [], []

    # ---- interleaving ----

    def measure(self, entrant):
        """A slice, and what it cost the masters of most comparisons: those of FIVE."""
        before = self.masters.cpu_s(*FIVE)
        result = entrant.slice(self.slice_s)
        if result and result["pairs"] and before:
            cpu_s = self.masters.cpu_s(*FIVE) - before
            result["masters_us_per_pair"] = cpu_s * 1e6 / whole_pairs(result, self.slice_s)
        return result

    def interleave(self, group, entrants, rounds, masters=False, facts=(), seconds=None):
        """A B C C B A, again and again; a row for each, with ratios of the first to it.
        With `masters` it also says what a pair costs the masters. With `facts` it has those figures of the
        scenario too, and their ratios."""
        measure = self.measure if masters else lambda entrant: entrant.slice(seconds or self.slice_s)
        got = {entrant.name: [] for entrant in entrants}
        notes = {entrant.name: [f"master {number} died before" for number in sorted(self.masters.reported)]
                 for entrant in entrants}
        try:
            self.wait_until_ready()
            for entrant in entrants:
                entrant.slice(0.2)
            for _ in range(rounds):
                for entrant in entrants + entrants[::-1]:
                    result = measure(entrant)
                    if result:
                        got[entrant.name].append(result)
                    for number in self.masters.newly_dead():
                        words = f"master {number} died during this comparison"
                        self.say(words)
                        for name in notes:
                            notes[name].append(words)
        finally:
            rows = []
            for entrant in entrants:
                row = Row(group, entrant.name, got[entrant.name], entrant.note)
                row.notes += notes[entrant.name]
                if facts:
                    row.take_facts()
                rows.append(row)
            self.add(rows, facts or COMPARED)
            self.dismiss()

    def add(self, rows, compared=COMPARED):
        for row in rows[1:]:
            for what in compared:
                found = ratio(rows[0], row, what)
                if found:
                    row.ratios[what] = found
        self.rows += rows

    def note_row(self, group, name, words):
        self.rows.append(Row(group, name, [], words))

    # ---- what is measured ----

    def floors(self):
        for c in (1, 16, 256, 4096):
            self.say(f"pairs at c = {c}: ours beside the floors")
            plan = [("pairs", "redlock"), ("floor-async", FLOOR), ("floor-patient", PATIENT_FLOOR)]
            if c in (1, 256):
                plan.append(("floor-epoll", RAW_FLOOR))
            if c == 1:
                plan.append(("floor-blocking", "floor, hiredis blocking"))
            self.interleave(f"c = {c}", [self.bench(scenario, c, name=name) for scenario, name in plan],
                            self.rounds["floors"])

    def start_peers(self):
        """The peers that need servers of their own; they run until stop_peers()."""
        for peer in ("etcd", "zookeeper"):
            if self.place.no_peers or peer in self.served:
                continue
            self.served[peer] = folder = os.path.join(self.place.memory, peer)
            done = subprocess.run([self.place.servers, "start", peer, folder], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  start_new_session=True)
            if done.returncode:
                self.missing[peer] = done.stderr.strip().splitlines()[-1:] or ["does not start"]
                self.missing[peer] = self.missing[peer][0]
            else:
                self.peer_nodes[peer] = done.stdout.strip()

    def stop_peers(self):
        for folder in self.served.values():
            subprocess.run([self.place.servers, "stop", folder], start_new_session=True)
        self.served.clear()

    def peers(self):
        self.start_peers()
        for c in (1, 16, 256):
            self.say(f"pairs at c = {c}: ours beside the peers")
            group = f"c = {c}, peers"
            entrants = [self.bench("pairs", c, name="redlock")]
            for peer in PEERS:
                if self.place.no_peers or peer in self.missing:
                    self.note_row(group, peer, self.place.no_peers or self.missing[peer])
                    continue
                entrants += [self.peer(peer, variant, c) for variant in ("default", "best")]
            self.interleave(group, entrants, self.rounds["peers"])

    def troubles(self):
        """Four healthy masters, and a fifth that dies, freezes or is far away."""
        proxy = subprocess.Popen([self.place.proxy, *self.masters.address(FAR), str(FAR_MS)],
                                 stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.helpers.append(proxy)
        far = self.masters.by_way_of(FAR, proxy.stdout.readline().strip())
        four = self.masters.list(1, 2, 3, 4)
        for c in (1, 256):
            self.say(f"one master dead, frozen, far at c = {c}")
            dead, frozen = (f"{four},{self.masters.nodes[number - 1]}" for number in (DEAD, FROZEN))
            entrants = [self.bench("pairs", c, name="redlock, all five well"),
                        self.bench("pairs", c, dead, "redlock, one dead"),
                        self.bench("pairs", c, frozen, "redlock, one frozen"),
                        self.bench("pairs", c, f"{four},{far}", f"redlock, one {FAR_MS} ms away"),
                        self.bench("floor-async", c, f"{four},{far}", f"floor, one {FAR_MS} ms away")]
            if not self.place.no_peers:
                entrants.append(self.peer("node-redlock", "default", c, frozen))
                entrants[-1].name = "node-redlock, one frozen"
            self.wait_until_ready()
            self.masters.kill(DEAD)
            self.masters.pause(FROZEN)
            self.interleave(f"one master in trouble, c = {c}", entrants, self.rounds["troubles"])
            self.masters.resume(FROZEN)

    def crowd(self, name, members, more):
        return Crowd(name, [self.bench("pairs", more=more) for _ in range(members)])

    def plain_and_fenced(self, group, c, nodes=None):
        self.say(group)
        self.interleave(group, [self.bench("pairs", c, nodes, "redlock"),
                                self.bench("pairs", c, nodes, "redlock, fenced", ["--fence"])],
                        self.rounds["fences"])

    def fences(self):
        """The price of a fencing token, and how often it takes a second round."""
        four_and_dead = self.masters.list(1, 2, 3, 4, DEAD)
        self.masters.kill(DEAD)
        self.plain_and_fenced("fences, c = 1", 1)
        self.plain_and_fenced("fences, c = 16", 16)
        self.plain_and_fenced("fences, c = 256", 256)
        self.plain_and_fenced("fences, one master dead, c = 1", 1, four_and_dead)
        group, shared = "fences, 8 processes contend for 4 names", ["--shared", "4"]
        self.say(group)
        self.interleave(group, [self.crowd("redlock", 8, shared),
                                self.crowd("redlock, fenced", 8, [*shared, "--fence"])],
                        self.rounds["fences"])
        self.masters.restart(DEAD)
        self.plain_and_fenced("fences, one master restarted and in quarantine, c = 1", 1, four_and_dead)

    def spare(self):
        """The price of a spare vote: a quorum of four of five waits for the fourth."""
        four = self.masters.list(1, 2, 3, 4)
        proxy = subprocess.Popen([self.place.proxy, *self.masters.address(FAR), str(FAR_MS)],
                                 stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.helpers.append(proxy)
        far = f"{four},{self.masters.by_way_of(FAR, proxy.stdout.readline().strip())}"
        settings = [("no spare vote", []), ("one spare vote", ["--spare", "1"]),
                    ("fenced, no spare vote", ["--fence"]),
                    ("fenced, one spare vote", ["--fence", "--spare", "1"])]
        for c, nodes, group in ((1, None, "spare votes, c = 1"), (256, None, "spare votes, c = 256"),
                                (1, far, f"spare votes, one master {FAR_MS} ms away, c = 1")):
            self.say(group)
            self.interleave(group, [self.bench("pairs", c, nodes, name, more) for name, more in settings],
                            self.rounds["spare"])
        group, shared = "spare votes, 8 processes contend for 4 names", ["--shared", "4"]
        self.say(group)
        self.interleave(group, [self.crowd(name, 8, [*shared, *more]) for name, more in settings],
                        self.rounds["spare"])

    def fleet(self):
        """The cost of a fleet, whose clients compare their masters."""
        settings = ("no fleet", []), ("a fleet", ["--fleet", "bench"])
        for c in (1, 256):
            self.say(f"a fleet at c = {c}")
            self.interleave(f"fleet, c = {c}", [self.bench("pairs", c, name=name, more=more)
                                                for name, more in settings], self.rounds["fleet"])
        for name, more in settings:  # each looks 10 s after it has connected, and then once a minute
            self.say(f"200 clients that are idle: {name}")
            self.single("fleet, 200 clients", name, ["--leases", "200", "--warm", "15", "--seconds",
                                                     "20" if self.quick else "60", *more, "idle"], 200)

    def readers(self):
        """Sharing a name beside having it alone, and how many readers a name carries."""
        for c in (1, 16, 256):
            self.say(f"readers beside writers at c = {c}")
            self.interleave(f"readers beside writers, c = {c}",
                            [self.bench("pairs", c, name=name, more=more) for name, more in (
                                ("reader, fenced", ["--read", "--fence"]),
                                ("writer, fenced", ["--fence"]),
                                ("reader", ["--read"]),
                                ("reader, fenced, one name", ["--read", "--fence", "--shared", "1"]))],
                            self.rounds["readers"], masters=True)
        one_name = ["--read", "--shared", "1"]
        self.say("readers of one name")
        self.interleave("readers of one name, one client",
                        [self.bench("pairs", c, name=f"{c} reader{'s' * (c > 1)}", more=one_name)
                         for c in (1, 16, 64, 256)], self.rounds["readers"], masters=True)
        self.interleave("readers of one name, 8 processes",
                        [Crowd(f"{8 * c} readers", [self.bench("pairs", c, more=one_name) for _ in range(8)])
                         for c in (2, 8, 32)], self.rounds["readers"], masters=True)
        for writers, readers in (1, 7), (2, 16):
            self.say(f"turns of {writers} and {readers}")
            self.single("turns", f"{writers} writer{'s' * (writers > 1)}, {readers} readers",
                        ["--workers", str(writers + readers), "--readers", str(readers),
                         "--seconds", "2" if self.quick else "6", "turns"], 60)

    def permits(self):
        """One of K permits beside a name alone, and how the slots go round."""
        four = ["--permits", "4"]
        for c in (1, 16):
            self.say(f"permits at c = {c}")
            self.interleave(f"permits, c = {c}",
                            [self.bench("pairs", c, name="one of 4 permits", more=four),
                             self.bench("pairs", c, name="one of 4 permits, fenced", more=[*four, "--fence"]),
                             self.bench("pairs", c, name="the name itself"),
                             self.bench("pairs", c, name="the name itself, fenced", more=["--fence"])],
                            self.rounds["permits"], masters=True)
        seconds = ["--seconds", "2" if self.quick else "6", "--rest", "0"]
        for _ in range(self.rounds["permits"] // 2):
            self.say("handover of permits")
            self.single("permits: handover", "the name itself, 4 waiters",
                        ["--workers", "5", *seconds, "handoff"], 60)
            for permits, waiters in (4, 8), (4, 16), (16, 32), (16, 64):
                self.single("permits: handover", f"{permits} permits, {waiters} waiters",
                            ["--workers", str(permits + waiters), "--permits", str(permits), *seconds,
                             "permits"], 60)

    def network(self):
        """Each entrant has a network of its own, with masters of its own; no two measure at once."""
        for name, links in NETWORKS.items():
            self.say(f"network: {name}")
            on = lambda command: [self.place.network, *links, "--", "sh", "-c", ADOPT, self.place.redlock,
                                  *command]
            pairs = lambda *words: on([self.place.bench, "--slice", "1", "--warm", str(WARM_S), *words])
            plan = {"redlock": pairs("pairs"), "redlock, fenced": pairs("--fence", "pairs"),
                    FLOOR: pairs("floor-async")}
            if not self.place.no_peers:
                plan.update({peer: on(["node", "driver.mjs", peer, "default", "--warm", str(WARM_S)])
                             for peer in PEERS[:2]})
            for entrant, command in plan.items():
                self.keep(Entrant(entrant, command, None, self.place.peers))
            rtt_s = float(re.match(r"[\d.]+", links[0])[0]) / 1000
            self.interleave(f"network, {name}", self.entrants, self.rounds["network"],
                            seconds=max(self.slice_s, 20 * rtt_s))
            seconds = max(2 if self.quick else 6, 60 * rtt_s)
            result = once(on([self.place.bench, "--json", "--no-syscalls", "--seconds", str(seconds),
                              "handoff"]), 60)
            row = Row(f"network, {name}", "redlock, handoff among 8 processes", [], result.get("note", ""))
            row.facts = {key: value for key, value in result.items() if key.startswith("handoff_p")}
            self.rows.append(row)

    def loops(self):
        """A client that shows a descriptor, which a loop of libev watches, beside one on that loop."""
        for c in (1, 256):
            self.say(f"loops at c = {c}")
            self.interleave(f"loops, c = {c}",
                            [self.bench("pairs", c, name="on a descriptor", more=["--descriptor"]),
                             self.bench("pairs", c, name="on libev")], self.rounds["loops"])

    def single(self, group, name, arguments, timeout, environment=None, nodes=None):
        result = once([self.place.bench, "--json", "--no-syscalls", *arguments], timeout,
                      {**self.of_masters(nodes), **(environment or {})}, self.place.peers)
        row = Row(group, name, [result] if "pairs" in result else [], result.get("note", ""))
        row.facts = facts_of(result)
        for number in self.masters.newly_dead():
            row.notes.append(f"master {number} died meanwhile")
        self.rows.append(row)
        return row

    def renewals(self):
        """Those that are closed come first: the others leave keys, which the masters expire meanwhile."""
        held = [(1000, 10, 7), (10000, 10, 7), (100000, 30, 22), (1000000, 120, 45)]
        for leases, ttl_s, _ in held[2:3 if self.quick else 4]:
            self.say(f"{leases} leases closed")
            self.single("renewals", f"{leases} leases closed",
                        ["--leases", str(leases), "--ttl", str(10000 * ttl_s), "closing"], 400)
        for leases, ttl_s, seconds in held[:2 if self.quick else 4]:
            self.say(f"{leases} leases held")
            self.single("renewals", f"{leases} leases, ttl {ttl_s} s",
                        ["--leases", str(leases), "--ttl", str(1000 * ttl_s), "--seconds", str(seconds),
                         "renew"],
                        seconds + 200)

    def many_at_once(self):
        """On new masters, without other keys, which a survey would look through."""
        for kind in "observers", "surveys", "parties":
            for number in (20000, 100000)[:1 if self.quick else 2]:
                self.say(f"{number} {kind} at once")
                self.single("many at once", f"{number} {kind}",
                            ["--leases", str(number), "--ttl", "300000", kind], 400, {"REDLOCK_NODES": ""})

    def commands(self):
        """A command under a lock, from its start to its end: one of each, by turns."""
        self.say("commands that run under a lock")
        plan = [("redlock run", os.path.dirname(self.place.bench), "./redlock run bench-command -- true"),
                ("flock", self.place.work, "flock command.lock true"), ("no lock", self.place.work, "true")]
        self.interleave("commands",
                        [self.bench("start", name=name, more=["--pairs", "1", "--worker", command], cwd=cwd)
                         for name, cwd, command in plan], self.rounds["commands"], facts=("run_us",))

    def storms(self):
        clients = "500" if self.quick else "4000"
        self.say(f"{clients} clients come back")
        self.single("storm", "clients that come back", ["--leases", clients, "storm"], 300)

    def handoffs_in_turn(self):
        """Beside its floor; one after the other is made ready, for that measures a quiet round trip."""
        entrants = []
        for name, scenario, count in (("redlock", "handoff", "eval,evalsha"),
                                      (RING, "floor-handoff", "del,publish")):
            entrants.append(self.bench(scenario, name=f"{name}, 8 processes",
                                       more=["--workers", "8", "--warm", "0.3", "--count", count]))
            self.wait_until_ready()
        self.say("handoff between 8 processes, beside the floor")
        self.interleave("handoff, in turn", entrants, self.rounds["handoffs"],
                        facts=("handoff_p50_us", "handoff_p99_us"), seconds=1.5 if self.quick else 3)

    def handoffs(self):
        self.start_peers()
        seconds = "2" if self.quick else "6"
        self.handoffs_in_turn()
        plan = [] if self.quick else [("redlock", 64, None, "eval,evalsha"), (RING, 64, None, "del,publish")]
        for peer, variant in (("node-redlock", "default"), ("redis-semaphore", "default"),
                              ("etcd", "best"), ("zookeeper", "default")):
            plan.append((peer, 8, variant, "eval,evalsha"))
        for name, workers, variant, count in plan:
            if variant and (self.place.no_peers or name in self.missing):
                self.note_row("handoff", name, self.place.no_peers or self.missing[name])
                continue
            self.say(f"handoff between {workers} processes: {name}")
            more = ["--worker", f"exec node driver.mjs {name} {variant} --worker"] if variant else []
            self.single("handoff", f"{name}, {workers} processes",
                        ["--workers", str(workers), "--seconds", seconds, "--warm", "0.5",
                         "--count", count, *more, "floor-handoff" if name is RING else "handoff"], 60,
                        self.peer_environment(name) if variant else None)
        self.stop_peers()

    def waiters(self):
        for waiters in (1000, 10000) if self.quick else (1000, 10000, 100000):
            self.say(f"{waiters} waiters of one name in one process")
            self.single("waiters of one process", f"{waiters} waiters",
                        ["--leases", str(waiters), "--seconds", "1" if self.quick else "4", "local-queue"],
                        60)

    def numbers_of_masters(self):
        for c in (1, 256):
            self.say(f"1, 3, 5, 7, 9 masters at c = {c}")
            entrants = [self.bench("pairs", c, self.masters.list(*range(1, n + 1)),
                                   f"{n} master{'s' * (n > 1)}")
                        for n in (5, 1, 3, 7, 9)]
            self.interleave(f"number of masters, c = {c}", entrants, self.rounds["masters"])

    def open_loops(self):
        at_most = [row.rate() for row in self.rows if row.group == "c = 256" and row.rate()]
        if not at_most:
            self.note_row("open loop", "redlock", "needs the part floors, which says how much is most")
            return
        for share in (0.1, 0.25, 0.5, 0.75):
            rate = int(min(at_most) * share)
            self.say(f"open loop at {rate} pairs/s")
            more = ["--rate", str(rate)]
            entrants = [self.bench("pairs", name="redlock", more=more),
                        self.bench("floor-async", name=FLOOR, more=more)]
            self.interleave(f"open loop, {rate} pairs/s ({share:.0%} of the most)", entrants,
                            self.rounds["open"])

    def extremes(self):
        self.say("names and ttls at their extremes")
        plan = [("1 name of 32 bytes", 1, 32, 10000), ("1 name of 1 KiB", 1, 1024, 10000),
                ("8 names of 32 bytes", 8, 32, 10000),
                ("64 names of 32 bytes", 64, 32, 10000), ("64 names of 1 KiB", 64, 1024, 10000),
                ("ttl 100 ms", 1, 32, 100), ("ttl 24 h", 1, 32, 86400000)]
        entrants = [self.bench("pairs", 16, name=name,
                               more=["--names", str(names), "--name-size", str(size), "--ttl", str(ttl)])
                    for name, names, size, ttl in plan]
        self.interleave("names and ttls, c = 16", entrants, self.rounds["extremes"])

    def ceilings(self):
        self.say("what the masters can carry")
        requests = "100000" if self.quick else "400000"
        result = once([self.place.raw, requests], 120, self.of_masters())
        row = Row("ceilings", "redis-benchmark, all five at once", [], result.get("note", ""))
        row.facts = {key: value for key, value in result.items() if key.endswith("_per_s")}
        self.rows.append(row)

    def syscalls(self):
        """Of our own programs the exact number; of the peers, by strace attached for a slice."""
        own = [("pairs", "redlock"), ("floor-async", FLOOR), ("floor-epoll", RAW_FLOOR),
               ("floor-blocking", "floor, hiredis blocking")]
        for c in (1, 16, 256):
            self.say(f"system calls at c = {c}")
            group = f"system calls a pair, c = {c}"
            for scenario, name in own[:4 if c == 1 else 3]:
                result = once([self.place.bench, "--json", "-c", str(c), "--seconds", "0.1", "--warm", "0",
                               scenario], 60, self.of_masters())
                self.tell_syscalls(group, name, result.get("syscalls_per_pair"), result.get("note"))
            entrants = [] if self.place.no_peers else [self.peer(peer, "default", c) for peer in PEERS[:2]]
            self.wait_until_ready()
            for entrant in entrants:
                calls = self.traced(entrant) if entrant.alive() else None
                self.tell_syscalls(group, entrant.name, calls, entrant.note)
            self.dismiss()

    def tell_syscalls(self, group, name, calls, note):
        row = Row(group, name, [])
        if calls is None:
            row.notes.append(note or "not measured: no pair was finished, or strace cannot trace")
        else:
            row.facts["syscalls_per_pair"] = calls
        self.rows.append(row)

    def traced(self, entrant):
        output = os.path.join(self.place.work, "strace")
        try:
            tracer = subprocess.Popen(["strace", "-f", "-c", "-o", output, "-p", str(entrant.process.pid)],
                                      stderr=subprocess.PIPE, start_new_session=True)
        except OSError:
            return None
        time.sleep(0.4)
        result = entrant.slice(0.5)
        time.sleep(0.1)
        if tracer.poll() is None:
            tracer.send_signal(signal.SIGINT)
        try:
            tracer.wait(5)
        except subprocess.TimeoutExpired:
            end(tracer)
        try:
            with open(output) as file:
                total = re.search(r"^\s*100\.00\s+\S+\s+\S+\s+(\d+)", file.read(), re.M)
        except OSError:
            total = None
        if not total or not result or not result["pairs"]:
            return None
        return int(total.group(1)) / whole_pairs(result, 0.5)

    def clean_up(self):
        self.dismiss()
        self.stop_peers()
        for helper in self.helpers:
            end(helper)
        self.helpers = []
        if os.path.isdir(self.place.memory):
            os.rmdir(self.place.memory)

    def run(self, only):
        parts = {"floors": self.floors, "peers": self.peers, "handoffs": self.handoffs,
                 "waiters": self.waiters, "troubles": self.troubles, "fences": self.fences,
                 "spare": self.spare, "fleet": self.fleet, "readers": self.readers, "permits": self.permits,
                 "network": self.network,
                 "loops": self.loops, "masters": self.numbers_of_masters,
                 "open": self.open_loops, "extremes": self.extremes, "syscalls": self.syscalls,
                 "ceilings": self.ceilings, "commands": self.commands, "storms": self.storms,
                 "renewals": self.renewals, "many": self.many_at_once}
        self.whole = not only
        only = only or parts.keys() - {"network"}
        for name in only - parts.keys():
            self.note_row("not measured", name, "there is no such part")
        for name, part in parts.items():
            if name not in only:
                continue
            self.busy = max(self.busy, machine.still_busy(0.3))
            began = time.monotonic()
            try:
                part()
            finally:
                self.took_s[name] = round(time.monotonic() - began)
