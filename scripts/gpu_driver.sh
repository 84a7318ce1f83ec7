# The parts of scripts/gpu-check that look for libraries and for the Vulkan driver. It sources this file
# and brings its own functions and variables: say and limited, $fake, $egl, $icds, $parts, $probe.
# shellcheck shell=sh disable=SC2154

library_folders="/lib /lib64 /usr/lib /usr/lib64 /usr/local/lib /lib/$(uname -m)-linux-gnu
    /usr/lib/$(uname -m)-linux-gnu"
# Prints the folder of a library that the loader finds by name only with LD_LIBRARY_PATH.
find_outside() {
    for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/lib/wsl/lib; do
        if [ -e "$folder/$1" ]; then
            printf '%s\n' "$folder"
            return
        fi
    done
}

# Returns whether the system finds a library by name.
has_library() {
    for folder in $(printf '%s' "${LD_LIBRARY_PATH:-}" | tr ':' ' ') $library_folders; do
        [ ! -e "$folder/$1" ] || return 0
    done
    for ldconfig in ldconfig /sbin/ldconfig; do
        # The cache may name what is gone.
        cached=$("$ldconfig" -p 2>/dev/null | sed -n "s/^[[:space:]]*$1 .*=> //p" | head -n 1)
        [ -z "$cached" ] || [ ! -e "$cached" ] || return 0
    done
    outside=$(find_outside "$1")
    [ -n "$outside" ] || return 1
    export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$outside"
}

find_nvidia_icds() {
    for file in /etc/vulkan/icd.d/nvidia*.json /usr/share/vulkan/icd.d/nvidia*.json \
        /usr/local/share/vulkan/icd.d/nvidia*.json \
        /usr/local/nvidia/share/vulkan/icd.d/nvidia*.json; do
        [ ! -f "$file" ] || printf '%s\n' "$file"
    done
}

# try_driver MANIFEST WORDS: whether a device is found by it alone. Both names are set, since loaders
# before 1.3.207 know only the second.
try_driver() {
    export VK_DRIVER_FILES="$1" VK_ICD_FILENAMES="$1"
    code=0
    # shellcheck disable=SC2046
    limited 20 "$probe" $([ "$fake" = no ] || echo --any) >"$parts/probe.out" 2>"$parts/probe.log" ||
        code=$?
    found=$(tr '\n' ';' <"$parts/probe.out" | sed 's/;$//')
    printf '| driver %s | %s |\n' "$2" "${found:-nothing, exit code $code}" >>"$parts/drivers"
    say "driver $2: ${found:-nothing, exit code $code}"
    return "$code"
}

# write_manifest LIBRARY: prints the path.
write_manifest() {
    manifest=$parts/$(basename "$1" | tr -c 'A-Za-z0-9_\n' '_').json
    printf '{"file_format_version": "1.0.0",\n "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' \
        "$1" >"$manifest"
    printf '%s\n' "$manifest"
}

# The manifests that are there first. libGLX_nvidia, which they name, wants X libraries and fails on
# machines without a display; libEGL_nvidia does not.
choose_driver() {
    given=${VK_DRIVER_FILES:-${VK_ICD_FILENAMES:-}}
    if [ -n "$given" ] && [ -z "${MAAR_GPU_ICDS:-}" ]; then
        try_driver "$given" "given by the environment" && return 0
        return 1
    fi
    for manifest in $icds; do
        try_driver "$manifest" "$manifest" && return 0
    done
    for library in "$egl" libGLX_nvidia.so.0; do
        if { [ "$fake" = no ] && has_library "$library"; } || [ -e "$library" ]; then
            try_driver "$(write_manifest "$library")" "$library, by a manifest written here" && return 0
        fi
    done
    return 1
}
