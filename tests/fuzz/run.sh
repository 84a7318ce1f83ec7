#!/bin/sh
# run.sh TARGET SECONDS [LIBFUZZER_OPTION...]: builds a fuzz target with clang (libFuzzer,
# AddressSanitizer, UndefinedBehaviorSanitizer, heavy checks) and runs it, starting from its corpus.
# run.sh all SECONDS [LIBFUZZER_OPTION...]: all targets in turn, so many seconds each.
# run.sh figures: what all runs so far add up to.
# Prints a table: seconds of CPU, executions, edges of the library reached, inputs learnt, findings.
# Exits 1 when there are findings, 77 when clang or libFuzzer is missing.
#
# MAAR_BUILD_DIR: where to build (build/fuzz). In it, fuzz/learnt/TARGET keeps what was learnt for the
# next run, fuzz/found/ the inputs that failed, fuzz/runs a line for each run.
set -eu

targets="allocator placement paging plan retire transient growth tiles sharing"
targets="$targets vma trace capture frame_graph profile descriptor dump command gguf"
targets="$targets codec store checkpoint residents"
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${MAAR_BUILD_DIR:-$root/build/fuzz}
work=$build/fuzz
what=${1:-}
seconds=${2:-}

# Sums of the lines of fuzz/runs: target, seconds of CPU, executions, edges, inputs, findings.
figures()
{
    echo "| target | CPU seconds | executions | a second | edges | inputs | findings |"
    echo "| --- | --- | --- | --- | --- | --- | --- |"
    awk '{ cpu[$1] += $2; runs[$1] += $3; found[$1] += $6
           if ($4 > edges[$1]) edges[$1] = $4
           inputs[$1] = $5
           if (!($1 in seen)) { seen[$1] = 1; order[++count] = $1 } }
         END { for (i = 1; i <= count; i++) { t = order[i]
               rate = cpu[t] == 0 ? 0 : runs[t] / cpu[t]
               printf "| `%s` | %.0f | %.0f | %.0f | %d | %d | %d |\n", t, cpu[t], runs[t], rate,
                   edges[t], inputs[t], found[t] } }' "$1"
}

if [ "$what" = figures ] && [ -f "$work/runs" ]; then
    figures "$work/runs"
    exit 0
fi
case " all $targets " in
*" ${what:-none} "*) ;;
*)
    echo "usage: run.sh TARGET|all SECONDS [LIBFUZZER_OPTION...]; run.sh figures" >&2
    echo "targets: $targets" >&2
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
[ "$what" = all ] || targets=$what

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

# shellcheck disable=SC2086 # a word for each target
programs=$(printf 'maar_fuzz_%s ' $targets)
# Where VulkanMemoryAllocator is found, the target vma is linked by the compiler of C++.
cxx=$(command -v "${CXX:-clang++}" || true)
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_C_COMPILER="$clang" -DCMAKE_BUILD_TYPE=Debug \
    ${cxx:+"-DCMAKE_CXX_COMPILER=$cxx"} \
    "-DCMAKE_C_FLAGS_DEBUG=-g -O1 -fsanitize-coverage-ignorelist=$root/tests/fuzz/uncounted.txt" \
    -DMAAR_SANITIZE=address,undefined,fuzzer-no-link \
    -DMAAR_HEAVY_CHECKS=ON >"$probe/log" || { cat "$probe/log"; exit 1; }
# shellcheck disable=SC2086
cmake --build "$build" --target $programs >"$probe/log" || { cat "$probe/log"; exit 1; }

# cmocka's assertions stop the program, so that the input is kept.
export CMOCKA_TEST_ABORT=1
export LSAN_OPTIONS="suppressions=$root/tests/lsan.supp:print_suppressions=0"
export UBSAN_OPTIONS=print_stacktrace=1

# Runs a target; its log, and a line in fuzz/runs and in $probe/runs. Without entropic scheduling,
# whose bookkeeping takes a quarter of the time of the targets that open a device.
run_target()
{
    target=$1
    shift
    log=$work/$target.log
    corpus=$root/tests/fuzz/corpus/$target
    dictionary=
    [ ! -f "$root/tests/fuzz/$target.dict" ] || dictionary=-dict=$root/tests/fuzz/$target.dict
    mkdir -p "$work/learnt/$target" "$work/found"
    # shellcheck disable=SC2086 # an empty $dictionary is no argument
    (
        status=0
        "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=60 \
            -rss_limit_mb=4096 -max_len=4096 -entropic=0 -print_final_stats=1 \
            -artifact_prefix="$work/found/$target-" $dictionary "$@" \
            "$work/learnt/$target" "$corpus" >"$log" 2>&1 || status=$?
        echo "$status" >"$probe/status"
        times >"$probe/times"
    )
    findings=0
    [ "$(cat "$probe/status")" -eq 0 ] || findings=1
    # The second line is that of the children: user and system, as 0m1.25s.
    cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, "m"); s += t[1] * 60 + t[2] }
               print s }' "$probe/times")
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    edges=$(grep -a -o 'cov: [0-9]*' "$log" | tail -n 1 | tr -cd '0-9')
    inputs=$(find "$work/learnt/$target" -type f | wc -l)
    echo "$target $cpu ${executions:-0} ${edges:-0} $inputs $findings" |
        tee -a "$work/runs" >>"$probe/runs"
    [ "$findings" -eq 0 ] ||
        grep -aE 'not so:|ERROR: |runtime error:|SUMMARY: |Test unit written to' "$log" ||
        tail -n 20 "$log"
    return "$findings"
}

worst=0
for each in $targets; do
    run_target "$each" "$@" || worst=1
done
figures "$probe/runs"
exit "$worst"
