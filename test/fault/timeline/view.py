"""From moments to places on the page."""

from dataclasses import dataclass


@dataclass
class View:
    record: object
    begin: int       # us
    end: int
    left: float
    width: float

    @property
    def pixel(self):
        return (self.end - self.begin) / self.width

    @property
    def right(self):
        return self.left + self.width

    def x(self, time):
        return self.left + (min(max(time, self.begin), self.end) - self.begin) / self.pixel

    def span(self, begin, end, least=0.0):
        """(left, width), so wide at least that it can be seen."""
        left = self.x(begin)
        return left, max(self.x(end) - left, least)

    def shows(self, begin, end):
        return begin < self.end and end >= self.begin

    def blocks(self, spans, apart=2):
        """[begin, end, about] of what is shown; spans that nearly touch are joined, with the first
        one's text."""
        joined = []
        for begin, end, about in sorted(spans, key=lambda it: it[:2]):
            if not self.shows(begin, end):
                continue
            if joined and begin - joined[-1][1] < apart * self.pixel:
                joined[-1][1] = max(joined[-1][1], end)
            else:
                joined.append([begin, end, about])
        return joined

    def seconds(self, time):
        return (time - self.record.begin) / 1e6

    def ticks(self):
        """(time, its label), some 80 px from each other."""
        step = next(step for power in range(-3, 6) for digit in (1, 2, 5)
                    if (step := digit * 10 ** (power + 3)) >= self.pixel * 80)
        first = -(-(self.begin - self.record.begin) // step)
        last = (self.end - self.record.begin) // step
        digits = 0 if step >= 1e6 else len(f"{step / 1e6:.6f}".rstrip("0")) - 2
        return [(self.record.begin + i * step, f"{i * step / 1e6:.{digits}f}")
                for i in range(int(first), int(last) + 1)]
