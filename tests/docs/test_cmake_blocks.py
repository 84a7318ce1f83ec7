"""The CMake in the documents: each block makes a project of it that configures, with a program that is
linked with Maar; where Maar is an installed one, the program is built and run.

test_cmake_blocks.py --cmake=PROGRAM --compiler=PROGRAM --vulkan=FOLDER --root=ROOT --build=FOLDER
                     --work=FOLDER [--cxx=PROGRAM] PAGE...

--build is installed below --work. Maar from its sources is configured here and built by package.*.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

from markdown_blocks import blocks_of

HEAD = """cmake_minimum_required(VERSION 3.21)
project(reader LANGUAGES {language})
add_executable(program {source})
"""
# Pages whose reader has no compiler of C.
IN_CPP = ("docs/cpp.md",)
PROGRAM = """#include <maar/maar.h>
int main(void)
{
    return maarGetVersion() == MAAR_VERSION ? 0 : 1;
}
"""


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        print(" ".join(map(str, command)), "failed:", done.stdout, done.stderr, sep="\n")
        sys.exit(1)
    return done.stdout


def make_project(options, folder, block):
    folder.mkdir()
    language, source, compiler = "C", "program.c", f"-DCMAKE_C_COMPILER={options.compiler}"
    if block.page in IN_CPP:
        language, source, compiler = "CXX", "program.cpp", f"-DCMAKE_CXX_COMPILER={options.cxx}"
    (folder / "CMakeLists.txt").write_text(HEAD.format(language=language, source=source) + block.text,
                                           encoding="utf-8")
    (folder / source).write_text(PROGRAM, encoding="utf-8")
    if "third_party" in block.text:
        (folder / "third_party").mkdir()
        os.symlink(options.root, folder / "third_party/maar")
    build = folder / "build"
    run(options.cmake, "-S", folder, "-B", build, "-G", "Ninja",
        compiler, f"-DMAAR_VULKAN_INCLUDE_DIR={options.vulkan}",
        f"-DCMAKE_PREFIX_PATH={options.work / 'prefix'}")
    if "find_package" in block.text:
        run(options.cmake, "--build", build)
        run(build / "program")
    elif "libmaar" not in run("ninja", "-C", build, "-t", "query", "program"):
        print(f"{block}: the program is not linked with Maar")
        sys.exit(1)


def main():
    parser = argparse.ArgumentParser()
    for name in ("cmake", "compiler", "vulkan"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("root", "build", "work"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--cxx", default="")
    parser.add_argument("pages", nargs="+")
    options = parser.parse_args()
    if not shutil.which("ninja"):
        print("skipped: no Ninja")
        return 77
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    run(options.cmake, "--install", options.build, "--prefix", options.work / "prefix")
    count = 0
    for page in options.pages:
        text = (options.root / page).read_text(encoding="utf-8")
        for block in blocks_of(page, text):
            if block.language == "cmake" and not (page in IN_CPP and not options.cxx):
                make_project(options, options.work / str(count), block)
                count += 1
    print(f"{count} blocks")
    shutil.rmtree(options.work)
    return 0 if count > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
