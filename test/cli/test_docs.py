"""The commands in documents: redlock understands each `redlock ...` there, and each named file exists."""

import re
import shlex

from harness import ROOT, Case, environment

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("doc/*.md"), *ROOT.glob("doc/design/*.md"),
                    *ROOT.glob("doc/man/*.scd"),
                    *(path for path in ROOT.glob("deploy/**/*") if path.is_file())])
# Words that may precede it in a line of shell, of cron or of a unit.
BEFORE = re.compile(r"|<?\(|&&|;|then|until|if|exec|root|\w+=.*")
END = {"|", "&&", ";", ")", "<", ">", ">>", "&"}
FOLDERS = "bench|bindings|cluster-scripts|cmake|completions|deploy|doc|examples|include|lib|test|tools"
FILE = re.compile(rf"(?<![\w./-])(?:{FOLDERS})/[\w./-]*[\w/](?![\w*<{{$-])")
# In CONTRIBUTING.md: how a file would be named.
WOULD_BE = re.compile(r".*NAME.*|lib/wire/scripts/check\.lua")


def lines_of_code(path):
    """The code of a document: indented by four more than the text around it, or a comment of a file of
    deploy/."""
    indent, fenced = 0, None
    shell = ("sh", "bash", "text") if path.suffix == ".scd" else ("sh", "bash")
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line if path.suffix in (".md", ".scd") else re.sub(r"^#", "", line)
        text = line.strip()
        if text.startswith("```"):
            fenced = text[3:] or "text" if fenced is None else None
        elif fenced in shell or (fenced is None and len(line) - len(line.lstrip()) >= indent + 4):
            yield number, text
        elif item := re.match(r" *(- |\d+\. )", line):
            indent = len(item[0])
        elif text and not line.startswith(" "):
            indent = 0


def words_of(text):
    """As a shell would cut them; nothing for what is no shell."""
    lexer = shlex.shlex(text.replace("$(", " ( ").replace("ExecStart=", ""), posix=True,
                        punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return []


def commands_of(text):
    """The arguments of each `redlock` in the line."""
    words = words_of(text)
    for at, word in enumerate(words):
        if word.rpartition("/")[2] == "redlock" and BEFORE.fullmatch(words[at - 1] if at else ""):
            rest = words[at + 1:]
            end = next((i for i, word in enumerate(rest) if word in END), len(rest))
            yield rest[:end]


def told():
    return [(f"{path.relative_to(ROOT)}:{number}", arguments) for path in DOCUMENTS if path.suffix != ".json"
            for number, text in lines_of_code(path) for arguments in commands_of(text)]


def without_masters(arguments):
    """With a wrong list the command looks for no master, and says so after it has read the command line.
    There is no terminal for a question, and no shell that puts numbers and dates in."""
    for option in "--nodes", "--nodes-file", "--config":
        if option in arguments:
            at = arguments.index(option)
            arguments = arguments[:at] + arguments[at + 2:]
    if arguments[:1] == ["break"] or arguments[:2] == ["masters", "change"]:
        arguments = [*arguments, "--yes"]
    return ["1" if argument == "$round" or "date +" in argument else argument for argument in arguments]


class Documents(Case):
    patience = ()

    def test_each_command_line_is_understood(self):
        found = told()
        self.assertGreater(len(found), 40)
        for place, arguments in found:
            with self.subTest(place=place):
                result = self.redlock(*without_masters(arguments), env=environment(REDLOCK_NODES="no list"))
                self.assertEqual(result.status, 78, f"{arguments}: {result.err}")

    def test_each_command_is_told(self):
        self.assertGreaterEqual({arguments[0] for _, arguments in told() if arguments},
                                {"run", "lock", "extend", "unlock", "status", "list", "break", "nodes"})

    def test_each_file_that_is_named_exists(self):
        others = [*ROOT.glob("tools/**/*.c"), *ROOT.glob("include/**/*.h"), *ROOT.glob("debian/*.docs"),
                  *ROOT.glob("debian/*.examples")]
        for path in [*DOCUMENTS, *others]:
            for name in sorted(set(FILE.findall(path.read_text()))):
                with self.subTest(document=path.name, name=name):
                    self.assertTrue((ROOT / name).exists() or WOULD_BE.fullmatch(name), name)

    def test_each_field_that_is_named_exists(self):
        headers = [path.read_text() for path in ROOT.glob("include/**/*.h")]
        fields = {word for text in headers
                  for word in re.findall(r"\w+", re.sub(r"/\*.*?\*/", "", text, flags=re.S))}
        for text in [*headers, *(path.read_text() for path in DOCUMENTS)]:
            for name in re.findall(r"\boptions\.([a-z_]{2,})", text):
                with self.subTest(name=name):
                    self.assertIn(name, fields)
