"""Every function that a public header or a document names is declared: test_named_functions.py ROOT

Looks at words like maarVerbObject and vmaVerbObject in the public headers, comments and all, and in the
documents. A word with an ellipsis or a star stands for several. Then the check is tried on names that do
not exist, which must be found.
"""

import re
import sys
from pathlib import Path

# What declares functions: public headers, and what the repository's own programs are made of.
DECLARING = ("include/**/*.h", "vma/**/*.h", "support/**/*.h", "interop/**/*.h")
NAMING = ("include/**/*.h", "vma/include/**/*.h", "vma/*.c", "*.md", "docs/**/*.md", "samples/**/*.md",
          "interop/**/*.md")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
NAME = re.compile(r"\b(?:maar|vma)[A-Z]\w*\b(?!…|\*|\.\.\.)")
# Words that are no functions of Maar's, or that are none any more: why.
OTHERS = {
    "maarBytes": "a key of a report in JSON",
    "maarVma": "what names begin with",
    "vmaCalculateStats": "of VMA 2, which docs/from-vma.md says",
    "vmaDefragment": "the same",
    "vmaMakeAllocationLost": "the same",
}


def files(root, patterns):
    return sorted({path for pattern in patterns for path in root.glob(pattern)})


def declared(root):
    names = set()
    for path in files(root, DECLARING):
        names.update(NAME.findall(COMMENT.sub(" ", path.read_text(encoding="utf-8"))))
    return names


def strangers(text, known):
    """The lines with names that nothing declares."""
    return [(number, name) for number, line in enumerate(text.splitlines(), 1)
            for name in NAME.findall(line) if name not in known and name not in OTHERS]


def main():
    root = Path(sys.argv[1])
    known = declared(root)
    named = files(root, NAMING)
    faults = [f"{path.relative_to(root)}:{number}: nothing is called {name}" for path in named
              for number, name in strangers(path.read_text(encoding="utf-8"), known)]
    if not {"maarCreateAllocator", "vmaCreateAllocator", "maarVmaGetMaarPool"} <= known:
        faults.append("declarations are not found")
    planted = "/** See maarNowhere and vmaNowhere;\n * maarSubmit… stands for several. */"
    if strangers(planted, known) != [(1, "maarNowhere"), (1, "vmaNowhere")]:
        faults.append("names that are planted were not found")
    for fault in faults:
        print(fault)
    print(f"{len(known)} functions, {len(named)} files that name them")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
