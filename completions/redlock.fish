# Completion of `redlock` for fish.
#
# Commands and options are read from `redlock --help` and `redlock COMMAND --help`, so they are
# always those of the redlock that is there. Masters are asked for one thing only: the names of locks,
# by `redlock list`, where the environment says which masters. That may take one second.

# A long option has its text on the next line: that goes behind it.
function __redlock_help
    type -q $argv[1]; and command $argv --help 2>/dev/null </dev/null |
        sed -E '/^  (-[a-zA-Z], )?--[a-z-]+( [A-Z]+|\[=[A-Z]+\])?$/{N;s/\n {9,}/  /;}'
end

# The options in lines of help, each with its text behind a tab.
function __redlock_options
    string replace -rf '^  (-[a-zA-Z]), --[a-z-]+(?: +|$)' '$1\t' -- $argv
    string replace -rf '^  (?:-[a-zA-Z], )?(--[a-z-]+)(?:\[=[A-Z]+\]| [A-Z]+(?= |$))?(?: +|$)' '$1\t' -- $argv
end

# What an option takes: PATH, say, or nothing. `--shared=` is --shared with a value.
function __redlock_takes -a option
    set -l lines (string replace -r '\[(=[A-Z]+)\]' '$1' -- $argv[2..])
    string match -q '*=' -- $option; or set option "$option "
    string match -rg -- '^  '$option'([A-Z]+)(?: |$)' $lines
end

# The commands of the general help, which stand above the options.
function __redlock_commands
    for line in $argv
        string match -q 'Options*' -- $line; and break
        string replace -rf '^  ([a-z-]+) +' '$1\t' -- $line
    end
end

# The words behind the command in its usage, such as what is done about a latch.
function __redlock_actions
    for line in $argv
        test -n "$line"; or break
        string match -rg '^[a-z: ]*redlock [a-z-]+ ([a-z][a-z-]*) ' -- $line
    end
end

# Those of the environment without a login in them, and hosts.
function __redlock_masters -a current
    set -l before (string match -r "^.*," -- $current)
    for master in (string split -n ' ' -- (string replace -a , ' ' -- $REDLOCK_NODES)) redis://(__fish_print_hostnames)
        string match -q '*@*' -- $master; or printf '%s\n' "$before$master"
    end
end

function __redlock_names -a redlock
    test -n "$REDLOCK_NODES$REDLOCK_NODES_FILE"; or return
    string match -qr ' --(nodes|prefix)' -- (commandline -pc); and return
    timeout 1 $redlock list --json 2>/dev/null </dev/null |
        string match -arg '"name": *"([^"\\\\]*)"' | sort -u
end

# redlock, what is taken, the present word, and what stands before the value in that.
function __redlock_value -a redlock kind current before
    set -l value (string sub -s (math (string length -- "$before") + 1) -- "$current")
    switch $kind
        case PATH FILE
            printf '%s\n' "$before"(__fish_complete_path $value)
        case URIS
            printf '%s\n' "$before"(__redlock_masters $value)
        case COMMAND
            printf '%s\n' "$before"(__fish_complete_command $value)
        case NAME
            printf '%s\n' "$before"(__redlock_names $redlock)
    end
end

function __redlock_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l redlock $words[1]
    set -l help (__redlock_help $redlock)
    set -l commands (__redlock_commands $help)
    set -l command
    set -l actions
    set -l wanted
    for i in (seq 2 (count $words))
        if set -q wanted[1]
            set wanted
        else if test "$words[$i]" = --; and set -q command[1]
            complete -C (string join -- ' ' (string escape -- $words[(math $i + 1)..]) "$current")
            return
        else if string match -q -- '-*' $words[$i]
            set wanted (__redlock_takes $words[$i] $help)
        else if not set -q command[1]
            set command (__redlock_help $redlock $words[$i])
            set -a help $command
            set actions (__redlock_actions $command)
        else
            set actions
        end
    end
    if set -q wanted[1]
        __redlock_value $redlock $wanted "$current"
    else if string match -qr -- '^--[a-z-]+=' $current
        set -l option (string split -m 1 = -- $current)[1]
        set wanted (__redlock_takes $option $help; __redlock_takes $option= $help)
        __redlock_value $redlock "$wanted" $current $option=
    else if string match -q -- '-*' $current
        __redlock_options $help
    else if not set -q command[1]
        printf '%s\n' $commands
    else if set -q actions[1]
        printf '%s\n' $actions
    else if string match -q '*NAME*' -- $command
        __redlock_value $redlock NAME "$current"
    end
end

complete -c redlock -f -a '(__redlock_complete)'
