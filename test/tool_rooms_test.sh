#!/usr/bin/env bash
# test/tool_rooms.sh notices an arrow that runs up, made in a copy of tools.
#
#   test/tool_rooms_test.sh TOOLS OBJECT…
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tools=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
missed=0

while read -r file header; do
    cp -R "$tools" "$work/tools"
    echo "#include \"$header\"" >>"$work/tools/$file"
    if report=$("$here/tool_rooms.sh" "$work/tools" "$@" 2>&1); then
        echo "not noticed: $file includes $header"
        missed=1
    elif ! grep -qF "$file includes $header" <<<"$report"; then
        printf '%s includes %s: got:\n%s\n' "$file" "$header" "$report"
        missed=1
    fi
    rm -rf "$work/tools"
done <<'END'
report/text.c options.h
options/failure.h session.h
status.c guardian.h
END
"$here/tool_rooms.sh" "$tools" "$@"
((missed == 0))
