#!/usr/bin/env bash
# The rooms of the command: what each may include, and that no files call each other in a circle.
#
#   test/tool_rooms.sh TOOLS OBJECT…
#
# TOOLS is the folder tools.  The commands that fit one file stand in it, beside the rooms.
set -euo pipefail
export LC_ALL=C
tools=$1
shift
bad=0

# Besides its own headers.  Only the table in main.c leads from the commands into run and masters.
declare -A below=([report]='' [options]='report' [.]='options report' [run]='. options report'
    [masters]='. options report' [tls]='')

declare -A room_of=()
for room in "${!below[@]}"; do
    for path in "$tools/$room"/*.h; do
        room_of[${path##*/}]=$room
    done
done

for room in "${!below[@]}"; do
    while read -r path header; do
        other=${room_of[$header]:-$room} # the public headers are everybody's
        [[ $other == "$room" || " ${below[$room]} " == *" $other "* ]] && continue
        printf '%s includes %s of %s\n' "${path#"$tools/"}" "$header" "$other" >&2
        bad=1
    done < <(sed -nE 's|^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]+)".*|\1|;T;F;p' \
        "$tools/$room"/*.[ch] | paste -d ' ' - -)
done

"${0%/*}/arrows.sh" "$@" || bad=1
((bad == 0))
