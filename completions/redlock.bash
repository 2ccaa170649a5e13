# Completion of `redlock` for bash.
#
# Commands and options are read from `redlock --help` and `redlock COMMAND --help`, so they are
# always those of the redlock that is there. Masters are asked for one thing only: the names of locks,
# by `redlock list`, where the environment says which masters. That may take one second.

_redlock_help() { "$redlock" "$@" --help 2>/dev/null </dev/null; }

# Enters into `takes` what each option in the help takes: PATH, say, or nothing. A name that ends
# with = is that of an option which may stand alone.
_redlock_read_options() {
    local line
    while IFS= read -r line; do
        [[ $line =~ ^\ \ ((-[a-zA-Z]),\ )?(--[a-z-]+)(\[=([A-Z]+)\]|\ ([A-Z]+))?(\ |$) ]] || continue
        takes[${BASH_REMATCH[3]}]=${BASH_REMATCH[6]}
        [[ ! ${BASH_REMATCH[2]} ]] || takes[${BASH_REMATCH[2]}]=''
        [[ ! ${BASH_REMATCH[5]} ]] || takes[${BASH_REMATCH[3]}=]=${BASH_REMATCH[5]}
    done <<<"$1"
}

# The commands of the general help: they stand above the options.
_redlock_commands() { sed -n '/^Options/q; s/^  \([a-z-]*\) .*/\1/p' <<<"$general"; }

# The words behind the command in its usage, such as what is done about a latch.
_redlock_actions() { sed -n '/^$/q; s/^[a-z: ]*redlock [a-z-]* \([a-z][a-z-]*\) .*/\1/p' <<<"$help"; }

# Offers each line of the input that fits, as bash wants it: without what stands before the last :
# or = of the present word, if bash takes what follows for another word.
_redlock_offer() {
    local word breaks='' kept=''
    [[ $COMP_WORDBREAKS != *:* ]] || breaks+=:
    [[ $COMP_WORDBREAKS != *=* ]] || breaks+==
    [[ ! $breaks ]] || kept=${current%"${current##*["$breaks"]}"}
    while IFS= read -r word; do
        word=$before$word
        [[ $word != "$current"* ]] || COMPREPLY+=("${word#"$kept"}")
    done
}

_redlock_options() {
    local option
    for option in "${!takes[@]}"; do
        [[ $option == *= ]] || printf '%s\n' "$option"
    done
}

# Those of the environment without a login in them, and hosts.
_redlock_masters() {
    tr -s ', ' '\n\n' <<<"${REDLOCK_NODES-}" | grep -v @
    compgen -A hostname -P redis://
}

_redlock_names() {
    [[ ${REDLOCK_NODES-}${REDLOCK_NODES_FILE-} && $line != *' --nodes'* && $line != *' --prefix'* ]] || return 0
    timeout 1 "$redlock" list --json 2>/dev/null </dev/null | grep -o '"name": *"[^"\\]*"' |
        sed 's/.*"\(.*\)"/\1/' | sort -u
}

# Completes the present word from `before` on, as what an option or a command takes.
_redlock_value() {
    case $1 in
        PATH | FILE)
            compopt -o filenames 2>/dev/null
            _redlock_offer < <(compgen -f -- "${current#"$before"}")
            ;;
        URIS)
            [[ $current != *,* ]] || before=${current%,*},
            _redlock_offer < <(_redlock_masters)
            ;;
        COMMAND) _redlock_offer < <(compgen -c -- "${current#"$before"}") ;;
        NAME) _redlock_offer < <(_redlock_names) ;;
    esac
}

# What stands behind -- is a command line of its own.
_redlock_program() {
    local first=1
    while [[ ${COMP_WORDS[first]} != -- ]]; do first=$((first + 1)); done
    if declare -F _command_offset >/dev/null; then
        _command_offset $((first + 1))
    elif ((COMP_CWORD == first + 1)); then
        _redlock_value COMMAND
    else
        _redlock_value FILE
    fi
}

# Finds what stands before the present word: the command, what is done, an option that wants a value,
# and whether the program of `run` has begun.
_redlock_read_line() {
    local word words
    read -ra words <<<"${line}x" # without the x an empty last word would be lost
    current=${words[-1]%x}
    unset 'words[-1]'
    while [[ ${words[0]-$redlock} != "$redlock" ]]; do words=("${words[@]:1}"); done
    for word in "${words[@]:1}"; do
        if [[ $wanted ]]; then
            wanted=''
        elif [[ $word == -- && $command ]]; then
            program=yes
            return
        elif [[ $word == -* ]]; then
            wanted=${takes[$word]-}
        elif [[ ! $command ]]; then
            command=$word help=$(_redlock_help "$word")
            _redlock_read_options "$help"
        else
            action=$word
        fi
    done
}

_redlock() {
    local redlock=$1 line=${COMP_LINE:0:COMP_POINT} before='' current general help=''
    local command='' action='' wanted='' program='' option
    local -A takes=()
    COMPREPLY=()
    general=$(_redlock_help)
    _redlock_read_options "$general"
    _redlock_read_line
    if [[ $program ]]; then
        _redlock_program
    elif [[ $wanted ]]; then
        _redlock_value "$wanted"
    elif [[ $current == --*=* ]]; then
        option=${current%%=*} before=${current%%=*}=
        _redlock_value "${takes[$option]:-${takes[$before]-}}"
    elif [[ $current == -* ]]; then
        _redlock_offer < <(_redlock_options)
    elif [[ ! $command ]]; then
        _redlock_offer < <(_redlock_commands)
    elif [[ ! $action && $(_redlock_actions) ]]; then
        _redlock_offer < <(_redlock_actions)
    elif [[ $help == *NAME* ]]; then
        _redlock_value NAME
    fi
}

complete -F _redlock redlock
