"""Judges a run of elections from the records of its processes alone."""

from dataclasses import dataclass, field
from statistics import median

from facts import read_facts


@dataclass
class Term:
    """While a process counted itself the leader; microseconds."""
    process: str
    term: int
    begun: int
    until: int
    over: int = None
    announced: int = None

    @property
    def end(self):
        return self.until if self.over is None else min(self.until, self.over)


@dataclass
class Record:
    process: str
    terms: list = field(default_factory=list)
    told: list = field(default_factory=list)  # (at, term, value)


def read(process, lines):
    record, terms = Record(process), {}
    for at, kind, words in read_facts(lines):
        if kind == "leads":
            terms[int(words[0])] = Term(process, int(words[0]), at, int(words[1]))
        elif kind == "valid":
            terms[int(words[0])].until = int(words[1])
        elif kind == "announced":
            term = terms[int(words[0])]
            term.announced = term.announced or at
        elif kind == "over":
            terms[int(words[0])].over = at
        elif kind == "told":
            record.told.append((at, int(words[0]), words[1] if len(words) > 1 else ""))
    record.terms = list(terms.values())
    return record


def two_leaders(terms):
    """Each with the first one before it that had not ended."""
    last = None
    for term in sorted(terms, key=lambda it: it.begun):
        if last and term.begun < last.end:
            yield (f"{term.process} leads from {term.begun} on, term {term.term}, and {last.process} "
                   f"counts itself the leader until {last.end}, term {last.term}")
        if not last or term.end > last.end:
            last = term


def terms_grow(terms):
    ordered = sorted(terms, key=lambda it: it.begun)
    for one, other in zip(ordered, ordered[1:]):
        if other.term <= one.term:
            yield f"{other.process} leads after {one.process}, with term {other.term} after {one.term}"


def what_is_told(record, values):
    """In the order of terms, and as it was announced; `values`: of each term."""
    highest = 0
    for at, term, value in record.told:
        if term <= 0:
            continue
        if term < highest:
            yield f"{record.process} hears term {term} after {highest}, at {at}"
        if values.get(term) != value:
            yield f"{record.process} hears {value} of term {term}, at {at}, which is {values.get(term)}'s"
        highest = max(highest, term)


def violations(records):
    terms = [term for record in records for term in record.terms]
    values = {term.term: term.process for term in terms}
    found = [*two_leaders(terms), *terms_grow(terms)]
    for record in records:
        found += what_is_told(record, values)
    return found


def takeovers(records, faults):
    """In ms, from when a leader was killed, or stopped until it led no more, to the next announcement."""
    terms = [term for record in records for term in record.terms if term.announced]
    for fault in faults:
        for led in terms:
            is_struck = (led.process.split(".")[0] == fault.target and led.announced <= fault.begin < led.end
                         and (fault.kind == "killed" or fault.kind == "stopped" and led.end <= fault.end))
            after = [term.announced for term in terms if term.announced > fault.begin]
            if is_struck and after:
                yield (min(after) - fault.begin) / 1000


def slow(taken_ms, most_ms):
    """In the median, if there is a limit."""
    if most_ms and taken_ms and median(taken_ms) > most_ms:
        yield f"a leader was followed after {median(taken_ms):.0f} ms in the median, not {most_ms}"
