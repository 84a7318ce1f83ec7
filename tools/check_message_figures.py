"""Messages about a number, a size or flags have the figures.

Whoever reads that an argument is too large needs the argument and the limit. This check finds messages
with the identifiers below whose sentence is fixed: a literal without a conversion, and without one of
the MAAR_SHOW_ macros of core/bound_check.h behind it.

check_message_figures.py ROOT
"""

import re
import sys
from pathlib import Path

ROOMS = ("core", "interop")
# What is wrong with these is a number, so the sentence has one.
WITH_FIGURES = """
    UNKNOWN_FLAGS INVALID_ENUM OUT_OF_RANGE INVALID_ALIGNMENT PENDING_AT_DESTROY MAPPED_TOO_OFTEN POOL_FULL
    HOST_TIMELINE_DECREASED ADDRESS_SPACE_EXHAUSTED BUFFER_TOO_LARGE ARRAY_FULL TILE_BUDGET_TOO_SMALL
    TOO_MANY_TIMELINES ITEMS_TOO_LARGE ITEM_NOT_LOCKED TRANSIENTS_TOO_LARGE HANDOFF_VALUE TOO_MUCH_IN_USE
""".split()
MESSAGE = re.compile(r"\bMAAR_MESSAGE_ID_(" + "|".join(WITH_FIGURES) + r")\b")
LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')
# The end of a statement, or of a line in a table of rules.
END = re.compile(r";|\},")
CONVERSION = re.compile(r"%[-+ #0-9.*]*(?:hh|h|ll|l|z|j|t)?[a-zA-Z]")


def findings_of(name, source):
    plain = LITERAL.sub(lambda literal: " " * len(literal.group(0)), source)
    for match in MESSAGE.finditer(source):
        end = END.search(plain, match.end())
        statement = source[match.end():end.start() if end else len(source)]
        sentence = "".join(literal[1:-1] for literal in LITERAL.findall(statement))
        if sentence and not CONVERSION.search(sentence) and "MAAR_SHOW_" not in statement:
            line = source.count("\n", 0, match.start()) + 1
            yield f"{name}:{line}: {match.group(1)} without a figure: {sentence[:80]}"


def main():
    root = Path(sys.argv[1])
    paths = sorted(path for room in ROOMS for path in (root / room).rglob("*.[ch]"))
    findings = [finding for path in paths
                for finding in findings_of(path.relative_to(root).as_posix(),
                                           path.read_text(encoding="utf-8"))]
    for finding in findings:
        print(finding)
    print(f"{len(paths)} files, {len(findings)} messages without their figures")
    return 1 if findings or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
