# The parts of scripts/gpu-check that build programs or find those of a pack. It sources this file and
# brings its own functions and variables: say, limited, least, left and has_library, $root, $build,
# $packed, $parts, $cores, $fake, $own, $has_cmocka, $configured.
# shellcheck shell=sh disable=SC2154,SC2034

# The libraries of a pack, as far as the system has none of that name. The system's are preferred:
# they fit its C library.
borrow_libraries() {
    [ -n "$packed" ] || return 0
    mkdir -p "$build/borrowed"
    for file in "$packed"/lib/*.so.*; do
        if [ -e "$file" ] && ! has_library "$(basename "$file")"; then
            ln -sf "$file" "$build/borrowed/"
        fi
    done
    export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$build/borrowed"
}

# configure OPTION...
configure() {
    generator=
    if command -v ninja >/dev/null; then generator="-G Ninja"; fi
    set -- "$@" ${packed:+"-DCMAKE_PREFIX_PATH=$packed"} \
        ${packed:+"-DMAAR_SHADER_HEADERS=$packed/headers"} \
        ${packed:+"-DMAAR_KERNEL_HEADERS=$packed/headers"} \
        ${packed:+"-DMAAR_VMA_INCLUDE_DIR=MAAR_VMA_INCLUDE_DIR-NOTFOUND"}
    rm -f "$build/CMakeCache.txt"
    # shellcheck disable=SC2086
    limited "$(least 60 "$(left)")" cmake -S "$root" -B "$build" $generator \
        -DCMAKE_BUILD_TYPE=Release -DMAAR_BUILD_GPU_CHECKS=ON -DMAAR_BUILD_BENCH=OFF \
        "$@" ${MAAR_CMAKE_ARGUMENTS:-} >"$parts/cmake.log" 2>&1
}

# build_targets SECONDS TARGET...
build_targets() {
    seconds=$1
    shift
    limited "$(least "$seconds" "$(left)")" \
        cmake --build "$build" -j "$cores" --target "$@" >>"$parts/build.log" 2>&1
}

# Configures everything for which this machine has the libraries, and builds the experiments.
build_experiments() {
    tests=-DMAAR_BUILD_TESTS=OFF
    # The FAKE driver belongs to the tests. Nobody else needs them before a section asks.
    if [ "$has_cmocka" = yes ] && [ -z "$packed" ]; then tests=-DMAAR_BUILD_TESTS=ON; fi
    least_parts="-DMAAR_BUILD_TESTS=OFF -DMAAR_BUILD_TOOLS=OFF -DMAAR_BUILD_SAMPLES=OFF"
    for choice in "$tests" "$least_parts"; do
        # shellcheck disable=SC2086
        if configure $choice; then
            configured="Release ($choice)"
            break
        fi
        cp "$parts/cmake.log" "$parts/cmake-failed.log"
        say "cmake failed with $choice; see $parts/cmake-failed.log"
    done
    [ "$configured" != no ] || return 1
    targets=maar_gpu_check_programs
    if [ "$fake" = yes ] && [ -z "$packed" ]; then
        targets="$targets maar_FAKE_cuda maar_FAKE_kernels"
    fi
    # shellcheck disable=SC2086
    build_targets 240 $targets
}

# Prints the path of a program: the one built here, else the pack's. A pack that lies in the build folder
# is another one's.
program() {
    for folder in ${own:+"$own"} ${packed:+"$packed/programs" "$packed/layer"}; do
        path=$(find "$folder" -name maar-gpu-check -prune -o -name "$1" -type f -perm -u+x -print \
            2>/dev/null | head -n 1)
        if [ -n "$path" ]; then
            printf '%s\n' "$path"
            return
        fi
    done
}

# want PROGRAM TARGET: builds what the experiments do not need, as far as that is possible.
want() {
    if [ "$configured" != no ] && [ -z "$(find "$build" -name "$1" -type f -perm -u+x)" ]; then
        say "building $2"
        build_targets 120 "$2" || say "$2 could not be built; see $parts/build.log"
    fi
}
