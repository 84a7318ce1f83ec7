#!/bin/sh
# scripts/release refuses what is not ready, and writes what it says: test_release.sh ROOT FOLDER
set -eu
root=$1
folder=$2

skip() {
    echo "skipped: $*"
    exit 77
}
command -v git >/dev/null || skip "no git"
command -v python3 >/dev/null || skip "no Python 3"
tar --help | grep -q -- --sort || skip "tar cannot sort"

rm -rf "$folder"
mkdir -p "$folder/tree"
tree=$folder/tree
# What the script looks at, committed with some other file.
(cd "$root" && cp -R CHANGELOG.md LICENSE core include backends interop packaging tools vma scripts "$tree")
cd "$tree"
find . -name __pycache__ -prune -exec rm -rf {} +
version=$(sed -n 's/^#define MAAR_VERSION_[A-Z]* \([0-9]*\)$/\1/p' include/maar/base.h | paste -sd .)
printf '# Changelog\n\n## Unreleased\n\n## %s - 2026-11-22\n\n### Added\n\n- Things.\n' "$version" \
    >CHANGELOG.md
commit() {
    git add -A
    git -c user.name=Test -c user.email=test@example.org -c commit.gpgsign=false \
        commit -q -m "$1" --date '2026-11-22T12:00:00Z'
}
git init -q .
commit first

# refused WORDS SAID: with these arguments, for this reason.
refused() {
    code=0
    # shellcheck disable=SC2086
    scripts/release $1 >"$folder/said" 2>&1 || code=$?
    if [ "$code" -eq 0 ] || ! grep -q "$2" "$folder/said"; then
        echo "release $1: $code"
        cat "$folder/said"
        exit 1
    fi
}
with="--output $folder/out --no-test --no-build"
refused "" "not a version"
refused "1.2" "not a version"
refused "$version" "output is missing"
refused "99.0.0 $with" "says $version, not 99.0.0"
touch other
refused "$version $with" "not clean"
rm other
sed -i 's/^## Unreleased$/## Unreleased\n\n- Another./' CHANGELOG.md
commit unreleased
refused "$version $with" "section Unreleased is not empty"
sed -i -e '/Another/d' -e "s/^## $version.*/## $version/" CHANGELOG.md
commit undated
refused "$version $with" "second heading"
sed -i "s/^## $version\$/## $version - 2026-02-31/" CHANGELOG.md
commit "no such day"
refused "$version $with" "not a date"
sed -i 's/02-31/11-22/' CHANGELOG.md
commit ready
git tag "v$version" HEAD~1
refused "$version $with" "another commit"
git tag -d "v$version" >/dev/null
[ ! -e "$folder/out" ]

# shellcheck disable=SC2086
scripts/release "$version" $with
cd "$folder/out"
sha256sum --check --quiet SHA256SUMS
[ "$(find . -type f | wc -l)" -eq 4 ]
tar -tzf "maar-$version.tar.gz" >"$folder/files"
for wanted in LICENSE core/version.c amalgamation/maar.c amalgamation/maar_simulated.h; do
    grep -Fqx "maar-$version/$wanted" "$folder/files"
done
! grep -q '\.git/' "$folder/files"
grep -Fqx "source_hash = $(sha256sum "maar-$version.tar.gz" | cut -d ' ' -f 1)" maar.wrap
headers=$(find "$root/vma/include/maar" -name '*.h' | wc -l)
[ "$(tar -tzf "maar-$version-amalgamation.tar.gz" | grep -c '[^/]$')" -eq $((7 + headers)) ]
# As old as the commit, and nobody's.
tar -tvzf "maar-$version.tar.gz" --numeric-owner | awk '$2 != "0/0" { bad = 1 } END { exit bad }'
echo "9 refused, 2 archives"
