"""table.py - rows as a table: aligned text for the terminal, Markdown for the documentation."""
from figures import spread


def number(value, digits=0):
    return "–" if value is None else f"{value:,.{digits}f}"


def with_spread(found):
    if not found:
        return ""
    return f"{found[0]:.2f}" + (f" ±{found[1] * 100:.0f}%" if found[1] else "")


def latency(share, which="acquire"):
    return lambda row: number(row.p(share, which))


def compared(what):
    return lambda row: with_spread(row.ratios.get(what))


def second_rounds(row):
    return "" if row.second_rounds() is None else f"{row.second_rounds():.2%}"


def masters_cpu(row):
    return "" if row.masters_cpu() is None else number(row.masters_cpu(), 1)


COLUMNS = [("", lambda row: row.name), ("pairs/s", lambda row: number(row.rate())),
           ("±", lambda row: f"{spread(row.values('pairs_per_s')) * 100:.0f}%"),
           ("acq p50", latency(0.5)), ("p90", latency(0.9)), ("p99", latency(0.99)),
           ("p99.9", latency(0.999)), ("max", latency(1.0)),
           ("rel p50", latency(0.5, "release")), ("p99", latency(0.99, "release")),
           ("CPU us", lambda row: number(row.cpu(), 1)), ("masters", masters_cpu),
           ("failed", lambda row: str(row.failed())),
           ("2nd rounds", second_rounds),
           ("x pairs/s", compared("pairs_per_s")), ("x p50", compared("p50")),
           ("x p99", compared("p99")), ("x CPU", compared("cpu_us_per_pair")),
           ("x masters", compared("masters_us_per_pair"))]


def lines(rows):
    """Heads, then the cells of each row; columns without a value are left out."""
    columns = [[head] + [cell(row) for row in rows] for head, cell in COLUMNS]
    return list(zip(*[column for column in columns if any(column[1:])]))


def fact_cells(row):
    told = [f"{key.replace('_', ' ')} {value:,.4g}" if abs(value) < 1e4
            else f"{key.replace('_', ' ')} {value:,.0f}" for key, value in row.facts.items()
            if value or key != "commands_per_handoff"]
    return told + [f"x {key.replace('_', ' ')} {with_spread(found)}"
                   for key, found in row.ratios.items() if key in row.facts]


def says(row):
    silent = row.slices and not row.has_pairs() and not row.facts
    notes = row.notes[:2] + ([f"and {len(row.notes) - 2} more of that kind"] if row.notes[2:] else [])
    return notes + (["no pair was finished within a slice"] if silent else [])


def groups(rows):
    seen = {}
    for row in rows:
        seen.setdefault(row.group, []).append(row)
    return seen.items()


def align(table):
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    return ["  ".join(cell.ljust(widths[0]) if i == 0 else cell.rjust(widths[i])
                      for i, cell in enumerate(line)).rstrip() for line in table]


KEY = """A pair is an acquire of a name that nobody else wants, and its release; c pairs are in flight.
The rows of a group are measured in alternating slices on the same masters.
acq, rel: latency in us. CPU us, masters: CPU of the client and of the masters, user and system, a pair.
failed: pairs without their lock, or whose release was not confirmed in time.
2nd rounds: the share of fenced acquires that needed one. floor: no safety, a lower bound of the cost.
x: the first row divided by this row, round by round, the median; ±: half the distance of the quartiles."""


def as_text(rows):
    out = [KEY]
    for group, members in groups(rows):
        measured = [row for row in members if row.has_pairs() and not row.facts]
        out += ["", f"== {group}"]
        if measured:
            out += align(lines(measured))
        for row in members:
            if row.facts:
                out.append(f"{row.name}: " + "; ".join(fact_cells(row)))
            for note in says(row):
                out.append(f"  note: {row.name}: {note}")
    return "\n".join(out) + "\n"


def as_markdown(rows):
    out = ["- " + line for line in KEY.split("\n")]
    for group, members in groups(rows):
        measured = [row for row in members if row.has_pairs() and not row.facts]
        facts = [row for row in members if row.facts]
        out += ["", f"### {group}", ""]
        if measured:
            head, *others = ["| " + " | ".join(line) + " |" for line in lines(measured)]
            out += [head, "|---" + "|--:" * (head.count("|") - 2) + "|", *others]
        out += [f"- {row.name}: " + "; ".join(fact_cells(row)) for row in facts]
        out += [f"- note: {row.name}: {note}" for row in members for note in says(row)]
    return "\n".join(out) + "\n"
