#!/usr/bin/env python3
"""Counts the names in lib that mislead a reader, and fails if there are too many.

    test/names.py LIB

1. Names that static functions of several files share: grep for such a name finds all of them.  The tools do
   not count: each command is a program of its own, and names its parts as the other commands do.
2. Predicates that act.  If the name of a function is a question (is_free, may_ask, retries), it returns bool,
   and its pointers lead to const.  It assigns to nothing behind a pointer, and calls no function that
   returns nothing.
"""
import collections
import pathlib
import re
import sys

SHARED_MOST, ACTING_MOST = 20, 0
ASK = set('is are was were has have had may can cannot must does needs'.split())
TURN = set('what who which that those whether'.split())  # `forget_what_is_over` is no question
NO_CODE = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|__attribute__\(\((?:[^()]|\([^()]*\))*\)\)'
FUNCTION = re.compile(r'^((?:\w+[ \n*]+)+)(\w+)\(([^;{}]*?)\)\s*\{(.*?)\n\}$', re.S | re.M)
ASSIGNS = re.compile(r'->[\w.]+(?:\[[^\]]*\][\w.]*)*\s*(?:=(?!=)|[-+*/|&^]=|<<=|>>=|\+\+|--)|(?:\+\+|--)\w+->'
                     r'|^\s*\*\w+\s*=', re.M)

Function = collections.namedtuple('Function', 'path returns static name takes body')


def functions(lib):
    for path in sorted(lib.rglob('*.[ch]')):
        code = re.sub(NO_CODE, ' ', path.read_text(), flags=re.S)
        for head, name, takes, body in FUNCTION.findall(code):
            kind = head.replace('*', ' * ').split()
            yield Function(path, kind[-1], 'static' in kind, name, takes, body)


def verb(it):
    """The first word; of a function that others may call, the word after the file's own noun."""
    words = it.name.split('_')
    if it.static and it.path.suffix == '.c':
        return words[0]
    noun = it.path.stem.split('_')[-1]
    return words[words.index(noun) + 1] if noun in words[:-1] else ''


def is_question(it):
    words = [''] + it.name.split('_')
    asks = any(word in ASK and before not in TURN for before, word in zip(words, words[1:]))
    return asks or (it.returns == 'bool' and re.search(r'[^aius]s$', verb(it)) is not None)


def may_write(parameter):
    is_pointer = '*' in parameter or '[' in parameter
    return is_pointer and (not parameter.strip().startswith('const') or '**' in parameter)


def acts(it, silent):
    if it.returns == 'void':
        return 'returns nothing'
    written = [' '.join(one.split()) for one in it.takes.split(',') if may_write(one)]
    if written:
        return 'may write to ' + ', '.join(written)
    if ASSIGNS.search(it.body):
        return 'assigns to ' + ASSIGNS.search(it.body).group().strip()
    called = silent.intersection(re.findall(r'(?<![\w.>])(\w+)\(', it.body))
    return 'calls ' + ', '.join(sorted(called)) if called else ''


def main():
    lib = pathlib.Path(sys.argv[1])
    all_of_it = list(functions(lib))
    homes = collections.defaultdict(set)
    for it in all_of_it:
        if it.static:
            homes[it.name].add(str(it.path.relative_to(lib)))
    shared = sorted(name for name, files in homes.items() if len(files) > 1)
    silent = {it.name for it in all_of_it if it.returns == 'void'}
    acting = [(it, acts(it, silent)) for it in all_of_it
              if it.returns in ('bool', 'void') and is_question(it) and acts(it, silent)]
    for name in shared:
        print(f'{name}: {" ".join(sorted(homes[name]))}')
    for it, what in acting:
        print(f'{it.path.relative_to(lib)}: {it.name} asks, and {what}')
    print(f'{len(all_of_it)} functions: {len(shared)} static names in several files, {SHARED_MOST} at most; '
          f'{len(acting)} predicates that act, {ACTING_MOST} at most')
    return len(shared) > SHARED_MOST or len(acting) > ACTING_MOST


if __name__ == '__main__':
    sys.exit(main())
