#!/bin/sh
# Instructions of one free + allocate pair, by callgrind: six runs less one run of 100,000
# operations, so that filling and warming up do not count.
#
# usage: bench/instructions.sh BENCH_PLACEMENT [LIVE] [PEER] [--raw]
set -eu

if [ $# -lt 1 ]; then
    sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
program=$1
live=${2:-100000}
peer=${3:-maar-tlsf}
sizes=${4:-}
if ! command -v valgrind >/dev/null; then
    echo "instructions.sh: valgrind is missing" >&2
    exit 1
fi

# Prints the instructions inside the timed loop of a number of runs.
count() {
    # An empty $sizes is no argument.
    # shellcheck disable=SC2086
    valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        --toggle-collect=bench_operations "$program" --workload churn --peer "$peer" \
        --live "$live" --operations 100000 --runs "$1" $sizes 2>&1 >/dev/null |
        sed -n 's/.*Collected : //p'
}

one=$(count 1)
six=$(count 6)
echo "$peer, $live live ${sizes:---rounded}: $(((six - one) / 500000)) instructions a pair"
