"""Tests compare identifiers of messages, and no sentences.

A test may look for one word in a message: an argument, a name or a number. This check finds literals
with a blank that stand beside an identifier or are compared with the text of a message.

check_message_tests.py ROOT
"""

import re
import sys
from pathlib import Path

LITERAL = r'"(?:[^"\\]|\\.)*"'
# What a test expects: an identifier, and a literal behind it.
EXPECTED = re.compile(r"MAAR_MESSAGE_ID_\w+,\s*(" + LITERAL + ")")
# What a test compares with the text of a message.
COMPARED = re.compile(
    r"(?:\bstrn?cmp|\bstrstr|\bassert_string_equal|\brig_message_names)\(((?:[^;{\"]|" + LITERAL + r")*)[;{]")
TEXT = re.compile(r"\bpText\b|\bmessages(?:\.|->)last\b|^&?[\w.>-]*rig\b,")


def findings_of(name, source):
    found = []
    literals = [(match.start(1), match.group(1)) for match in EXPECTED.finditer(source)]
    for match in COMPARED.finditer(source):
        if TEXT.search(match.group(1)):
            literals += [(match.start(1) + at.start(), at.group(0))
                         for at in re.finditer(LITERAL, match.group(1))]
    for at, literal in sorted(set(literals)):
        if " " in literal:
            found.append(f"{name}:{source.count(chr(10), 0, at) + 1}: {literal}")
    return found


def main():
    root = Path(sys.argv[1])
    paths = sorted(path for path in (root / "tests").rglob("*.[ch]"))
    findings = [finding for path in paths
                for finding in findings_of(path.relative_to(root), path.read_text(encoding="utf-8"))]
    for finding in findings:
        print(finding)
    print(f"{len(paths)} files, {len(findings)} sentences")
    return 1 if findings or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
