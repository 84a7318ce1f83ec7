# The sections of scripts/gpu-check that are programs of the tree rather than experiments. It sources
# this file and brings its own functions and variables: run, missing, limited, least, left, want and
# program, $root, $build, $packed, $parts, $out, $cores, $fake, $fake_arguments, $quick, $device,
# $has_cmocka, $configured.
# shellcheck shell=sh disable=SC2154,SC2034

device_tests="test_device_allocator test_reservation_device test_handoff_device
    test_sparse_image_device test_tile_cache_device test_transient_device"
moving_tests="test_move_contents test_moved_images test_page_contents test_ordered_contents"
residents_tests="test_resident_contents test_resident_images test_resident_checkpoint
    test_buffer_cache_contents"
drop_in_tests="test_vma_contents"

run_info() {
    want maar maar_tool
    maar=$(program maar)
    if [ -z "$maar" ]; then
        missing info "the command was not built"
        return 0
    fi
    title="maar info" boxed=yes run info 30 "$maar" info
}

run_particles() {
    want shared_particles maar_sample_shared_particles
    path=$(program shared_particles)
    if [ -z "$path" ]; then
        missing particles "the sample was not built"
        return 0
    fi
    frames=240
    [ -z "$quick" ] || frames=10
    # The FAKE device is to be taken for lavapipe's.
    if [ "$fake" = yes ] && [ -z "${MAAR_FAKE_UUID:-}" ]; then
        # shellcheck disable=SC2086
        limited 20 "$(program gpu_properties)" --quick $fake_arguments >"$parts/uuid" 2>&1 || true
        MAAR_FAKE_UUID=$(sed -n 's/.*Vulkan deviceUUID: .\([0-9a-f]*\).*/\1/p' "$parts/uuid")
        export MAAR_FAKE_UUID
    fi
    for route in cuda process; do
        # shellcheck disable=SC2086
        title="Shared particles, route $route" boxed=yes run "particles_$route" 45 "$path" \
            --route "$route" --frames $frames ${device:+--device "$device"} $fake_arguments \
            --out "$(dirname "$out")/shared_particles_$route.png"
    done
}

# A section is one program: a shell. Each replay has a limit of its own, and prints one line of JSON.
# shellcheck disable=SC2016
replay_all='
    maar=$1 quick=$2 root=$3 shared=$4 worst=0
    for trace in "$root"/data/traces/*.csv "$shared"/traces/*.csv.gz; do
        [ -f "$trace" ] || continue
        case $trace in
        */captured-*) strategies="dedicated auto" verify=--verify ;;
        *) strategies="auto sparse" verify= ;;
        esac
        [ -z "$quick" ] || [ "$trace" = "$root/data/traces/captured-vkcube.csv" ] || continue
        for strategy in $strategies; do
            code=0
            timeout -k 5 30 "$maar" replay "$trace" --strategy "$strategy" $verify --json || code=$?
            # One allocation per resource may exceed the limit of the device.
            if [ "$code" -ne 0 ] && [ "$strategy" != dedicated ]; then
                worst=1
                printf "%s with %s: exit code %s\n" "$trace" "$strategy" "$code" >&2
            fi
        done
    done
    exit "$worst"'

run_replays() {
    want maar maar_tool
    maar=$(program maar)
    if [ -z "$maar" ]; then
        missing replay "the command was not built"
        return 0
    fi
    shared=${MAAR_SHARED_DATA:-${packed:+$packed/data}}
    title="Replays" boxed=yes run replay 120 sh -u -c "$replay_all" replays "$maar" "$quick" "$root" \
        "${shared:-/nonexistent}"
    if command -v python3 >/dev/null &&
        python3 "$root/scripts/demo_table.py" "$parts/replay.out" >"$parts/replay.table" \
            2>/dev/null; then
        { cat "$parts/replay.table" && echo; } >>"$parts/body.md"
    fi
}

run_torch() {
    script=$root/samples/torch_on_vulkan_buffer.py
    library=$build/shared/libmaar.so
    python=${MAAR_PYTHON:-python3}
    if ! limited 60 "$python" -c 'import torch' 2>"$parts/import.log"; then
        missing torch "PyTorch cannot be imported"
        return 0
    fi
    if [ "$configured" != no ] && [ ! -f "$library" ]; then
        {
            limited "$(least 60 "$(left)")" cmake -S "$root" -B "$build/shared" \
                -DCMAKE_BUILD_TYPE=Release ${packed:+"-DCMAKE_PREFIX_PATH=$packed"} \
                -DBUILD_SHARED_LIBS=ON -DMAAR_BUILD_TESTS=OFF -DMAAR_BUILD_GPU_CHECKS=OFF \
                -DMAAR_BUILD_TOOLS=OFF -DMAAR_BUILD_SAMPLES=OFF -DMAAR_BUILD_BENCH=OFF &&
                limited "$(least 120 "$(left)")" \
                    cmake --build "$build/shared" --target maar -j "$cores"
        } >"$parts/shared.log" 2>&1 || say "libmaar.so for Python was not built"
    fi
    route=cuda
    [ "$fake" = no ] || route=torch
    title="PyTorch on a Vulkan buffer" boxed=yes run torch 90 env MAAR_LIBRARY="$library" \
        PYTHONPATH="$root/interop/python" "$python" "$script" --route $route
}

# run_tests TEST...: tests that open the first device that the loader finds.
run_tests() {
    for test in "$@"; do
        [ "$has_cmocka" = no ] || want "$test" "maar_test_$test"
        path=$(program "$test")
        if [ -z "$path" ]; then
            missing "$test" "it was not built"
        else
            title="$test" boxed=yes run "$test" 60 env MAAR_RIG=gpu "$path"
        fi
    done
}

# run_sample NAME ARGUMENT...: a sample that renders what moves or comes and goes, and compares it with
# what stays.
run_sample() {
    sample=$1
    shift
    want "$sample" "maar_sample_$sample"
    path=$(program "$sample")
    if [ -z "$path" ]; then
        missing "$sample" "the sample was not built"
        return 0
    fi
    title="The sample $sample" boxed=yes run "$sample" 60 "$path" ${device:+--device "$device"} "$@"
}

# shellcheck disable=SC2086 # lists of words
run_moving() {
    run_sample defragment ${quick:+--planets 60 --frames 8} --json
    run_tests $moving_tests
}

# shellcheck disable=SC2086
run_residents() {
    run_sample larger_than_memory ${quick:+--bays 20 --frames 12} --json
    run_sample language_model ${quick:+--layers 8 --tokens 8} --json
    run_tests $residents_tests
}

# shellcheck disable=SC2086
run_drop_in() { run_tests $drop_in_tests; }

# The layer records a sample; the command reads the capture.
# shellcheck disable=SC2016
record_sample='
    maar=$1 sample=$2 folder=$3
    shift 3
    "$maar" capture --uses --output "$folder/" -- "$sample" "$@" &&
        for file in "$folder"/*.maarcap; do
            "$maar" advise "$file" || exit 1
            "$maar" convert "$file" --output "$folder/trace.csv" &&
                "$maar" replay "$folder/trace.csv" --json || exit 1
        done'

run_layer() {
    want maar maar_tool
    want defragment maar_sample_defragment
    want libVkLayer_maar_capture.so maar_layer
    maar=$(program maar)
    path=$(program defragment)
    layer=$(program libVkLayer_maar_capture.so)
    if [ -z "$maar" ] || [ -z "$path" ] || [ -z "$layer" ]; then
        missing layer "the command, the sample or the layer was not built"
        return 0
    fi
    rm -rf "$parts/captures"
    mkdir -p "$parts/captures"
    # shellcheck disable=SC2086
    title="A sample under the layer of captures" boxed=yes run layer 60 \
        sh -u -c "$record_sample" layer "$maar" "$path" "$parts/captures" \
        --planets 60 --frames 8 ${device:+--device "$device"}
}

# shellcheck disable=SC2086
run_device_tests() { run_tests $device_tests; }

run_suite() {
    if [ "$has_cmocka" = no ]; then
        missing suite "the tests need cmocka"
        return 0
    fi
    if [ "$configured" = no ]; then
        missing suite "there is no build"
        return 0
    fi
    say "building the suite"
    if ! configure -DMAAR_BUILD_TESTS=ON || ! build_targets "$(left)" all; then
        missing suite "it could not be built in the time that is left; see $parts/build.log"
        failed=1
        return 0
    fi
    # Rigs name their own drivers.
    # shellcheck disable=SC2086
    title="The suite, on the rigs that this machine has" boxed=yes run suite 3000 \
        env -u VK_DRIVER_FILES -u VK_ICD_FILENAMES ctest --test-dir "$build" --parallel "$cores" \
        --no-label-summary ${quick:+-L headers}
}
