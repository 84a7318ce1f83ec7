#!/usr/bin/env python3
"""Everything that vk_mem_alloc.h offers is named by a test: test_named.py HEADER PAGE FOLDER

Each function and flag of the header, and each function, flag, field and macro in the tables of the page,
occurs in a source of the folder, but for the one with the values of all names, or in its CMakeLists.txt as
a definition. A source may spell names by a
macro of its own: FLAG(name) with `#define FLAG(name) ((Type)PREFIX_##name##_BIT)`.

Then each half is tried on a name that no test has, which must be found.
"""

import re
import sys
from pathlib import Path

SPELLING = re.compile(r"#\s*define\s+(\w+)\(name\)\s+(?:\\\n\s*)?\(\(\w+\)(\w+)##name##(\w+)\)")
# These stand for others, or only give an enumeration its size.
NO_FLAGS = re.compile(r"_MASK$|_MAX_ENUM$|^VMA_MEMORY_USAGE_MAX_ENUM$")
CODE = re.compile(r"`(\w+)(?:`|\()")
# This source has the values of all names, and tests nothing of what they mean.
LAYOUTS = "same_layouts.c"
# Other sections have the names of Maar's functions and of keys.
SECTIONS = ("## How it is built", "## What differs", "## Macros")


def words_of(path):
    text = path.read_text(encoding="utf-8")
    words = set(re.findall(r"\w+", text))
    for macro, prefix, suffix in SPELLING.findall(text):
        words.update(prefix + name + suffix for name in re.findall(rf"\b{macro}\((\w+)\)", text))
    if path.name == "CMakeLists.txt":
        words.update(re.findall(r"-D(\w+)", text))
    return words


def offered(header):
    """The functions and flags of the header."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", header, flags=re.DOTALL)
    names = set(re.findall(r"\bVMA_CALL_POST\s+(vma\w+)\s*\(", text))
    for body in re.findall(r"typedef\s+enum\s+\w+\s*\{(.*?)\}", text, re.DOTALL):
        names.update(re.findall(r"^\s*(VMA_\w+)\s*(?:=|,|$)", body, re.MULTILINE))
    return {name for name in names if not NO_FLAGS.search(name)}


def listed(page):
    """The names in the first columns of the page's tables."""
    names = set()
    section = ""
    for line in page.splitlines():
        section = line if line.startswith("## ") else section
        if section in SECTIONS and line.startswith("| "):
            names.update(CODE.findall(line.split("|")[1]))
    return {name for name in names if re.match(r"VMA_|MAAR_VMA_|vma|p[A-Z]|pfn", name)}


def missing(header, page, words):
    return sorted((offered(header) | listed(page)) - words)


def main():
    header, page, folder = (Path(argument) for argument in sys.argv[1:4])
    texts = header.read_text(encoding="utf-8"), page.read_text(encoding="utf-8")
    words = set()
    sources = (*folder.glob("*.c"), *folder.glob("*.h"), folder / "CMakeLists.txt")
    for path in (path for path in sources if path.name != LAYOUTS):
        words |= words_of(path)
    faults = [f"{name} is named by no test" for name in missing(*texts, words)]
    wrong = (texts[0] + "\ntypedef enum VmaX { VMA_X_NOWHERE_BIT = 1 } VmaX;",
             texts[1].replace("## Macros", "## Macros\n\n| `VMA_NOT_TESTED` | x |", 1))
    for text, name in ((wrong[0], "VMA_X_NOWHERE_BIT"), (wrong[1], "VMA_NOT_TESTED")):
        pair = (text, texts[1]) if text is wrong[0] else (texts[0], text)
        if name not in missing(*pair, words):
            faults.append(f"{name}, which is planted, was not found")
    for fault in faults:
        print(fault)
    print(f"{len(offered(texts[0]))} functions and flags, {len(listed(texts[1]))} names in tables")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
