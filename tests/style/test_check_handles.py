"""tools/check_handles.py finds calls that no test of handles makes: test_check_handles.py TOOLS"""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, sys.argv.pop(1))
import check_handles  # noqa: E402

HEADER = """VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarThing)
VK_DEFINE_HANDLE(MaarOwner)
/* maarCommented(MaarThing thing); */
typedef struct MaarUse {
    MaarThing thing;
} MaarUse;
typedef struct MaarSeen {
    uint32_t count;
} MaarSeen;
MAAR_API VkResult VKAPI_CALL maarMakeThing(MaarOwner owner, MaarThing* pThing);
MAAR_API void VKAPI_CALL maarEndThing(MaarOwner owner, MaarThing thing);
MAAR_API void VKAPI_CALL maarEndThings(MaarOwner owner, const MaarThing* pThings);
MAAR_API VkResult VKAPI_CALL maarUseThing(MaarOwner owner,
                                          const MaarUse* pUse);
MAAR_API VkResult VKAPI_CALL maarSee(MaarOwner owner, MaarSeen* pSeen);
"""


class Handles(unittest.TestCase):
    def run_on(self, test, header=HEADER):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "include/maar").mkdir(parents=True)
            (root / "include/maar/thing.h").write_text(header)
            (root / "test_thing.c").write_text(test)
            with mock.patch.object(check_handles, "TESTS", {"MaarThing": ("test_thing.c",)}):
                return check_handles.findings_of(root)[0]

    def test_all_calls_are_in_the_test(self):
        self.assertEqual(self.run_on("maarEndThing(a, b); maarEndThings(a, b); maarUseThing(a, b);"), [])

    def test_each_missing_call_is_found(self):
        found = self.run_on("maarEndThing(a, b);")
        self.assertEqual([line.split(":")[0] for line in found], ["maarEndThings", "maarUseThing"])

    def test_type_without_a_file_is_found(self):
        found = self.run_on("maarEndThing(a, b); maarEndThings(a, b); maarUseThing(a, b);",
                            HEADER + "VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarOther)\n")
        self.assertEqual(found, ["MaarOther: no file of tests"])


if __name__ == "__main__":
    unittest.main()
