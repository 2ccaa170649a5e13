"""The lane of a master, of a worker or of a link: its faults."""

from . import intervals, svg

BAR, WORD = 13, 13    # heights of a fault, and of its word below
ROW = BAR + WORD


def lane(view, target):
    """(height, shapes): bars, and their words below."""
    rows, drawn = shapes(view, target)
    for row, faults in enumerate(rows):
        drawn += words(view, faults, row * ROW)
    return len(rows) * ROW, drawn


def shapes(view, target):
    """(faults of each row, shapes)"""
    faults = sorted((it for it in view.record.faults_of(target) if view.shows(it.begin, it.end)),
                    key=lambda it: it.begin)
    chosen = intervals.rows((it.begin, max(it.end, it.begin + 3 * view.pixel)) for it in faults)
    row_of = {fault.number: row for fault, row in zip(faults, chosen)}
    drawn = processes(view, target) + quarantines(view, target, row_of)
    drawn += [bar(view, target, fault, row_of[fault.number] * ROW) for fault in faults]
    rows = range(max(chosen, default=0) + 1)
    return [[it for it in faults if row_of[it.number] == row] for row in rows], drawn


def quarantines(view, master, row_of):
    """Beside the fault from which each follows, which itself may be out of sight."""
    shapes = []
    for number, begin, end in view.record.quarantines(master):
        if view.shows(begin, end):
            left, width = view.span(begin, end)
            top = row_of.get(number, 0) * ROW + 1
            shapes.append(svg.path("quarantine", svg.box(left, top, width, BAR - 2),
                                   f"{master} abstains, {view.seconds(begin):.3f} to "
                                   f"{view.seconds(end):.3f} s"))
    return shapes


def processes(view, target):
    """When the processes of a worker were there."""
    shapes = []
    for number, life in enumerate(view.record.lives.get(target, ()), 1):
        if view.shows(life.begin, life.end):
            left, width = view.span(life.begin, life.end)
            colour = view.record.workers.index(target) % len(svg.WORKERS)
            shapes.append(svg.path(f"w{colour} light", svg.box(left, 3, width, BAR - 6),
                                   f"{target}, process {number} ({life.kind})"))
    return shapes


def bar(view, target, fault, top):
    left, width = view.span(fault.begin, fault.end, 3)
    return svg.path(svg.fill_of_kind(fault.kind), svg.box(left, top, width, BAR),
                    f"{target}: {fault.kind} (fault {fault.number})\n"
                    f"{view.seconds(fault.begin):.3f} to {view.seconds(fault.end):.3f} s")


def words(view, faults, top):
    """Below each bar its kind, where there is room before the next one's."""
    shapes, free = [], view.left
    for fault in faults:
        left = min(view.x(fault.begin), view.right - svg.text_width(fault.kind))
        if left >= free:
            shapes.append(svg.text("word", left, top + BAR + 10, fault.kind))
            free = left + svg.text_width(fault.kind) + 2
    return shapes
