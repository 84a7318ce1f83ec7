"""Print every skipped case of a ctest run with its reason: skipped.py tests.xml

The exit code 77 skips a whole program; cmocka skips a single case. In both cases the reason is the
last line that begins with SKIPPED: or "skipped:" before cmocka's note.
"""

import re
import sys
import xml.etree.ElementTree as xml

REASON = re.compile(r"^\s*skip(?:ped|ping)?\b\s*:?\s*(.+)$", re.IGNORECASE)
RUN = re.compile(r"^\[ RUN      \] (\S+)")
SKIPPED = re.compile(r"^\[  SKIPPED \] (\S+)$")


def skipped_cases(output):
    """Yield (case, reason) for each case that cmocka reports as skipped, in order."""
    reason, seen = None, set()
    for line in output.splitlines():
        if RUN.match(line):
            reason = None
        elif match := SKIPPED.match(line):
            if match[1] not in seen:
                seen.add(match[1])
                yield match[1], reason or "no reason given"
        elif match := REASON.match(line):
            reason = match[1]


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    lines = []
    for test in xml.parse(sys.argv[1]).getroot().iter("testcase"):
        output = test.findtext("system-out") or ""
        cases = list(skipped_cases(output))
        if test.find("skipped") is not None and not cases:
            reasons = [m[1] for m in map(REASON.match, output.splitlines()) if m]
            cases = [("", reasons[-1] if reasons else "no reason given")]
        for case, reason in cases:
            lines.append(f"  {test.get('name')}{' ' if case else ''}{case}: {reason}")
    if lines:
        print(f"\nSkipped ({len(lines)}):")
        print("\n".join(sorted(lines)))
    print()


if __name__ == "__main__":
    sys.exit(main())
