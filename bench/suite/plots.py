"""plots.py - small SVG writer: lines on linear or logarithmic axes, and bars."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 820, 480    # at least
LEFT, TOP, BOTTOM = 80, 56, 64
# Widths: of the lines, of a dash in the legend, of the space around texts, of the longest bar, of its figure.
PLOT, KEY, EDGE, BARS, FIGURE = 510, 46, 10, 450, 70
# A client has the same colour in all pictures; its rows differ by their dashes.
COLOURS = {"redlock": "#0b6e4f", "floor": "#4a4a4a", "node-redlock": "#2e5eaa",
           "redis-semaphore": "#e08e1b", "etcd": "#7b4ea3", "zookeeper": "#d1495b"}
OTHER = "#8a9a1b"
DASHES = ["", "7 4", "2 3", "9 3 2 3"]


def client_of(name):
    return name.split(",")[0]


def colour_of(name):
    return COLOURS.get(client_of(name), OTHER)


def styles(names):
    """(colour, dashes) of each row."""
    clients = [client_of(name) for name in names]
    return [(colour_of(name), DASHES[clients[:i].count(clients[i]) % len(DASHES)])
            for i, name in enumerate(names)]


class Axis:
    def __init__(self, low, high, start, end, logarithmic):
        self.logarithmic = logarithmic
        if logarithmic:
            low, high = 10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high))
        if high <= low:
            high = low * 10 if logarithmic else low + 1
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, value):
        if self.logarithmic:
            value = max(value, self.low)
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def marks(self):
        if self.logarithmic:
            power = round(math.log10(self.low))
            while 10 ** power <= self.high * 1.001:
                yield 10 ** power
                power += 1
            return
        step = 10 ** math.floor(math.log10((self.high - self.low) / 4))
        while (self.high - self.low) / step > 8:
            step *= 2
        value = self.low
        while value <= self.high * 1.0001:
            yield value
            value += step


def short(value):
    if value >= 1e6:
        return f"{value / 1e6:g} M"
    if value >= 1e3:
        return f"{value / 1e3:g} k"
    return f"{value:g}"


def text(x, y, words, size=13, anchor="start", extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="#222" {extra}>{escape(words)}</text>')


def room_for(names):
    """The width that the longest takes at size 12, in any of the fonts below."""
    return 7 * max(map(len, names))


def frame(title, subtitle, body, width, height):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="DejaVu Sans, Verdana, sans-serif">\n'
            f'<rect width="{width}" height="{height}" fill="white"/>\n'
            + text(LEFT, 22, title, 16, extra='font-weight="bold"') + "\n"
            + text(LEFT, 41, subtitle, 12) + "\n" + "\n".join(body) + "\n</svg>\n")


def scale(axis):
    return " (logarithmic)" if axis.logarithmic else ""


def axes(x, y, x_label, y_label, y_text=short):
    body = []
    for value in x.marks():
        at = x(value)
        body.append(f'<line x1="{at:.1f}" y1="{y.start}" x2="{at:.1f}" y2="{y.end}" stroke="#ddd"/>')
        body.append(text(at, y.start + 18, short(value), 12, "middle"))
    for value in y.marks():
        at = y(value)
        body.append(f'<line x1="{x.start}" y1="{at:.1f}" x2="{x.end}" y2="{at:.1f}" stroke="#ddd"/>')
        body.append(text(x.start - 8, at + 4, y_text(value), 12, "end"))
    body.append(f'<rect x="{x.start}" y="{y.end}" width="{x.end - x.start}" '
                f'height="{y.start - y.end}" fill="none" stroke="#555"/>')
    body.append(text((x.start + x.end) / 2, y.start + 42, x_label, 13, "middle"))
    middle = (y.start + y.end) / 2
    body.append(text(22, middle, y_label, 13, "middle", f'transform="rotate(-90 22 {middle:.1f})"'))
    return body


def lines(path, title, subtitle, series, x_label, y_label, x_log=True, y_log=False, y_range=None,
          y_text=short, dots=False):
    """series: [(name, [(x, y)...])...]"""
    series = [(name, points) for name, points in series if points]
    if not series:
        return False
    xs = [x for _, points in series for x, _ in points]
    ys = [y for _, points in series for _, y in points]
    low, high = y_range or (min(ys), max(ys))
    right = LEFT + PLOT
    width = max(WIDTH, right + KEY + room_for(name for name, _ in series) + EDGE)
    x = Axis(min(xs), max(xs), LEFT, right, x_log)
    y = Axis(low, high, HEIGHT - BOTTOM, TOP, y_log)
    body = axes(x, y, x_label + scale(x), y_label + scale(y), y_text)
    style = styles([name for name, _ in series])
    for i, (name, points) in enumerate(series):
        colour, dash = style[i]
        d = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)
        body.append(f'<polyline points="{d}" fill="none" stroke="{colour}" '
                    f'stroke-width="{3 if i == 0 else 2}" stroke-dasharray="{dash}"/>')
        if dots:
            body += [f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="4" fill="{colour}"/>'
                     for a, b in points]
        at = TOP + 14 + i * 20
        body.append(f'<line x1="{right + 14}" y1="{at}" x2="{right + KEY - 6}" y2="{at}" '
                    f'stroke="{colour}" stroke-width="3" stroke-dasharray="{dash}"/>')
        body.append(text(right + KEY, at + 4, name, 12))
    with open(path, "w") as file:
        file.write(frame(title, subtitle, body, width, HEIGHT))
    return True


def bars(path, title, subtitle, values, x_label):
    """values: [(name, value)...], on a logarithmic axis."""
    values = [(name, value) for name, value in values if value]
    if not values:
        return False
    height = TOP + BOTTOM + 30 * len(values)
    left = room_for(name for name, _ in values) + 2 * EDGE
    right = left + BARS
    x = Axis(min(v for _, v in values) / 1.5, max(v for _, v in values), left, right, logarithmic=True)
    bottom = height - BOTTOM
    body = []
    for value in x.marks():
        at = x(value)
        body.append(f'<line x1="{at:.1f}" y1="{bottom}" x2="{at:.1f}" y2="{TOP}" stroke="#ddd"/>')
        body.append(text(at, bottom + 18, short(value), 12, "middle"))
    for i, (name, value) in enumerate(values):
        at = TOP + 4 + 30 * i
        body.append(f'<rect x="{left}" y="{at}" width="{max(1, x(value) - left):.1f}" height="22" '
                    f'fill="{colour_of(name)}"/>')
        body.append(text(left - EDGE, at + 16, name, 12, "end"))
        body.append(text(x(value) + 6, at + 16, f"{value:.1f}", 12))
    body.append(text((left + right) / 2, bottom + 42, x_label + scale(x), 13, "middle"))
    with open(path, "w") as file:
        file.write(frame(title, subtitle, body, max(WIDTH, right + FIGURE), height))
    return True


def cdf(buckets):
    """[(us, share of all at most that)...]"""
    total, seen, points = sum(count for _, count in buckets), 0, []
    for floor, count in buckets:
        seen += count
        points.append((max(floor, 1000) / 1e3, seen / total))
    return points


def tail(buckets):
    """[(us, share of all above that)...]"""
    total, seen, points = sum(count for _, count in buckets), 0, []
    for floor, count in buckets:
        points.append((max(floor, 1000) / 1e3, (total - seen) / total))
        seen += count
    return points
