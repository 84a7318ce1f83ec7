#!/bin/sh
# Counts the instructions of one pair of a free and an allocation, by callgrind: those of six runs
# minus those of one run, so that filling and warming up do not count. PEER is a peer of the
# program; the default is maar-tlsf or maar. OPTION is an option of the program, such as --raw or
# --device.
#
# usage: bench/instructions.sh PROGRAM [LIVE] [PEER] [OPTION...]
set -eu

case ${1-} in
-h | --help)
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
if [ $# -lt 1 ]; then
    sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
program=$1
shift
case $(basename "$program") in
bench_placement)
    live=${1:-100000} peer=${2:-maar-tlsf} operations=100000
    defaults="--workload churn"
    ;;
bench_allocator)
    live=${1:-10000} peer=${2:-maar} operations=20000
    defaults="--workload memory --sync internal"
    ;;
*)
    echo "instructions.sh: $program is neither bench_placement nor bench_allocator" >&2
    exit 2
    ;;
esac
[ $# -lt 2 ] || shift
[ $# -lt 1 ] || shift
# These options would change the divisor or the printed values.
for option; do
    case $option in
    --live | --peer | --runs | --operations | --threads)
        echo "instructions.sh: this script sets $option itself" >&2
        exit 2
        ;;
    esac
done
if ! command -v valgrind >/dev/null; then
    echo "instructions.sh: valgrind is missing" >&2
    exit 1
fi

# Prints the instructions inside the timed loop of a number of runs.
count() {
    runs=$1
    shift
    # $defaults are several arguments.
    # shellcheck disable=SC2086
    valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        --toggle-collect='bench_operations*' "$program" $defaults --peer "$peer" \
        --live "$live" --operations "$operations" --runs "$runs" "$@" 2>&1 >/dev/null |
        sed -n 's/.*Collected : //p'
}

one=$(count 1 "$@")
six=$(count 6 "$@")
if [ -z "$one" ] || [ -z "$six" ]; then
    echo "instructions.sh: $program failed: $program $defaults --peer $peer --live $live $*" >&2
    exit 1
fi
echo "$peer, $live live${*:+, $*}: $(((six - one) / (5 * operations))) instructions a pair"
