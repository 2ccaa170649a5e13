"""The lane of a master, of a worker or of a link: what was done to it."""

from . import intervals, svg

BAR, WORD = 13, 13    # heights of a fault, and of its word below
ROW = BAR + WORD


def lane(view, target):
    """(height, shapes)"""
    faults = sorted((it for it in view.record.faults_of(target) if view.shows(it.begin, it.end)),
                    key=lambda it: it.begin)
    extents = [(it.begin, max(it.end, it.begin + 3 * view.pixel)) for it in faults]
    chosen = intervals.rows(extents)
    count = max(chosen, default=0) + 1
    shapes = background(view, target, count * ROW - WORD)
    for row in range(count):
        shapes += words(view, [it for it, at in zip(faults, chosen) if at == row], row * ROW)
    for fault, row in zip(faults, chosen):
        shapes.append(bar(view, target, fault, row * ROW))
    return count * ROW, shapes


def background(view, target, height):
    """When a master abstains after a restart; when a worker's process is there."""
    shapes = []
    for begin, end in view.record.quarantines(target):
        if view.shows(begin, end):
            left, width = view.span(begin, end)
            shapes.append(svg.path("quarantine", svg.box(left, 1, width, height - 2),
                                   f"{target} abstains, {view.seconds(begin):.3f} to "
                                   f"{view.seconds(end):.3f} s"))
    for number, life in enumerate(view.record.lives.get(target, ()), 1):
        if view.shows(life.begin, life.end):
            left, width = view.span(life.begin, life.end)
            colour = view.record.workers.index(target) % len(svg.WORKERS)
            shapes.append(svg.path(f"w{colour} light", svg.box(left, 3, width, height - 6),
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
