"""tools/amalgamate.py refuses what one file would change, and gathers the rest: test_amalgamate.py ROOT"""

import shutil
import sys
import tempfile
from pathlib import Path

root = Path(sys.argv[1])
sys.path.insert(0, str(root / "tools"))
import amalgamate  # noqa: E402

# name: (path, text, what the error says)
REFUSED = {
    "define": ("core/a.c", '/* A. */\n#define N 1\n#include "core/check.h"\n', "before an include"),
    "missing": ("core/a.c", '/* A. */\n#include "core/nowhere.h"\n', "do not contain core/nowhere.h"),
    "feature": ("core/a.c", "/* A. */\n#if defined(X)\n#define _POSIX_C_SOURCE 1\n#endif\n",
                "differently"),
    "public": ("include/maar/maar.h", "/* A. */\n#include <stdio.h>\n", "public header"),
    "endif": ("core/a.c", "/* A. */\n#if 1\n", "has no #endif"),
}

with tempfile.TemporaryDirectory() as folder:
    copy = Path(folder) / "copy"
    for part in ("core", "backends", "interop", "include", "vma"):
        shutil.copytree(root / part, copy / part)
    shutil.copy(root / "LICENSE", copy)
    whole = amalgamate.amalgamate(copy)
    for name, (path, text, said) in REFUSED.items():
        before = (copy / path).read_text() if (copy / path).exists() else None
        (copy / path).write_text(text)
        try:
            amalgamate.amalgamate(copy)
            raise AssertionError(f"{name}: not refused")
        except amalgamate.Rejected as error:
            assert said in str(error), (name, str(error))
        if before is None:
            (copy / path).unlink()
        else:
            (copy / path).write_text(before)

behind = [f"maar_{path.name}" for path in (root / "vma/include/maar").glob("*.h")]
assert sorted(whole) == sorted(["maar.c", "maar.h", "maar_simulated.c", "maar_simulated.h",
                                "maar_vma.c", "vk_mem_alloc.h", *behind])
assert "maar_vma_unit.h" in behind
for name, text in whole.items():
    assert "Permission is hereby granted" in text and text.startswith("/*\n * Maar "), name
    assert '#include "core/' not in text and '#include "maar/' not in text, name
    top = text.index("#include <") if "#include <" in text else 0
    for feature in amalgamate.FEATURES:
        assert text.find(f"#define {feature}", top) == -1, (name, feature)
for room, name in (("core", "maar.c"), ("vma", "maar_vma.c")):
    for path in (root / room).rglob("*.c"):
        if path.parent.name == "names":
            continue
        assert f"/* {path.relative_to(root).as_posix()} =" in whole[name], path
print(f"{len(REFUSED)} refused")
