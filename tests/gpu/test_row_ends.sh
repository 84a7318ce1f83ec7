#!/bin/sh
# Each row of row_ends ends as it should, and no end spoils the rows after it.
# test_row_ends.sh PROGRAM FOLDER
set -eu
program=$1
folder=$2
mkdir -p "$folder"

code=0
"$program" >"$folder/output" 2>"$folder/errors" </dev/null || code=$?
[ "$code" -ne 77 ] || exit 77
fail() {
    printf '%s; exit code %s, output:\n' "$1" "$code"
    cat "$folder/output" "$folder/errors"
    exit 1
}
[ "$code" -eq 1 ] || fail "rows that fail must fail the program"
expect() { grep -qF "$1" "$folder/output" || fail "no line has: $1"; }
expect "| in order | right |"
expect "| failing | **FAILED: it does not hold** |"
expect "| half a line, then  **ended by signal 6 (Aborted)** |"
expect "| endless |  **ended by the limit of 5 s** |"
expect "| row 0.4: **ended with exit code 3** |"
expect "| the last one | right |"
[ "$(grep -c '^| ' "$folder/output")" -eq 9 ] || fail "not 9 lines of a table"

# A limit around the program leaves no child behind.
timeout -k 5 1 "$program" --row 0.3 >/dev/null 2>&1 </dev/null && fail "row 0.3 came to an end"
code=0
timeout -k 5 2 "$program" >"$folder/output" 2>"$folder/errors" </dev/null || code=$?
[ "$code" -eq 124 ] || fail "the program is done before its endless row"
sleep 0.2
# shellcheck disable=SC2009
if ps -eo args | grep -F -- "$program --row" | grep -qv grep; then
    fail "a row outlived its program"
fi
