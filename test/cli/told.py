"""The output of `redlock --help` and `redlock COMMAND --help`, for tests of the manual and of completions."""

import re
import subprocess

from harness import DEADLINE, REDLOCK, environment

OPTION = re.compile(r"^  (?:(-[a-zA-Z]), )?(--[a-z-]+)(?:\[=[A-Z]+\]| [A-Z]+)?(?= |$)", re.M)


def text(*command):
    return subprocess.run([REDLOCK, *command, "--help"], env=environment(), stdin=subprocess.DEVNULL,
                          text=True, check=True, stdout=subprocess.PIPE, timeout=DEADLINE).stdout


def commands():
    return re.findall(r"^  ([a-z-]+) ", text().partition("\nOptions of every command:")[0], re.M)


def options(*command):
    """The options of all commands without an argument; letters too."""
    return {name for names in OPTION.findall(text(*command)) for name in names if name}


def usage(*command):
    """The lines of the usage, with single spaces."""
    lines = text(*command).partition("\n\n")[0].removeprefix("usage:").splitlines()
    return [" ".join(line.split()) for line in lines]


def statuses(*command):
    """The statuses in the help, with 64 or 128+N. Those of `elect` belong to another command."""
    told = " ".join(re.search(r"^Exit status: .*?(?=\n\n|\Z)", text(*command), re.M | re.S)[0].split())
    other = re.search(r"as of `redlock (\w+)`", told)
    return statuses(other[1]) if other else set(re.findall(r"[:;,.] (\d+(?:\+N)?)\b", told))


def variables(*command):
    return set(re.findall(r"\bREDLOCK_[A-Z_]+", text(*command)))
