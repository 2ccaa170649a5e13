"""figures.py - the sums of slices: medians, spreads, ratios, merged histograms."""
from statistics import median


def spread(values):
    """Half the distance between the quartiles, as a share of the median."""
    values = [value for value in values if value is not None]
    if len(values) < 2 or not median(values):
        return 0.0
    ordered = sorted(values)
    at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))]
    return (at(0.75) - at(0.25)) / 2 / median(values)


def merge(slices, key):
    buckets = {}
    for one in slices:
        for floor, count in one.get(key, []):
            buckets[floor] = buckets.get(floor, 0) + count
    return sorted(buckets.items())


def together(results):
    """One slice of several processes as if it were of one."""
    pairs = sum(one["pairs"] for one in results)
    each = lambda key: sum(one.get(key, 0) * one["pairs"] for one in results) / max(pairs, 1)
    sums = {key: sum(one[key] for one in results) for key in ("pairs", "failed", "pairs_per_s")}
    means = {key: each(key) for key in results[0] if key.endswith("_per_pair")}
    histograms = {key: merge(results, key) for key in ("acquire_histogram_ns", "release_histogram_ns")}
    note = next((one["note"] for one in results if one["note"]), "")
    return {**results[0], **sums, **means, **histograms, "note": note}


def quantile(buckets, share):
    """In microseconds; None without figures."""
    total = sum(count for _, count in buckets)
    if not total:
        return None
    rank, seen = min(int(share * total), total - 1), 0
    for floor, count in buckets:
        seen += count
        if seen > rank:
            return floor / 1e3
    return buckets[-1][0] / 1e3


OF_ALL = {"scenario", "masters", "c", "rate", "ttl_ms", "names", "name_size", "note", "seconds", "pairs",
          "failed",
          "pairs_per_s", "user_us_per_pair", "system_us_per_pair", "cpu_us_per_pair", "masters_us_per_pair"}


def facts_of(result):
    """The figures that only some scenarios tell."""
    return {key: value for key, value in result.items() if isinstance(value, (int, float))
            and key not in OF_ALL}


def figure(one, key):
    """None where a slice has none: without a pair only their number, 0, is one."""
    return one.get(key) if one.get("pairs") or key == "pairs_per_s" else None


class Row:
    """One entrant of one comparison: its slices, in the order in which they ran."""

    def __init__(self, group, name, slices, note=""):
        self.group, self.name, self.slices = group, name, slices
        self.notes = [note] if note else []
        self.ratios = {}  # of throughput, latency, CPU: ours / this one
        self.facts = {}
        for one in slices:
            if one.get("note") and one["note"] not in self.notes:
                self.notes.append(one["note"])
        self.acquire = merge(slices, "acquire_histogram_ns")
        self.release = merge(slices, "release_histogram_ns")

    def values(self, key):
        return [figure(one, key) for one in self.slices]

    def has_pairs(self):
        return any(one.get("pairs") for one in self.slices)

    def median(self, key):
        values = [value for value in self.values(key) if value is not None]
        return median(values) if values else None

    def rate(self):
        return self.median("pairs_per_s")

    def cpu(self):
        return self.median("cpu_us_per_pair")

    def masters_cpu(self):
        """Of all masters together; None if it was not measured."""
        return self.median("masters_us_per_pair")

    def p(self, share, which="acquire"):
        return quantile(getattr(self, which), share)

    def second_rounds(self):
        """Of the acquires with a fence, the share that took a second round; None without."""
        fenced = [one for one in self.slices if one.get("pairs") and "second_rounds_per_pair" in one]
        pairs = sum(one["pairs"] for one in fenced)
        return sum(one["second_rounds_per_pair"] * one["pairs"] for one in fenced) / pairs if pairs else None

    def take_facts(self):
        """The figures that only some scenarios have: the medians of the slices."""
        for key in dict.fromkeys(key for one in self.slices for key in facts_of(one)):
            if self.median(key) is not None:
                self.facts[key] = self.median(key)

    def failed(self):
        return sum(one.get("failed", 0) for one in self.slices)

    def as_json(self):
        return {"group": self.group, "name": self.name, "slices": len(self.slices),
                "pairs_per_s": self.rate(), "spread": spread(self.values("pairs_per_s")),
                "cpu_us_per_pair": self.cpu(), "user_us_per_pair": self.median("user_us_per_pair"),
                "masters_us_per_pair": self.masters_cpu(),
                "failed": self.failed(), "second_rounds": self.second_rounds(),
                "acquire_us": {str(s): self.p(s) for s in (0.5, 0.9, 0.99, 0.999, 1.0)},
                "release_us": {str(s): self.p(s, "release") for s in (0.5, 0.9, 0.99, 0.999, 1.0)},
                "ratios": self.ratios, "facts": self.facts, "notes": self.notes,
                "acquire_histogram_ns": self.acquire}


def of_pair(one, what):
    """The figure of a slice by which entrants are compared."""
    share = {"p50": 0.5, "p99": 0.99}.get(what)
    return quantile(one.get("acquire_histogram_ns", []), share) if share else figure(one, what)


def ratio(ours, other, what):
    """Median and spread of ours/other, round by round: A B B A has two slices of each."""
    result = []
    for i in range(0, min(len(ours.slices), len(other.slices)) - 1, 2):
        a = [of_pair(one, what) for one in ours.slices[i:i + 2]]
        b = [of_pair(one, what) for one in other.slices[i:i + 2]]
        if None not in a + b and sum(b):
            result.append(sum(a) / sum(b))
    return (median(result), spread(result)) if result else None
