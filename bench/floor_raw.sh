#!/usr/bin/env bash
# floor_raw.sh: the most that the masters can carry for any client: redis-benchmark on all of them
# at once, in pipelines of 64. One line of JSON; the figures are sums over the masters.
#
#     floor_raw.sh [REQUESTS]        masters from REDLOCK_NODES
set -euo pipefail

requests=${1:-200000}
script="if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end"
hosts=() ports=() passwords=()
# redis-benchmark takes a password only as an argument, which every user sees: it gets a user of its
# own with no other rights, removed at the end.
readonly SECRET=$RANDOM$RANDOM$RANDOM

read_nodes() {
    local node nodes password
    IFS=', ' read -ra nodes <<<"${REDLOCK_NODES:?not set}"
    for node in "${nodes[@]}"; do
        node=${node#redis://} password=
        [[ $node != *@* ]] || password=${node%@*}
        node=${node##*@}
        hosts+=("${node%:*}") ports+=("${node##*:}") passwords+=("${password#*:}")
    done
}

# on I COMMAND...: by redis-cli.
on() {
    local i=$1
    shift
    REDISCLI_AUTH=${passwords[i]} redis-cli -h "${hosts[i]}" -p "${ports[i]}" "$@"
}

drop_user() {
    local i
    for i in "${!ports[@]}"; do on "$i" acl deluser bench-raw >/dev/null; done
}

# rate COMMAND...: requests a second of this command, all masters together.
rate() {
    local i
    for i in "${!ports[@]}"; do
        redis-benchmark -h "${hosts[i]}" -p "${ports[i]}" --user bench-raw -a "$SECRET" -c 8 -P 64 \
            -n "$requests" -q --csv "$@" &
    done | awk -F'","' '/^"/ && $2 + 0 > 0 { sum += $2 } END { printf "%.0f", sum }'
}

main() {
    local sha i
    read_nodes
    trap drop_user EXIT
    for i in "${!ports[@]}"; do
        sha=$(on "$i" script load "$script")
        on "$i" acl setuser bench-raw reset on ">$SECRET" '~key:*' +set +evalsha +get +del +config >/dev/null
    done
    printf '{"scenario":"floor-raw","masters":%d,"set_per_s":%s,' "${#ports[@]}" \
        "$(rate -r 100000 set key:__rand_int__ value)"
    printf '"set_nx_px_per_s":%s,' "$(rate -r 100000 set key:__rand_int__ token NX PX 10000)"
    printf '"evalsha_per_s":%s}\n' "$(rate -r 100000 evalsha "$sha" 1 key:__rand_int__ other)"
}

main
