#!/usr/bin/env python3
"""The library defines no name of the interface that it serves: test_vma_symbols.py NM LIBRARY"""

import re
import subprocess
import sys


def main():
    listed = subprocess.run([sys.argv[1], "--defined-only", "--extern-only", sys.argv[2]],
                            capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^[0-9a-f]+ [A-Z] (\w+)$", listed, re.MULTILINE)
    public = [name for name in names if name.startswith("maarVma")]
    others = [name for name in names if not name.startswith(("maarVma", "maar_vma_"))]
    for name in others:
        print(f"{name} is neither maarVma nor maar_vma_")
    print(f"{len(public)} functions")
    return 1 if others or len(public) < 70 else 0


if __name__ == "__main__":
    sys.exit(main())
