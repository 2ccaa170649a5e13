# record.sh: notes what happens in the demo, in a folder that test/fault/picture can draw. Sourced
# by the demo, whose NAME, DIR, TTL_MS and QUARANTINE_MS it uses.
# shellcheck shell=bash

PICTURE='' FAULTS=0 MENDED=0
# Times in the notes are since boot. An error of the difference does not matter: it is the same for
# all.
OFFSET_US=$((${EPOCHREALTIME/./} - $(now_ms) * 1000))
declare -A WORKER=([holder]=worker-1 [contender]=worker-2 [waiter]=worker-3)

begin_record() {
    [[ -n $PICTURE ]] || return 0
    mkdir -- "$DIR/record"
    RECORD_BEGIN=${EPOCHREALTIME/./}
    : >"$DIR/record/faults"
    : >"$DIR/record/keys"
    : >"$DIR/record/register"
}

# note FILE US WORD...
note() {
    local file=$1 us=$2
    shift 2
    [[ -z $PICTURE ]] || printf '%s\n' "$((us - OFFSET_US)) $*" >>"$DIR/record/$file"
}

# note_actor ACTOR US FACT WORD...: a fact about the actor's one lease.
note_actor() { note "${WORKER[$1]}" "$2" "$3" "$NAME" 1 "${@:4}"; }

note_enters() {
    note "${WORKER[$1]}" "${EPOCHREALTIME/./}" begin command 0
    note_actor "$1" "${EPOCHREALTIME/./}" attempt unfenced
}

# note_leaves ACTOR: the last line says how many are before it.
note_leaves() {
    local file=${WORKER[$1]} lines acquired
    [[ -n $PICTURE ]] || return 0
    lines=$(wc -l <"$DIR/record/$file")
    acquired=$(grep -c ' acquired ' "$DIR/record/$file") || true
    note "$file" "${EPOCHREALTIME/./}" end "$lines" "$acquired" 0 0
}

# note_line ACTOR US LINE: notes a line of `redlock run --json`, or of its job, if it is about the
# lease.
note_line() {
    local event code until
    [[ $3 != 'job ends' ]] || note_actor "$1" "$2" releasing "$(($2 - OFFSET_US))"
    extract '"event":"([a-z_]*)"' "$3"; event=$FOUND
    extract '"code":"([A-Z_]*)"' "$3"; code=$FOUND
    extract '"valid_ms":([0-9]+)' "$3"; until=$(($2 - OFFSET_US + ${FOUND:-0} * 1000))
    case $event in
        acquired)
            extract '"token":"([^"]*)"' "$3"
            note_actor "$1" "$2" acquired "$until" "$FOUND" 0
            ;;
        at_risk | healthy | lost) note_actor "$1" "$2" "$event" "$until" ;;
        not_acquired) note_actor "$1" "$2" failed "$code" ;;
        released) [[ $code != REDLOCK_OK ]] || note_actor "$1" "$2" released "$code" ;;
    esac
}

# note_crash I...: notes masters that are about to be killed.
note_crash() {
    local i
    for i in "$@"; do
        FAULTS=$((FAULTS + 1))
        note faults "${EPOCHREALTIME/./}" begin "$FAULTS" crashed "master-$i"
    done
}

# note_mended US: notes that all masters killed so far are back.
note_mended() {
    while ((MENDED < FAULTS)); do
        MENDED=$((MENDED + 1))
        note faults "$1" end "$MENDED"
    done
}

# draw_picture: draws the notes so far.
draw_picture() {
    local line end=${EPOCHREALTIME/./}
    [[ -d $DIR/record ]] || return 0
    note_mended "$end"
    for line in 'profile demo' 'seed 0' 'masters 5' 'workers 3' 'labels holder,contender,waiter' \
        "names $NAME" "ttl_ms $TTL_MS" "max_ttl_ms $TTL_MS" 'skew_ms 0' \
        "quarantine_ms $QUARANTINE_MS" "begin $((RECORD_BEGIN - OFFSET_US))" \
        "end $((end - OFFSET_US))" 'holders 2' 'longest_ms 0' 'availability 0'; do
        printf '%s\n' "$line"
    done >"$DIR/record/run"
    test/fault/picture -o "$PICTURE" "$DIR/record" || return 1
    printf 'The picture of it: %s\n' "$PICTURE"
}
