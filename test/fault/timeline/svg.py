"""The few shapes of SVG that a timeline needs, written shortly: there are thousands of them."""

from xml.sax.saxutils import escape

# The colour-blind can tell these apart (after Okabe and Ito, without their red, which is for
# violations alone); so dark or light that text on them is white or black.
WORKERS = [("#0072b2", "#fff"), ("#e69f00", "#000"), ("#009e73", "#fff"), ("#cc79a7", "#000"),
           ("#56b4e9", "#000"), ("#7a4b1e", "#fff"), ("#d6cb2a", "#000"), ("#4b4e8c", "#fff"),
           ("#8fb339", "#000"), ("#b5a8d5", "#000"), ("#006d77", "#fff"), ("#d9a679", "#000")]

# Alike in hue: what ends a process, holds it up, takes its data, its connections, its link.
KINDS = {"crashed": "#1a1a1a", "emptied": "#4d4d4d", "rolled-back": "#737373",
         "terminated": "#999999", "killed": "#1a1a1a", "ended": "#999999", "frozen": "#5e3c99",
         "stopped": "#5e3c99", "asleep": "#8e6bbf", "slow-script": "#b79fd8", "flushed": "#c8a415",
         "full": "#a6761d", "evicting": "#7f4f0f", "clock-stepped": "#e0b060", "wiped": "#5c5a00",
         "lying": "#a0307a",
         "disconnected": "#2c7fb8", "crowded": "#7fb2d9", "cut": "#01665e", "half-cut": "#35978f",
         "limited": "#5ab4ac", "delayed": "#80cdc1", "lossy": "#66a182", "reordering": "#a9d3b5"}
OTHER_KIND = "#888888"

STYLE = """
text{font:12px system-ui,"DejaVu Sans",sans-serif;fill:#222}
.h{font-size:20px;font-weight:bold}.m{fill:#444}.b{font-weight:bold}.r{text-anchor:end}
.c{text-anchor:middle}.word{font-size:11px}.in{text-anchor:middle;font-size:11px}
.bad{fill:#d00000;font-weight:bold}.list{fill:#d00000}.good{fill:#00704f;font-weight:bold}
.page{fill:#fff}.lane{fill:#445;opacity:.065}.grid{stroke:#cdd0d6;fill:none}.axis{stroke:#777;fill:none}
.frame{stroke:#444;fill:none}.light{opacity:.4}.nomajority{fill:#c9ccd3}
.wanted{fill:url(#wanted)}.quarantine{fill:url(#quarantine);stroke:#888;stroke-width:.6}
.risk{fill:#ffd000;stroke:#000;stroke-width:.5}.lost{stroke:#000;stroke-width:2;fill:none}
.refrained{stroke:#000;stroke-width:1.4}.hand{fill:#000}.hit{fill:#fff;opacity:0}
.overlap{fill:#e00000}.flag{fill:#e00000;stroke:#fff;stroke-width:.8}
.flagged{stroke:#e00000;stroke-width:1.5;fill:none}
.flagtext{fill:#fff;font-size:10px;font-weight:bold;text-anchor:middle}
"""

PATTERNS = """<defs>
<pattern id="wanted" width="6" height="6" patternUnits="userSpaceOnUse"
 patternTransform="rotate(45)"><rect width="6" height="6" fill="#fff"/>
<rect width="2.4" height="6" fill="#e0a030"/></pattern>
<pattern id="quarantine" width="5" height="5" patternUnits="userSpaceOnUse"
 patternTransform="rotate(-45)"><rect width="5" height="5" fill="#fff"/>
<rect width="1.3" height="5" fill="#777"/></pattern>
</defs>"""


def number(value):
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def box(left, top, width, height):
    """A rectangle as a path: many make one."""
    width, height = number(width), number(height)
    return f"M{number(left)} {number(top)}h{width}v{height}h-{width}z"


def line(left, top, across, down):
    return f"M{number(left)} {number(top)}l{number(across)} {number(down)}"


def path(kind, outline, title=""):
    if not title:
        return f'<path class="{kind}" d="{outline}"/>'
    return f'<path class="{kind}" d="{outline}"><title>{escape(title)}</title></path>'


def text(kind, left, base, words):
    return f'<text class="{kind}" x="{number(left)}" y="{number(base)}">{escape(words)}</text>'


def text_width(words):
    """About; fonts differ."""
    return 6.6 * len(words)


def group(top, shapes):
    return [f'<g transform="translate(0 {number(top)})">', *shapes, "</g>"]


def titled(title, shapes, label=""):
    label = f' aria-label="{escape(label)}"' if label else ""
    return "".join([f"<g{label}><title>", escape(title), "</title>", *shapes, "</g>"])


def fill_of_kind(kind):
    return f"k-{kind}" if kind in KINDS else "k-other"


def colours():
    workers = "".join(f".w{i}{{fill:{fill}}}.t{i}{{fill:{ink}}}"
                      for i, (fill, ink) in enumerate(WORKERS))
    kinds = "".join(f".k-{kind}{{fill:{fill}}}" for kind, fill in KINDS.items())
    return f"{workers}{kinds}.k-other{{fill:{OTHER_KIND}}}"


def document(width, height, shapes, described, scale=1, style=""):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {number(height)}" '
        f'width="{number(scale * width)}" height="{number(scale * height)}" role="img">',
        f"<title>{escape(described)}</title>",
        f"<style>{STYLE}{colours()}{style}</style>", PATTERNS,
        f'<rect class="page" width="{width}" height="{number(height)}"/>', *shapes, "</svg>", ""])
