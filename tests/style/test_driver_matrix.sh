#!/bin/sh
# scripts/driver-matrix as far as it goes without root and network: wrong arguments end with 2 before
# anything is made, --list names the drivers. test_driver_matrix.sh SCRIPT FOLDER
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
        printf 'driver-matrix %s: exit code %s instead of %s, or no "%s":\n' "$*" "$code" "$wanted" \
            "$words"
        cat "$folder/output"
        exit 1
    fi
}

expect 2 "no folder given"
expect 2 "no such option: --frob" --frob
expect 2 "wants a value" "$folder/x" --only
expect 2 "one folder, not" "$folder/x" "$folder/y"
expect 2 "no driver is called sid.voodoo" "$folder/x" --only sid.voodoo
expect 2 "no driver is called nvk" "$folder/x" --only 'nvk'
expect 2 "no results in" "$folder/x" --table-only
expect 0 "Exit codes" --help
[ ! -e "$folder/x" ] || { echo "wrong arguments made a folder" && exit 1; }

# Every name is SUITE.RIG, and none is there twice.
"$script" --list >"$folder/list"
for name in base.lavapipe base.swiftshader base.radv-navi21 trixie.anv-dg2 sid.nvk-192 sid.turnip-740 \
    sid.honeykrisp; do
    grep -qx "$name" "$folder/list" || { echo "--list lacks $name" && exit 1; }
done
[ -z "$(sort "$folder/list" | uniq -d)" ] || { echo "--list repeats itself" && exit 1; }
if grep -Evx '(base|trixie|sid)\.[a-z]+(-[a-z0-9]+)?' "$folder/list"; then
    echo "a name is not SUITE.RIG" && exit 1
fi

# Only root gets any further.
if [ "$(id -u)" -ne 0 ]; then
    expect 77 "need root" "$folder/x"
    [ ! -e "$folder/x" ] || { echo "something was made without root" && exit 1; }
fi
