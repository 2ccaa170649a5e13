"""What a run is told of: the checker's judgement of its folder, in a few lines."""

import json
import subprocess
import sys
from pathlib import Path

from .process import Trouble

FAULT = Path(__file__).resolve().parents[1]
SHOWN = 20  # complaints


def judge(folder):
    """(figures, whether all is well)"""
    done = subprocess.run([sys.executable, "-B", FAULT / "check", "--json", folder],
                          stdin=subprocess.DEVNULL, text=True, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise Trouble(f"the checker failed: {done.stderr.strip()[-1000:]}")
    return json.loads(done.stdout), done.returncode == 0


def show(given, figures):
    print(json.dumps(figures) if given.json else figures)


def draw(folder, path):
    done = subprocess.run([sys.executable, "-B", FAULT / "picture", folder, path],
                          stdin=subprocess.DEVNULL, text=True, capture_output=True, check=False)
    if done.returncode:
        raise Trouble(f"no picture: {done.stderr.strip()[-1000:]}")
