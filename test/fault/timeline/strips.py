"""The shapes of a lane: bars where they are wide enough, and piles where there are too many."""

from dataclasses import dataclass

LEAST_PX = 2    # narrower bars go into a pile
PILE_PX = 10


@dataclass
class Bar:
    begin: float
    end: float
    about: object     # the attempt that it shows


@dataclass
class Pile:
    """Neighbours too short to be drawn alone."""
    bars: list

    @property
    def begin(self):
        return self.bars[0].begin

    @property
    def end(self):
        return max(it.end for it in self.bars)

    def shares(self):
        """The share of its time that each worker had."""
        shares = {}
        for it in self.bars:
            shares[it.about.worker] = shares.get(it.about.worker, 0) + it.end - it.begin
        whole = max(self.end - self.begin, sum(shares.values()), 1e-9)
        return {worker: share / whole for worker, share in sorted(shares.items())}


def pile_up(bars, least, width):
    """Bars in order of time; one of at least this length stays alone."""
    pieces, near = [], []

    def put():
        if near:
            pieces.append(near[0] if len(near) == 1 else Pile(near[:]))
            near.clear()
    for it in bars:
        if it.end - it.begin >= least:
            put()
            pieces.append(it)
            continue
        if near and (it.end - near[0].begin > width or it.begin - near[-1].end > least):
            put()
        near.append(it)
    put()
    return pieces


def clusters(bars):
    """Bars in order of time, by what they overlap, one by one."""
    found, end = [], None
    for it in bars:
        if not found or it.begin >= end:
            found.append([])
            end = it.end
        found[-1].append(it)
        end = max(end, it.end)
    return found


def fit(lanes, pixel, most):
    """The lanes' pieces, no more than `most` together; `pixel` is the time that one shows."""
    least, width = LEAST_PX * pixel, PILE_PX * pixel
    while True:
        fitted = [pile_up(it, least, width) for it in lanes]
        if sum(map(len, fitted)) <= most:
            return fitted
        least, width = least * 1.5, width * 1.5
