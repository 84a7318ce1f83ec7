#!/usr/bin/env python3
"""The recipes in packaging/ agree with what CMake builds and installs: check_recipes.py ROOT [OPTION...]

  --build FOLDER   also compare what this build would install with Debian's lists of files
  --write          write Debian's lists of symbols from tests/abi, and check nothing

Compared are: the version, with include/maar/base.h; the names of Debian's packages of libraries, with the
version, as each minor version of a major version 0 is another library; Debian's symbols, with tests/abi/symbols*.txt;
each option that a recipe sets, with those that CMake has; the features of vcpkg's port and the options of
Conan's recipe, with what each of them does; the folders that Conan's recipe takes along, with those that
the libraries are built from; the packages that Debian's recipe builds with, with those that scripts/setup
installs; the licence. Prints a line for each difference; exits with 1 if there is any.
"""

import argparse
import ast
import fnmatch
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

DEBIAN = "packaging/debian"
PORT = "packaging/vcpkg/ports/maar"
CONAN = "packaging/conan/conanfile.py"
WRAP = "packaging/meson/maar.wrap"
# The libraries by the list of tests/abi. The packages have their names, with hyphens.
LIBRARIES = {
    "symbols.txt": "libmaar",
    "symbols-simulated.txt": "libmaar_simulated",
    "symbols-vma.txt": "libmaar_vma",
    "symbols-vma-names.txt": "libmaar_vma_names",
}
# What Debian's recipe builds with beside the packages of scripts/setup.
DEBIAN_TOOLS = {"debhelper-compat", "dh-sequence-python3"}
# Fields of Conan's recipe that are no options of Maar's, or more than one.
CONAN_OPTIONS = {"shared": [], "fPIC": [], "vma": ["MAAR_BUILD_VMA", "MAAR_BUILD_VMA_NAMES"],
                 "simulated": ["MAAR_BUILD_SIMULATED"], "zstd": ["MAAR_ZSTD"], "lz4": ["MAAR_LZ4"]}


def read(path):
    return path.read_text(encoding="utf-8")


def version_of(root):
    return ".".join(re.findall(r"^#define MAAR_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$",
                               read(root / "include/maar/base.h"), re.MULTILINE))


def soversion_of(root):
    """What follows ".so." in the name that programs find a library by."""
    major, minor, _ = version_of(root).split(".")
    return f"0.{minor}" if major == "0" else major


def package_of(root, library):
    return library.replace("_", "-") + soversion_of(root)


# ---- versions ----


def versions(root):
    """Each place that repeats the version, and what it says."""
    wrap = read(root / WRAP)
    yield f"{PORT}/vcpkg.json", json.loads(read(root / PORT / "vcpkg.json"))["version"]
    yield f"{WRAP}: directory", re.search(r"^directory = maar-(.*)$", wrap, re.MULTILINE)[1]
    yield f"{WRAP}: source_filename", re.search(r"^source_filename = maar-(.*)\.tar\.gz$", wrap,
                                                re.MULTILINE)[1]
    python = tomllib.loads(read(root / "interop/python/pyproject.toml"))["tool"]["scikit-build"]
    found = re.search(python["metadata"]["version"]["regex"], read(root / "include/maar/base.h"))
    yield "interop/python/pyproject.toml", found and ".".join(found.group("major", "minor", "patch"))
    yield f"{DEBIAN}/changelog", re.match(r"maar \((.*)-\d+\) ", read(root / DEBIAN / "changelog"))[1]


# ---- Debian's symbols ----


def symbols_files(root):
    """Debian's lists of symbols by name, as tests/abi has them. A function that the list has keeps its
    version; a new one comes with this version."""
    version = version_of(root)
    for listed, library in LIBRARIES.items():
        package = package_of(root, library)
        path = root / DEBIAN / f"{package}.symbols"
        since = dict(re.findall(r"^ (\w+)@Base (\S+)$", read(path) if path.is_file() else "", re.MULTILINE))
        names = [line for line in read(root / "tests/abi" / listed).splitlines()
                 if line and not line.startswith("#")]
        lines = [f"{library}.so.{soversion_of(root)} {package} #MINVER#",
                 "* Build-Depends-Package: libmaar-dev"]
        lines += [f" {name}@Base {since.get(name, version)}" for name in names]
        yield path.name, "\n".join(lines) + "\n"


def check_symbols(root):
    for name, text in symbols_files(root):
        path = root / DEBIAN / name
        if not path.is_file() or read(path) != text:
            yield f"{DEBIAN}/{name} is not what tests/abi says: run check_recipes.py with --write"


# ---- options ----


def cmake_options(root):
    """The options and cached variables that CMake knows, and variables that it looks for."""
    found = set()
    for path in [root / "CMakeLists.txt", *root.glob("*/CMakeLists.txt"), *root.glob("cmake/*.cmake")]:
        text = read(path)
        found.update(re.findall(r"\boption\(\s*(MAAR_\w+)", text))
        found.update(re.findall(r"\bset\((MAAR_\w+)\s[^()]*?\bCACHE\b", text))
        found.update(re.findall(r"\bfind_(?:path|library|program)\(\s*(MAAR_\w+)", text))
    return found


def check_options(root):
    known = cmake_options(root)
    port = read(root / PORT / "portfile.cmake")
    conan = read(root / CONAN)
    named = {f"{DEBIAN}/rules": re.findall(r"-D(MAAR_\w+)=", read(root / DEBIAN / "rules")),
             f"{PORT}/portfile.cmake": re.findall(r"(?:-D|\b)(MAAR_\w+)", port)}
    listed = re.search(r"for option in \((.*?)\)", conan, re.DOTALL)[1]
    named[CONAN] = re.findall(r'cache_variables\["(MAAR_\w+)"\]', conan)
    named[CONAN] += [f"MAAR_{name}" for name in re.findall(r'"(\w+)"', listed)]
    # Whatever a recipe leaves to its default would be built and installed where it is forgotten.
    decided = {name for name in known if re.match(r"MAAR_BUILD_(?!SHARED)", name)} - {"MAAR_BUILD_LAYER"}
    for recipe, options in named.items():
        for option in sorted(set(options) - known):
            yield f"{recipe}: CMake has no option {option}"
        for option in sorted(decided - set(options)):
            yield f"{recipe}: does not say whether {option} is on"


def check_features(root):
    port = read(root / PORT / "portfile.cmake")
    checked = re.search(r"FEATURES\n(.*?)\)", port, re.DOTALL)[1]
    used = set(re.findall(r"^\s+(\w+) MAAR_\w+", checked, re.MULTILINE))
    used.update(re.findall(r'if\("(\w+)" IN_LIST FEATURES\)', port))
    declared = set(json.loads(read(root / PORT / "vcpkg.json"))["features"])
    for feature in sorted(declared ^ used):
        yield f"{PORT}: the feature {feature} is in one of vcpkg.json and portfile.cmake alone"


# ---- Conan ----


def conan_values(root):
    """The constants of Conan's recipe, by name."""
    found = {}
    for node in ast.walk(ast.parse(read(root / CONAN))):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def library_folders(root):
    """The folders that CMakeLists.txt needs to build and install the libraries alone."""
    folders = {"cmake", "data", "include"}
    conditions = []
    for line in read(root / "CMakeLists.txt").splitlines():
        line = line.strip()
        if line.startswith("if("):
            conditions.append(line)
        elif line.startswith("endif("):
            conditions.pop()
        found = re.match(r"add_subdirectory\((\w+)", line)
        if found and all(condition == "if(MAAR_BUILD_VMA)" for condition in conditions):
            folders.add(found[1])
    return folders


def check_conan(root):
    values = conan_values(root)
    text = read(root / CONAN)
    for folder in sorted(library_folders(root) ^ set(values["SOURCES"])):
        yield f"{CONAN}: {folder} is in one of SOURCES and the libraries of CMakeLists.txt alone"
    if set(values["options"]) != set(values["default_options"]):
        yield f"{CONAN}: options and default_options differ"
    for option in sorted(set(values["options"]) ^ set(CONAN_OPTIONS)):
        yield f"{CONAN}: nothing is known of the option {option} in tools/check_recipes.py"
    for option, variables in CONAN_OPTIONS.items():
        for variable in variables:
            if f'cache_variables["{variable}"] = bool(self.options.{option})' not in text:
                yield f"{CONAN}: the option {option} does not set {variable}"


# ---- Debian's packages and files ----


def debian_paragraphs(root):
    return [dict(re.findall(r"^([\w-]+):[ \t]*(.*(?:\n .*)*)", paragraph, re.MULTILINE))
            for paragraph in read(root / DEBIAN / "control").split("\n\n") if paragraph.strip()]


def check_debian(root):
    source, *packages = debian_paragraphs(root)
    names = {package["Package"] for package in packages}
    libraries = {package_of(root, library) for library in LIBRARIES.values()}
    named = set(re.findall(r"\blibmaar[a-z-]*[0-9][0-9.]*\b", read(root / DEBIAN / "control")))
    for name in sorted(libraries - names):
        yield f"{DEBIAN}/control: there is no package {name}"
    for name in sorted(named - libraries):
        yield f"{DEBIAN}/control: {name} is not the name of a library of {version_of(root)}"
    needed = {re.match(r"[\w.+-]+", item.strip())[0]
              for item in source["Build-Depends"].split(",") if item.strip()}
    done = subprocess.run([root / "scripts/setup", "--list"], capture_output=True, text=True, check=True)
    for name in sorted(needed - DEBIAN_TOOLS - set(done.stdout.split())):
        yield f"{DEBIAN}/control: scripts/setup does not know the package {name}"
    for path in (root / DEBIAN).iterdir():
        owner, dot, kind = path.name.rpartition(".")
        if dot and kind in ("install", "symbols", "lintian-overrides", "docs") and owner not in names:
            yield f"{DEBIAN}/{path.name}: there is no package {owner}"
    for name in sorted(names):
        if not (root / DEBIAN / f"{name}.install").is_file():
            yield f"{DEBIAN}: {name} has no list of files"
    licence = " ".join(read(root / "LICENSE").split())
    repeated = re.search(r"^License: Expat\n (.*)", read(root / DEBIAN / "copyright"),
                         re.MULTILINE | re.DOTALL)[1]
    if " ".join(word for word in repeated.split() if word != ".") not in licence:
        yield f"{DEBIAN}/copyright: not the words of LICENSE"


def patterns_of(root):
    """Pattern by file: what Debian's packages hold, and what they leave out."""
    for path in sorted((root / DEBIAN).glob("*.install")) + [root / DEBIAN / "not-installed"]:
        for line in read(path).splitlines():
            if line and not line.startswith("#"):
                yield path.name, line


def installed_by(build):
    """The paths below /usr that this build installs, its libraries as shared ones."""
    others = {cache.parent for cache in build.rglob("CMakeCache.txt")} - {build}  # builds of tests
    for script in sorted(build.rglob("cmake_install.cmake")):
        if others & set(script.parents):
            continue
        for place, kind, rest in re.findall(
                r'file\(INSTALL DESTINATION "\$\{CMAKE_INSTALL_PREFIX\}/([^"]*)" TYPE (\w+)(.*?)\)',
                read(script), re.DOTALL):
            place = re.sub(r"^lib(/[\w]+-linux-\w+)?(?=/|$)", "lib/TRIPLET", place)
            for source in re.findall(r'"([^"]+)"', rest.partition("FILES_MATCHING")[0]):
                name = source.rpartition("/")[2]
                if re.fullmatch(r"lib\w+\.a", name) or kind == "SHARED_LIBRARY":
                    stem = name.partition(".")[0]
                    yield f"usr/{place}/{stem}.so.VERSION"
                    yield f"usr/{place}/{stem}.so"
                else:
                    yield f"usr/{place}/{name}".rstrip("/")


def check_files(root, build):
    installed = sorted(set(installed_by(build)))
    patterns = list(patterns_of(root))
    if len(installed) < 10:
        yield f"{build}: installs {installed}"
        return

    def holds(pattern, path):
        return fnmatch.fnmatchcase(path, pattern) or fnmatch.fnmatchcase(path, f"{pattern}/*")
    for path in installed:
        owners = [name for name, pattern in patterns if holds(pattern, path)]
        if len(owners) != 1:
            yield f"{path} is in {len(owners)} of Debian's packages: {' '.join(owners)}"
    for name, pattern in patterns:
        if name != "python3-maar.install" and not any(holds(pattern, path) or path == pattern
                                                     for path in installed):
            yield f"{DEBIAN}/{name}: nothing is installed as {pattern}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("root", type=Path, help="the folder of the sources")
    parser.add_argument("--build", type=Path, help="a build folder with everything that is packaged")
    parser.add_argument("--write", action="store_true", help="write Debian's lists of symbols")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    if arguments.write:
        for name, text in symbols_files(root):
            (root / DEBIAN / name).write_text(text, encoding="utf-8")
        return 0
    version = version_of(root)
    found = [f"{place}: {other}, but include/maar/base.h: {version}"
             for place, other in versions(root) if other != version]
    for check in (check_symbols, check_options, check_features, check_conan, check_debian):
        found += check(root)
    if arguments.build:
        found += check_files(root, arguments.build)
    for fault in found:
        print(fault)
    print(f"{version}: {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
