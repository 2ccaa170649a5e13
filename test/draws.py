#!/usr/bin/env python3
"""The compiler chooses in which order it evaluates the arguments of a call, the members of an initialiser and
the operands of a sum.  So no two of them draw at random: with another compiler the seed would tell another
story.

    test/draws.py FOLDER...    # the C files of each folder
"""

import pathlib
import re
import sys

SOURCES = {"chance_next", "chance_below", "chance_range", "chance_permille", "randomness_lend", "random",
           "rand", "rand_r", "drand48"}
GENERATOR = re.compile(r"\^= \w+ <<|6364136223846793005")
FUNCTION = re.compile(r"^\w[^;={}()\n]*?\b(\w+)\([^;{}]*?\)\n\{\n(.*?)^\}", re.M | re.S)
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|==|!=', re.S)
IN_ORDER = re.compile(r"&&|\|\||[;?:]")
CONDITION = re.compile(r"\b(?:if|while|for|switch) \($")
DRAWN = "!"


def functions(path):
    text = NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), path.read_text()).replace(DRAWN, " ")
    for found in FUNCTION.finditer(text):
        is_static = found[0].startswith("static ")
        yield path if is_static else None, found[1], found[2], text.count("\n", 0, found.start(2)) + 1


def drawing(bodies):
    """The functions that draw, themselves or by what they call: (their file if they are static, name)."""
    names = {(None, name) for name in SOURCES}
    names |= {(owner, name) for _, owner, name, body, _ in bodies if GENERATOR.search(body)}
    while more := {(owner, name) for path, owner, name, body, _ in bodies if (owner, name) not in names
                   and any({(None, word), (path, word)} & names for word in re.findall(r"(\w+)\(", body))}:
        names |= more
    return names


def brackets(body, draws):
    """Of each bracket where it begins, how it ends, and what is in it, each inner one as DRAWN or nothing."""
    open_ones = [(0, [])]
    for at, letter in enumerate(body + "\0"):
        if letter in "([{":
            open_ones.append((at, []))
        elif letter in ")]}\0":
            begin, content = open_ones.pop()
            yield begin, letter, "".join(content)
            before = body[max(0, begin - 60):begin + 1]
            is_drawn = DRAWN in content or draws.search(before)
            ends = letter == "}" and ";" in content or CONDITION.search(before)
            if open_ones:
                open_ones[-1][1].append((DRAWN if is_drawn else " ") + (";" if ends else ""))
        else:
            open_ones[-1][1].append(letter)


def unordered(body, draws):
    """Where two are drawn whose order is the compiler's."""
    for begin, end, content in brackets(body, draws):
        is_list = end in ")}" and not (end == "}" and ";" in content)
        for piece in IN_ORDER.split(content):
            operands = piece.split(",")
            if any(operand.count(DRAWN) > 1 for operand in operands) or \
                    is_list and sum(DRAWN in operand for operand in operands) > 1:
                yield begin
                break


def main(folders):
    wrong = []
    for folder in folders:
        bodies = [(path, *found) for path in sorted(pathlib.Path(folder).glob("*.[ch]"))
                  for found in functions(path)]
        names = drawing(bodies)
        for path, _, name, body, line in bodies:
            known = "|".join(sorted(word for owner, word in names if owner in (None, path)))
            for begin in unordered(body, re.compile(rf"\b(?:{known})\($")):
                at = line + body.count("\n", 0, begin)
                wrong.append(f"{path}:{at}: {name}() draws twice in no order")
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
