"""OpenMetrics text, read strictly: what is not exactly as the standard wants it is an error."""

import math
import re

NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
SAMPLE = re.compile(r"(?P<name>[a-zA-Z_][a-zA-Z0-9_]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
LABEL = re.compile(r'(?P<name>[a-zA-Z_][a-zA-Z0-9_]*)="(?P<value>(?:[^"\\\n]|\\[\\"n])*)"(?:,(?=.)|$)')
VALUE = re.compile(r"[+-]?\d+(?:\.\d+)?")
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_count", "_sum")}


class Family:
    def __init__(self, name):
        self.name, self.type, self.unit, self.help = name, None, None, None
        self.samples = {}  # of (name, labels), in their order

    def of(self, suffix):
        return {labels: value for (name, labels), value in self.samples.items() if name == self.name + suffix}


def check(holds, *what):
    if not holds:
        raise ValueError(" ".join(map(str, what)))


def labels_of(text):
    labels, at = {}, 0
    while at < len(text):
        found = LABEL.match(text, at)
        check(found, "labels:", text)
        check(found["name"] not in labels, "twice:", found["name"], text)
        labels[found["name"]] = re.sub(r"\\(.)", lambda it: "\n" if it[1] == "n" else it[1], found["value"])
        at = found.end()
    return frozenset(labels.items())


def read_head(families, line):
    found = re.fullmatch(r"# (TYPE|UNIT|HELP) (\S+) (.+)", line)
    check(found, "neither sample nor head:", line)
    kind, name, value = found.groups()
    check(NAME.fullmatch(name), "name:", line)
    if kind == "TYPE":
        check(name not in families, "twice:", line)
        check(value in SUFFIXES, "type:", line)
        families[name] = Family(name)
    family = list(families.values())[-1] if families else None
    check(family and family.name == name and not family.samples, "not where its family begins:", line)
    check(getattr(family, kind.lower()) is None, "twice:", line)
    check(kind != "UNIT" or name.endswith("_" + value), "a name that does not end with its unit:", line)
    setattr(family, kind.lower(), value)


def read_sample(families, line):
    found = SAMPLE.fullmatch(line)
    check(found and families, "no sample:", line)
    family = list(families.values())[-1]
    suffix = found["name"].removeprefix(family.name)
    check(found["name"].startswith(family.name) and suffix in SUFFIXES[family.type], "of no family:", line)
    check(VALUE.fullmatch(found["value"]), "value:", line)
    sample = (found["name"], labels_of(found["labels"] or ""))
    check(sample not in family.samples, "twice:", line)
    family.samples[sample] = float(found["value"])
    check(family.type == "gauge" or family.samples[sample] >= 0, "below 0:", line)


def check_histogram(family):
    series = {}  # of each set of labels, without le: the buckets
    for labels, count in family.of("_bucket").items():
        rest = frozenset(label for label in labels if label[0] != "le")
        series.setdefault(rest, []).append((float(dict(labels)["le"]), count))
    check(series and set(series) == set(family.of("_count")) == set(family.of("_sum")), "incomplete:",
          family.name)
    for rest, buckets in series.items():
        ends, counts = zip(*buckets)
        check(ends[-1] == math.inf and list(ends) == sorted(set(ends)), "buckets:", family.name, ends)
        check(list(counts) == sorted(counts), "counts that do not add up:", family.name, counts)
        check(counts[-1] == family.of("_count")[rest], "count:", family.name)
        check(counts[-1] > 0 or family.of("_sum")[rest] == 0, "sum of nothing:", family.name)


def parse(text):
    """The families by name."""
    families = {}
    check(text.endswith("# EOF\n") and text.count("# EOF") == 1, "its end is not its end")
    for line in text.removesuffix("# EOF\n").splitlines():
        (read_head if line.startswith("#") else read_sample)(families, line)
    for family in families.values():
        check(family.type and family.help, "without a type or a help:", family.name)
        if family.type == "histogram":
            check_histogram(family)
    return families
