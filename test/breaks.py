"""The breaks of a file of C or Lua: each is the file with one place of it changed, mechanically.

Breaks of rules: one side of an `and` or `or` is left out, or an early return.  An equality, an `if`, or the
last word of a function of truth is negated.  All else: a comparison takes its edge in or out, a sum is a
difference, a step is left out.  A constant is one more or one less (twice as large or half, from 10 on).
"""
import bisect
import collections
import re
import zlib

Break = collections.namedtuple('Break', 'file function line text what broken')
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
STEP = re.compile(r'^[ \t]+(?:\w+\([^;{}]*\)'
                  r'|\*?[a-z_][^;{}()=?]*(?:\([^;{}()]*\)[^;{}()=?]*)* [-+|&]?= [^;{}]*'
                  r'|[^;\n{}]*(?:\+\+|--)|\+\+[^;\n{}]*);$', re.M)
NO_STEP = re.compile(r'\s*(?:default|__attribute__|return|if|for|while|goto|else|case)\b'
                     r'|\s*(?:const|struct|bool|char|static|unsigned|s?size_t|u?int\w*|usec|enum)\b[^=;(]*=')
TRUTH = re.compile(r'^[a-z][^\n;]*\bbool \w+\([^;{}]*\)\n\{\n(?:.*?)\breturn ([^;]*);\n\}', re.M | re.S)
HEAD = re.compile(r'^[a-z][^\n;]*?\b(?!__attribute__)(\w+)\([^;{}]*\)\n\{', re.M)


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
            for start, end, of in (found.start(), right, 'right'), (left, found.end(), 'left'):
                operand = ' '.join(code[start:end].replace(join, ' ', 1).split())
                yield found.start(), start, end, ' ' if of == 'left' else '', f'without {operand}'


def compares(code, language, are_equal):
    for found in COMPARE.finditer(code):
        if (found.group()[0] in '=!~') != are_equal:
            continue
        other = COMPARES[found.group()].replace('!', '~' if language == 'lua' else '!')
        yield found.start(), found.start(), found.end(), other, f'{found.group()} is {other}'


def signs(code):
    for found in re.finditer(r'(?<=[\w)\]] )[-+](?= )', code):
        other = '-' if found.group() == '+' else '+'
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
        for found in TRUTH.finditer(code):
            yield found.start(1), found.start(1), found.end(1), lambda was: f'!({was})', 'negated'
    else:
        for found in re.finditer(r'\bif (.*?) then\b', code):
            yield found.start(), found.start(1), found.end(1), lambda was: f'not ({was})', 'negated'


def returns(code, language):
    early, instead = {'c': (r'\breturn\b[^;]*;(?!\n\}\n)', ';'),
                      'lua': (r'\breturn\b[^\n]*(?=\n[ \t]*end\b)', '')}[language]
    for found in re.finditer(early, code):
        yield found.start(), found.start(), found.end(), instead, 'left out'


def steps(code):
    for found in STEP.finditer(code):
        if not NO_STEP.match(found.group()):
            start = found.end() - len(found.group().lstrip())
            yield start, start, found.end(), ';', 'left out'


def numbers(code):
    for found in NUMBER.finditer(code):
        number = int(found.group())
        for other in (2 * number, number // 2) if number >= 10 else (number + 1, number - 1)[:number + 1]:
            yield found.start(), found.start(), found.end(), str(other), f'{number} is {other}'


def function_at(heads, at):
    """Of the heads [(where, name)]: the last before it."""
    before = bisect.bisect_right(heads, (at + 1,))
    return heads[before - 1][1] if before else '-'


def places_of(code, language, everything):
    """(where, from, to, what stands there instead, what that is): each break of the code, in no order."""
    yield from joins(code, language)
    yield from compares(code, language, True)
    yield from conditions(code, language)
    yield from returns(code, language)
    if everything:
        yield from compares(code, language, False)
        yield from signs(code)
        yield from numbers(code)
        if language == 'c':
            yield from steps(code)


def breaks_of(path, name, everything=False):
    """Each break of the file's rules, or of everything; the breaks call the file by this name."""
    language = 'lua' if path.suffix == '.lua' else 'c'
    text = path.read_text()
    code = code_of(text, language)
    heads = [(found.start(), found[1]) for found in HEAD.finditer(code)]
    seen = {''.join(text.split())}
    for at, start, end, new, what in sorted(places_of(code, language, everything), key=lambda it: it[0]):
        new = new(text[start:end]) if callable(new) else new
        broken = text[:start] + new + text[end:]
        line = text.count('\n', 0, at)
        same = ''.join(broken.split())
        if same not in seen:
            yield Break(name, function_at(heads, at), line + 1, text.split('\n')[line].strip(), what, broken)
        seen.add(same)


def is_in_sample(it, one_of):
    """By a hash of the break itself, so that the choice changes with the code alone."""
    return zlib.crc32(f'{it.file} {it.function} {it.text} {it.what}'.encode()) % one_of == 0
