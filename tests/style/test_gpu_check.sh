#!/bin/sh
# scripts/gpu-check where there is no GPU: it says so at once and ends with 77, and nothing is built;
# wrong arguments end with 2. With a build folder, a trial on the FAKE CUDA driver.
# test_gpu_check.sh SCRIPT FOLDER [BUILD]
set -eu
script=$1
folder=$2
build=${3:-}
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
# A trial on the FAKE CUDA driver: programs of the tree are found, one section after another.
if [ -d "$build" ]; then
    if [ -z "$(find /usr/share/vulkan/icd.d -name 'lvp_icd*.json' 2>/dev/null)" ]; then
        echo "skipped: the trial needs lavapipe"
        exit 0
    fi
    expect 0 "layer: done" --dry-run-on-fake --no-build --build "$build" --out "$folder/trial.md" \
        --quick --only moving,layer
    for section in defragment test_move_contents test_moved_images test_page_contents \
        test_ordered_contents layer; do
        if ! grep -q "^| $section | done |" "$folder/trial.md"; then
            echo "gpu-check: the section $section was not done"
            exit 1
        fi
    done
fi
