"""The API reference by Doxygen: no warning, and every exported function in it.

test_reference.py --doxygen=PROGRAM --doxyfile=FILE --root=ROOT --work=FOLDER SYMBOLS...

Doxyfile is the one of the target maar_docs; here it writes below --work. Then once more with a header
from which the description of a parameter was taken, which must fail.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys


def make(options, name, include):
    folder = options.work / name
    folder.mkdir(parents=True)
    text = options.doxyfile.read_text(encoding="utf-8")
    text = re.sub(r"^OUTPUT_DIRECTORY.*$", f'OUTPUT_DIRECTORY = "{folder}"', text, flags=re.MULTILINE)
    text = text.replace(str(options.root / "include"), str(include))
    doxyfile = folder / "Doxyfile"
    doxyfile.write_text(text, encoding="utf-8")
    done = subprocess.run([options.doxygen, doxyfile], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr, folder / "html"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--doxygen", required=True)
    parser.add_argument("--doxyfile", type=pathlib.Path, required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("symbols", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)

    include = options.root / "include"
    code, output, html = make(options, "reference", include)
    if code != 0 or output.strip():
        print(output)
        return 1
    pages = "".join(page.read_text(encoding="utf-8") for page in html.glob("*_8h.html"))
    documented = set(re.findall(r'<h2 class="memtitle">.*?</span>(\w+)\(\)</h2>', pages))
    exported = {line for file in options.symbols for line in file.read_text().split()
                if re.fullmatch(r"maar[A-Z]\w+", line)}
    missing = sorted(exported - documented)
    if missing or not exported:
        print("exported, but not in the reference:", *missing)
        return 1

    spoilt = options.work / "spoilt" / "include"
    shutil.copytree(include, spoilt)
    header = spoilt / "maar/allocator.h"
    text = header.read_text(encoding="utf-8")
    header.write_text(text.replace(" * @param pAllocator   receives the allocator\n", "", 1))
    code, output, _ = make(options, "of_spoilt", spoilt)
    if code == 0 or "pAllocator" not in output:
        print("a parameter without a description is not noticed", output)
        return 1
    print(f"{len(exported)} exported functions are in the reference")
    shutil.rmtree(options.work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
