"""Puts the picture together: title, legend, lanes, one second from near, violations."""

from collections import Counter

from . import faults, intervals, svg
from .holders import WAIT_BAR, WAITS, Names
from .lease import called
from .view import View

WIDTH, LEFT, RIGHT = 1400, 110, 20
AXIS = 36
NAME_BAR, NAME_LANE = 26, 34 + WAITS
NEAR_BAR, NEAR_LANE = 32, 42 + WAITS
NEAR_US, NEAR_NAMES = 1_000_000, 6
MOST, MOST_NEAR = 3000, 900    # shapes of holders, which make up a file's size
LISTED = 12
FLAG_PX = 26


class Page:
    def __init__(self, record, violations, overlaps, remark, begin, end):
        self.record, self.remark = record, remark
        self.view = View(record, begin, end, LEFT, WIDTH - LEFT - RIGHT)
        self.overlaps = overlaps
        self.violations = [it for it in violations if it.at is None or begin <= it.at <= end]
        self.flags = {id(it): i for i, it in enumerate(self.violations, 1)}
        self.shapes, self.y = [], 0

    def put(self, height, shapes):
        self.shapes += svg.group(self.y, shapes)
        self.y += height

    def draw(self):
        names = Names(self.view, self.record.names, NAME_BAR, MOST)
        self.head()
        self.legend(names)
        self.timeline(names)
        near = self.near_view()
        if near and (names.piled or self.placed(self.view)):
            self.near(near)
        self.listing()
        return svg.document(WIDTH, self.y + 16, self.shapes,
                            f"Timeline of a run: {self.title()}")

    def placed(self, view):
        return [it for it in self.violations if it.at is not None and view.shows(it.at, it.at)]

    # ---- words -------------------------------------------------------------------------------

    def title(self):
        run = self.record.run
        seed = f", seed {run['seed']}" if run.get("seed", "0") != "0" else ""
        return f"{run.get('profile', 'run')}{seed}"

    def head(self):
        record, run = self.record, self.record.run
        seconds = (record.end - record.begin) / 1e6
        setting = [f"{seconds:.1f} s", count(len(record.masters), "master"),
                   count(len(record.workers), "worker"), count(len(record.names), "name")]
        setting += [f"{words} {run[key]} ms" for key, words in
                    (("ttl_ms", "ttl"), ("quarantine_ms", "quarantine")) if key in run]
        if (self.view.begin, self.view.end) != (record.begin, record.end):
            setting.append(f"shown: {self.view.seconds(self.view.begin):g} to "
                           f"{self.view.seconds(self.view.end):g} s")
        self.put(0, [svg.text("h", 16, 32, f"redlock: {self.title()}"),
                     svg.text("m", 16, 54, ", ".join(setting)),
                     svg.text("m", 16, 72, self.figures()),
                     svg.text("m", 16, 90, f"faults: {self.struck()}"), *self.verdict()])
        self.y = 102

    def figures(self):
        record = self.record
        told = [count(len(record.attempts), "attempt"), count(len(record.holders), "lease"),
                f"{sum(it.acquired is None for it in record.attempts)} failed",
                f"{sum(bool(it.losses) for it in record.holders)} lost",
                f"{sum(len(it.refrained) for it in record.holders)} refrained"]
        readers = sum(it.shared for it in record.holders)
        if readers:
            told.insert(2, f"{readers} of them readers'")
        if any(record.stale.values()):
            told.append(f"stale acts: {record.stale['refused']} refused by the register that "
                        f"checks fences, {record.stale['stale']} taken by the other")
        return ", ".join(told)

    def struck(self):
        kinds = Counter(it.kind for it in self.record.faults)
        return ", ".join(f"{many} {kind}" for kind, many in sorted(kinds.items())) or "none"

    def verdict(self):
        right = WIDTH - RIGHT
        if self.violations:
            return [svg.text("h bad r", right, 32, count(len(self.violations), "violation"))]
        if self.remark:
            return [svg.text("m r", right, 32, "no overlap; not judged by the checker")]
        return [svg.text("h good r", right, 32, "no violations")]

    def listing(self):
        lines = [f"{self.flags[id(it)]}  {it.text}" for it in self.violations[:LISTED]]
        if len(self.violations) > LISTED:
            lines.append(f"and {len(self.violations) - LISTED} more")
        for words in lines:
            words = words if len(words) < 190 else words[:187] + "..."
            self.put(17, [svg.text("list", 16, 14, words)])

    # ---- legend ------------------------------------------------------------------------------

    def legend(self, names):
        labels = self.record.run.get("labels", "").split(",")
        entries = []
        for i, worker in enumerate(self.record.workers):
            kinds = {it.kind for it in self.record.lives[worker]} - {"library"}
            label = labels[i] if i < len(labels) else ""
            told = " ".join([worker, *filter(None, [label]), *(f"({it})" for it in sorted(kinds))])
            entries.append((f"w{i % len(svg.WORKERS)}", told))
        self.legend_row("held by", entries)
        self.legend_row("names", self.legend_of_names(names))
        kinds = sorted({it.kind for it in self.record.faults})
        if kinds:
            entries = [(svg.fill_of_kind(kind), kind) for kind in kinds]
            if any(map(self.record.quarantines, self.record.masters)):
                entries.append(("quarantine", "abstains after a restart"))
            self.legend_row("faults", entries)
        self.y += 8

    def legend_of_names(self, names):
        entries = [("w0 light", "still valid, held no more"), ("hand", "handed over"),
                   ("waits", "waits"), ("wanted", "wanted, and nobody has it"),
                   ("nomajority", "no majority of masters"), ("risk", "at risk")]
        if any(it.shared for it in self.record.holders):
            entries.insert(0, ("readers", "readers; a writer has the whole height"))
        if names.piled:
            entries.insert(0, ("piled", "many short holds: each worker's share of the time"))
        if any(it.losses for it in self.record.holders):
            entries.append(("lost", "lost"))
        if any(it.refrained for it in self.record.holders):
            entries.append(("refrained", "refrained"))
        if self.violations:
            entries.append(("overlap", "violation"))
        return entries

    def legend_row(self, heading, entries):
        shapes, left, top = [svg.text("b r", LEFT - 10, 13, heading)], LEFT, 2
        for kind, words in entries:
            width = svg.text_width(words) + 34
            if left + width > WIDTH - RIGHT:
                left, top = LEFT, top + 18
            shapes += [sample(kind, left, top), svg.text("", left + 22, top + 11, words)]
            left += width
        self.put(top + 18, shapes)

    # ---- lanes -------------------------------------------------------------------------------

    def timeline(self, names):
        axis = self.y
        self.y += AXIS
        top = self.y
        for name in names.names:
            self.name_lane(names, name, NAME_LANE)
        self.y += 6
        struck = {target for it in self.record.faults for target in it.targets
                  if self.view.shows(it.begin, it.end)} - set(self.record.masters)
        for target in self.record.masters + sorted(struck, key=natural):
            height, shapes = faults.lane(self.view, target)
            self.put(height + 7, [lane(self.view, height), label(self.view, target, 11), *shapes])
        self.axis(self.view, axis, top)

    def name_lane(self, names, name, height):
        view = names.view
        violations = [it for it in self.placed(view) if it.name == name]
        both = view.blocks((it.at, it.until, it.text) for it in self.overlaps if it.name == name)
        whole = names.height + 4 + WAITS
        shapes = [lane(view, whole), label(view, called(name), names.height / 2 + 4),
                  *no_majority(view, whole), *names.draw(name),
                  *(overlap(view, names.height, *it) for it in both),
                  *self.flags_of(view, names.height, violations)]
        self.put(height, shapes)

    def flags_of(self, view, height, violations):
        """The rows for which there is room."""
        shapes, free = [], 0
        for it in sorted(violations, key=lambda it: it.at):
            if view.x(it.at) >= free:
                shapes.append(self.flag(view, height, it))
                free = view.x(it.at) + FLAG_PX
        return shapes

    def flag(self, view, height, violation):
        """Its time in red, and its number on a flag above."""
        left = view.x(violation.at)
        number = str(self.flags[id(violation)])
        wide = 6 * len(number) + 6
        shapes = [svg.path("overlap", svg.box(left - 1, -2, 2, height + 4)),
                  svg.path("flag", svg.box(left - wide / 2, -14, wide, 12)),
                  svg.text("flagtext", left, -4.5, number)]
        return svg.titled(violation.text, shapes, violation.rule)

    def axis(self, view, top, first):
        """Above the lanes, with lines through all of them."""
        marks = view.ticks()
        lines = "".join(svg.line(view.x(time), first - 12 - top, 0, self.y - first + 10)
                        for time, _ in marks)
        shapes = [svg.path("grid", lines)]
        shapes += [svg.text("c m", view.x(time), 13, words) for time, words in marks]
        shapes.append(svg.text("m r", LEFT - 26, 13, "seconds"))
        unnamed = [it for it in self.placed(view) if it.name not in self.record.names]
        shapes += self.flags_of(view, 4, unnamed)
        self.shapes[0:0] = svg.group(top, shapes)

    # ---- one second from near ----------------------------------------------------------------

    def near_view(self):
        """Around the first violation, or where most handovers are; None if the whole run is that
        short."""
        if self.view.end - self.view.begin < 3 * NEAR_US:
            return None
        times = [it.at for it in self.placed(self.view)]
        times += [it.at for it in self.overlaps if self.view.shows(it.at, it.at)]
        if times:
            begin = min(times) - NEAR_US // 2
        else:
            acquired = Counter((it.acquired - self.view.begin) // NEAR_US
                               for it in self.record.holders
                               if self.view.shows(it.acquired, it.acquired))
            busiest = max(sorted(acquired), key=acquired.get, default=0)
            begin = self.view.begin + busiest * NEAR_US
        begin = max(self.view.begin, min(begin, self.view.end - NEAR_US))
        return View(self.record, begin, begin + NEAR_US, LEFT, WIDTH - LEFT - RIGHT)

    def near(self, view):
        self.frame(view)
        busy = Counter(it.name for it in self.record.holders
                       if view.shows(it.acquired, it.shown_until))
        first = [it.name for it in self.placed(view)]
        chosen = sorted(self.record.names, key=lambda it: (it not in first, -busy[it]))
        chosen = [it for it in self.record.names if it in chosen[:NEAR_NAMES]]
        names = Names(view, chosen, NEAR_BAR, MOST_NEAR)
        when = f"{view.seconds(view.begin):.2f} to {view.seconds(view.end):.2f} s"
        self.put(24, [svg.text("b", LEFT, 17, f"One second from near: {when}")])
        axis = self.y
        self.y += AXIS
        top = self.y
        for name in chosen:
            self.name_lane(names, name, NEAR_LANE)
        self.axis(view, axis, top)

    def frame(self, near):
        """Shows which second of the whole it is."""
        left, width = self.view.span(near.begin, near.end)
        right = self.view.right
        self.put(26, [svg.path("frame", f"M{svg.number(left)} -4v4h{svg.number(width)}v-4"
                               f"M{svg.number(left)} 0L{LEFT} 20M{svg.number(left + width)} 0"
                               f"L{svg.number(right)} 20")])


def no_majority(view, height):
    """When too many masters are down, hung or abstain for the others to be a majority."""
    record = view.record
    out = [intervals.union([(it.begin, it.end) for it in record.faults_of(master)
                            if it.kind in OUT]
                           + [(begin, end) for _, begin, end in record.quarantines(master)])
           for master in record.masters]
    times = intervals.at_once(out, len(record.masters) - len(record.masters) // 2)
    return [svg.path("nomajority", "".join(
        svg.box(*span(view, it), height) for it in times if view.shows(*it)))]


def overlap(view, height, begin, end, text):
    """Two had it: this covers the bars below."""
    left, width = view.span(begin, end, 2)
    return svg.path("overlap", svg.box(left, 0, width, height), text)


def span(view, interval):
    left, width = view.span(*interval)
    return left, -3, width


OUT = {"crashed", "emptied", "rolled-back", "terminated", "frozen", "asleep", "slow-script"}


def lane(view, height):
    return svg.path("lane", svg.box(view.left, -3, view.width, height))


def label(view, words, base):
    words = words if len(words) <= 15 else words[:14] + "…"
    return svg.text("r", view.left - 10, base, words)


def sample(kind, left, top):
    if kind == "lost":
        return svg.path("w0", svg.box(left + 3, top + 1, 10, 10)) + svg.path(
            kind, svg.line(left + 4, top + 2, 8, 8) + svg.line(left + 12, top + 2, -8, 8))
    if kind == "piled":
        return "".join(svg.path(f"w{i}", svg.box(left, top + 4 * i, 16, 4)) for i in range(3))
    if kind == "readers":
        return "".join(svg.path(f"w{i}", svg.box(left + 3 * i, top + 6 * i, 13, 6)) for i in range(2))
    if kind == "waits":
        return svg.path("w0", svg.box(left, top + 5, 16, WAIT_BAR))
    if kind == "hand":
        return svg.path(kind, f"M{left + 8} {top + 3}l-4 7h8z")
    if kind == "refrained":
        return svg.path(f"{kind} w0", svg.box(left + 5, top + 3, 7, 7))
    return svg.path(kind, svg.box(left, top + (4 if kind == "risk" else 0), 16,
                                  4 if kind == "risk" else 12))


def count(many, what):
    return f"{many:,} {what}{'' if many == 1 else 's'}".replace(",", " ")


def natural(target):
    return [int(it) if it.isdigit() else it for it in target.split("-")]
