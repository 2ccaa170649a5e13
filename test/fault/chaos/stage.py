"""One run: masters, workers, the register and the watcher in a folder of their own, and the
faults."""

import contextlib
import heapq
import itertools
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from facts import now_us

from . import changing, kinds, masters, network, recipes, schedule, workers
from .change import Changer
from .process import POLL_S, Process, Trouble, drive, end_all, environment
from .redis import RedisError

HERE = Path(__file__).resolve().parent
REGISTER_LOG = "register"
LOOK_S = 0.1  # whether all workers are still there
PATIENCE_S = 20
CHANGES_S = 800  # that changes of masters may take longer than planned
KEYS_S = 3  # ttls that keys may stay after the last worker has ended


class Stage:
    def __init__(self, given, plan):
        self.given, self.plan = given, plan
        self.folder = Path(tempfile.mkdtemp(prefix="redlock-chaos-"))
        (self.folder / "log").mkdir()
        self.masters, self.workers = {}, {}
        self.network = self.register = self.watcher = self.tls = self.changer = None
        self.changes = changing.changes(given.profile, given.seed, given.seconds, given.masters)
        self.agenda, self.order = [], itertools.count()
        self.struck, self.settled = set(), {}
        self.faults = open(self.folder / "faults", "w", encoding="ascii")
        self.ids, self.began, self.ended = itertools.count(1), 0, 0

    # ---- the beginning -----------------------------------------------------------------------

    def begin(self):
        given = self.given
        if given.links:
            self.network = network.Network(self.folder, given.masters + len(self.changes), given.workers)
        self.register = masters.Server("register", self.folder / "register.server",
                                       *self.place("register"))
        self.register.first_start()
        names = [f"master-{i}" for i in range(1, given.masters + len(self.changes) + 1)]
        if given.tls:
            self.tls = masters.make_certificates(self.folder / "tls", [self.place(name)[0] for name in names])
        for number, name in enumerate(names, 1):
            self.begin_master(name, number <= given.profile.persist)
        self.adopt()
        if self.changes:
            self.changer = Changer(self.folder, self.masters, self.changes, given.profile, self.aside())
            self.changer.begin()
        self.begin_watcher()
        self.began = now_us()
        self.begin_workers()

    def place(self, node):
        """The host to listen on, and the words that bring a process to it."""
        if not self.network:
            return "127.0.0.1", ()
        if node == "register":
            return self.network.register, self.network.router.inside
        return self.network.address(node), self.network.inside(node)

    def aside(self):
        """Brings a process to where no link is cut."""
        return self.network.router.inside if self.network else ()

    def begin_master(self, name, persist):
        clock = None
        if any(fault.kind == "clock-stepped" and name in fault.targets for fault in self.plan):
            clock = masters.Clock(self.given.clock_library, self.folder / f"{name}.clock")
        # Clients log in at a new master as they do at the others.
        password = next(iter(self.masters.values())).password if self.changes and self.masters else None
        master = masters.Server(name, self.folder / name, *self.place(name), persist=persist,
                                clock=clock, tls=self.tls, password=password)
        self.masters[name] = master
        master.first_start()

    def nodes(self):
        return ",".join(m.uri() for m in self.masters.values())

    def adopt(self):
        """The masters are known to be new: none of them has forgotten a lease."""
        env = environment(REDLOCK_NODES=self.nodes(),
                          REDLOCK_MAX_TTL=f"{self.given.profile.max_ttl_ms}ms")
        process = Process("adopt", [*self.aside(), workers.REDLOCK, "nodes", "--adopt"],
                          self.folder / "log" / "adopt", env=env)
        drive(process.ended())
        if process.status():
            raise Trouble(f"the masters are not adopted: {self.log('adopt')}")

    def log(self, name):
        return (self.folder / "log" / name).read_text(encoding="ascii", errors="replace").strip()

    def begin_watcher(self):
        sockets = ",".join(str(m.folder / masters.SOCKET) for m in self.masters.values())
        command = [sys.executable, HERE / "watcher.py", self.folder / "keys", sockets,
                   *self.given.names, *self.given.slots, *self.registries(),
                   *recipes.watched(self.given.profile.recipes)]
        self.watcher = Process("watcher", command, self.folder / "log" / "watcher")

    def registries(self):
        """All who wait for a permit stand in one more queue, that of this name."""
        names = self.given.names if self.given.profile.permits else ()
        return [f"redlock:permits:{name}" for name in names]

    def begin_workers(self):
        nodes = {"REDLOCK_NODES_FILE": str(self.changer.path)} if self.changer else \
            {"REDLOCK_NODES": self.nodes()}
        options = workers.Options(self.given, nodes, self.register.address())
        for number, program in enumerate(self.given.programs, 1):
            name = f"worker-{number}"
            inside = self.network.inside(name) if self.network else ()
            worker = workers.Worker(number, program, self.folder, options, inside)
            self.workers[name] = worker
            worker.start()
        self.workers |= recipes.begin(self.given.profile.recipes, self.folder, options, self.aside())

    # ---- faults ------------------------------------------------------------------------------

    def at(self, moment, action):
        heapq.heappush(self.agenda, (moment, next(self.order), action))

    def rage(self):
        """This one thread does everything: a fault waits by an entry in the agenda."""
        begin = time.monotonic()
        for fault in self.plan:
            if fault.kind == "rolled-back":
                self.at(begin + max(0.0, fault.at - fault.detail),
                        lambda fault=fault: self.save(fault.targets[0]))
            self.at(begin + fault.at, lambda fault=fault: self.strike(fault, begin + fault.at))
        self.at(begin, self.look_after_workers)
        self.plan_change(begin)
        end = begin + self.given.seconds
        while self.agenda and (self.agenda[0][0] < end or self.is_changing()):
            if time.monotonic() > end + CHANGES_S:
                raise Trouble("a change of masters does not end")
            self.next_action()
        time.sleep(max(0.0, end - time.monotonic()))

    def is_changing(self):
        return self.changer is not None and not self.changer.is_over()

    def plan_change(self, begin):
        """The next one."""
        if self.is_changing():
            at = max(time.monotonic(), begin + self.changes[self.changer.done].at)
            self.at(at, lambda: self.go_on_with(self.changer.replace(self), lambda: self.plan_change(begin)))

    def go_on_with(self, steps, then):
        try:
            pause = next(steps)
        except StopIteration:
            then()
        else:
            self.at(time.monotonic() + pause, lambda: self.go_on_with(steps, then))

    def next_action(self):
        moment, _, action = heapq.heappop(self.agenda)
        time.sleep(max(0.0, moment - time.monotonic()))
        action()

    def look_after_workers(self):
        for worker in self.workers.values():
            worker.check()
        if self.watcher.status() is not None:
            raise Trouble(f"the watcher ended: {self.log('watcher')}")
        self.at(time.monotonic() + LOOK_S, self.look_after_workers)

    def save(self, master):
        """For a later fault; the one before is good enough if this does not succeed."""
        if master not in self.struck:
            with contextlib.suppress(OSError, RedisError):
                self.masters[master].save()

    def strike(self, fault, moment):
        """An earlier fault of the target may take longer to mend than was planned."""
        targets = self.aimed(fault)
        is_solitary = fault.kind in kinds.SOLITARY and not self.changer
        busy = self.struck if is_solitary else self.struck & set(targets)
        if targets and not busy and self.can_spare(targets):
            self.begin_fault(replace(fault, targets=targets))
        elif time.monotonic() < moment + schedule.SLACK_S:
            self.at(time.monotonic() + POLL_S, lambda: self.strike(fault, moment))
        else:
            why = "the fault before is not over" if busy else "this is not the time"
            print(f"chaos: left out: {fault.kind} {' '.join(fault.targets)}: {why}", file=sys.stderr)

    def aimed(self, fault):
        """The targets by their names; none if it is aimed at who leads, and nobody does, or is too early."""
        if fault.targets == (schedule.LEADER,):
            return recipes.leaders(self.workers.values())
        if not self.changer:
            return fault.targets
        if fault.detail == changing.AFTER_ALL and self.is_changing():
            return ()
        return tuple(map(self.changer.present, fault.targets))

    def can_spare(self, targets):
        profile = self.given.profile
        return all(recipes.can_spare(it, self.masters, profile.recipes, profile.quarantine_ms / 1000)
                   for it in targets if it in self.masters)

    def masters_struck(self):
        return [it for it in self.struck if it in self.masters]

    def begin_fault(self, fault):
        self.struck |= set(fault.targets)
        number = next(self.ids)
        self.note(f"begin {number} {fault.kind} {' '.join(fault.targets)}")
        self.go_on(fault, number, self.steps(fault))

    def steps(self, fault):
        if fault.kind in kinds.MASTERS:
            return masters.FAULTS[fault.kind](self.masters[fault.targets[0]], fault)
        if fault.kind in kinds.WORKERS:
            return workers.FAULTS[fault.kind](self.workers[fault.targets[0]], fault)
        return network.FAULTS[fault.kind](self.network, fault)

    def go_on(self, fault, number, steps):
        try:
            pause = next(steps)
        except StopIteration:
            self.note(f"end {number}")
            self.struck -= set(fault.targets)
            return
        except (OSError, RedisError) as error:
            raise Trouble(f"{fault.kind} {' '.join(fault.targets)}: {error}") from error
        self.at(time.monotonic() + pause, lambda: self.go_on(fault, number, steps))

    def note(self, text):
        self.faults.write(f"{now_us()} {text}\n")
        self.faults.flush()

    # ---- the end -----------------------------------------------------------------------------

    def finish(self):
        """Every fault is mended, then every worker ends in good order."""
        deadline = time.monotonic() + PATIENCE_S
        while self.agenda_of_faults():
            if time.monotonic() > deadline:
                raise Trouble("a fault is not mended")
            self.next_action()
        self.settle()
        self.ended = now_us()
        for worker in self.workers.values():
            drive(worker.tell_to_end())
        for worker in self.workers.values():
            drive(worker.finish())
        self.wait_for_keys()
        self.watcher.signal(signal.SIGTERM)
        drive(self.watcher.ended())
        self.dump_register()
        self.write_run()

    def settle(self):
        """Nothing is struck any more."""
        steps = recipes.settle(self.workers.values())
        try:
            while True:
                time.sleep(next(steps))
        except StopIteration as settled:
            self.settled = settled.value

    def agenda_of_faults(self):
        return any(action != self.look_after_workers for _, _, action in self.agenda)

    def wait_for_keys(self):
        """A master that was away at a release keeps the key to the end of its ttl. The checker sees
        in `keys` what stays for longer."""
        end = time.monotonic() + KEYS_S * self.given.profile.ttl_ms / 1000
        while self.keys_left() and time.monotonic() < end:
            time.sleep(LOOK_S)

    def keys_left(self):
        left = 0
        for master in [it for it in self.masters.values() if not it.is_dead()]:
            with master.connect() as connection:
                names = [*self.given.names, *self.given.slots]
                left += connection.do("EXISTS", *names, *(f"redlock:{kind}:{name}" for name in names
                                                          for kind in ("queue", "holders")))
        return left

    def dump_register(self):
        with self.register.connect() as connection:
            lines = connection.do("LRANGE", REGISTER_LOG, 0, -1)
        (self.folder / "register").write_text("".join(f"{line}\n" for line in lines),
                                              encoding="ascii")

    def write_run(self):
        given, profile = self.given, self.given.profile
        facts = {"profile": profile.name, "seed": given.seed, "masters": given.masters,
                 "workers": given.workers, "names": ",".join(given.names),
                 "ttl_ms": profile.ttl_ms, "max_ttl_ms": profile.max_ttl_ms,
                 "skew_ms": profile.skew_ms, "spare": profile.spare,
                 "quarantine_ms": profile.quarantine_ms,
                 "begin": self.began, "end": self.ended, "holders": given.holders,
                 "longest_ms": profile.longest_ms, "takeover_ms": profile.takeover_ms,
                 "availability": given.availability,
                 "grown": given.grown, "permits": profile.permits, "least_use": given.least_use,
                 "changes": len(self.changes),
                 "recipes": ",".join(f"{kind}={many}" for kind, many in profile.recipes), **self.settled}
        (self.folder / "run").write_text("".join(f"{k} {v}\n" for k, v in facts.items()),
                                         encoding="ascii")

    def close(self):
        """Ends all that is left, at any stage of the run."""
        end_all()
        self.faults.close()
        if self.changer:
            self.changer.close()

    def clear(self):
        shutil.rmtree(self.folder)

