#!/usr/bin/env python3
"""Tests scripts/coverage_table.py: rooms, reasons, and lines that have none.

Usage: test_coverage_table.py SCRIPTS_FOLDER
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = "int f(void)\n{\n    return broken();\n    other();\n}\n"


def run(folder, reasons):
    coverage = {
        "files": [
            {
                "file": "core/room/file.c",
                "lines": [
                    {"line_number": 1, "count": 4},
                    {"line_number": 3, "count": 0},
                    {"line_number": 4, "count": 0},
                    {"line_number": 5, "count": 0, "gcovr/noncode": True},
                ],
            },
            {"file": "interop/side/file.c", "lines": [{"line_number": 4, "count": 0}]},
        ]
    }
    for place in ("core/room", "interop/side"):
        (folder / place).mkdir(parents=True, exist_ok=True)
        (folder / place / "file.c").write_text(SOURCE)
    (folder / "coverage.json").write_text(json.dumps(coverage))
    (folder / "reasons.txt").write_text(reasons)
    script = Path(sys.argv[1]) / "coverage_table.py"
    return subprocess.run(
        [sys.executable, "-B", script, folder / "coverage.json", folder / "reasons.txt", folder],
        capture_output=True,
        text=True,
        check=False,
    )


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bare = run(folder, "# a remark\nbroken\tcore/\tbroken\n")
        assert bare.returncode == 1, bare
        assert "| core/room | 3 | 1 | 33.3 % |" in bare.stdout, bare.stdout
        assert "| interop, all | 1 | 0 | 0.0 % |" in bare.stdout, bare.stdout
        assert "## broken: 1 lines, 1 of core" in bare.stdout, bare.stdout
        assert "core/room/file.c:4: other();" in bare.stdout, bare.stdout
        assert "1 lines of core without a reason" in bare.stdout, bare.stdout
        good = run(folder, "broken\tcore/\tbroken\nother\tfile\tother\nold\tcore/\tnever\n")
        assert good.returncode == 0, good
        assert "## other: 2 lines, 1 of core" in good.stdout, good.stdout
        assert "coverage_reasons.txt:3: matches no line" in good.stdout, good.stdout
    print("passed")


if __name__ == "__main__":
    main()
