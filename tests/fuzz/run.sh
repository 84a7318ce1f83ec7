#!/bin/sh
# run.sh TARGET SECONDS [LIBFUZZER_OPTION...]: builds a fuzz target with clang (libFuzzer,
# AddressSanitizer, UndefinedBehaviorSanitizer, heavy checks) and runs it, starting from its corpus.
# Prints the executions and the findings; exits 1 when there are any, 77 when clang or libFuzzer is
# missing.
#
# MAAR_BUILD_DIR: where to build (build/fuzz). In it, fuzz/learnt/TARGET keeps what was learnt for the
# next run, fuzz/found/ the inputs that failed.
set -eu

targets="allocator descriptor dump frame_graph paging placement plan profile trace"
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${MAAR_BUILD_DIR:-$root/build/fuzz}
target=${1:-}
seconds=${2:-}
case " $targets " in
*" ${target:-none} "*) ;;
*)
    echo "usage: run.sh TARGET SECONDS [LIBFUZZER_OPTION...]; targets: $targets" >&2
    exit 2
    ;;
esac
case $seconds in
'' | *[!0-9]*)
    echo "run.sh: SECONDS is a number" >&2
    exit 2
    ;;
esac
shift 2

clang=${CC:-clang}
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
echo 'int LLVMFuzzerTestOneInput(const unsigned char* d, unsigned long n);
int LLVMFuzzerTestOneInput(const unsigned char* d, unsigned long n) { return d == 0 && n != 0; }' \
    >"$probe/probe.c"
if ! "$clang" -fsanitize=fuzzer,address,undefined "$probe/probe.c" -o "$probe/probe" \
    2>"$probe/log"; then
    echo "skipped: $clang with libFuzzer is not installed"
    exit 77
fi

cmake -S "$root" -B "$build" -G Ninja -DCMAKE_C_COMPILER="$clang" -DCMAKE_BUILD_TYPE=Debug \
    "-DCMAKE_C_FLAGS_DEBUG=-g -O1" -DMAAR_SANITIZE=address,undefined,fuzzer-no-link \
    -DMAAR_HEAVY_CHECKS=ON >"$probe/log" || { cat "$probe/log"; exit 1; }
cmake --build "$build" --target "maar_fuzz_$target" >"$probe/log" ||
    { cat "$probe/log"; exit 1; }

work=$build/fuzz/learnt/$target
found=$build/fuzz/found
log=$build/fuzz/$target.log
mkdir -p "$work" "$found"
dictionary=
[ ! -f "$root/tests/fuzz/$target.dict" ] || dictionary=-dict=$root/tests/fuzz/$target.dict
# cmocka's assertions stop the program, so that the input is kept.
export CMOCKA_TEST_ABORT=1
export LSAN_OPTIONS="suppressions=$root/tests/lsan.supp:print_suppressions=0"
export UBSAN_OPTIONS=print_stacktrace=1
status=0
# shellcheck disable=SC2086 # an empty $dictionary is no argument
"$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 \
    -max_len=4096 -print_final_stats=1 -artifact_prefix="$found/$target-" $dictionary "$@" \
    "$work" "$root/tests/fuzz/corpus/$target" >"$log" 2>&1 || status=$?

sed -n 's/^stat::number_of_executed_units: */executions: /p' "$log"
grep -a 'cov:' "$log" | tail -n 1 | sed 's/^#[0-9]*[[:space:]]*[A-Za-z]*[[:space:]]*//'
if [ "$status" -eq 0 ]; then
    echo "findings: none"
    exit 0
fi
echo "findings: (the whole log is $log)"
grep -aE 'not so:|ERROR: |runtime error:|SUMMARY: |Test unit written to' "$log" || tail -n 20 "$log"
exit 1
