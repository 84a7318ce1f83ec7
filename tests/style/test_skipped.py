"""scripts/skipped.py names every skipped case with its reason: test_skipped.py SCRIPTS"""

import sys

sys.path.insert(0, sys.argv[1])
import skipped  # noqa: E402

OUTPUT = """[==========] Running 3 test(s).
[ RUN      ] first_case
[       OK ] first_case
[ RUN      ] second_case
skipped: no shared data
[  SKIPPED ] second_case
[ RUN      ] third_case
[  SKIPPED ] third_case
[==========] 3 test(s) run.
[  SKIPPED ] 2 test(s), listed below:
[  SKIPPED ] second_case
[  SKIPPED ] third_case
"""

found = list(skipped.skipped_cases(OUTPUT))
assert found == [("second_case", "no shared data"), ("third_case", "no reason given")], found
assert not list(skipped.skipped_cases("[ RUN      ] a\n[       OK ] a\n"))
