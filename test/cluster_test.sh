#!/usr/bin/env bash
# Tests cluster-scripts/cluster with real servers. Can run several times at once.

set -uo pipefail
export LC_ALL=C
unset REDLOCK REDLOCK_NODES REDLOCK_CLUSTER_DIR REDIS_CLI
# The server for the tests: REDLOCK_SERVER, if it is set.
SERVER=${REDLOCK_SERVER:-redis-server}

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if ! command -v "$SERVER" >/dev/null || ! command -v redis-cli >/dev/null; then
    echo 'cluster_test: skipped: needs redis-server and redis-cli (Debian: apt install redis-server)' >&2
    exit 77
fi

TMP=$(mktemp -d)
# A copy in a tree without a build, so that no redlock command is found beside it.
mkdir -p "$TMP/bin" "$TMP/tree/cluster-scripts"
cp "$ROOT/cluster-scripts/"{cluster,certificates} "$TMP/tree/cluster-scripts/"
cp -R "$ROOT/deploy" "$TMP/tree/"
CLUSTER=$TMP/tree/cluster-scripts/cluster
PASSED=0 FAILED=0 HELPERS=()

# ---- harness ---------------------------------------------------------------------------------

finish() {
    local dir pid
    trap - EXIT INT TERM
    for dir in "$TMP"/*/; do "$CLUSTER" stop --dir "$dir" 2>/dev/null; done
    # A process that a broken cluster script left behind has its working folder inside ours.
    for pid in $(processes_in "$TMP") "${HELPERS[@]}"; do kill -KILL "$pid" 2>/dev/null; done
    rm -rf "$TMP"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

pass() { PASSED=$((PASSED + 1)); echo "ok      $1"; }

fail() {
    FAILED=$((FAILED + 1))
    echo "FAILED  $1"
    shift
    [[ $# == 0 ]] || printf '%s\n' "$*" | sed 's/^/            /'
}

# check TEXT COMMAND...: passes if COMMAND succeeds.
check() {
    local text=$1 output
    shift
    if output=$("$@" 2>&1); then pass "$text"; else fail "$text" "$* -> $?: $output"; fi
}

# fails_with TEXT STATUS PATTERN COMMAND...: COMMAND must end with STATUS and print PATTERN on
# stderr.
fails_with() {
    local text=$1 status=$2 pattern=$3 said got=0
    shift 3
    said=$("$@" 2>&1 >/dev/null) || got=$?
    if [[ $got == "$status" && $said =~ $pattern ]]; then
        pass "$text"
    else
        fail "$text" "$* -> $got: $said"
    fi
}

# Prints the processes whose working folder is in folder $1; zombies have none.
processes_in() {
    local process cwd
    for process in /proc/[0-9]*; do
        cwd=$(readlink "$process/cwd" 2>/dev/null) || continue
        [[ $cwd != "$1" && $cwd != "$1"/* ]] || echo "${process#/proc/}"
    done
}

not_running() { ! kill -0 "$1" 2>/dev/null; }
nothing_runs_in() { [[ -z $(processes_in "$1") ]]; }
is_empty() { [[ -z $(ls -A "$1") ]]; }
nothing_is_left() { nothing_runs_in "$DIR" && is_empty "$DIR"; }
same() { [[ $1 == "$2" ]] || { echo "'$1' is not '$2'"; return 1; }; }
differ() { [[ $1 != "$2" ]] || { echo "both '$1'"; return 1; }; }
matches() { [[ $1 =~ $2 ]] || { echo "'$1' does not match '$2'"; return 1; }; }

cluster() { "$CLUSTER" "$@" --dir "$DIR"; }
field() { "$CLUSTER" status --dir "$DIR" 2>/dev/null | awk -v i="$1" -v f="$2" '$1 == i { print $f }'; }
pid_of() { field "$1" 3; }
state_of() { field "$1" 4; }
port_of() { field "$1" 2 | cut -d: -f2; }
password_of() { cat "$DIR/master-$1/password"; }
redis() {
    local i=$1
    shift
    REDISCLI_AUTH=$(password_of "$i") timeout 2 redis-cli -p "$(port_of "$i")" "$@" 2>/dev/null
}
new_dir() { DIR=$TMP/$1; mkdir -p "$DIR"; }

eventually() {
    local end=$((SECONDS + 10))
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.02
    done
}

# Sets FIRST to a port such that it and the next $1 - 1 are free now, and no dead master's of another cluster.
find_ports() {
    local dir=$TMP/ports port try
    for try in {1..50}; do
        FIRST=$((10000 + (RANDOM * 32768 + RANDOM) % 20000))
        for ((port = FIRST; port < FIRST + $1; port++)); do
            [[ ! -d ${XDG_RUNTIME_DIR:-/tmp}/redlock-ports-$UID/$port ]] || continue 2
            "$CLUSTER" start -n 1 -p "$port" --no-adopt --dir "$dir" >/dev/null 2>&1 || continue 2
            "$CLUSTER" stop --dir "$dir"
        done
        return
    done
    fail "$1 free ports in a row, after $try tries"
}

# ---- tests -----------------------------------------------------------------------------------

test_usage() {
    local help
    new_dir usage
    help=$("$CLUSTER" --help)
    check '--help explains start' matches "$help" 'cluster start \[-n N\]'
    check '--help says what a restart keeps' matches "$help" 'What a master still has after'
    fails_with 'no command: 64 and usage' 64 '^usage: cluster start' "$CLUSTER"
    fails_with 'unknown command: 64 and usage' 64 'unknown command dance.*usage: cluster' cluster dance
    fails_with 'unknown option' 64 'unknown option --fast' cluster start --fast
    fails_with 'option of another command' 64 'is for .cluster restart' cluster start --empty
    fails_with 'option without a value' 64 'needs a value' "$CLUSTER" stop --dir
    fails_with 'no masters' 64 'number from 1 to 15' cluster start -n 0
    fails_with 'number of masters that is none' 64 'number from 1 to 15' cluster start -n many
    fails_with 'more masters than a client takes' 64 'number from 1 to 15.*not 16' cluster start -n 16
    fails_with '--server without a value' 64 'needs a value' "$CLUSTER" start --server
    fails_with '--server of nothing' 64 'needs a program' cluster start --server ''
    fails_with '--server for another command' 64 'is for .cluster start. and' cluster stop --server x
    fails_with 'ports beyond the last' 64 'below 65536' cluster start -p 65533
    fails_with 'port that is none' 64 'below 65536' cluster start -p 07x
    fails_with 'stop takes no master' 64 'stop takes no 1' cluster stop 1
    fails_with 'kill needs a master' 64 'which master' cluster kill
    check 'wrong usage changes nothing' is_empty "$DIR"
}

test_no_cluster() {
    DIR=$TMP/none
    check 'stop without a folder is fine' cluster stop
    fails_with 'status without a folder' 3 'no cluster in' cluster status
    fails_with 'nodes without a folder' 1 'no cluster in .*cluster start' cluster nodes
    fails_with 'kill without a folder' 1 'no cluster in' cluster kill 1
    check 'none of them made the folder' test ! -e "$DIR"
    new_dir none
    check 'stop in an empty folder is fine' cluster stop
    fails_with 'status in an empty folder' 3 'no cluster in' cluster status
}

# A PATH of all that is in PATH but one program.
path_without() {
    local program found=()
    mkdir -p "$TMP/without-$1"
    for program in $(compgen -c | sort -u); do
        [[ $program == "$1" ]] || found+=("$(type -P -- "$program")")
    done
    ln -sf -t "$TMP/without-$1" -- "${found[@]}" 2>/dev/null
    echo "$TMP/without-$1"
}

test_programs_missing() {
    new_dir missing
    fails_with 'no redis-server: names the package' 1 'apt install redis-server' \
        env -u REDLOCK_SERVER PATH="$(path_without redis-server)" "$CLUSTER" start --dir "$DIR"
    fails_with 'no such server by environment' 1 'REDLOCK_SERVER: no-such-server is no program' \
        env REDLOCK_SERVER=no-such-server "$CLUSTER" start --dir "$DIR"
    fails_with 'no such server by option' 1 '\-\-server or .*: ./no-such-server is no program' \
        cluster start --server ./no-such-server
    fails_with 'no redis-cli: names the package' 1 'apt install redis-tools' \
        env REDIS_CLI=no-such-cli "$CLUSTER" start --dir "$DIR"
    fails_with 'REDLOCK that cannot be run' 1 'REDLOCK names no command' \
        env REDLOCK="$TMP/no-such-redlock" "$CLUSTER" start --dir "$DIR"
    mkdir -p "$TMP/alone/cluster-scripts"
    cp "$CLUSTER" "$TMP/alone/cluster-scripts/"
    fails_with 'no deploy/redis.conf beside the script' 1 'deploy/redis.conf cannot be read' \
        "$TMP/alone/cluster-scripts/cluster" start --dir "$DIR"
    check 'nothing was made' is_empty "$DIR"
}

test_folder() {
    local ours=$TMP/deep/er other=/
    DIR=$ours
    cluster start -n 1 --no-adopt >/dev/null
    check 'the folder is made, for its owner only' same "$(stat -c %a "$ours")" 700
    check 'so are the parents it needs' same "$(stat -c %a "$TMP/deep")" 700
    cluster stop
    chmod 770 "$ours"
    fails_with 'a folder others may write to is refused' 1 'others may write' cluster start -n 1
    chmod 700 "$ours"
    if ((EUID == 0)); then
        other=$TMP/foreign
        mkdir "$other"
        chown 65534 "$other"
    fi
    DIR=$other
    fails_with "somebody else's folder is refused" 1 'belongs to somebody else' cluster start -n 1
    fails_with "somebody else's folder is refused by stop" 1 'belongs to somebody else' cluster stop
    DIR=$TMP/file
    touch "$DIR"
    fails_with 'a file is refused' 1 'not a folder' cluster start -n 1
    DIR=$TMP/dangling
    ln -s "$TMP/nowhere" "$DIR"
    fails_with 'a dangling link is refused' 1 'cannot create' cluster start -n 1
    new_dir in_the_way
    mkdir "$DIR/master-2"
    touch "$DIR/master-2/precious"
    fails_with 'foreign folders in the way are refused' 1 'move away' cluster start -n 3 --no-adopt
    cluster stop
    check 'and left alone' test -f "$DIR/master-2/precious"
    check 'with nothing else left' same "$(ls -A "$DIR")" master-2
    new_dir 'blank "and" long-'"$(printf 'x%.0s' {1..120})"
    check 'a folder with blanks, quotes and a long name' cluster start -n 1 --no-adopt
    check 'term works there, past the limit of socket names' cluster term 1
    check 'and saved' test -f "$DIR/master-1/dump.rdb"
    cluster stop
}

test_default_folder() {
    local where=$TMP/runtime
    mkdir "$where"
    env XDG_RUNTIME_DIR="$where" "$CLUSTER" start -n 1 --no-adopt >/dev/null
    check 'the folder is in XDG_RUNTIME_DIR by default' test -d "$where/redlock-cluster-$UID/master-1"
    env XDG_RUNTIME_DIR="$where" "$CLUSTER" stop
    env REDLOCK_CLUSTER_DIR="$where/given" "$CLUSTER" start -n 1 --no-adopt >/dev/null
    check 'REDLOCK_CLUSTER_DIR goes before' test -d "$where/given/master-1"
    env REDLOCK_CLUSTER_DIR="$where/given" "$CLUSTER" stop
    (cd "$where" && "$CLUSTER" start -n 1 --no-adopt --dir -odd >/dev/null)
    check '--dir may be relative and begin with a dash' test -d "$where/-odd/master-1"
    "$CLUSTER" stop --dir="$where/-odd"
    check '--dir=DIR works too' is_empty "$where/-odd"
}

test_start() {
    local output value i pid
    new_dir start
    # In a substitution with a spare descriptor: returns only if the servers hold neither.
    output=$(timeout 20 "$CLUSTER" start --no-adopt --dir "$DIR" 9>&1 2>"$TMP/start.err")
    check 'start returns 0' same $? 0
    check 'start with --no-adopt is silent on stderr' is_empty_file "$TMP/start.err"
    value=$(cluster nodes)
    check 'nodes names five masters' matches "$value" \
        '^(redis://:[0-9a-f]{32}@127\.0\.0\.1:[0-9]+,){4}redis://:[0-9a-f]{32}@127\.0\.0\.1:[0-9]+$'
    test_passwords "$value"
    check 'start prints the line to export' matches "$output" "export REDLOCK_NODES=$value\$"
    check 'start prints output for eval' same "$(eval "$output" && printf '%s' "$REDLOCK_NODES")" "$value"
    check 'the table has index, port and pid' \
        matches "$output" "# +3 +$(port_of 3) +$(pid_of 3)"$'\n'
    check 'status returns 0' cluster status
    for i in 1 2 3 4 5; do
        check "master $i answers with its own pid" matches "$(redis "$i" info server)" \
            "process_id:$(pid_of "$i")"
    done
    check 'the masters differ' same \
        "$(for i in 1 2 3 4 5; do redis "$i" info server | grep run_id; done | sort -u | wc -l)" 5
    check 'no snapshots' same "$(redis 1 config get save | tail -n 1)" ''
    check 'no append-only file' same "$(redis 1 config get appendonly | tail -n 1)" no
    check 'protected mode' same "$(redis 1 config get protected-mode | tail -n 1)" yes
    check 'listens on loopback only' same "$(redis 1 config get bind | tail -n 1)" 127.0.0.1
    check 'the socket is in the folder' \
        same "$(cd "$DIR/master-2" && REDISCLI_AUTH=$(cat password) redis-cli -s redis.sock ping)" PONG
    check 'uptime' matches "$(field 1 5)" '^[0-9]+s$'
    pid=$(pid_of 1)
    check 'the server leads a session' same "$(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f4)" "$pid"
    check 'the server has not our lock' same "$(readlink "/proc/$pid/fd"/* | grep -cxF "$DIR")" 0
    check 'the server has no input' same "$(readlink "/proc/$pid/fd/0")" /dev/null
    test_second_start
    check 'stop returns 0' cluster stop
    check 'stop leaves no process and no file' nothing_is_left
    check 'stop twice is fine' cluster stop
}

is_empty_file() { [[ ! -s $1 ]] || { cat "$1"; return 1; }; }

# test_passwords NODES
test_passwords() {
    local i secret
    for i in 1 5; do
        check "master $i refuses who has no password" \
            matches "$(redis-cli -p "$(port_of "$i")" ping 2>&1)" '^NOAUTH'
        check "master $i takes its password from the list" \
            matches "$1" "redis://:$(password_of "$i")@127\\.0\\.0\\.1:$(port_of "$i")"
        check "master $i answers with it" same "$(redis "$i" ping)" PONG
        check "only its owner reads master $i's password" same \
            "$(stat -c %a "$DIR/master-$i"/{password,redis.conf} "$DIR/nodes" | sort -u)" 600
    done
    check 'the socket refuses who has no password' \
        matches "$(cd "$DIR/master-2" && redis-cli -s redis.sock ping 2>&1)" '^NOAUTH'
    check 'each master has another' same "$(cat "$DIR"/master-*/password | sort -u | wc -l)" 5
    secret=$(password_of 1)
    check 'no argument of a process has it' \
        same "$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -cFf "$DIR/master-1/password")" 0
    check 'status does not show it' same "$(cluster status | grep -c "$secret")" 0
}

test_second_start() {
    local before
    before=$(cluster nodes; pid_of 1; pid_of 5)
    fails_with 'start twice in one folder' 1 'already runs in .*cluster stop' cluster start -n 3
    check 'the second start changed nothing' same "$(cluster nodes; pid_of 1; pid_of 5)" "$before"
}

# Servers that record which of them was started last.
make_servers() {
    local name
    for name in one other; do
        printf '#!/bin/sh\necho %s >../used\nexec "%s" "$@"\n' "$name" "$SERVER" >"$TMP/bin/$name"
        chmod +x "$TMP/bin/$name"
    done
}

test_servers() {
    make_servers
    new_dir servers
    (cd "$TMP" &&
        REDLOCK_SERVER=$TMP/bin/other "$CLUSTER" start -n 1 --no-adopt --dir "$DIR" --server bin/one \
            >/dev/null)
    check '--server goes before REDLOCK_SERVER, and may be relative' same "$(cat "$DIR/used")" one
    rm "$DIR/used"
    check 'restart' env -u REDLOCK_SERVER "$CLUSTER" restart 1 --dir "$DIR"
    check 'restart takes the server that the cluster was started with' same "$(cat "$DIR/used")" one
    check 'restart with REDLOCK_SERVER' env REDLOCK_SERVER="$TMP/bin/other" "$CLUSTER" restart 1 --dir "$DIR"
    check 'takes that' same "$(cat "$DIR/used")" other
    check 'restart --server' cluster restart 1 --server="$TMP/bin/one"
    check 'takes that one' same "$(cat "$DIR/used")" one
    rm "$DIR/used"
    cluster stop
    check 'stop leaves nothing of it' is_empty "$DIR"
}

# under_tls MASTER WORDS...: redis-cli, which verifies the master.
under_tls() { redis "$1" --tls --cacert "$DIR/tls/ca.crt" "${@:2}"; }

test_tls() {
    new_dir 'a folder, with 100 %'
    check 'start --tls' cluster start -n 2 --no-adopt --tls
    check 'the masters speak TLS' same "$(under_tls 2 PING)" PONG
    check 'and nothing else' same "$(redis 2 PING)" ''
    local ca=$TMP/a%20folder%2C%20with%20100%20%25/tls/ca\\.crt
    check 'the list says so, and names the CA' matches "$(cluster nodes)" \
        "^rediss://:[0-9a-f]+@127\.0\.0\.1:[0-9]+\?ca=$ca,rediss://"
    check 'keys are for nobody else' same "$(stat -c %a "$DIR"/tls/*.key | sort -u)" 600
    cluster kill 1
    check 'restart' cluster restart 1
    check 'with TLS as before' same "$(under_tls 1 PING)" PONG
    check 'stop' cluster stop
    check 'nothing is left' is_empty "$DIR"
    new_dir no-openssl
    fails_with 'no openssl' 1 'openssl not found' \
        env PATH="$(path_without openssl)" "$CLUSTER" start --tls --dir "$DIR"
    check 'and no folder' is_empty "$DIR"
}

test_indices() {
    new_dir indices
    cluster start -n 3 --no-adopt >/dev/null
    fails_with 'master 0' 64 'no master 0: this cluster has 1 to 3' cluster kill 0
    fails_with 'master beyond the last' 64 'no master 4' cluster term 1 4
    fails_with 'master that is no number' 64 'no master x' cluster pause x
    fails_with 'master that is an expression' 64 'no master' cluster pause 'COUNT[0]'
    check 'all still run' cluster status
    check 'several at once' cluster kill 1 3
    fails_with 'status tells that some are dead' 3 '' cluster status
    check 'kill 1 3 spares 2' same "$(state_of 1)$(state_of 2)$(state_of 3)" deadrunningdead
    fails_with 'kill of a dead master' 1 'master 3 is not running.*restart 3' cluster kill 2 3
    check 'left the other of the two alone' same "$(state_of 2)" running
    fails_with 'pause of a dead master' 1 'not running' cluster pause 1
    check 'restart of several' cluster restart 1 3
    check 'all run again' cluster status
    check 'kill of all' cluster kill 1 2 3
    fails_with 'start over dead masters' 1 'all dead.*restart.*stop' cluster start
    check 'stop clears dead masters' cluster stop
    check 'and their files' is_empty "$DIR"
}

test_data() {
    local port pid
    new_dir data
    cluster start -n 1 --no-adopt >/dev/null
    port=$(port_of 1)
    redis 1 set k killed >/dev/null
    cluster kill 1
    check 'kill: nothing answers' differ "$(redis-cli -p "$port" ping 2>/dev/null)" PONG
    cluster restart 1
    check 'kill, restart: same port' same "$(port_of 1)" "$port"
    check 'kill, restart: data lost' same "$(redis 1 get k)" ''
    redis 1 set k ended >/dev/null
    cluster term 1
    check 'term: dead' same "$(state_of 1)" dead
    cluster restart 1
    check 'term, restart: data kept' same "$(redis 1 get k)" ended
    redis 1 set k later >/dev/null
    cluster kill 1
    cluster restart 1
    check 'kill after an earlier term: back to its snapshot' same "$(redis 1 get k)" ended
    redis 1 set k running >/dev/null
    pid=$(pid_of 1)
    cluster restart 1
    check 'restart of a running master: another process' differ "$(pid_of 1)" "$pid"
    check 'restart of a running master: same port' same "$(port_of 1)" "$port"
    check 'restart of a running master: data kept' same "$(redis 1 get k)" running
    cluster restart 1 --empty
    check 'restart --empty: data lost' same "$(redis 1 dbsize)" 0
    cluster kill 1
    cluster restart 1
    check 'restart --empty: for good' same "$(redis 1 dbsize)" 0
    redis 1 config set requirepass secret >/dev/null
    fails_with 'term that cannot save says so' 1 'could not save' cluster term 1
    check 'and ended the master all the same' same "$(state_of 1)" dead
    cluster stop
}

test_persist() {
    new_dir persist
    cluster start -n 1 --persist --no-adopt >/dev/null
    check '--persist: append-only file' same "$(redis 1 config get appendonly | tail -n 1)" yes
    check '--persist: fsync at every write' same "$(redis 1 config get appendfsync | tail -n 1)" always
    redis 1 set k killed >/dev/null
    cluster kill 1
    cluster restart 1
    check '--persist, kill, restart: data kept' same "$(redis 1 get k)" killed
    redis 1 set k ended >/dev/null
    cluster term 1
    cluster restart 1
    check '--persist, term, restart: data kept' same "$(redis 1 get k)" ended
    check '--persist survives restarts' same "$(redis 1 config get appendonly | tail -n 1)" yes
    cluster restart --empty 1
    check '--persist, restart --empty: data lost' same "$(redis 1 dbsize)" 0
    cluster stop
    check '--persist: stop leaves no file' is_empty "$DIR"
}

test_pause() {
    local pid
    new_dir pause
    cluster start -n 3 --no-adopt >/dev/null
    pid=$(pid_of 2)
    redis 2 set k before >/dev/null
    check 'pause' cluster pause 2
    check 'status says paused' same "$(state_of 2)" paused
    fails_with 'status returns 3 with one paused' 3 '' cluster status
    check 'a paused master does not answer' same \
        "$(timeout 0.3 redis-cli -p "$(port_of 2)" ping 2>/dev/null)" ''
    check 'pause twice is fine' cluster pause 2
    check 'resume' cluster resume 2
    check 'a resumed master answers' same "$(redis 2 get k)" before
    check 'it is the same process' same "$(pid_of 2)" "$pid"
    check 'resume twice is fine' cluster resume 2
    cluster pause 1 2 3
    check 'restart of a paused master keeps its data' cluster restart 2
    check 'here it is' same "$(redis 2 get k)" before
    check 'term of a paused master' cluster term 1
    check 'kill of a paused master' cluster kill 3
    cluster restart 3
    cluster pause 3
    check 'stop with a paused master' cluster stop
    check 'leaves no process' nothing_runs_in "$DIR"
}

# A pidfile that outlived its master; its pid now belongs to another process.
test_foreign_process() {
    local pid start file
    new_dir foreign_process
    cluster start -n 1 --no-adopt >/dev/null
    cluster kill 1
    sleep 1000 &
    pid=$!
    disown
    HELPERS+=("$pid")
    start=$(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f20)
    file=$DIR/master-1/pid
    echo "$pid $((start - 1))" >"$file"
    check 'a foreign process counts as dead' same "$(state_of 1)" dead
    fails_with 'kill refuses it' 1 'not running' cluster kill 1
    fails_with 'pause refuses it' 1 'not running' cluster pause 1
    check 'restart starts a new one' cluster restart 1
    cluster kill 1
    echo "$pid $((start - 1))" >"$file"
    check 'stop passes it by' cluster stop
    check 'the foreign process lives' kill -0 "$pid"
    cluster start -n 1 --no-adopt >/dev/null
    cluster kill 1
    echo 'no pid' >"$file"
    check 'a broken pidfile counts as dead' same "$(state_of 1)" dead
    echo '-1 0' >"$file"
    check 'so does one that means everybody' same "$(state_of 1)" dead
    : >"$file"
    check 'so does an empty one' same "$(state_of 1)" dead
    cluster stop
}

test_ports() {
    local taken
    find_ports 3
    new_dir ports_given
    check 'start -p' cluster start -n 3 -p "$FIRST" --no-adopt
    check 'start -p takes the ports in order' same "$(cluster nodes | sed 's/:[0-9a-f]*@//g')" \
        "redis://127.0.0.1:$FIRST,redis://127.0.0.1:$((FIRST + 1)),redis://127.0.0.1:$((FIRST + 2))"
    cluster kill 1 2
    taken=$DIR
    new_dir ports_taken
    fails_with 'start -p with a port in use' 1 "master 3: port $((FIRST + 2)) is in use" \
        cluster start -n 3 -p "$FIRST" --no-adopt
    check 'ends what it had started, and leaves no file' nothing_is_left
    cluster start -n 1 -p "$FIRST" --no-adopt >/dev/null
    DIR=$taken
    fails_with 'restart when the port was taken' 1 "port $FIRST is in use" cluster restart 1
    check 'the other master did not mind' same "$(state_of 3)" running
    "$CLUSTER" stop --dir "$TMP/ports_taken"
    check 'restart once it is free' cluster restart 1
    cluster stop
}

# Stands in for redis-server: before the first real one binds, another server takes its port, and
# answers for long enough to pass for it.
make_thief() {
    cat >"$TMP/bin/thief" <<EOF
#!/usr/bin/env bash
port=\$(sed -n 's/^port //p' redis.conf | tail -n 1)
if mkdir "$TMP/stolen" 2>/dev/null; then
    (cd "$TMP/stolen" && exec "$SERVER" --port "\$port" --bind 127.0.0.1 --save '' >log 2>&1) &
    until redis-cli -p "\$port" ping >/dev/null 2>&1; do sleep 0.01; done
    echo "\$port" >"$TMP/stolen/port"
    # Others connect too: one connection was ours before, and each look takes one.
    for ((looks = 1; looks < 1000; looks++)); do
        came=\$(redis-cli -p "\$port" info stats | sed -n 's/^total_connections_received:\([0-9]*\).*/\1/p')
        ((came < looks + 3)) || break
        sleep 0.01
    done
fi
exec "$SERVER" "\$@"
EOF
    chmod +x "$TMP/bin/thief"
}

test_stolen_port() {
    local stolen
    new_dir thief
    make_thief
    check 'start when somebody takes the port meanwhile' \
        env REDLOCK_SERVER="$TMP/bin/thief" "$CLUSTER" start -n 2 --no-adopt --dir "$DIR"
    stolen=$(cat "$TMP/stolen/port")
    check 'the stolen port is not among the nodes' same "$(cluster nodes | grep -c ":$stolen\b")" 0
    check 'all run' cluster status
    check 'the master answers with its own pid' matches "$(redis 1 info server)" "process_id:$(pid_of 1)"
    check 'stop' cluster stop
    check 'the thief is not ours to end' same "$(redis-cli -p "$stolen" ping)" PONG
    redis-cli -p "$stolen" shutdown nosave >/dev/null 2>&1
}

make_programs() {
    printf '#!/bin/sh\necho "it has no mind to"\nexit 1\n' >"$TMP/bin/refuses"
    printf '#!/bin/sh\necho "thinking"\nexec sleep 1000\n' >"$TMP/bin/hangs"
    # shellcheck disable=SC2016
    printf '#!/bin/sh\necho "$REDLOCK_NODES $*" >>"%s"\n' "$TMP/adopted" >"$TMP/bin/redlock"
    printf '#!/bin/sh\necho "no quorum"\nexit 69\n' >"$TMP/bin/redlock-fails"
    chmod +x "$TMP"/bin/{refuses,hangs,redlock,redlock-fails}
}

test_failed_start() {
    local job
    make_programs
    new_dir refuses
    fails_with 'a server that ends at once: its log is shown' 1 'ended at once.*it has no mind to' \
        env REDLOCK_SERVER="$TMP/bin/refuses" "$CLUSTER" start --dir "$DIR"
    check 'nothing is left' is_empty "$DIR"
    new_dir hangs
    fails_with 'a server that never answers: its log is shown' 1 'did not answer within 10 s.*thinking' \
        env REDLOCK_SERVER="$TMP/bin/hangs" "$CLUSTER" start -n 3 --dir "$DIR"
    check 'no process and no file is left' nothing_is_left
    REDLOCK_SERVER=$TMP/bin/hangs "$CLUSTER" start -n 3 --dir "$DIR" >/dev/null 2>&1 &
    job=$!
    check 'an interrupted start was under way' eventually test -f "$DIR/master-3/pid"
    kill -TERM "$job"
    wait "$job"
    check 'an interrupted start tells by its status' same $? 143
    check 'it leaves no process and no file' nothing_is_left
    test_killed_start
}

# This stop can do nothing; the next one must find everything.
test_killed_start() {
    local job
    REDLOCK_SERVER=$TMP/bin/hangs "$CLUSTER" start -n 3 --dir "$DIR" >/dev/null 2>&1 &
    job=$!
    disown
    eventually test -f "$DIR/master-3/pid"
    kill -KILL "$job"
    eventually not_running "$job"
    fails_with 'start after a killed start' 1 'already runs.*cluster stop' cluster start
    fails_with 'nodes after a killed start' 1 'no cluster' cluster nodes
    fails_with 'status after a killed start' 3 'interrupted' cluster status
    check 'stop after a killed start' cluster stop
    check 'finds all its processes and files' nothing_is_left
}

test_adopt() {
    local nodes
    new_dir adopt
    REDLOCK=$TMP/bin/redlock "$CLUSTER" start -n 3 --dir "$DIR" >/dev/null 2>"$TMP/adopt.err"
    nodes=$(cluster nodes)
    check 'start adopts with REDLOCK' matches "$(cat "$TMP/adopted")" "^$nodes nodes --adopt "
    check 'quietly' is_empty_file "$TMP/adopt.err"
    REDLOCK=$TMP/bin/redlock cluster restart 1
    check 'restart does not adopt' same "$(wc -l <"$TMP/adopted")" 1
    cluster stop
    REDLOCK=$TMP/bin/redlock "$CLUSTER" start -n 1 --no-adopt --dir "$DIR" >/dev/null
    check '--no-adopt does not adopt' same "$(wc -l <"$TMP/adopted")" 1
    cluster stop
    REDLOCK=$TMP/bin/redlock-fails "$CLUSTER" start -n 1 --dir "$DIR" >/dev/null 2>"$TMP/adopt.err"
    check 'start goes on if adopting fails' same $? 0
    check 'and warns' matches "$(cat "$TMP/adopt.err")" 'warning.*failed with 69.*no quorum'
    cluster stop
    "$CLUSTER" start -n 1 --dir "$DIR" >/dev/null 2>"$TMP/adopt.err"
    nodes=$(cluster nodes)
    check 'without redlock start tells how to adopt' \
        matches "$(cat "$TMP/adopt.err")" "abstain for 30 s.*REDLOCK_NODES=$nodes redlock nodes --adopt"
    cluster stop
    mkdir -p "$TMP/tree/build/bin"
    cp "$TMP/bin/redlock" "$TMP/tree/build/bin/redlock"
    ln -s "$CLUSTER" "$TMP/link"
    "$TMP/link" start -n 1 --dir "$DIR" >/dev/null 2>&1
    check 'start adopts with the built redlock' matches \
        "$(tail -n 1 "$TMP/adopted")" "^$(cluster nodes) nodes --adopt "
    cluster stop
    rm -r "$TMP/tree/build"
}

test_at_once() {
    local i jobs=() failures=0
    for i in 1 2 3 4 5 6; do
        "$CLUSTER" start -n 3 --no-adopt --dir "$TMP/once-$i" >/dev/null 2>"$TMP/once-$i.err" &
        jobs+=("$!")
    done
    for i in "${jobs[@]}"; do wait "$i" || failures=$((failures + 1)); done
    check 'six clusters start at once' same "$failures" 0 "$(cat "$TMP"/once-*.err)"
    check 'all their ports differ' same \
        "$(for i in 1 2 3 4 5 6; do "$CLUSTER" nodes --dir "$TMP/once-$i" | tr , '\n'; done |
            sed 's/.*@//' | sort -u | wc -l)" 18
    for i in 2 3 4 5 6; do "$CLUSTER" stop --dir "$TMP/once-$i"; done
    check 'stop of the others spares the first' "$CLUSTER" status --dir "$TMP/once-1"
    "$CLUSTER" stop --dir "$TMP/once-1"
}

test_one_folder_at_once() {
    local i jobs=() started=0
    new_dir contested
    for i in 1 2 3 4; do
        cluster start -n 3 --no-adopt >/dev/null 2>&1 &
        jobs+=("$!")
    done
    for i in "${jobs[@]}"; do ! wait "$i" || started=$((started + 1)); done
    check 'of four starts in one folder one wins' same "$started" 1
    check 'and has three masters' same "$(processes_in "$DIR" | wc -l)" 3
    jobs=()
    for i in 1 2 3; do
        cluster restart 1 2 3 >/dev/null 2>&1 &
        jobs+=("$!")
    done
    started=0
    for i in "${jobs[@]}"; do ! wait "$i" || started=$((started + 1)); done
    check 'three restarts at once all succeed' same "$started" 3
    check 'and leave three masters' same "$(processes_in "$DIR" | wc -l)" 3
    cluster stop
    check 'stop leaves no process' nothing_runs_in "$DIR"
}

main() {
    local name
    for name in usage no_cluster programs_missing folder default_folder start servers indices data persist \
        pause foreign_process ports stolen_port failed_start adopt tls at_once one_folder_at_once; do
        echo "-- ${name//_/ }"
        "test_$name"
    done
    check 'no process is left anywhere' nothing_runs_in "$TMP"
    echo "$PASSED passed, $FAILED failed"
    ((FAILED == 0))
}

main
