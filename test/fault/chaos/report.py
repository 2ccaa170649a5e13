"""The checker's judgement of a run's folder, and the picture of it."""

import json
import subprocess
import sys
from pathlib import Path

from .process import Trouble

FAULT = Path(__file__).resolve().parents[1]


def judge(folder):
    """(figures, whether all is well)"""
    done = subprocess.run([sys.executable, "-B", FAULT / "check", "--json", folder],
                          stdin=subprocess.DEVNULL, text=True, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise Trouble(f"the checker failed: {done.stderr.strip()[-1000:]}")
    judgement_of(folder).write_text(done.stdout, encoding="utf-8")
    return json.loads(done.stdout), done.returncode == 0


def judgement_of(folder):
    return folder / "log" / "check"


def draw(folder, path, small):
    done = subprocess.run([sys.executable, "-B", FAULT / "picture", "-o", path,
                           *(["--small"] if small else []), "--complaints", judgement_of(folder), folder],
                          stdin=subprocess.DEVNULL, text=True, capture_output=True, check=False)
    if done.returncode:
        raise Trouble(f"no picture: {done.stderr.strip()[-1000:]}")
