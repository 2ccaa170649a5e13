"""table.py - rows as a table: aligned text for the terminal, Markdown for the documentation."""
from figures import spread


def number(value, digits=0):
    return "–" if value is None else f"{value:,.{digits}f}"


def with_spread(found):
    if not found:
        return ""
    return f"{found[0]:.2f}" + (f" ±{found[1] * 100:.0f}%" if found[1] else "")


HEAD = ["", "pairs/s", "±", "acq p50", "p90", "p99", "p99.9", "max", "rel p50", "p99", "CPU us", "failed",
        "x pairs/s", "x p50", "x p99", "x CPU"]


def cells(row):
    cpu = row.cpu()
    if not row.rate():
        return [row.name] + [""] * (len(HEAD) - 1)
    return [row.name, number(row.rate()), f"{spread(row.values('pairs_per_s')) * 100:.0f}%",
            *[number(row.p(share), 0) for share in (0.5, 0.9, 0.99, 0.999, 1.0)],
            *[number(row.p(share, "release"), 0) for share in (0.5, 0.99)],
            number(cpu, 1), str(row.failed()),
            *[with_spread(row.ratios.get(what))
              for what in ("pairs_per_s", "p50", "p99", "cpu_us_per_pair")]]


def fact_cells(row):
    return [f"{key.replace('_', ' ')} {value:,.4g}" if abs(value) < 1e4
            else f"{key.replace('_', ' ')} {value:,.0f}" for key, value in row.facts.items()
            if value or key != "commands_per_handoff"]


def says(row):
    silent = row.slices and not row.rate() and not row.facts
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


def as_text(rows):
    out = ["Latencies in us. x: redlock (the first of its group) divided by this row, in the same "
           "rounds; ±: half the distance of the quartiles."]
    for group, members in groups(rows):
        measured = [row for row in members if row.rate() and not row.facts]
        out += ["", f"== {group}"]
        if measured:
            out += align([HEAD] + [cells(row) for row in measured])
        for row in members:
            if row.facts:
                out.append(f"{row.name}: " + "; ".join(fact_cells(row)))
            for note in says(row):
                out.append(f"  note: {row.name}: {note}")
    return "\n".join(out) + "\n"


def as_markdown(rows):
    out = []
    for group, members in groups(rows):
        measured = [row for row in members if row.rate() and not row.facts]
        facts = [row for row in members if row.facts]
        out += ["", f"### {group}", ""]
        if measured:
            out.append("| " + " | ".join(HEAD) + " |")
            out.append("|---" + "|--:" * (len(HEAD) - 1) + "|")
            out += ["| " + " | ".join(cells(row)) + " |" for row in measured]
        out += [f"- {row.name}: " + "; ".join(fact_cells(row)) for row in facts]
        out += [f"- note: {row.name}: {note}" for row in members for note in says(row)]
    return "\n".join(out) + "\n"
