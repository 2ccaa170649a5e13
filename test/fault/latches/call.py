"""One call about a latch: the command, and what it was told."""

from facts import document

DONE, UNAVAILABLE, NOT_YET, GONE = 0, 69, 75, 76
OUTCOMES = ("made", "there", "arrived", "open", "shut", "undecided", "gone")
MAX_TTL = "2s"
EACH = 4  # arrivals of each place of a chaos run


def command(redlock, action, name, *options, max_ttl=MAX_TTL):
    return [str(word) for word in (redlock, "latch", action, "--json", "--max-ttl", max_ttl, *options, name)]


def outcome(action, status, output):
    """What it was told, and how many have arrived; None of a command that failed."""
    if status not in (DONE, UNAVAILABLE, NOT_YET, GONE):
        return None, None
    told = document(output)
    if status == UNAVAILABLE:
        return "undecided", None
    if status == GONE:
        return "gone", None
    if action == "create":
        return "made" if status == DONE else "there", None
    if told["open"]:
        return "open", told["arrived"]
    return ("arrived" if action == "arrive" else "shut"), told["arrived"]
