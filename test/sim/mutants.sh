# Breaks one rule of a program at a time, as mutants.table says, and runs it.  The file that keeps the rule is
# edited in a copy and compiled.  Its object stands before the archive of the program's parts, and takes the
# place of all that the file defines.
#
#   redlock-sim --list-mutants
#   redlock-sim --mutant NAME [OPTION…]   runs the broken simulator with these options
#   redlock-sim --mutants [OPTION…]       how many seeds each mutant takes; JOBS at once (default: processors)
#   redlock-sim --mutants --sample N …    of one mutant of N; of the others, whether their edits take
#   bash PROGRAM.mutants --build NAME TO  leaves the broken program in the file TO
#
# The build writes PROGRAM.mutants, which sets $root, $program, $compile and $link, and reads this file.
set -euo pipefail
export LC_ALL=C REDLOCK_SIM_BROKEN=1

names=() edits=()
declare -A rule=() options=() known=()

program() { part=$1; }
mutant() {
    local name=$1
    known[$name]=$part rule[$name]=$2 options[$name]=${*:3}
    [[ $part != "$program" ]] || names+=("$name")
    last=$name
}
edit() { edits+=("$last" "$1" "$2" "$3" "${4:-}"); }
# flaw FIELD: a rule that the modelled master keeps.
flaw() { edit testing/model/model_master.c "model_flaws.$1" true everywhere; }
. "$root/test/sim/mutants.table"

fail() {
    printf '%s: %s\n' "$program" "$*" >&2
    exit 64
}

# take_edit COPY WHAT WITH AFTER: false if the file has no such place, or another one could be meant.
take_edit() {
    local text before until rest
    text=$(<"$1") before=''
    if [[ $4 == everywhere ]]; then
        printf '%s\n' "${text//"$2"/"$3"}" >"$1"
        [[ $text == *"$2"* ]]
        return
    fi
    if [[ $4 ]]; then
        [[ $text == *"$4"* ]] || return
        before=${text%%"$4"*}$4
        text=${text:${#before}}
    fi
    until=${text%%"$2"*} # ${text#*"$2"} looks at the text anew for each of its letters
    rest=${text:${#until}+${#2}}
    [[ $until != "$text" ]] && [[ $4 || $rest != *"$2"* ]] || return
    printf '%s\n' "$before$until$3$rest" >"$1"
}

# edit_copies NAME FOLDER: the files that it breaks, edited, are $copies; says why not.
edit_copies() {
    local i file copy
    copies=()
    mkdir -p "$2"
    for ((i = 0; i < ${#edits[@]}; i += 5)); do
        [[ ${edits[i]} == "$1" ]] || continue
        file=${edits[i + 1]} copy=$2/${file//\//+}
        [[ -e $copy ]] || { cp "$root/$file" "$copy"; copies+=("$copy"); }
        take_edit "$copy" "${edits[@]:i+2:3}" || { echo "the edit of $file did not take: mend it"; return 1; }
    done
}

# break_program NAME FOLDER: the broken program is FOLDER/program; says why not.
break_program() {
    local folder=$2 copy file copies
    edit_copies "$@" || return
    for copy in "${copies[@]}"; do
        file=${copy#"$folder/"} file=${file//+//}
        "${compile[@]}" -iquote "$root/${file%/*}" -c "$copy" -o "$copy.o" 2>"$folder/log" ||
            { echo "does not build: $(head -n 3 "$folder/log")"; return 1; }
    done
    "${link[@]:0:1}" "${copies[@]/%/.o}" "${link[@]:1}" -o "$folder/program" 2>"$folder/log" ||
        { echo "does not link: $(head -n 3 "$folder/log")"; return 1; }
}

# is_in_sample NAME: by a hash of what it breaks, which changes with the code alone.
is_in_sample() {
    local i hash
    hash=$(for ((i = 0; i < ${#edits[@]}; i += 5)); do
        [[ ${edits[i]} != "$1" ]] || printf '%s\n' "${edits[@]:i+1:4}"
    done | cksum)
    ((${hash%% *} % sample == 0))
}

# leave_out NAME: of a mutant that is not in the sample it sees that the edits take.
leave_out() {
    local why
    why=$(edit_copies "$1" "$work/$1") || { touch "$work/failed"; printf '| %-27s | %s |\n' "$1" "$why"; }
    rm -r "${work:?}/$1"
}

# catch NAME [OPTION…]: a line about the mutant.
catch() {
    local name=$1 folder=$work/$1 why='' seeds='-' by=''
    shift
    if why=$(break_program "$name" "$folder"); then
        # shellcheck disable=SC2086
        read -r seeds by < <("$folder/program" ${options[$name]} "$@" --mutant "$name" --catch 2>&1) ||
            seeds=- why='NOT CAUGHT'
    fi
    rm -r "$folder"
    [[ -z $why ]] || touch "$work/failed"
    printf '| %-27s | %6s | %-12s | %s |\n' "$name" "$seeds" "${by:-$why}" "${rule[$name]}"
}

catch_all() {
    local name running=0
    printf '| %-27s | %6s | %-12s | %s |\n' mutant seeds 'caught by' 'the rule broken'
    printf '|-----------------------------|-------:|--------------|---|\n'
    for name in "${names[@]}"; do
        is_in_sample "$name" || { leave_out "$name"; continue; }
        ((running < ${JOBS:-$(nproc)})) || { wait -n; running=$((running - 1)); }
        catch "$name" "$@" &
        running=$((running + 1))
    done
    wait
    [[ ! -e $work/failed ]]
}

wanted='' action=run sample=1 words=()
while (($#)); do
    case $1 in
        --mutant) wanted=${2:-} && wanted=${wanted^^} && shift ;;
        --build) action=build wanted=${2:-} to=${3:-} && shift 2 ;;
        --mutants) action=all ;;
        --sample) sample=${2:-1} && shift ;;
        --list-mutants)
            for name in "${names[@]}"; do printf '%-20s %s\n' "$name" "${rule[$name]}"; done
            exit ;;
        *) words+=("$1") ;;
    esac
    shift
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ $action == all ]]; then
    catch_all "${words[@]}"
    exit
fi
[[ ${known[${wanted:-none}]:-} ]] || fail "no such mutant: $wanted; --list-mutants says what there is"
why=$(break_program "$wanted" "$work") || fail "$wanted: $why"
if [[ $action == build ]]; then
    mv "$work/program" "$to"
    exit
fi
# shellcheck disable=SC2086
"$work/program" ${options[$wanted]} "${words[@]}" --mutant "$wanted"
