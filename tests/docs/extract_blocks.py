"""The C of a Markdown file, as a file to include: extract_blocks.py FILE.md OUT.inc

Every block that begins with ```c is taken, in order, after a comment that says where it stands.
"""

import pathlib
import sys


def main():
    source, out = map(pathlib.Path, sys.argv[1:3])
    lines = []
    inside = False
    for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
        if not inside and line == "```c":
            inside = True
            lines.append(f"/* {source.name}:{number} */")
        elif inside and line == "```":
            inside = False
        elif inside:
            lines.append(line)
    if not lines or inside:
        sys.exit(f"{source}: no block of C, or one that does not end")
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
