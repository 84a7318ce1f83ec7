"""Writes the table of scripts/package-recipes: recipes_table.py FOLDER ROOT OUT

FOLDER/results holds a file of rows for each recipe: what was done, its result, seconds, a note; and one with the
commit that the recipe has built. Exit codes: 0 nothing failed; 1 a row failed, or there is none.
"""

import re
import sys
from pathlib import Path

TITLES = {
    "debian": "Debian packages",
    "conan": "Conan",
    "meson": "Meson's wrap",
    "vcpkg": "vcpkg",
    "wheel": "Python's wheel",
}
REMARKS = {
    "conan": "The Vulkan headers, Zstandard and LZ4 are the system's (`[platform_requires]` in Conan's profile); "
             "the recipes of other projects were not tried.",
    "vcpkg": "Empty ports stand for the packages of other projects, so that the system's headers, libraries and "
             "programs serve; the ports of those projects were not tried.",
}


def rows_of(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        what, result, seconds, note = line.split("\t")
        yield what, result, int(seconds), note


def main():
    folder, root, out = map(Path, sys.argv[1:])
    version = ".".join(re.findall(r"#define MAAR_VERSION_\w+ (\d+)",
                                  (root / "include/maar/base.h").read_text(encoding="utf-8")))
    lines = ["# Recipes for packages", "",
             f"Maar {version}, built by each recipe in [packaging](../../../packaging) in a chroot of Debian 12 that",
             "holds the release archive and what the recipe says that it needs, and used from programs there. Made by",
             "", "    scripts/package-recipes FOLDER", "",
             "Builds have no network, except the wheel's, for which pip fetches what builds it. The consumers are",
             "those of `tests/package/consumer`: C99, C++11 and C++20, VMA's interface and VMA's names.", ""]
    failed, count = 0, 0
    for recipe, title in TITLES.items():
        path = folder / "results" / f"{recipe}.tsv"
        lines += [f"## {title}", ""]
        if not path.is_file():
            lines += ["No complete run yet.", ""]
            continue
        lines += [f"Commit {path.with_suffix('.commit').read_text(encoding='utf-8').strip()}.", ""]
        if recipe in REMARKS:
            lines += [REMARKS[recipe], ""]
        lines += ["| | result | seconds | |", "| --- | --- | --- | --- |"]
        for what, result, seconds, note in rows_of(path):
            lines.append(f"| {what} | {result} | {seconds or '-'} | {note.replace('|', '/')} |")
            failed += result == "FAILED"
            count += 1
        lines.append("")
    out.write_text("\n".join(lines), encoding="utf-8")
    print(f"{out}: {count} rows, {failed} failed")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
