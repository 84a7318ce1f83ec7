# The archives of a release, from the last commit. Scripts source this file; $root is the root of the
# sources, $name the name of the release, such as maar-0.2.0.
# shellcheck shell=sh disable=SC2154

# archives_pack STAGED ENTRY ARCHIVE: writes an archive. Equal files give equal bytes.
archives_pack() {
    tar --sort=name --format=ustar --mtime="@$(git -C "$root" log -1 --format=%ct)" --owner=0 --group=0 \
        --numeric-owner --mode=u+rwX,go+rX,go-w -cf - -C "$1" "$2" | gzip --no-name --best >"$3"
}

# archives_write FOLDER: writes both archives, Meson's wrap for the first, and their checksums to
# FOLDER/out.
archives_write() {
    archives_staged=$1/staged
    mkdir -p "$archives_staged" "$1/out"
    git -C "$root" archive --format=tar --prefix="$name/" HEAD | tar -xf - -C "$archives_staged"
    python3 -B "$archives_staged/$name/tools/amalgamate.py" --output "$archives_staged/$name/amalgamation"
    archives_pack "$archives_staged" "$name" "$1/out/$name.tar.gz"
    mkdir "$archives_staged/$name-amalgamation"
    cp -R "$archives_staged/$name/amalgamation"/* "$archives_staged/$name/LICENSE" \
        "$archives_staged/$name-amalgamation"
    archives_pack "$archives_staged" "$name-amalgamation" "$1/out/$name-amalgamation.tar.gz"
    sum=$(sha256sum "$1/out/$name.tar.gz" | cut -d ' ' -f 1)
    sed -e '/^#/d' -e "s/^source_filename = .*/&\nsource_hash = $sum/" \
        "$archives_staged/$name/packaging/meson/maar.wrap" >"$1/out/maar.wrap"
    (cd "$1/out" && sha256sum -- *.tar.gz maar.wrap >SHA256SUMS)
}
