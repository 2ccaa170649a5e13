#!/usr/bin/env bash
# servers.sh: three members of etcd or ZooKeeper on loopback, their data in memory (/dev/shm),
# which flatters them.
#
#     servers.sh start etcd|zookeeper FOLDER     prints the value for PEER_NODES
#     servers.sh stop FOLDER
set -euo pipefail

readonly READY_S=20

die() {
    echo "servers.sh: $1" >&2
    exit 1
}

# free_ports N: N ports without a listener.
free_ports() {
    python3 - "$1" <<'PY'
import socket, sys
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in sockets:
    s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))
PY
}

launch() {
    local log=$1
    shift
    setsid "$@" >"$log" 2>&1 </dev/null &
    echo $! >>"$folder/pids"
}

start_etcd() {
    local ports i list=() clients=()
    command -v etcd >/dev/null || die 'etcd is not installed'
    read -ra ports <<<"$(free_ports 6)"
    for i in 0 1 2; do
        list+=("m$i=http://127.0.0.1:${ports[i + 3]}")
        clients+=("127.0.0.1:${ports[i]}")
    done
    for i in 0 1 2; do
        launch "$folder/etcd$i.log" etcd --name "m$i" --data-dir "$folder/etcd$i" \
            --listen-client-urls "http://${clients[i]}" --advertise-client-urls "http://${clients[i]}" \
            --listen-peer-urls "${list[i]#*=}" --initial-advertise-peer-urls "${list[i]#*=}" \
            --initial-cluster "$(IFS=,; echo "${list[*]}")" --initial-cluster-state new
    done
    nodes=$(IFS=,; echo "${clients[*]}") ready=(etcd_ready)
}

etcd_ready() { ETCDCTL_API=3 etcdctl --endpoints "$nodes" endpoint health >/dev/null 2>&1; }

start_zookeeper() {
    local ports i clients=() jar=/usr/share/java/zookeeper.jar
    command -v java >/dev/null && [[ -e $jar ]] || die 'ZooKeeper is not installed'
    read -ra ports <<<"$(free_ports 9)"
    for i in 0 1 2; do
        clients+=("127.0.0.1:${ports[i]}")
        mkdir -p "$folder/zk$i"
        echo "$((i + 1))" >"$folder/zk$i/myid"
        {
            printf '%s\n' tickTime=2000 initLimit=10 syncLimit=5 maxClientCnxns=0 \
                admin.enableServer=false 4lw.commands.whitelist=srvr
            printf 'dataDir=%s\nclientPort=%s\nclientPortAddress=127.0.0.1\n' "$folder/zk$i" "${ports[i]}"
            local j
            for j in 0 1 2; do
                printf 'server.%d=127.0.0.1:%d:%d\n' "$((j + 1))" "${ports[j + 3]}" "${ports[j + 6]}"
            done
        } >"$folder/zk$i.cfg"
        launch "$folder/zk$i.log" java -Xmx256m -cp "/etc/zookeeper/conf:$jar" \
            -Dzookeeper.log.dir="$folder" org.apache.zookeeper.server.quorum.QuorumPeerMain "$folder/zk$i.cfg"
    done
    nodes=$(IFS=,; echo "${clients[*]}") ready=(zookeeper_ready)
}

# A server that is not in a quorum yet says that it does not serve requests.
zookeeper_ready() {
    local member
    for member in ${nodes//,/ }; do
        { exec 3<>"/dev/tcp/127.0.0.1/${member#*:}"; } 2>/dev/null || return 1
        echo srvr >&3
        timeout 2 cat <&3 | grep -q '^Mode' || return 1
        exec 3>&-
    done
}

start() {
    mkdir -p "$folder"
    "start_$1"
    local end=$((SECONDS + READY_S))
    until "${ready[@]}"; do
        ((SECONDS < end)) || { stop; die "$1 did not come up in $READY_S s"; }
        sleep 0.2
    done
    echo "$nodes"
}

stop() {
    local pid
    if [[ -e $folder/pids ]]; then
        while read -r pid; do kill -KILL "$pid" 2>/dev/null || true; done <"$folder/pids"
    fi
    rm -rf -- "$folder"
}

case ${1:-} in
    start) folder=${3:?} && start "$2" ;;
    stop) folder=${2:?} && stop ;;
    *) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 64 ;;
esac
