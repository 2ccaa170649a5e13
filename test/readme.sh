#!/usr/bin/env bash
# The README's example is the one that is compiled: examples/libev.c, to the letter.
set -euo pipefail
cd "$(dirname "$0")/.."
diff <(sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d') examples/libev.c
