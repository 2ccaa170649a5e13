"""A picture for a first look: one name, its masters, and a legend in words."""

from . import faults, svg
from .holders import Names
from .page import count, label, lane, natural, no_majority, overlap, sample
from .record import Unreadable
from .view import View

# In units of SCALE pixels, so that letters are still legible where a telephone halves the picture.
SCALE, WIDTH, LEFT, RIGHT, TOP = 1.7, 470, 66, 8, 8
NAME_BAR, NAME_LANE, MASTER_LANE, AXIS, LEGEND = 20, 36, 17, 17, 16
GAP = 10    # between the entries of the legend
MOST = 500    # shapes of holders

DARK = """
@media (prefers-color-scheme:dark){.page,pattern rect:first-child{fill:#0d1117}text{fill:#e6edf3}
.m{fill:#c3cad2}.lane{fill:#dde;opacity:.14}.grid{stroke:#30363d}.nomajority{fill:#484f58}
.hand,.k-crashed,.k-killed{fill:#e6edf3}
.good{fill:#4ec9a0}.bad{fill:#ff7b72}}
"""


class NamedHolders(Names):
    def says(self, worker):
        return f"held by {worker.replace('-', ' ')}"


class Small:
    def __init__(self, record, violations, overlaps, remark, begin, end):
        if len(record.names) != 1:
            raise Unreadable(f"--small draws one name, and this run has {len(record.names)}")
        self.record, self.overlaps, self.remark = record, overlaps, remark
        self.violations = [it for it in violations if it.at is None or begin <= it.at <= end]
        self.view = View(record, begin, end, LEFT, WIDTH - LEFT - RIGHT)
        self.shapes, self.y = [], TOP

    def put(self, height, shapes):
        self.shapes += svg.group(self.y, shapes)
        self.y += height

    def draw(self):
        self.name()
        for target in self.targets():
            shapes = faults.shapes(self.view, target)[1]
            self.put(MASTER_LANE, [lane(self.view, MASTER_LANE - 1),
                                   label(self.view, target.replace("-", " "), 11), *shapes])
        self.axis()
        self.legend()
        described = f"A run of {count(len(self.record.masters), 'master')}: {self.verdict()[1]}"
        return svg.document(WIDTH, self.y + 4, self.shapes, described, SCALE, DARK)

    def targets(self):
        struck = {target for it in self.record.faults for target in it.targets} - set(self.record.masters)
        return self.record.masters + sorted(struck, key=natural)

    def name(self):
        names = NamedHolders(self.view, self.record.names, NAME_BAR, MOST)
        both = self.view.blocks((it.at, it.until, it.text) for it in self.overlaps)
        self.put(NAME_LANE, [lane(self.view, NAME_LANE - 2), label(self.view, "the lock", NAME_BAR / 2 + 4),
                             *no_majority(self.view, NAME_LANE - 2), *names.draw(self.record.names[0]),
                             *(overlap(self.view, NAME_BAR, *it) for it in both)])

    def axis(self):
        marks = self.view.ticks()
        lines = "".join(svg.line(self.view.x(time), TOP - self.y, 0, self.y - TOP) for time, _ in marks)
        self.shapes[0:0] = svg.group(self.y, [svg.path("grid", lines)])
        kind, verdict = self.verdict()
        free = self.view.right - svg.text_width(verdict) - GAP
        self.put(AXIS, [label(self.view, "seconds", 11), svg.text(f"r {kind}", self.view.right, 11, verdict),
                        *(svg.text("c m", self.view.x(time), 11, words)
                          for time, words in marks if self.view.x(time) < free)])

    def legend(self):
        kinds = sorted({it.kind for it in self.record.faults})
        entries = [(svg.fill_of_kind(kind), kind) for kind in kinds]
        if any(map(self.record.quarantines, self.record.masters)):
            entries.append(("quarantine", "back, no vote yet"))
        if any(it.risks for it in self.record.holders):
            entries.append(("risk", "at risk"))
        entries += [("waits", "waits"), ("hand", "handed over")]
        left, shapes = RIGHT, []
        for kind, words in entries:
            width = 20 + svg.text_width(words)
            if left + width > WIDTH - RIGHT:
                self.put(LEGEND, shapes)
                left, shapes = RIGHT, []
            shapes += [sample(kind, left, 1), svg.text("", left + 20, 11, words)]
            left += width + GAP
        self.put(LEGEND, shapes)

    def verdict(self):
        if self.violations:
            return "bad", count(len(self.violations), "violation")
        return ("m", "not judged") if self.remark else ("good", "no violations")
