#!/bin/sh
# scripts/gpu-check where there is no GPU: it says so at once and ends with 77, and nothing is built;
# wrong arguments end with 2. test_gpu_check.sh SCRIPT FOLDER
set -eu
script=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"

expect() { # CODE WORDS ARGUMENT...
    wanted=$1
    words=$2
    shift 2
    code=0
    "$script" "$@" >"$folder/output" 2>&1 </dev/null || code=$?
    if [ "$code" -ne "$wanted" ] || ! grep -q "$words" "$folder/output"; then
        printf 'gpu-check %s: exit code %s instead of %s, or no "%s":\n' "$*" "$code" "$wanted" \
            "$words"
        cat "$folder/output"
        exit 1
    fi
}

expect 2 "no such option" --frob
expect 2 "wants a value" --out
expect 2 "no such section: soup" --only info,soup
if python3 -c 'import ctypes; ctypes.CDLL("libcuda.so.1")' 2>/dev/null; then
    echo "skipped: a CUDA driver is here; the rest is about machines without one"
    exit 77
fi
expect 77 "no CUDA driver" --build "$folder/build" --out "$folder/report.md"
if [ -e "$folder/build" ] || [ -e "$folder/report.md" ]; then
    echo "gpu-check left something although there is no GPU"
    exit 1
fi
