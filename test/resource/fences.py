"""The tests of fenced resources share this."""

import random
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCED = ROOT / "examples" / "fenced"
sys.path.insert(0, str(ROOT / "test" / "cli"))

OLDER, FENCE, NEWER = 1785000000123455, 1785000000123456, 1785000000123457  # neighbours
LARGEST = 9007199254740991

GARBAGE = ("", "0", "-1", "+5", "1.5", "1e3", "0x10", " 5", "5 ", "007", "12abc", "nan", "inf",
           "9007199254740992", "9007199254740993", "18446744073709551617", "5\n6")


def hands(writers, each):
    """Each concurrent writer sends fences of its own, not in order, some of them twice."""
    order = random.Random(7)
    dealt = [FENCE + i for i in range(writers * each)]
    order.shuffle(dealt)
    return [[fence for fence in dealt[i::writers] for _ in range(order.choice((1, 2)))]
            for i in range(writers)]


def newest(dealt):
    return max(max(hand) for hand in dealt)


def at_once(function, hands_dealt):
    """Calls the function with each hand, all at the same time; any exception is raised here."""
    failures = []
    start = threading.Barrier(len(hands_dealt))

    def one(hand):
        try:
            start.wait()
            function(hand)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=one, args=(hand,)) for hand in hands_dealt]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def steps_back(fences):
    """Neighbours in the order of writing of which the second is the smaller."""
    return [pair for pair in zip(fences, fences[1:]) if pair[1] < pair[0]]
