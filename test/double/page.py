#!/usr/bin/env python3
"""The code of doc/testing.md is that of examples/testing.c, in its order, with all tests.

    test/double/page.py TREE"""

import re
import sys
from pathlib import Path

tree = Path(sys.argv[1])
page = (tree / "doc/testing.md").read_text().split("## Five tests")[1].split("\n## ")[0]
code = (tree / "examples/testing.c").read_text()
shown = page.split("```c\n")[1].split("```")[0].splitlines()
at = iter(code.splitlines())
for line in shown:
    if line not in at:
        sys.exit(f"examples/testing.c has not, or not there: {line}")
tests = re.findall(r"^static void (\w+)\(void\)$", code, re.M)
missing = [test for test in tests if f"static void {test}(void)" not in shown]
if len(tests) != 5 or missing:
    sys.exit(f"{len(tests)} tests; not on the page: {missing}")
