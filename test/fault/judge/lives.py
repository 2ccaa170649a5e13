"""Records of workers: one file for each life of each worker, read fact by fact."""

import re

FILE = re.compile(r"worker-(\d+)(?:\.(\d+))?$")
KINDS = ("library", "command", "plain", "node-redlock")
# Two processes write the record of a command: facts of one of them may come a little late.
DISORDER = {"command": 1_000_000}
CHECKED, UNCHECKED = ("accepted", "refused", "unfenced"), ("fresh", "stale")
ACTS = ("read", "write")
WISHES = {"shared", "tries", "unfenced"}
PERMITS, PERMITS_MOST = "permits=", 1024
EDGES = ("begin", "end")
ENDING = ("lost", "releasing", "released", "gone")  # of equal moments these come first


def name_number(words):
    return words[2], int(words[3])


def attempt(words):
    permits = 0
    if words[-1].startswith(PERMITS):
        permits = int(words.pop().removeprefix(PERMITS))
        if not 0 < permits <= PERMITS_MOST:
            raise ValueError("no such number of permits")
    wish = frozenset(words[4:])
    if len(wish) != len(words[4:]) or not wish <= WISHES or permits and "shared" in wish:
        raise ValueError("no such wish")
    return words[2], int(words[3]), wish, permits


def with_until(words):
    return words[2], int(words[3]), int(words[4])


def with_code(words):
    return words[2], int(words[3]), words[4]


def acquired(words):
    """Of a permit, with its slot."""
    if len(words) not in (7, 8):
        raise ValueError(f"{len(words)} words")
    return words[2], int(words[3]), int(words[4]), words[5], *map(int, words[6:])


def acted(words):
    if words[4] not in CHECKED or words[5] not in UNCHECKED:
        raise ValueError("no such verdict")
    return words[2], int(words[3]), words[4], words[5]


def numbers(words):
    return tuple(map(int, words[2:]))


def begin(words):
    if words[2] not in KINDS:
        raise ValueError("no such kind")
    return words[2], int(words[3])


ANY = 0
FACTS = {"begin": (4, begin), "attempt": (ANY, attempt), "acquired": (ANY, acquired),
         "valid": (5, with_until), "at_risk": (5, with_until), "healthy": (5, with_until),
         "moving": (5, with_until), "moved": (5, with_until), "unmoved": (5, with_until),
         "lost": (5, with_until), "act": (5, with_until), "acted": (6, acted),
         "refrained": (4, name_number), "releasing": (5, with_until), "released": (5, with_code),
         "failed": (5, with_code), "usage": (4, numbers), "end": (6, numbers)}


class Life:
    """Kind and label are known from its first line on."""

    def __init__(self, path, worker, number, killed_at):
        self.path, self.label, self.worker, self.number = path, path.name, worker, number
        self.killed_at = killed_at
        self.kind, self.last, self.lanes, self.usage = "library", 0, {}, []
        self.present = {}  # of each name, the lane of the present attempt
        self.acts = self.acteds = 0
        self.hungry_since = self.answered_at = 0  # asks since then, without success

    def is_ours(self):
        return self.kind in ("library", "command")

    def where(self, number):
        return f"{self.label}:{number}"


class Reader:
    """Yields (order, index, now, life, fact, what it says) in the order of time. The merge of many
    never compares further than the index."""

    def __init__(self, life, index, court):
        self.life, self.index, self.court = life, index, court
        self.lines = 0
        self.is_bad = self.is_ended = False

    def facts(self):
        life = self.life
        with open(life.path, encoding="ascii", errors="replace") as file:
            for line in file:
                if line[-1] != "\n":
                    self.cut(line)
                    break
                fact = self.parse(line)
                if fact:
                    yield fact
        self.check_end()
        if life.killed_at is not None:
            life.last = max(life.last, life.killed_at)
        yield (2 * life.last, self.index, life.last, life, "gone", ())

    def parse(self, line):
        words = line[:-1].split(" ")
        self.lines += 1
        try:
            now, fact = int(words[0]), words[1]
            length, parse = FACTS[fact]
            if length != ANY and len(words) != length:
                raise ValueError(f"{len(words)} words")
            said = parse(words)
            if fact in EDGES or self.lines == 1 or now < self.life.last or self.is_ended:
                self.check_order(now, fact, said)
            else:
                self.life.last = now
        except (ValueError, IndexError, KeyError) as error:
            self.is_bad = True
            self.court.complain("malformed",
                                f"{self.life.where(self.lines)}: {line.strip()!r} ({error})")
            return None
        return (2 * now + (fact not in ENDING), self.index, now, self.life, fact, said)

    def check_order(self, now, fact, said):
        life = self.life
        if (fact == "begin") != (self.lines == 1):
            raise ValueError("begin is the first fact")
        if fact == "begin":
            life.kind = said[0]
        if now < life.last - DISORDER.get(life.kind, 0):
            raise ValueError("time goes back")
        if self.is_ended:
            raise ValueError("goes on after its end")
        if fact == "end":
            self.is_ended = True
            self.check_length(said[0])
        life.last = max(now, life.last)

    def check_length(self, told):
        if told != self.lines - 1 and not self.is_bad:
            self.court.complain("truncated", f"{self.life.label} has {self.lines - 1} lines before "
                                             f"its end, not {told}")

    def cut(self, line):
        if self.life.killed_at is None:
            self.is_bad = True
            self.court.complain("truncated", f"{self.life.label} ends within a line: {line!r}")

    def check_end(self):
        if self.life.killed_at is None and not self.is_ended and not self.is_bad:
            self.court.complain("truncated", f"{self.life.label} has no end")


def find_lives(folder, run, faults, court):
    lives = []
    for path in folder.iterdir():
        match = FILE.match(path.name)
        if match:
            worker, number = int(match[1]), int(match[2] or 1)
            lives.append(Life(path, worker, number, faults.killed_at(worker, number)))
    lives.sort(key=lambda it: (it.worker, it.number))
    there = {(it.worker, it.number) for it in lives}
    court.at_least("workers", len({it.worker for it in lives}), run.workers)
    for life in lives:
        if life.number > 1 and (life.worker, life.number - 1) not in there:
            court.complain("few", f"{life.label} has no life before it")
    return lives
