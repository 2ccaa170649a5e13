"""The manual pages: they lint, they read as they were written, and they tell what --help tells.

MANUALS is the folder in which the build made them of doc/man/*.scd.
"""

import os
import re
import subprocess

import told
from harness import DEADLINE, ROOT, Case

MADE = os.environ.get("MANUALS") or str(ROOT / "build" / "man")
SOURCES = sorted((ROOT / "doc" / "man").glob("*.scd"))
PAGES = [source.stem for source in SOURCES]  # as redlock-run.1

# mandoc reports them for every page, because scdoc puts a paragraph around each heading and each indented
# block. They do not show.
FALSE_ALARMS = ("skipping paragraph macro: PP empty", "skipping paragraph macro: PP after SH")

# In the README, but not of the command: of the scripts, and of the build.
NOT_OF_THE_COMMAND = {"REDLOCK_SERVER", "REDLOCK_TOOLS", "REDLOCK_TESTS", "REDLOCK_INSTALL", "REDLOCK_LTO",
                      "REDLOCK_MANUALS", "REDLOCK_TLS", "REDLOCK_ZERO"}


def mandoc(*arguments):
    return subprocess.run(["mandoc", *arguments], stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=DEADLINE).stdout


def commands():
    """The subjects of --help: all commands, as (), and each; with its page."""
    return [((), "redlock.1"), *(((command,), f"redlock-{command}.1") for command in told.commands())]


def shown(page, width=500):
    """The page as a reader sees it, without bold and underlined; a paragraph is one line."""
    text = mandoc("-T", "utf8", "-O", f"width={width}", f"{MADE}/{page}")
    return re.sub(r".\x08", "", text)


def section(page, title):
    """A section, its lines indented by what they are more than its paragraphs."""
    found = re.search(rf"^{title}\n(.*?)(?=^\S)", shown(page), re.M | re.S)
    return [line[7:] for line in found[1].splitlines() if line.strip()] if found else []


def heads(page, title):
    """The terms that a section explains: each line before an indented one."""
    lines = section(page, title)
    return [line for line, after in zip(lines, lines[1:])
            if not line.startswith(" ") and after.startswith(" ")]


def tags(page, title):
    """The words of these lines."""
    return {word for line in heads(page, title) for word in re.findall(r"[^\s,]+", line)}


class Manual(Case):
    def setUp(self):
        super().setUp()
        missing = [page for page in PAGES if not os.path.exists(f"{MADE}/{page}")]
        self.assertFalse(missing, f"not in {MADE}: run cluster-scripts/install build, configure and build "
                                  "(scdoc makes the pages)")

    def each_command(self, check):
        for command, page in commands():
            with self.subTest(page=page):
                self.assertTrue(page in PAGES, f"the command has no page: add doc/man/{page}.scd")
                check(command, page)

    def same(self, in_help, in_page, what, page):
        self.assertEqual(in_help - in_page, set(), f"{what} of --help are not in doc/man/{page}.scd")
        self.assertEqual(in_page - in_help, set(), f"{what} of doc/man/{page}.scd are not in --help")

    def test_each_page_lints(self):
        for page in PAGES:
            with self.subTest(page=page):
                said = mandoc("-T", "lint", "-W", "warning", f"{MADE}/{page}").splitlines()
                self.assertEqual([line for line in said if not line.endswith(FALSE_ALARMS)], [])

    def test_groff_has_nothing_to_say(self):
        """`man` calls it, and a page on paper needs it too."""
        for page in PAGES:
            for device in ("utf8", "ps"):
                with self.subTest(page=page, device=device):
                    done = subprocess.run(["groff", "-t", "-man", "-ww", "-Z", f"-T{device}",
                                           f"{MADE}/{page}"],
                                          text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                          timeout=DEADLINE)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_first_steps_of_the_readme_make_pages(self):
        self.assertRegex((ROOT / "cluster-scripts/install").read_text(), r"(?m)^build +scdoc\b")

    def test_lines_fit_a_terminal(self):
        for page in PAGES:
            with self.subTest(page=page):
                self.assertEqual([line for line in shown(page, 78).splitlines() if len(line) > 80], [])

    def test_sections(self):
        wanted = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]

        def check(_, page):
            there = re.findall(r"^([A-Z].*)$", shown(page), re.M)
            self.assertEqual([title for title in there if title in wanted], wanted)
        self.each_command(check)

    def test_each_page_is_of_a_command(self):
        pages = {page for _, page in commands()} | {"redlock.7", "libredlock.3"}
        self.assertEqual(set(PAGES) - pages, set(),
                         "these are of no command: remove their sources from doc/man")

    def test_synopsis(self):
        def check(command, page):
            self.assertEqual([line.strip() for line in section(page, "SYNOPSIS")], told.usage(*command))
        self.each_command(check)

    def test_options(self):
        def check(command, page):
            named = {re.sub(r"\[=.*", "", tag) for tag in tags(page, "OPTIONS") if tag.startswith("-")}
            self.same(told.options(*command), named, "options", page)
        self.each_command(check)

    def test_options_that_a_page_speaks_of(self):
        known = set().union(*(told.options(*command) for command, _ in commands()))
        for page in PAGES:
            with self.subTest(page=page):
                spoken_of = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", shown(page)))
                of_pkg_config = {"--cflags", "--libs"} if page == "libredlock.3" else set()
                self.assertEqual(spoken_of - known - of_pkg_config, set(), "no --help has these")

    def test_exit_statuses(self):
        def check(command, page):
            named = {tag for tag in tags(page, "EXIT STATUS") if tag[0].isdigit()}
            self.same(told.statuses(*command), named, "exit statuses", page)
        self.each_command(check)

    def test_nothing_is_explained_twice(self):
        def check(_, page):
            for title in ("OPTIONS", "ENVIRONMENT", "EXIT STATUS"):
                named = heads(page, title)
                self.assertEqual(sorted(set(named)), sorted(named))
        self.each_command(check)

    def test_commands(self):
        named = {tag.removesuffix("(1)").removeprefix("redlock-") for tag in tags("redlock.1", "COMMANDS")}
        self.same(set(told.commands()), named, "commands", "redlock.1")

    def test_variables(self):
        readme = re.sub(r"^```c$.*?^```$", "", (ROOT / "README.md").read_text(), flags=re.M | re.S)
        known = set(re.findall(r"\bREDLOCK_[A-Z_]+", readme)) - NOT_OF_THE_COMMAND
        known = known.union(*(told.variables(*command) for command, _ in commands()))
        named = {tag for tag in tags("redlock.1", "ENVIRONMENT") if tag.startswith("REDLOCK_")}
        self.same(known, named, "variables (or of README.md)", "redlock.1")

    def test_variables_of_each_command(self):
        def check(command, page):
            missing = told.variables(*command) - set(re.findall(r"\bREDLOCK_[A-Z_]+", shown(page)))
            self.assertEqual(missing, set(), f"variables of --help are not in doc/man/{page}.scd")
        self.each_command(check)

    def test_pages_that_are_referred_to(self):
        ours = {re.sub(r"\.(\d)$", r"(\1)", page) for page in PAGES}
        for page in PAGES:
            with self.subTest(page=page):
                named = set(re.findall(r"\b(?:lib)?redlock[a-z-]*\(\d\)", shown(page)))
                self.assertEqual(named - ours, set(), "there are no such pages")

    def test_calls_are_declared(self):
        headers = "".join(path.read_text() for path in (ROOT / "include").rglob("*.h"))
        declared = set(re.findall(r"\b(redlock_\w+)\(", headers))
        for some in re.findall(r"\bredlock_\w+_call\s+(redlock_[\w\s,]+);", headers):  # of one type
            declared |= set(re.split(r"[\s,]+", some))
        called = set(re.findall(r"\b(redlock_\w+)\(\)", shown("libredlock.3")))
        self.assertGreater(len(called), 30)
        self.assertEqual(called - declared, set(), "no header declares these")

    def test_example_compiles(self):
        code = "\n".join(section("libredlock.3", "EXAMPLE"))
        code = code[code.index("#include"):]
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror",
                        "-fsyntax-only", f"-I{ROOT / 'include'}", "-x", "c", "-"], input=code, text=True,
                       check=True, timeout=DEADLINE)
