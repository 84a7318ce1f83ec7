"""The C or C++ of a Markdown file, as a file to include: extract_blocks.py FILE.md OUT.inc [LANGUAGE]

Every block that begins with ```c, or ```LANGUAGE, is taken, in order, after a comment that says where it
stands.
"""

import pathlib
import sys


def main():
    source, out = map(pathlib.Path, sys.argv[1:3])
    begin = "```" + (sys.argv[3] if len(sys.argv) > 3 else "c")
    lines = []
    inside = False
    for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
        if not inside and line == begin:
            inside = True
            lines.append(f"/* {source.name}:{number} */")
        elif inside and line == "```":
            inside = False
        elif inside:
            lines.append(line)
    if not lines or inside:
        sys.exit(f"{source}: no block with {begin}, or one that does not end")
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
