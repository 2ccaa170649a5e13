"""Sets of moments, as sorted lists of [begin, end]."""


def union(intervals):
    joined = []
    for begin, end in sorted(intervals):
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        elif end > begin:
            joined.append([begin, end])
    return joined


def minus(intervals, others):
    """Both are unions."""
    left, first = [], 0
    for begin, end in intervals:
        while first < len(others) and others[first][1] <= begin:
            first += 1
        for other in others[first:]:
            if other[0] >= end:
                break
            if other[0] > begin:
                left.append([begin, other[0]])
            begin = max(begin, other[1])
        if begin < end:
            left.append([begin, end])
    return left


def at_once(sets, least):
    """When at least this many of the sets hold; each is a union."""
    edges = sorted(edge for it in sets for begin, end in it for edge in ((begin, 1), (end, -1)))
    found, depth, since = [], 0, None
    for time, step in edges:
        depth += step
        if depth >= least and since is None:
            since = time
        elif depth < least and since is not None:
            found.append([since, time])
            since = None
    return union(found)


def rows(extents):
    """The row for each (begin, end), so that none lies on another."""
    free, chosen = [], []
    for begin, end in extents:
        row = next((i for i, until in enumerate(free) if until <= begin), len(free))
        free[row:row + 1] = [end]
        chosen.append(row)
    return chosen
