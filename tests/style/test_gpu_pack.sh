#!/bin/sh
# scripts/gpu-pack packs what it promises, at most 60 MB of it; the packed gpu-check runs from the
# archive alone, borrows what is missing, finds a driver's second library when its first one fails, and
# leaves a report wherever it is cut off. test_gpu_pack.sh ROOT BUILD FOLDER
set -eu
root=$1
build=$2
folder=$3
rm -rf "$folder"
mkdir -p "$folder/made" "$folder/there"
pack=$folder/there/maar-gpu-check
unset VK_DRIVER_FILES VK_ICD_FILENAMES LD_LIBRARY_PATH

fail() {
    printf '%s\n' "$*"
    cat "$folder/output" 2>/dev/null || true
    exit 1
}
expect() { # CODE WORDS COMMAND...
    wanted=$1 words=$2
    shift 2
    code=0
    "$@" >"$folder/output" 2>&1 </dev/null || code=$?
    [ "$code" -eq "$wanted" ] || fail "$*: exit code $code instead of $wanted"
    grep -q "$words" "$folder/output" || fail "$*: no \"$words\""
}

# ---- the archive ----

expect 2 "no such option" "$root/scripts/gpu-pack" --frob
expect 2 "wants a path that ends in" "$root/scripts/gpu-pack" --folder "$folder" --from "$build"
expect 1 "was not built" "$root/scripts/gpu-pack" --from "$folder" --out "$folder/no.tar.gz" \
    --folder "$folder/made/maar-gpu-check"
[ ! -e "$folder/no.tar.gz" ] || fail "an archive without programs"
expect 0 "bytes; unpacked" "$root/scripts/gpu-pack" --from "$build" --out "$folder/pack.tar.gz" \
    --folder "$folder/made/maar-gpu-check"
bytes=$(wc -c <"$folder/pack.tar.gz")
[ "$bytes" -le 60000000 ] || fail "the archive has $bytes bytes"
rm -rf "$folder/made"
tar -xzf "$folder/pack.tar.gz" -C "$folder/there"
for file in gpu-check maar/CMakeLists.txt maar/COMMIT maar/scripts/gpu-check \
    maar/data/traces/captured-vkcube.csv include/vulkan/vulkan_core.h include/volk.c \
    include/cmocka.h lib/libvulkan.so.1 lib/libcmocka.so.0 headers/shaders/fill_comp.h \
    programs/gpu_handshake programs/gpu_probe programs/maar programs/test_device_allocator \
    programs/language_model programs/test_vma_contents layer/VkLayer_MAAR_capture.json \
    layer/libVkLayer_maar_capture.so; do
    [ -e "$pack/$file" ] || fail "the archive lacks $file"
done

# ---- without a GPU ----

expect 2 "no such section: soup" "$pack/gpu-check" --only info,soup
expect 2 "wants seconds" "$pack/gpu-check" --limit soon
icd=$(find /usr/share/vulkan/icd.d -name 'lvp_icd*.json' 2>/dev/null | head -n 1)
if ldconfig -p 2>/dev/null | grep -q 'libcuda.so.1 '; then
    echo "skipped: a CUDA driver is here; the rest is about machines without one"
    exit 77
fi
expect 77 "no CUDA driver" "$pack/gpu-check"
[ ! -e "$pack/build" ] || fail "gpu-check left something although there is no GPU"
if [ -z "$icd" ]; then
    echo "skipped: no lavapipe, which the rest needs (Debian: mesa-vulkan-drivers)"
    exit 77
fi

# ---- on the FAKE driver ----

fake="$pack/gpu-check --dry-run-on-fake --quick --no-build"
report=$pack/build/report.md
# shellcheck disable=SC2086
expect 0 "routes: done" $fake --only handshake,routes
grep -q '^# FAKE RUN: NO GPU' "$report" || fail "no heading in capitals"
for words in '| timeline, Maar.s choice | VK_SUCCESS  | 10 of 10 |' '| routes | done |'; do
    grep -q "$words" "$report" || fail "the report lacks: $words"
done

# The first manifest names a library that fails; the second library is tried by a manifest of its own.
printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "/nonexistent.so", "api_version": "1.3.0"}}' \
    >"$folder/broken.json"
library=$(sed -n 's/.*"library_path": *"\([^"]*\)".*/\1/p' "$icd")
[ -e "$library" ] || library=$(find /usr/lib -name "$(basename "$library")" | head -n 1)
export MAAR_GPU_ICDS="$folder/broken.json" MAAR_GPU_EGL="$library"
# shellcheck disable=SC2086
expect 0 "latency: done" $fake --only latency
grep -q "| driver $folder/broken.json | vkCreateInstance fails" "$report" || fail "no failing driver"
grep -q "| driver $library, by a manifest written here | .*CPU" "$report" || fail "no second driver"
export MAAR_GPU_EGL="$folder/none.so"
# shellcheck disable=SC2086
expect 77 "no Vulkan driver finds a GPU" $fake --only latency
grep -q "| driver $folder/broken.json | vkCreateInstance fails" "$report" || fail "no report of drivers"
unset MAAR_GPU_ICDS MAAR_GPU_EGL

# The time for everything.
# shellcheck disable=SC2086
expect 1 "not begun: the time is over" $fake --only latency --limit 0
grep -q '| latency | \*\*not begun' "$report" || fail "the report does not say what was not begun"

# A build that fails is replaced by the pack's programs.
mkdir -p "$folder/bin"
printf '#!/bin/sh\necho no compiler works; exit 1\n' >"$folder/bin/cmake"
chmod +x "$folder/bin/cmake"
# shellcheck disable=SC2086
PATH=$folder/bin:$PATH expect 0 "latency: done" "$pack/gpu-check" --dry-run-on-fake --quick \
    --only latency
grep -q "| build | the pack's programs: the build failed" "$report" || fail "no word of the build"

# ---- cut off in the middle ----

# Every program prints half of what it has to say, and then hangs.
hang='#!/bin/sh
case "$*" in *--any* | *"import torch"*) echo "a device"; exit 0 ;; esac
echo "half of its words"
sleep 60'
for program in "$pack"/programs/[dglmst]*; do
    printf '%s\n' "$hang" >"$program"
done
printf '%s\n' "$hang" >"$folder/bin/ctest"
printf '%s\n' "$hang" >"$folder/bin/python"
printf '#!/bin/sh\nexit 0\n' >"$folder/bin/cmake"
chmod +x "$folder/bin/"*

cut_off() { # SIGNAL SECTION
    rm -rf "$pack/build"
    MAAR_FAKE_UUID=0 MAAR_PYTHON=$folder/bin/python PATH=$folder/bin:$PATH \
        "$pack/gpu-check" --dry-run-on-fake --only "$2" >"$folder/output" 2>&1 </dev/null &
    script=$!
    tries=0
    until grep -q 'half of its words' "$report" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 800 ] || fail "$2 does not begin"
        sleep 0.05
    done
    kill "-$1" "$script"
    wait "$script" 2>/dev/null || true
    case $2 in # programs have a row each
    device_tests | drop_in) row=test_ ;;
    moving) row=defragment ;;
    residents) row=larger_than_memory ;;
    *) row=$2 ;;
    esac
    grep -q "^| $row[a-z_]* | \*\*begun, and not ended\*\* |" "$report" ||
        fail "after SIG$1 the report does not name $2"
    [ "$1" != TERM ] || grep -q 'was cut off here' "$report" || fail "no last line after SIGTERM"
}
# Programs that SIGKILL leaves behind are this test's own.
sections=$(sed -n '/^sections="/,/"$/p' "$root/scripts/gpu-check" | tr -d '"\n' | sed 's/^sections=//')
count=0
for section in $sections suite; do
    cut_off TERM "$section"
    cut_off KILL "$section"
    count=$((count + 1))
done
# shellcheck disable=SC2009
for process in $(ps -eo pid,args | grep -F "$folder/" | grep -v grep | awk '{print $1}'); do
    [ "$process" = $$ ] || kill "$process" 2>/dev/null || true
done
[ "$count" -gt 20 ] || fail "only $count sections"
echo "$bytes bytes; $count sections cut off twice each"
