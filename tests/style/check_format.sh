#!/bin/sh
# check_format.sh ROOT [CLANG_FORMAT]: every C file is as clang-format 14 writes it.
set -eu
root=$1
format=${2:-clang-format}
case $("$format" --version 2>/dev/null || true) in
*"version 14."*) ;;
*)
    echo "skipped: clang-format 14 is not installed"
    exit 77
    ;;
esac
cd "$root"
for room in include core backends interop layer support tools samples bench tests vma packaging; do
    [ ! -d "$room" ] || find "$room" -name '*.[ch]'
done | sort >"${TMPDIR:-/tmp}/maar-format.$$"
trap 'rm -f "${TMPDIR:-/tmp}/maar-format.$$"' EXIT
count=$(wc -l <"${TMPDIR:-/tmp}/maar-format.$$")
echo "$count files"
[ "$count" -gt 0 ]
xargs "$format" --dry-run --Werror --ferror-limit=1 <"${TMPDIR:-/tmp}/maar-format.$$"
