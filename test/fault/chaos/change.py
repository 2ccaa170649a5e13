"""All masters are replaced, one after the other, by `redlock masters change`, while the load goes on."""

import os
import re
import signal

from facts import now_us

from . import workers
from .process import POLL_S, Process, Trouble, environment, until

LIST, NOTES = "list", "changes"
STEP, NODES = re.compile(r"step (\d+) of \d+: "), re.compile(r"  (\S+)$")
OVER = re.compile(r"can use it again$")
AGAIN_S = 1.0
AGAIN = (69, 78, -signal.SIGKILL, -signal.SIGTERM, 128 + signal.SIGTERM)
PATIENCE_S = 60


class Lines:
    """The output of the command, as it comes."""

    def __init__(self, path):
        self.file, self.rest = open(path, encoding="ascii", errors="replace"), ""

    def new(self):
        *lines, self.rest = (self.rest + self.file.read()).split("\n")
        return lines

    def close(self):
        self.file.close()


class Changer:
    """The masters have seats; a change gives one of these to a master that was in none."""

    def __init__(self, folder, masters, plan, profile, inside=()):
        """`masters` by name: first those of the present list, then those to come."""
        self.folder, self.masters, self.plan, self.profile = folder, masters, plan, profile
        self.inside, names = tuple(inside), list(masters)
        self.seats = dict(enumerate(names[:len(names) - len(plan)], 1))
        self.coming = names[len(names) - len(plan):]
        self.leaving, self.done = None, 0
        self.notes = open(folder / NOTES, "w", encoding="ascii")

    # ---- the list of the clients -----------------------------------------------------------------

    @property
    def path(self):
        return self.folder / LIST

    def deploy(self, names):
        """The file changes as a whole."""
        new = self.folder / f"{LIST}.new"
        new.touch(0o600)
        new.write_text("".join(f"{self.masters[it].uri()}\n" for it in names), encoding="ascii")
        os.replace(new, self.path)

    def begin(self):
        self.deploy(self.seats.values())

    def named(self, nodes):
        """Of a list that the command printed."""
        of = {f"{it.host}:{it.port}": name for name, it in self.masters.items()}
        return [of[node] for node in nodes.split(",")]

    def present(self, target):
        """A fault strikes who has the seat now: master-I, or link-WORKER-I."""
        kind, _, seat = target.rpartition("-")
        is_seat = kind == "master" or kind.startswith("link-")
        return f"{kind}-{self.seats[int(seat)].split('-')[1]}" if is_seat else target

    def is_over(self):
        return self.done == len(self.plan)

    def note(self, *words):
        self.notes.write(" ".join(map(str, (now_us(), *words))) + "\n")
        self.notes.flush()

    # ---- a change --------------------------------------------------------------------------------

    def replace(self, stage):
        """Steps."""
        number, change = self.done + 1, self.plan[self.done]
        old, new = self.seats[change.seat], self.coming[self.done]
        death = change.is_dead and (yield from self.dies(old, stage))
        self.note("begin", number, old, new)
        yield from self.command(number, change, {**self.seats, change.seat: new})
        self.note("done", number)
        self.seats[change.seat] = new
        if death:
            stage.note(f"end {death}")
        yield from self.retire(stage.struck)
        self.leaving = old
        self.done += 1

    def dies(self, name, stage):
        """For good."""
        yield from until(lambda: not stage.masters_struck(), "masters are struck for long", PATIENCE_S)
        fault = next(stage.ids)
        stage.note(f"begin {fault} crashed {name}")
        self.masters[name].process.kill()
        return fault

    def command(self, number, change, seats):
        """Over and over, if it is broken off, or masters are away at its beginning, or list clients of former
        lists."""
        tries, shown, breaks = 0, 0, change.broken_off
        while True:
            tries += 1
            log = self.folder / "log" / f"change-{number}.{tries}"
            process, lines, step = self.launch(change, seats, log), Lines(log), 0
            end = now_us() + breaks[0] * 1e6 if breaks else None
            while True:
                is_last = process.status() is not None
                for line in lines.new():
                    step, shown = self.hear(line, number, step, shown)
                if is_last:
                    break
                if end and now_us() > end:
                    self.note("broken-off", number)
                    process.signal(breaks[1])
                    end, breaks = None, ()
                yield POLL_S
            lines.close()
            if process.status() == 0:
                return
            if process.status() not in AGAIN:
                raise Trouble(f"masters change ended with status {process.status()}: "
                              f"{log.read_text(encoding='ascii', errors='replace')[-800:]}")
            yield AGAIN_S

    def launch(self, change, seats, log):
        uris = [",".join(self.masters[it].uri() for it in its.values()) for its in (self.seats, seats)]
        patience = ["--patience", change.patience] if change.patience else []
        words = [workers.REDLOCK, "masters", "change", uris[1], "--yes", *patience]
        return Process("change", [*self.inside, *words], log,
                       env=environment(REDLOCK_NODES=uris[0], REDLOCK_SPARE=str(self.profile.spare),
                                       REDLOCK_MAX_TTL=f"{self.profile.max_ttl_ms}ms"))

    def hear(self, line, number, step, shown):
        """The step of which it speaks, and the last one whose list the clients have."""
        if found := STEP.match(line):
            return int(found[1]), shown
        if step > shown and (found := NODES.match(line)):
            names = self.named(found[1])
            self.deploy(names)
            self.note("list", number, step, ",".join(names))
            return step, step
        if step and OVER.search(line):
            self.note("over", number, step)
        return step, shown

    def retire(self, struck):
        """The one before this: clients that slept through both may believe that it is in their list."""
        if not self.leaving:
            return
        name, master = self.leaving, self.masters[self.leaving]
        yield from until(lambda: name not in struck or master.is_dead(), f"{name} is struck for long",
                         PATIENCE_S)
        master.process.signal(signal.SIGTERM)
        yield from master.process.ended()
        self.note("stopped", name)

    def close(self):
        self.notes.close()
