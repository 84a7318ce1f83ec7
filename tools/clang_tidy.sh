#!/bin/sh
# Runs clang-tidy 14 with the checks of .clang-tidy over library, support and tools, or over the files
# that match PATTERN. Configures the folder BUILD (default: build/tidy) and builds only the generated
# headers of shaders. Exits with 1 if there is a finding, with 77 without clang-tidy 14.
#
# usage: tools/clang_tidy.sh [BUILD [PATTERN]]
set -eu

case ${1-} in
-h | --help)
    sed -n '2,6s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
-*)
    echo "clang_tidy.sh: no such option: $1; see --help" >&2
    exit 2
    ;;
esac
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$root/build/tidy}
pattern=${2:-/(core|backends|interop|layer|support|tools)/}
if ! command -v run-clang-tidy-14 >/dev/null || ! command -v clang-14 >/dev/null; then
    echo "clang_tidy.sh: clang-tidy 14 is not installed (Debian: clang-14 clang-tidy-14)" >&2
    exit 77
fi
cmake -S "$root" -B "$build" -DCMAKE_C_COMPILER=clang-14 -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >"$build.log" 2>&1 || {
    cat "$build.log" >&2
    exit 1
}
cmake --build "$build" --target maar_shader_fill_comp maar_shader_verify_comp >/dev/null
# A file of several programs occurs several times.
status=0
run-clang-tidy-14 -quiet -p "$build" "$root$pattern.*\.c\$" >"$build.log" 2>&1 || status=1
sed 's/\x1b\[[0-9;]*m//g' "$build.log" | grep -E '(error|warning): |terminated by signal' |
    sort -u || true
echo "$(grep -c '^clang-tidy-14 ' "$build.log" || true) files, log: $build.log"
exit $status
