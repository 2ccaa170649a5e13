#!/usr/bin/env bash
# The runner of scenarios itself: what it repeats, and what it refuses.
#
#   runner_test.sh RUNNER SCENARIO…
set -euo pipefail
export LC_ALL=C
runner=$1
shift
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
scenario=$work/scenario.txt
failed=0

# The standard input is a scenario, but for its traces.
scenario() { cat >"$scenario"; }

traces() {
    "$runner" --update "$scenario"
    grep '^=>' "$scenario"
}

fail() {
    printf 'FAIL    %s\n' "$1"
    failed=1
}

# refused WHAT LINE MESSAGE: the scenario is refused for that, at that line.
refused() {
    local said status=0
    said=$("$runner" --update "$scenario" 2>&1 >/dev/null) || status=$?
    if [[ $status != 1 || $said != "$scenario:$2: $3"* ]]; then
        fail "$1: exit status $status, and it said: $said"
        return
    fi
    printf 'ok      %s\n' "$1"
}

same() {
    if [[ $2 == "$3" ]]; then
        printf 'ok      %s\n' "$1"
    else
        fail "$1"
        diff <(printf '%s\n' "$2") <(printf '%s\n' "$3") || true
    fi
}

# ---- Blocks ----

scenario <<'END'
masters 1
connect 1
acquire A1 job1 ttl 10s
advance 1ms
acquire A2 job2 ttl 10s
advance 1ms
repeat 2 reply 1 yes
leases
END
pasted=$(traces)

scenario <<'END'
masters 1
connect 1
repeat 2        # a lease for each turn, {n} of them
    acquire A{n} job{n} ttl 10s
    advance 1ms
end
repeat 2 reply 1 yes
leases
END
same 'a block does what its lines do, pasted' "$pasted" "$(traces)"
written=$(cat "$scenario")
"$runner" --update "$scenario"
same 'a block is written once' "$written" "$(cat "$scenario")"
"$runner" "$scenario"

scenario <<'END'
masters 1
silently connect 1
silently repeat 2
    acquire A{n} job{n} ttl 10s
    silently advance 1ms
    reply 1 yes
end
leases
END
same 'a silent block leaves no trace, what follows it does' "$(traces)" \
    '=> 0.000 connect 1
=> 0.002 2 held, 0 busy, 0 releases owed'

scenario <<'END'
masters 1
repeat 3
    connect 1
END
refused 'a block without an end' 2 'this block has no end'

scenario <<'END'
masters 1
end
END
refused 'an end without a block' 2 'end of nothing'

scenario <<'END'
masters 1
repeat 2
    repeat 2
        leases
    end
end
END
refused 'a block inside of a block' 3 'a block inside of a block (turn 1 of 2)'

scenario <<'END'
masters 1
acquire A{n} job ttl 10s
END
refused 'a turn outside of a block' 2 '{n} outside of a block'

scenario <<'END'
masters 1
repeat 3
    connect 1
end
END
refused 'an error inside of a block says in which turn' 3 'not being connected (turn 2 of 3)'

for times in '' 0 -1 x 2x 10001 99999999999999999999; do
    printf 'masters 1\nrepeat %s leases\n' "$times" | scenario
    refused "repeat '$times' times" 2 'repeat takes a number of times from 1 to 10000, and not'
done

# ---- Reasons ----

scenario <<'END'
masters 3
silently connect all
acquire A job ttl 10s wait 30s
reply 1 yes clock 1ms
reply 2 3 held clock 3ms
END
"$runner" --update "$scenario"
same 'each thing that the core does has a reason' "$("$runner" --why "$scenario" | grep '^=[>?]')" \
    '=> 0.000 connect 1 2 3
=> 0.000 send 1 2 3 grant job token-1 ttl 10s proposal none
=? the user calls acquire of A; A is asking
=> 0.000 send 1 release job token-1
=? master 3 answers held to grant; A is failing: granted, held, held (2 needed)'

sed -i 's/send 1 release/send 2 release/' "$scenario"
same 'a trace that differs is explained' "$("$runner" "$scenario" 2>&1)" "$scenario:8: the trace differs
  expected => 0.000 send 2 release job token-1
  got      => 0.000 send 1 release job token-1
which came about so:
  => 0.000 send 1 2 3 grant job token-1 ttl 10s proposal none
  =? the user calls acquire of A; A is asking
  reply 1 yes clock 1ms
  reply 2 3 held clock 3ms
  => 0.000 send 1 release job token-1
  =? master 3 answers held to grant; A is failing: granted, held, held (2 needed)"

told=0
for file; do
    if ! cmp -s "$file" <("$runner" --why "$file" | grep -v '^=?'); then
        fail "$file is another one with its reasons"
    fi
    told=$((told + $("$runner" --why "$file" | grep -c '^=?' || true)))
done
printf '%-8sreasons, %d of them, change nothing else\n' "$( ((told > 0 || $# == 0)) && echo ok)" "$told"

exit "$failed"
