"""Results are printed by name, and sizes by one formatter, in messages and programs.

In the library, no text says "%llu bytes" or "%zu bytes": maar_show_bytes writes the bytes and the
MiB. In the library and its programs, no text takes a VkResult as a number: maarGetResultName names
it.

test_message_forms.py ROOT
"""

import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1])
LIBRARY = ("core", "interop", "vma")
PROGRAMS = ("bench", "samples", "tools")
SIZE = re.compile(r'"[^"]*%(?:ll|z)u bytes')
# A result that is passed on as a number.
RESULT = re.compile(r"\(int\)\s*(?:\w+(?:->|\.))*(?:result|failed|waited)\b|VkResult %d|\(error %d\)")
# Results of other APIs, and programs that do not link the library.
OTHERS = ("interop/cuda/", "interop/hip/", "samples/from_vma/", "tools/trace/")
# The formatter itself.
FORMATTER = "core/report.c"


def findings(path):
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT).as_posix()
    for number, line in enumerate(text.split("\n"), 1):
        if name.split("/")[0] in LIBRARY and name != FORMATTER and SIZE.search(line):
            yield f"{name}:{number}: a size without maar_show_bytes: {line.strip()}"
        if RESULT.search(line) and not name.startswith(OTHERS):
            yield f"{name}:{number}: a result as a number: {line.strip()}"


def main():
    files = [path for room in LIBRARY + PROGRAMS for path in sorted((ROOT / room).rglob("*.[ch]"))]
    found = [finding for path in files for finding in findings(path)]
    for finding in found:
        print(finding)
    print(f"{len(files)} files, {len(found)} findings")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
