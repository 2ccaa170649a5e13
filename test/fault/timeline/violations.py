"""The red parts: complaints of the checker, and overlaps in the record itself."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

CHECK = Path(__file__).resolve().parents[1] / "check"
CHECK_S = 300


@dataclass
class Violation:
    rule: str
    text: str
    at: int = None      # us
    name: str = None
    until: int = None


def overlaps(record):
    """Two valid holders of one name, unless both are readers: no picture may show that as if all
    were well."""
    found = []
    for name in record.names:
        longest = {}  # by mode
        for it in (it for it in record.holders if it.name == name):
            before = [other for shared, other in longest.items() if not (shared and it.shared)]
            other = max(before, key=lambda other: other.until, default=None)
            if other and it.acquired < min(other.until, it.until):
                found.append(Violation(
                    "overlap", f"overlap: {name}: {it.worker} holds it from "
                    f"{seconds(record, it.acquired)} on, {other.worker} until "
                    f"{seconds(record, other.until)}", it.acquired, name,
                    min(it.until, other.until)))
            longest[it.shared] = max(longest.get(it.shared, it), it, key=lambda one: one.until)
    return sorted(found, key=lambda it: it.at)


def seconds(record, time):
    return f"{(time - record.begin) / 1e6:.3f} s"


def ask_checker(folder):
    """The checker's own sentences, or why there are none."""
    if not CHECK.exists():
        return None, "there is no checker beside the picture"
    try:
        done = subprocess.run([str(CHECK), "--json", str(folder)], capture_output=True, text=True,
                              timeout=CHECK_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, f"the checker did not answer: {error}"
    if done.returncode not in (0, 1):
        return None, f"the checker could not judge: {done.stderr.strip()}"
    return done.stdout, None


def complaints(record, text):
    """From `check --json`; raises ValueError."""
    try:
        return [placed(record, it) for it in json.loads(text)["complaints"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no complaints as check --json tells them: {error!r}") from error


def placed(record, text):
    """When and where is the first moment, and name, that the sentence speaks of."""
    rule, _, rest = text.partition(":")
    words = re.findall(r"[\w:.-]*\w", rest)
    times = [int(it) for it in re.findall(r"\d+", rest)]
    at = next((it for it in times if record.begin <= it <= record.end), None)
    return Violation(rule, text, at, next((it for it in words if it in record.names), None))
