"""The identifiers of messages: header, list and page agree, and the library uses each one.

test_messages.py ROOT
"""

import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1])
HEADER = re.compile(r"MAAR_MESSAGE_ID_(\w+) = (\d+),")
ROW = re.compile(r"^\| `(\w+)` \((\d+)\) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def main():
    header = [(name, number) for name, number in HEADER.findall(read("include/maar/message.h"))]
    listed = re.findall(r"X\((\w+)\)", read("core/message_list.h").split("define", 2)[2])
    rows = ROW.findall(read("docs/messages.md"))
    findings = []
    if not header:
        findings.append("include/maar/message.h: no identifier was found")
    if len({number for _, number in header}) != len(header):
        findings.append("include/maar/message.h: a number stands for two identifiers")
    if [name for name, _ in header] != [name for name in listed if name != "X"]:
        findings.append("core/message_list.h: not the identifiers of include/maar/message.h")
    if header != [(name, number) for name, number, *_ in rows]:
        findings.append("docs/messages.md: not the identifiers of include/maar/message.h, in order")
    sources = "".join(path.read_text(encoding="utf-8")
                      for room in ("core", "interop")
                      for path in sorted((ROOT / room).rglob("*.[ch]")))
    findings += [f"{name}: nothing reports it" for name, _ in header
                 if f"MAAR_MESSAGE_ID_{name}" not in sources]
    for finding in findings:
        print(finding)
    print(f"{len(header)} identifiers, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
