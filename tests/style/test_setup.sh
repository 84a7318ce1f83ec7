#!/bin/sh
# test_setup.sh SETUP FOLDER: where scripts/setup finds the mirror that it takes backports from, for
# every form that an apt entry has.
set -eu
setup=$1
folder=$2
command -v apt-cache >/dev/null || {
    echo "skipped: no apt here"
    exit 77
}
failures=0

# expect NAME TEXT: what setup prints for the entries in $folder/etc must be TEXT.
expect() {
    found=$(MAAR_APT_ETC=$folder/etc "$setup" --print-backports 2>/dev/null || echo none)
    if [ "$found" != "$2" ]; then
        printf '%s: expected\n%s\nfound\n%s\n' "$1" "$2" "$found"
        failures=$((failures + 1))
    fi
}
fresh() {
    rm -rf "$folder"
    mkdir -p "$folder/etc/sources.list.d"
}
plain="Types: deb
URIs: http://mirror.example/debian
Suites: bookworm-backports
Components: main"

fresh
echo 'deb http://mirror.example/debian bookworm main' >"$folder/etc/sources.list"
expect one_line "$plain"

fresh
cat >"$folder/etc/sources.list" <<'END'
# deb http://commented.example/debian bookworm main
deb-src http://source.example/debian bookworm main
deb http://security.example/debian bookworm-security main
deb http://other.example/debian bookworm contrib # main
deb [ arch=amd64 signed-by=/keys/debian.gpg ] http://mirror.example/debian bookworm contrib main
END
expect one_line_options "$plain
Signed-By: /keys/debian.gpg"

fresh
cat >"$folder/etc/sources.list.d/debian.sources" <<'END'
Types: deb
URIs: http://security.example/debian
Suites: bookworm-security
Components: main

# the mirror
types: deb deb-src
uris: http://mirror.example/debian
suites: bookworm bookworm-updates
components: main contrib
signed-by: /keys/debian.gpg
END
expect deb822 "$plain
Signed-By: /keys/debian.gpg"

fresh
cat >"$folder/etc/sources.list.d/debian.sources" <<'END'
Enabled: no
Types: deb
URIs: http://disabled.example/debian
Suites: bookworm
Components: main

Types: deb
URIs:
 http://mirror.example/debian
Suites:
 bookworm-updates
 bookworm
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abcd
 -----END PGP PUBLIC KEY BLOCK-----
END
expect deb822_inline_key "$plain
Signed-By: 
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abcd
 -----END PGP PUBLIC KEY BLOCK-----"

fresh
echo 'deb http://mirror.example/debian trixie main' >"$folder/etc/sources.list"
expect no_entry none

rm -rf "$folder"
[ "$failures" -eq 0 ]
