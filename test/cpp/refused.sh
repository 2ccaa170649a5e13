#!/usr/bin/env bash
# Mistakes with redlock.hpp that do not compile, and what the compiler says of them.
#
#   test/cpp/refused.sh COMPILER INCLUDE_DIR
set -euo pipefail
compiler=$1 include=$2 missed=0

# says STATEMENTS: what the compiler says of a function with them.
says() {
    printf '#include <redlock.hpp>\nusing namespace std::chrono_literals;\nusing namespace redlocks;
void function(client &c, lease &l) { (void)c, (void)l; %s }\n' "$1" |
        "$compiler" -std=c++17 -x c++ "-I$include" -fsyntax-only - 2>&1
}

refuses() {
    local said
    if said=$(says "$1") || [[ $said != *"$2"* ]]; then
        echo "not refused, or not because of '$2': $1"
        missed=1
    fi
}

says 'auto f = [](const redlock_event &) noexcept {}; auto m = c.acquire("x", terms().wait(1s).hear(f));' ||
    missed=1
refuses 'auto f = [](const redlock_event &) {}; terms().hear(f);' 'make the callback noexcept'
refuses 'terms().hear([](const redlock_event &) noexcept {});' 'hear'
refuses 'terms().ttl(5us);' 'ttl'
refuses 'lease copy = l;' 'lease'
refuses 'client copy = c;' 'client'
refuses 'loop_lease a, b = std::move(a);' 'loop_lease'
refuses 'bool held = l;' 'bool'
((!missed))
