"""Install the package as a user would, into a fresh virtual environment, and run its tests there.

install_package.py --root=SOURCES --folder=FOLDER [--offline]

FOLDER is replaced. pip fetches scikit-build-core and NumPy; with --offline it takes those of the
interpreter that runs this (Debian: python3-scikit-build-core, python3-numpy).
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import venv

TESTS = ("test_buffers.py", "test_dlpack.py", "test_fake_cuda.py")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--offline", action="store_true")
    options = parser.parse_args()
    root = options.root.resolve()
    folder = options.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    before = set(root.rglob("*"))
    venv.create(folder, with_pip=True, system_site_packages=options.offline)
    python = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("PYTHONPATH", "MAAR_LIBRARY", "LD_PRELOAD")}

    def run(*arguments):
        print("+", *arguments, flush=True)
        subprocess.run([python, *arguments], cwd=folder, env=environment, check=True,
                       stdin=subprocess.DEVNULL)

    offline = ("--no-index", "--no-build-isolation") if options.offline else ()
    run("-m", "pip", "install", "--quiet", "--disable-pip-version-check", *offline,
        str(root / "interop" / "python"))
    left = {path for path in set(root.rglob("*")) - before if "__pycache__" not in path.parts}
    if left:
        sys.exit(f"the installation left files among the sources: {sorted(map(str, left))[:5]}")
    run("-c", "import maar, pathlib; print(maar.__file__, maar.version())\n"
        f"assert pathlib.Path(maar.__file__).is_relative_to({str(folder)!r})")
    if not options.offline:
        run("-c", "import maar\nwith maar.Device() as d, d.buffer(8, host_visible=True) as b:\n"
            "    b.fill(7)\n    assert b.tobytes() == bytes([7]) * 8")  # without NumPy
        run("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "numpy")
    for name in TESTS:
        run("-B", str(root / "tests" / "python" / name))


if __name__ == "__main__":
    main()
