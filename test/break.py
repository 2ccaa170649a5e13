#!/usr/bin/env python3
"""Breaks a file of C or Lua in one place at a time, mechanically, to find what no test notices: one side
of an `and` or `or` is left out, a comparison is turned or takes its edge in or out, an `if` is negated, an
early return is left out, a constant is one more or one less (twice as large or half, from 10 on).

    test/break.py lib/core/ledger/claim.c | test/mutate.sh --rows -
    test/break.py --try 'cmake --build build --target differential && build/bin/differential --commands 8000' \\
        lib/wire/scripts/hello.lua

Without --try it prints rows for test/mutate.sh, which is quick, and for lib/core alone.  With --try each
break is made in place; it is unnoticed if the command ends with 0.  The file is put back at the end.
"""
import argparse
import pathlib
import random
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLANK = {
    'c': r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])+\'|^#[ \t]*include[^\n]*'
         r'|^[ \t]*(?:_Static_assert|ASSERT|IF_ASSERTS)\b.*?;',
    'lua': r'--[^\n]*|"[^"\n]*"|\'[^\'\n]*\'',
}
JOINS = {'c': {'&&': 2, '||': 1}, 'lua': {' and ': 2, ' or ': 1}}
ENDS = {'c': r'[;,?:{]|\breturn\b|(?<![=!<>])=(?!=)',
        'lua': r',|\b(?:then|do|return|if|elseif|while|until|local)\b|(?<![=~<>])=(?!=)'}
COMPARES = {'>=': '>', '<=': '<', '>': '>=', '<': '<=', '==': '!=', '!=': '==', '~=': '=='}
COMPARE = re.compile(r'(?<=[\w)\]] )(>=|<=|==|!=|~=|>|<)(?= )')
NUMBER = re.compile(r'(?<![\w.\'])\d+(?![\w.x])')


def code_of(text, language):
    """The text with its comments, strings and what is no rule blanked out."""
    def blank(found):
        return re.sub(r'[^\n]', ' ', found.group())
    return re.sub(BLANK[language], blank, text, flags=re.S | re.M)


def side(code, at, step, language, least):
    """Where the operand that begins at `at` ends, forwards or backwards."""
    depth, opens, closes = 0, *(('([', ')]') if step > 0 else (')]', '(['))
    stops = [re.escape(stop) for stop, binds in JOINS[language].items() if binds <= least]
    ends = re.compile('|'.join([ENDS[language], *stops]))
    edges = {found.end() if step < 0 else found.start() for found in ends.finditer(code)}
    while 0 < at < len(code):
        here = code[at if step > 0 else at - 1]
        depth += (here in opens) - (here in closes)
        if depth < 0 or (depth == 0 and at in edges) or (language == 'lua' and depth == 0 and here == '\n'):
            return at
        at += step
    return at


def joins(code, language):
    for join, binds in JOINS[language].items():
        for found in re.finditer(re.escape(join), code):
            right = side(code, found.end(), 1, language, binds)
            left = side(code, found.start(), -1, language, binds)
            yield found.start(), found.start(), right, '', 'without its right side'
            yield found.start(), left, found.end(), ' ', 'without its left side'


def compares(code, language):
    for found in COMPARE.finditer(code):
        other = COMPARES[found.group()].replace('!', '~' if language == 'lua' else '!')
        yield found.start(), found.start(), found.end(), other, f'{found.group()} is {other}'


def closing(code, at):
    """The parenthesis that closes the one before `at`."""
    depth = 1
    while depth:
        depth += {'(': 1, ')': -1}.get(code[at], 0)
        at += 1
    return at - 1


def conditions(code, language):
    if language == 'c':
        for found in re.finditer(r'\bif \(', code):
            yield found.start(), found.end(), closing(code, found.end()), lambda was: f'!({was})', 'negated'
    else:
        for found in re.finditer(r'\bif (.*?) then\b', code):
            yield found.start(), found.start(1), found.end(1), lambda was: f'not ({was})', 'negated'


def returns(code, language):
    if language == 'c':
        for found in re.finditer(r'\breturn\b[^;]*;(?!\n\}\n)', code):
            yield found.start(), found.start(), found.end(), ';', 'no return'
    else:
        for found in re.finditer(r'\breturn\b[^\n]*(?=\n[ \t]*end\b)', code):
            yield found.start(), found.start(), found.end(), '', 'no return'


def numbers(code):
    for found in NUMBER.finditer(code):
        number = int(found.group())
        for other in (2 * number, number // 2) if number >= 10 else (number + 1, number - 1)[:number + 1]:
            yield found.start(), found.start(), found.end(), str(other), f'{number} is {other}'


def breaks_of(path):
    """(line, what, text): each break of the file."""
    language = 'lua' if path.suffix == '.lua' else 'c'
    text = path.read_text()
    code = code_of(text, language)
    seen = {text}
    for at, start, end, new, what in sorted(
            [*joins(code, language), *compares(code, language), *conditions(code, language),
             *returns(code, language), *numbers(code)], key=lambda it: it[0]):
        new = new(text[start:end]) if callable(new) else new
        broken = text[:start] + new + text[end:]
        line = text.count('\n', 0, at) + 1
        if broken not in seen:
            yield line, what, broken
        seen.add(broken)


def row_of(path, line, what, broken):
    """A row for mutate.sh, whose edit writes the lines that differ anew."""
    was, now = path.read_text().split('\n'), broken.split('\n')
    first = next(i for i, (a, b) in enumerate(zip(was, now)) if a != b)
    after = next(i for i, (a, b) in enumerate(zip(was[::-1], now[::-1])) if a != b)
    last = max(len(was) - after, first + 1)
    new = '\\n'.join(it.replace('\\', '\\\\') for it in now[first:last + len(now) - len(was)])
    name = f'{path.name}:{line} {what}'
    file = path.resolve().relative_to(ROOT / 'lib/core')
    return f'mutant {shlex.quote(name)} {file} {shlex.quote(f"{first + 1},{last}c" + chr(92) + new)}'


def is_noticed(path, broken, command):
    was = path.read_text()
    try:
        path.write_text(broken)
        return subprocess.run(command, shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0
    finally:
        path.write_text(was)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--try', dest='command', help='a command that fails if it notices the break')
    parser.add_argument('--most', type=int, help='so many breaks of each file, drawn at random')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('files', nargs='+', type=pathlib.Path)
    options = parser.parse_args()
    unnoticed = 0
    for path in options.files:
        found = list(breaks_of(path))
        if options.most and options.most < len(found):
            kept = random.Random(options.seed).sample(range(len(found)), options.most)
            found = [found[i] for i in sorted(kept)]
        for line, what, broken in found:
            if not options.command:
                print(row_of(path, line, what, broken))
            elif not is_noticed(path, broken, options.command):
                unnoticed += 1
                print(f'{path}:{line} {what}: unnoticed', flush=True)
    sys.exit(unnoticed > 0)


if __name__ == '__main__':
    main()
