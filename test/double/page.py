#!/usr/bin/env python3
"""The code of a page's chapter "Five tests" is that of the program, in its order, with all tests.

    test/double/page.py TREE"""

import re
import sys
from pathlib import Path

tree = Path(sys.argv[1])
for page, language, program in (("testing", "c", "testing.c"), ("cpp", "cpp", "testing.cpp")):
    chapter = (tree / f"doc/{page}.md").read_text().split("## Five tests")[1].split("\n## ")[0]
    code = (tree / "examples" / program).read_text()
    shown = chapter.split(f"```{language}\n")[1].split("```")[0].splitlines()
    at = iter(code.splitlines())
    for line in shown:
        if line not in at:
            sys.exit(f"examples/{program} has not, or not there: {line}")
    tests = re.findall(r"^static void (\w+)\((?:void|testing::time &time)\)$", code, re.M)
    missing = [test for test in tests if not any(f"static void {test}(" in line for line in shown)]
    if len(tests) != 5 or missing:
        sys.exit(f"{program}: {len(tests)} tests; not on the page: {missing}")
