"""tools/check_recipes.py finds each kind of difference: test_check_recipes.py ROOT

The sources are copied, and one file after another is changed.
"""

import contextlib
import io
import shutil
import sys
import tempfile
from pathlib import Path
from unittest import mock

root = Path(sys.argv[1])
sys.path.insert(0, str(root / "tools"))
import check_recipes  # noqa: E402

DEBIAN = "packaging/debian"
PORT = "packaging/vcpkg/ports/maar"
CONAN = "packaging/conan/conanfile.py"
# File, words in it, words in their place, and words of what must be found.
CHANGES = (
    ("include/maar/base.h", "VERSION_PATCH 0", "VERSION_PATCH 7", "changelog: 0.2.0, but"),
    ("include/maar/base.h", "VERSION_MINOR 2", "VERSION_MINOR 3", "no package libmaar-vma0.3"),
    ("include/maar/base.h", "VERSION_MAJOR 0", "VERSION_MAJOR 1", "libmaar0.2 is not the name of a library of 1.2.0"),
    (f"{DEBIAN}/control", " libmaar0.2 (>= ", " libmaar0 (>= ", "libmaar0 is not the name"),
    (f"{PORT}/vcpkg.json", '"version": "', '"version": "9', "vcpkg.json: 9"),
    ("packaging/meson/maar.wrap", "directory = maar-", "directory = maar-9", "directory: 9"),
    ("packaging/meson/maar.wrap", "filename = maar-", "filename = maar-9", "source_filename: 9"),
    ("interop/python/pyproject.toml", "MAAR_VERSION_MINOR", "MAAR_VERSION_MINUTE", "pyproject.toml: None"),
    ("tests/abi/symbols.txt", "maarAcquireFromCuda\n", "maarAcquireFromCuda\nmaarAdded\n", "libmaar0.2.symbols"),
    ("tests/abi/symbols-vma.txt", "maarVmaAllocateMemory\n", "", "libmaar-vma0.2.symbols"),
    (f"{DEBIAN}/rules", "-DMAAR_ZSTD=", "-DMAAR_ZIP=", "no option MAAR_ZIP"),
    (f"{DEBIAN}/rules", "-DMAAR_BUILD_BENCH=OFF", "-DMAAR_LZ4=OFF", "whether MAAR_BUILD_BENCH"),
    ("cmake/MaarOptions.cmake", "option(MAAR_INSTALL", 'option(MAAR_BUILD_MORE "More" ON)\noption(MAAR_INSTALL',
     "whether MAAR_BUILD_MORE"),
    (f"{PORT}/vcpkg.json", '"vma": {', '"vmb": {', "the feature vmb"),
    (CONAN, '"core", ', "", "core is in one"),
    ("CMakeLists.txt", "add_subdirectory(core)", "add_subdirectory(core)\nadd_subdirectory(marrow)",
     "marrow is in one"),
    (CONAN, "bool(self.options.zstd)", "True", "zstd does not set MAAR_ZSTD"),
    (CONAN, '        "vma": [True, False],\n', "", "options and default_options differ"),
    (f"{DEBIAN}/control", " libjansson-dev,", " libyansson-dev,", "libyansson-dev"),
    (f"{DEBIAN}/control", "Package: maar-layer", "Package: maar-layers", "there is no package maar-layer"),
    (f"{DEBIAN}/copyright", "free of charge", "for a charge", "not the words of LICENSE"),
)
INSTALLED = ("usr/lib/TRIPLET/libmaar.so", "usr/lib/TRIPLET/libmaar.so.VERSION", "usr/include/maar",
             "usr/bin/maar", "usr/share/maar/profiles", "usr/share/doc/maar/LICENSE",
             "usr/share/man/man1/maar.1", "usr/lib/TRIPLET/cmake/maar/maarConfig.cmake",
             "usr/lib/TRIPLET/pkgconfig/maar.pc", "usr/lib/TRIPLET/libVkLayer_maar_capture.so",
             "usr/share/maar/novelty", "usr/lib/TRIPLET/libnovelty.so")


def found_in(tree):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), mock.patch.object(sys, "argv", ["check_recipes.py", str(tree)]):
        code = check_recipes.main()
    return code, said.getvalue()


with tempfile.TemporaryDirectory() as folder:
    tree = Path(folder)
    parts = ["CMakeLists.txt", "LICENSE", "cmake", "include/maar/base.h", "interop/python/pyproject.toml",
             "packaging", "scripts/setup", "tests/abi"]
    parts += [str(path.relative_to(root)) for path in root.glob("*/CMakeLists.txt")]
    for part in parts:
        target = tree / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if (root / part).is_dir():
            shutil.copytree(root / part, target)
        else:
            shutil.copy(root / part, target)
    code, said = found_in(tree)
    assert code == 0, said
    for name, old, new, wanted in CHANGES:
        path = tree / name
        before = path.read_text(encoding="utf-8")
        assert old in before, (name, old)
        path.write_text(before.replace(old, new, 1), encoding="utf-8")
        code, said = found_in(tree)
        assert code == 1 and wanted in said, (name, old, new, said)
        path.write_text(before, encoding="utf-8")
    with mock.patch.object(check_recipes, "installed_by", lambda build: INSTALLED):
        faults = "\n".join(check_recipes.check_files(tree, tree))
    assert "libnovelty.so is in 0 of Debian's packages" in faults, faults
    assert "novelty is in 1" not in faults and "share/maar" not in faults, faults
    assert "libmaar-vma0.2.install: nothing is installed as" in faults, faults
print(f"{len(CHANGES) + 2} changes found")
