#!/usr/bin/env bash
# The rooms of the library: what each may include and call, and that no file needs, on
# whatever way, a file that needs it.
#
#   test/rooms.sh LIB OBJECT…
#
# LIB is the folder lib; the objects are what the build made of the rooms.  A header and the
# source of the same name are one file here.  lib/core has a test of its own, purity.sh.
set -euo pipefail
shopt -s extglob
export LC_ALL=C
lib=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# The rooms that each room may include and call; of itself, always.
declare -A below=([wire]='core' [io]='wire core' [settings]='' [client]='io settings core'
    [sync]='' [recipes]='')
# Headers that a room need not know, though a room below it may be made of them.
declare -A forbidden=(
    [wire]='ev|openssl/.*|sodium|pthread|unistd|netdb|sys/.*|netinet/.*'
    [io]='ev|redlock'
    [settings]='ev|redlock|hiredis/.*|openssl/.*|sodium|pthread|netdb|time|sys/socket|netinet/.*'
    [client]='ev|hiredis/.*|openssl/.*|sodium|pthread|unistd|netdb|time|sys/.*|netinet/.*'
    [sync]='ev|hiredis/.*|openssl/.*|sodium|netdb|sys/socket|netinet/.*'
    [recipes]='ev|hiredis/.*|openssl/.*|sodium|pthread|unistd|netdb|time|sys/.*|netinet/.*'
)
# The core has one door; the words that pass through it are everybody's.
declare -A core_headers=([wire]='ground/(event|names)\.h' [io]='ground/(event|names)\.h'
    [settings]='' [client]='engine\.h' [sync]='' [recipes]='')
# The door is made of these, which show no machine's struct: a file before the door could reach into that.
door='engine\.h|(lease|recipes)/view\.h|ground/(event|names|quorum|requests|told_list)\.h'
# Of the headers of lib/core/recipes these are for all of them.  Every other one is of one recipe, whose
# files begin with its name.
of_all_recipes='(lines|task|tasks|view)\.h'
# Each with its reason.
exceptions='io/libev_loop.c <ev.h>' # it is a client's place on a loop of libev
exceptions+='|sync/sync_client.h "forks.h"' # a leaf: which process is this?
exceptions+='|sync/sync_(call|thread|validity|wait)\.c "double_time\.h"' # a leaf: a test's time
exceptions+='|sync/sync_reentry.c "margin.h"' # a leaf: when is a lease as good as lost?
exceptions+='|(sync|recipes)/[a-z_]+\.[ch] "(sized|timeout)\.h"' # leaves: reading what a caller filled
exceptions+='|recipes/(election|once)\.c "fail\.h"'              # a leaf: redlock_last_error()
exceptions+='|(recipes/(election|once)|sync/sync_lease)\.c "owner\.h"' # a leaf: whose is a lease?
exceptions+='|sync/sync_leaders\.c "campaign\.h"'                # a leaf: the options of a campaign
# Only these functions of another room do these rooms call.
declare -A may_call=([sync]='redlock_.*|(forks|double)_.*|campaign_read|client_(of|moves)_lease'
    [recipes]='redlock_.*|client_(explain|of_lease)|name_of_lease')

complain() {
    printf '%s\n' "$*" >&2
    bad=1
}

# The room of each header of ours.
declare -A room_of=()
for path in "$lib"/*/*.h; do
    name=${path%/*}
    room_of[${path##*/}]=${name##*/}
done

# ---- includes --------------------------------------------------------------------

look_at() { # room file header
    local room=$1 file=$2 header=$3 own other
    [[ ! "$room/$file $header" =~ ^($exceptions)$ ]] || return 0
    own=${header//[\"<>]/}
    if [[ $header == \<* ]]; then
        [[ ! $own =~ ^(${forbidden[$room]})\.h$ ]] || complain "$room/$file includes $header"
        return
    fi
    if [[ $own == */* || $own == engine.h ]]; then
        [[ $own =~ ^(${core_headers[$room]})$ || ! -e $lib/core/$own ]] ||
            complain "$room/$file includes $header of core"
        return
    fi
    other=${room_of[$own]:-}
    [[ -n $other ]] || return 0 # redlock.h, and what the build generates
    [[ $other == "$room" || " ${below[$room]} " == *" $other "* ]] ||
        complain "$room/$file includes $header of $other"
    [[ $other == core ]] || echo "$room/${file%.[ch]} $other/${own%.h}" >>"$work/includes"
}

for room in "${!below[@]}"; do
    while IFS=: read -r path line; do
        look_at "$room" "${path##*/}" "${line##*include*([[:space:]])}"
    done < <(grep -EHo '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<][^">]+[">]' "$lib/$room"/*.[ch])
done

while IFS=: read -r path line; do
    file=${path#"$lib/core/"} header=${line##*include*([[:space:]])}
    own=${header//[\"]/}
    [[ ! $file =~ ^($door)$ || $header != \"* || $own =~ ^($door)$ ]] ||
        complain "core/$file lets everybody see $header"
    [[ $own != recipes/* || $own =~ ^recipes/$of_all_recipes$ || $file == "${own%.h}"?(_+([a-z_])).[ch] ]] ||
        complain "core/$file includes $header of one recipe"
done < <(grep -EHro '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<][^">]+[">]' --include='*.[ch]' \
    "$lib/core")

# ---- calls ------------------------------------------------------------------------

# file, kind and symbol; the room is in the name of the object's folder.
nm -A --extern-only "$@" |
    sed -nE 's#^.*redlock_([a-z]+)\.dir/(.*/)?([a-z_]+)\.c\.o:[0-9a-f ]*([A-Za-z]) ([^ ]+)$#\1/\3 \4 \5#p' \
        >"$work/symbols"

awk '$2 != "U" { print $3, $1 }' "$work/symbols" | sort >"$work/defined"
awk '$2 == "U" { print $3, $1 }' "$work/symbols" | sort >"$work/used"
while read -r symbol user owner; do
    room=${user%%/*} other=${owner%%/*}
    [[ $room != "$other" && $room != core ]] || continue
    if [[ -v may_call[$room] ]]; then
        [[ $symbol =~ ^(${may_call[$room]})$ ]] || complain "$user calls $symbol of $owner"
    else
        [[ " ${below[$room]} " == *" $other "* ]] || complain "$user calls $symbol of $owner"
    fi
done < <(join "$work/used" "$work/defined")

# ---- circles ------------------------------------------------------------------------

"${0%/*}/arrows.sh" --also "$work/includes" "$@" || bad=1
((bad == 0))
