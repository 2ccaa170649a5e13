#!/usr/bin/env python3
"""Plain English: a subject in each sentence, short sentences, one width. Prints what is not.

    test/plain.py             the whole tree
    test/plain.py FILE...     these files or folders
    test/plain.py --words     words of the documents, each and all

It reads the prose of documents and manual pages, comments, and the texts that a program prints."""

import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = ROOT / "test/plain.allowed"
MOST_ALLOWED = 20
WIDTH = 110
WORDS = 30
TOLD = r"\b(?:is|are|was|were|be|been|being|gets?|got) (?:\w+ )?told\b"
# A pattern, and the advice. Each is searched in a sentence, of which `` `code` `` was cut out.
PATTERNS = [(re.compile(pattern), advice) for pattern, advice in (
    (r"^(?:Who|Whoever|Whatever|What|Whichever)\b(?!.*\?$)", "begin with a noun, not with a clause"),
    (r"[:;(] (?:who|whoever|whatever)\b|\b(?:and|or|than|to|of|by|for|but) (?:who|whoever)\b(?!\?)",
     "name the person or program instead of `who`"),
    (r"; what\b", "name the thing instead of `what`"),
    (r"^(?:Nobody|Nothing|None|Anybody|Everybody|He|One) (?!who|that|of)[\w` ]+ (?:who|that which)\b",
     "put the clause behind its noun"),
    (r"\b[Ss]o (?:many|long|few)\b(?! (?:as|that))", "say the number, or what it counts"),
    (TOLD + r"(?!.*\bby\b)", "say who tells"),
    (r"\b(?:is|are) to be \w+(?:ed|en|id|ld|ept)\b", "say who does it, or `must be`"),
    (r"^The same\b", "say what is alike, and to what"),
    (r"\b[Ii]n case that\b|\bno less than that\b|\bof before\b", "no such idiom in English"),
)]
CODE = re.compile(r"``.+?``|`[^`]+`")
END = re.compile(r"(?<=[.!?])[)\"'*_]*\s+(?=[\"'(*_`A-Z0-9]|--)")
# A line in columns, as a list of files is: its first column is a name, not a part of a sentence.
ROW = re.compile(r"\S.{0,30}?[^.!?: ] {2,}(\S.*)")
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|resp|approx|No|Dr|p|pp)\.$")


def sentences_of(text):
    text = re.sub(r"\s+", " ", CODE.sub("CODE", text)).strip()
    begin = 0
    for end in [*END.finditer(text), None]:
        sentence = text[begin:end.start() if end else None].lstrip("*_\"'( ")
        if end and ABBREVIATION.search(sentence):
            continue
        if sentence:
            yield sentence
        begin = end.end() if end else None


def markdown(lines):
    """Paragraphs, items and cells; no headings and no code."""
    fenced, text, first, indent = False, [], 0, 0
    for number, line in enumerate([*lines, ""], 1):
        bare = line.strip()
        if bare.startswith("```"):
            fenced = not fenced
            bare = ""
        elif fenced:
            continue
        item = re.match(r" *(?:[-*+]|\d+\.)\s+", line)
        code = len(line) - len(line.lstrip()) >= (indent or 0) + 4 and not item and not text
        ends = not bare or item or code or bare[0] in "|#<"
        if ends and text:
            yield first, " ".join(text)
            text = []
        if not bare:
            continue
        if row := ROW.match(bare):
            if text:
                yield first, " ".join(text)
                text = []
            yield number, row[1]
            continue
        if not line.startswith(" "):
            indent = 0
        if item:
            indent = len(item[0])
            text, first = [line[len(item[0]):].strip()], number
        elif bare.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", bare.strip("|")):
                if cell.strip(" -:"):
                    yield number, cell.strip()
        elif not code and bare[0] not in "#<":
            text.append(bare)
            first = first if len(text) > 1 else number


def manual(lines):
    """scdoc: as Markdown; its code is fenced, tabs indent, and another indent begins another text."""
    plain, numbers, depth = [], [], 0
    for number, line in enumerate(lines, 1):
        bare = line.lstrip("\t")
        if re.match(r"[|:\[\]]", bare):
            continue
        if len(line) - len(bare) != depth:
            plain.append("")
            numbers.append(number)
        depth = len(line) - len(bare)
        plain.append(bare.replace("\\", ""))
        numbers.append(number)
    for number, text in markdown(plain):
        yield numbers[number - 1], text


def blocks(lines, begin):
    """Comments of whole lines that follow one another, joined; `begin` matches all before the text."""
    text, first = [], 0
    for number, line in enumerate([*lines, ""], 1):
        found = begin.match(line)
        content = found and line[found.end():].strip()
        if text and not content:
            yield first, text
            text = []
        if content:
            text.append(line[found.end():].rstrip())
            first = first if len(text) > 1 else number


def joined(found):
    """Without what is set as code in a comment: indented by four more."""
    for first, text in found:
        for number, prose in markdown(text):
            yield first + number - 1, prose


def hashed(lines):
    yield from joined(blocks(lines[1:] if lines and lines[0].startswith("#!") else lines,
                             re.compile(r"\s*#(?!!)(?: |$)")))


def scripted(lines):
    yield from joined(blocks(lines, re.compile(r"\s*--(?: |$)")))


def python(lines):
    yield from hashed(lines)
    source = "\n".join(lines) + "\n"
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.STRING and before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.NL):
            text = re.sub(r"^\w*(\"\"\"|\"|')|(\"\"\"|\"|')$", "", token.string)
            for number, prose in markdown([line[4:] if line.startswith("    ") else line
                                           for line in text.split("\n")]):
                yield token.start[0] + number - 1, prose
        before = token.type if token.type != tokenize.COMMENT else before


COMMENT = re.compile(r"/\*(.*?)\*/|//([^\n]*)|\"((?:[^\"\\\n]|\\.)*)\"|'(?:[^'\\\n]|\\.)+'", re.S)


def c_code(lines):
    """Comments, and the texts of messages: strings that follow one another are one text."""
    source = "\n".join(lines)
    text, first, end = "", 0, 0
    for found in COMMENT.finditer(source):
        number = source.count("\n", 0, found.start()) + 1
        if found[3] is not None:
            if text and source[end:found.start()].strip():
                yield from message(first, text)
                text = ""
            first = first if text else number
            text, end = text + found[3], found.end()
        elif found[0].startswith("/"):
            block = [re.sub(r"^\s*\*? ?", "", line) for line in (found[1] or found[2] or "").split("\n")]
            block[0] = re.sub(r"^<", "", block[0].lstrip("*")).strip()
            for line, prose in markdown(block):
                yield number + line - 1, prose
    if text:
        yield from message(first, text)


def message(number, text):
    text = text.replace("\\n", "\n").replace('\\"', '"')
    for part in re.split(r"\n+", text):
        if len(part.split()) > 3:
            yield number, part


KINDS = {".md": markdown, ".scd": manual, ".c": c_code, ".h": c_code, ".cpp": c_code, ".lua": scripted,
         ".py": python, ".sh": hashed, ".txt": hashed, ".cmake": hashed, ".yml": hashed, ".yaml": hashed,
         ".mjs": c_code, ".conf": hashed, ".service": hashed, ".timer": hashed}


def kind_of(path):
    if path.suffix in KINDS and path.name != "CMakeLists.txt":
        return KINDS[path.suffix]
    with path.open("rb") as file:
        begin = file.readline(200)
    if path.name == "CMakeLists.txt" or begin.startswith(b"#!") and b"python" not in begin:
        return hashed
    return python if begin.startswith(b"#!") else None


def too_wide(lines, path):
    for number, line in enumerate(lines, 1):
        table = path.suffix in (".md", ".scd") and line.lstrip()[:1] in "|[]"
        if len(line) > WIDTH and not table and not re.search(r"https?://\S{60}", line):
            yield number, f"{len(line)} columns, {WIDTH} at most", line.strip()


def not_plain(lines, kind):
    for number, text in kind(lines):
        for sentence in sentences_of(text):
            words = len(re.findall(r"[\w'`-]*\w[\w'`-]*", sentence))
            if words > WORDS:
                yield number, f"{words} words, {WORDS} at most", sentence
            for pattern, advice in PATTERNS:
                if pattern.search(sentence):
                    yield number, advice, sentence


def findings(path):
    kind = kind_of(path)
    if not kind:
        return
    lines = path.read_text().split("\n")
    yield from too_wide(lines, path)
    yield from not_plain(lines, kind)


def allowed():
    """Rows of `file: words of the place: reason`."""
    rows = [line.split(": ", 2) for line in ALLOWED.read_text().splitlines() if line and line[0] != "#"]
    if len(rows) > MOST_ALLOWED or any(len(row) != 3 for row in rows):
        sys.exit(f"{ALLOWED.name}: at most {MOST_ALLOWED} rows of `file: words: reason`")
    return rows


def tracked(names):
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--", *names], text=True, check=True,
                            stdout=subprocess.PIPE).stdout.split("\n")
    paths = [ROOT / name for name in listed if name and not name.startswith("test/fuzz/corpus/")]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def words():
    total = 0
    for path in tracked(["*.md", "*.scd"]):
        count = len(path.read_text().split())
        total += count
        print(f"{count:6} {path.relative_to(ROOT)}")
    print(f"{total:6} words")


def main(arguments):
    if arguments == ["--words"]:
        return words()
    rows, used, count = allowed(), set(), 0
    for path in tracked([Path(name).resolve() for name in arguments]):
        name = str(path.relative_to(ROOT))
        for number, fault, text in findings(path):
            row = next((i for i, row in enumerate(rows) if row[0] == name and row[1] in text), None)
            if row is not None:
                used.add(row)
                continue
            count += 1
            print(f"{name}:{number}: {fault}: {text[:160]}")
    if not arguments:
        for row in set(range(len(rows))) - used:
            count += 1
            print(f"{ALLOWED.relative_to(ROOT)}: nothing needs the row: {': '.join(rows[row])}")
    print(f"{count} places are not plain", file=sys.stderr)
    return count > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
