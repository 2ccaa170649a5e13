"""The complaints and figures to which all rules add."""

from collections import Counter

KEPT = 1000  # complaints of one rule; a broken run may have millions


class Court:
    def __init__(self):
        self.complaints = []
        self.count = Counter()  # complaints by rule
        self.figures = Counter()
        self.failed = Counter()  # attempts by code

    def complain(self, rule, text):
        self.count[rule] += 1
        if self.count[rule] <= KEPT:
            self.complaints.append(f"{rule}: {text}")

    def at_least(self, what, is_so_many, least):
        if is_so_many < least:
            self.complain("few", f"{is_so_many} {what}, not {least}")
