"""The lane of a name: its holders, the workers that asked in vain, and the holders' events. A writer
has the whole height of it, readers have rows."""

from . import intervals, svg
from .lease import called
from .strips import Bar, Pile, clusters, fit

LEAST_GAP_PX = 1.5
MARK_PX = 4          # marks nearer than that are one
LABEL_PX, LABEL_HEIGHT = 18, 12
LEAST_ROWS = 2       # so that a lone reader looks like one
WAIT_ROWS, WAIT_ROW, WAIT_BAR, LEAST_WAIT_PX = 4, 3.5, 2.5, 6
WAITS = 22           # height below the bars: notches, then waiters


class Names:
    """The lanes of all names in one view. `most`: shapes of holders, in all lanes together."""

    def __init__(self, view, names, height, most):
        self.view, self.names, self.height = view, names, height
        self.index = {worker: i % len(svg.WORKERS) for i, worker in enumerate(view.record.workers)}
        lanes = [[Bar(max(it.acquired, view.begin), min(it.shown_until, view.end), it)
                  for it in self.holders(name)] for name in names]
        self.pieces = dict(zip(names, fit(lanes, view.pixel, most)))

    def holders(self, name):
        return [it for it in self.view.record.holders
                if it.name == name and self.view.shows(it.acquired, it.shown_until)]

    @property
    def piled(self):
        return any(isinstance(it, Pile) for pieces in self.pieces.values() for it in pieces)

    def draw(self, name):
        shapes = self.wanted(name)
        pieces = self.pieces[name]
        shapes += [self.pile(it) for it in pieces if isinstance(it, Pile)]
        bars = [it for it in pieces if isinstance(it, Bar)]
        shapes += [self.bar(it.about, 0, self.height) for it in bars if not it.about.shared]
        shapes += self.readers([it for it in bars if it.about.shared])
        return shapes + self.handoffs(pieces) + self.waits(name) + self.marks(name)

    # ---- who holds ---------------------------------------------------------------------------

    def readers(self, bars):
        """As many rows as are needed where they are."""
        shapes = []
        for near in clusters(bars):
            rows = intervals.rows((it.begin, it.end) for it in near)
            height = self.height / max(LEAST_ROWS, max(rows) + 1)
            shapes += [self.bar(it.about, row * height, height) for it, row in zip(near, rows)]
        return shapes

    def bar(self, it, top, height):
        worker = self.index[it.worker]
        left, width = self.view.span(it.acquired, it.held_until, 0.6)
        shapes = []
        if it.until > it.held_until:
            tail = self.view.span(it.held_until, it.until)
            shapes.append(svg.path(f"w{worker} light", svg.box(tail[0], top, tail[1], height)))
        edge = 0.6 if width > 3 else 0
        shapes.append(svg.path(f"w{worker}", svg.box(left + edge, top, width - edge, height)))
        label = self.says(it.worker)
        if width >= max(LABEL_PX, svg.text_width(label)) and height >= LABEL_HEIGHT:
            base = top + height / 2 + 4
            shapes.append(svg.text(f"in t{worker}", left + width / 2, base, label))
        return svg.titled(self.describe(it), shapes)

    def says(self, worker):
        """The words in a bar."""
        return worker.removeprefix("worker-")

    def describe(self, it):
        at = self.view.seconds
        fence = f"fence {it.fence}" if it.fence else "without a fence"
        renewed = f", renewed {it.renewals} times" if it.renewals else ""
        does = "reads" if it.shared else "holds"
        return (f"{it.worker} {does} {called(it.name)}: number {it.number}, {fence}\n"
                f"{at(it.acquired):.3f} to {at(it.held_until):.3f} s ({it.ending}), "
                f"valid until {at(it.until):.3f} s{renewed}")

    def pile(self, pile):
        """As a column: each worker's part of it is its part of the time."""
        left, width = self.view.span(pile.begin, pile.end, 0.6)
        shapes, base, told = [], self.height, []
        for worker, share in pile.shares().items():
            base -= share * self.height
            shapes.append(svg.path(f"w{self.index[worker]}",
                                   svg.box(left, base, width, share * self.height)))
            told.append(f"{worker.removeprefix('worker-')}: {share:.0%}")
        return svg.titled(f"{len(pile.bars)} holds from {self.view.seconds(pile.begin):.3f} s on"
                          f"\n{', '.join(told)} of the time", shapes)

    def handoffs(self, pieces):
        """Where one worker follows another at once, not both as readers: a notch below."""
        outline = []
        for before, after in zip(pieces, pieces[1:]):
            if isinstance(before, Pile) or isinstance(after, Pile):
                continue
            if before.about.shared and after.about.shared:
                continue
            gap = (after.begin - before.about.held_until) / self.view.pixel
            if before.about.worker != after.about.worker and abs(gap) < 12:
                outline.append(f"M{svg.number(self.view.x(after.begin))} {self.height}l-3 5h6z")
        return [svg.path("hand", "".join(outline))] if outline else []

    # ---- who wants ---------------------------------------------------------------------------

    def wanted(self, name):
        """When the name was asked for and had no holder."""
        asked = intervals.union([it.asked, it.acquired or it.answered]
                                for it in self.view.record.attempts if it.would_have(name))
        held = intervals.union([it.acquired, it.until] for it in self.holders(name))
        gaps = [it for it in intervals.minus(asked, held) if self.view.shows(*it)
                and it[1] - it[0] >= LEAST_GAP_PX * self.view.pixel]
        return [svg.path("wanted", svg.box(*self.span_of(gap), self.height),
                         f"{called(name)} is wanted, and nobody has it, from "
                         f"{self.view.seconds(gap[0]):.3f} s on for "
                         f"{(gap[1] - gap[0]) / 1e3:.0f} ms")
                for gap in gaps]

    def waits(self, name):
        """The waiters, as far as there is room: a thin line until they get the name or give up."""
        shown = [(it.asked, it.acquired or it.answered, it.worker)
                 for it in self.view.record.attempts if it.name == name]
        shown = [it for it in shown if self.view.shows(*it[:2])
                 and self.view.span(*it[:2])[1] >= LEAST_WAIT_PX]
        lines = {}
        for (begin, end, worker), row in zip(shown, intervals.rows(it[:2] for it in shown)):
            if row < WAIT_ROWS:
                left, width = self.view.span(begin, end)
                top = self.height + 6 + row * WAIT_ROW
                lines.setdefault(worker, []).append(svg.box(left, top, width - 1, WAIT_BAR))
        return [svg.path(f"w{self.index[worker]}", "".join(boxes), f"{worker} waits for {called(name)}")
                for worker, boxes in sorted(lines.items())]

    def span_of(self, gap):
        left, width = self.view.span(*gap)
        return left, 0, width

    # ---- their events ------------------------------------------------------------------------

    def marks(self, name):
        holders = self.holders(name)
        shapes = []
        risks = ((*risk, it.worker) for it in holders for risk in it.risks)
        for begin, end, worker in self.view.blocks(risks):
            left, width = self.view.span(begin, end, 2)
            shapes.append(svg.path("risk", svg.box(left, -3, width, 4),
                                   f"{worker}: AT_RISK"))
        for left, worker, told in self.apart(holders, "losses", "heard LOST"):
            cross = svg.line(left - 4, -7, 8, 8) + svg.line(left + 4, -7, -8, 8)
            shapes.append(svg.titled(told, [svg.path(worker, svg.box(left - 5, -8, 10, 10)),
                                            svg.path("lost", cross)]))
        for left, worker, told in self.apart(holders, "refrained", "found no validity, refrained"):
            shapes.append(svg.path(f"refrained {worker}", svg.box(left - 3, self.height - 2, 7, 7),
                                   told))
        return shapes

    def apart(self, holders, which, told):
        """Where marks go, their worker and their text; of marks in one place, the first. They may
        lie over the next holder's bar: a stopped process gets its events late."""
        last = None
        times = sorted((time, it.worker) for it in holders for time in getattr(it, which))
        for time, worker in times:
            left = self.view.x(time)
            if self.view.shows(time, time) and (last is None or left - last >= MARK_PX):
                last = left
                yield (left, f"w{self.index[worker]}",
                       f"{worker} {told} at {self.view.seconds(time):.3f} s")
