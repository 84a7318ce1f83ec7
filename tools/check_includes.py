#!/usr/bin/env python3
"""Check those of Maar's house rules that a machine can check: check_includes.py ROOT

The rules concern the includes between rooms; calls into Vulkan, which go through the table; the
Vulkan types that placement and plan may use; the single files for malloc, atomics and threads;
unique names of files and statics; the length of files; a name for each structure's type; and the
tags in the documentation of public functions and fields. Prints one line for each finding; exits
with 1 if there is any.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOMS = {
    "include": {"include"},
    "core": {"include", "core"},
    "backends": {"include", "core", "backends"},
    "interop": {"include", "core", "interop"},
    "layer": {"include", "core", "layer"},
    "vma": {"include", "vma"},
    "support": {"include", "support"},
    "samples": {"include", "support", "samples"},
    "tools": {"include", "support", "tools"},
    "bench": {"include", "support", "bench"},
}
# Benchmarks report how long locks are held, what the policy of residency restores, how it packs, and
# how it transfers copies.
MEASURES = {("bench", "core/lock_rank.h"), ("bench", "core/residency/policy.h"),
            ("bench", "core/residency/checksum.h"), ("bench", "core/residency/codec.h"),
            ("bench", "core/residency/store_ring.h")}
LIBRARY = ("core/", "backends/", "interop/")
SIMULATED = "backends/simulated/"
SOURCES = ("include", "core", "backends", "interop", "layer", "vma", "support", "tools", "samples", "bench", "tests")
SHADER_READERS = ("core/objects/", "core/tile_cache/", "core/transient/", "core/reservation/", "support/", "samples/", "tests/", "tools/")
PORTS = {"stdatomic.h", "pthread.h", "threads.h", "windows.h", "dlfcn.h"}
# The simulated driver is a separate library, which cannot reach libmaar's hidden ports.
PORT_FILES = re.compile(r"core/port_\w+\.[ch]|backends/simulated/sim_port\.[ch]")
STRUCTURE = re.compile(r"\bMAAR_STRUCTURE_TYPE_(\w+) = 0x4D")
STRUCTURE_NAMES = "core/report.c"
INTEGERS_ONLY = ("core/placement/", "core/plan/")
KNOWN_TO_INTEGERS = {"VkResult", "VkDeviceSize", "VkAllocationCallbacks", "VkBool32", "VkFlags"}
MAX_LINES = 1000

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
VULKAN_CALL = re.compile(r"(?<![\w.>])vk[A-Z]\w*\s*\(")
VULKAN_NAME = re.compile(r"\bVk[A-Z]\w*")
HOST_ALLOCATION = re.compile(r"(?<![\w.>])(?:malloc|calloc|realloc|free|aligned_alloc)\s*\(")
FORBIDDEN_CALL = re.compile(
    r"(?<![\w.>])(?:v?f?printf|puts|fputs|putchar|fwrite|exit|_Exit|abort|getenv|perror)\s*\(")
# The layer reads its environment with secure_getenv, and allocates as the library does.
LAYER_ENTRY = "vkNegotiateLoaderLayerInterfaceVersion"
LAYER_FORBIDDEN = re.compile(
    r"(?<![\w.>])(?:v?f?printf|puts|fputs|putchar|fwrite|exit|_Exit|abort|getenv|setenv|perror|"
    r"malloc|calloc|realloc|free)\s*\(")
STATIC = re.compile(r"^(?:static|MAAR_INLINE|MAAR_NOINLINE)\s+(?:inline\s+)?(?:const\s+)?"
                    r"[\w\s*]*?\b(\w+)\(", re.MULTILINE)
VARIABLE = re.compile(r"^(?:static\b[^;={(]*?|\} )(\w+)\s*(?:\[[^\]]*\])*\s*[=;]", re.MULTILINE)
ENUMERATION = re.compile(r"\benum\s*\w*\s*\{([^{}]*)\}")
ENUMERATOR = re.compile(r"(?:^|,)\s*(\w+)")
TAG = re.compile(r"^(?:typedef\s+|static\s+(?:const\s+)?)?(?:struct|union|enum)\s+(\w+)\s*\{",
                 re.MULTILINE)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.MULTILINE)
# Words that Windows' headers define as macros.
WINDOWS_WORD = re.compile(r"\b(?:near|far|small|hyper|interface|cdecl|pascal)\b")
UNDEF = re.compile(r"^\s*#\s*undef\s+(\w+)", re.MULTILINE)
# Macros that configure the system's headers in any file.
SYSTEM_MACRO = re.compile(r"_\w+|WIN32_LEAN_AND_MEAN")
FUNCTION = re.compile(
    r"(?:/\*\*(?P<doc>(?:[^*]|\*(?!/))*)\*/\s*)?^MAAR_API\s+(?P<type>[^;(]*?)\s*VKAPI_CALL\s+"
    r"(?P<name>\w+)\s*\((?P<parameters>[^;]*?)\)\s*;", re.MULTILINE)
BODY = re.compile(r"typedef\s+(?P<kind>struct|enum|union)\s+(?P<name>\w+)\s*\{(?P<body>.*?)\n\}",
                  re.DOTALL)


def without_comments(text):
    """Returns the text with blanks for comments and strings. The lines stay."""
    def blank(match):
        found = match.group(0)
        return '""' if found[0] == '"' else "\n" * found.count("\n") or " "
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.DOTALL)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


class Check:
    def __init__(self, root):
        self.root = root
        self.findings = []
        self.paths = sorted(
            path.relative_to(root).as_posix()
            for room in SOURCES for path in (root / room).rglob("*") if path.suffix in (".c", ".h"))

    def report(self, path, line, text):
        self.findings.append(f"{path}:{line}: {text}")

    def resolve(self, path, name):
        """Returns the file of this tree that an include names, or None."""
        here = Path(path).parent / name
        for candidate in (here.as_posix(), name, f"include/{name}"):
            if candidate in self.known:
                return candidate
        for room in ("support", "tools", "samples", "bench"):
            if f"{room}/{name}" in self.known:
                return f"{room}/{name}"
        return None

    def check_includes(self, path, text):
        room = path.split("/")[0]
        for match in INCLUDE.finditer(text):
            name, line = match[2], line_of(text, match.start())
            if path.startswith(LIBRARY) and name in PORTS and not PORT_FILES.fullmatch(path):
                self.report(path, line, f"only core/port_*.h may include <{name}>")
            if re.search(r"(spv|shader\w*)\.h$", name) and not path.startswith(SHADER_READERS):
                self.report(path, line, f"{room} may not include the generated {name}")
            if path.startswith(LIBRARY + ("include/",)) and re.search(r"\bvolk\.h$", name) \
                    and not name.startswith("maar/"):
                self.report(path, line, "the library may not include volk")
            target = self.resolve(path, name)
            if target is None:
                continue
            target_room = target.split("/")[0]
            if room in ROOMS and target_room not in ROOMS[room] and (room, target) not in MEASURES:
                self.report(path, line, f"{room} may not include {target_room}: {name}")
            if room == "backends" and target_room == "backends" and \
                    path.split("/")[1] != target.split("/")[1]:
                self.report(path, line, f"backends may not include each other: {name}")
            apis = [api for api in ("interop/cuda", "interop/hip")
                    if path.startswith(f"{api}/") or target.startswith(f"{api}/")]
            if room == "interop" and len(apis) == 2:
                self.report(path, line, f"CUDA and HIP may not include each other: {name}")

    def check_calls(self, path, code):
        if path.startswith("layer/"):
            self.check_layer_calls(path, code)
        if not path.startswith(LIBRARY):
            return
        # The simulated driver is a driver: it defines the functions that others call.
        if not path.startswith("backends/simulated/"):
            for match in VULKAN_CALL.finditer(code):
                self.report(path, line_of(code, match.start()),
                            f"call it through the table: {match[0]}")
        for match in FORBIDDEN_CALL.finditer(code):
            self.report(path, line_of(code, match.start()), f"a library may not call {match[0]}")
        for match in WINDOWS_WORD.finditer(code):
            self.report(path, line_of(code, match.start()), f"this name is a macro on Windows: {match[0]}")
        if path != "core/host_memory.c":
            for match in HOST_ALLOCATION.finditer(code):
                self.report(path, line_of(code, match.start()),
                            f"only core/host_memory.h allocates host memory: {match[0]}")
        if path.startswith(INTEGERS_ONLY):
            for match in VULKAN_NAME.finditer(code):
                if match[0] not in KNOWN_TO_INTEGERS:
                    self.report(path, line_of(code, match.start()),
                                f"placement and plan may not use {match[0]}")

    def check_layer_calls(self, path, code):
        """A layer calls the next one, and prints nothing."""
        for match in VULKAN_CALL.finditer(code):
            if not match[0].startswith(LAYER_ENTRY):
                self.report(path, line_of(code, match.start()),
                            f"call it through the table: {match[0]}")
        for match in LAYER_FORBIDDEN.finditer(code):
            self.report(path, line_of(code, match.start()), f"the layer may not call {match[0]}")

    def check_unique(self):
        """Checks the names of files, and the names that the amalgamation puts into one file."""
        tables = defaultdict(lambda: defaultdict(list))
        macros, words = {}, {}
        for path in self.paths:
            if path.startswith("tests/"):
                continue
            tables["file"][Path(path).name].append(path)
            if path.startswith(LIBRARY):
                code = without_comments(self.texts[path])
                macros[path] = {name for name in MACRO.findall(code)
                                if not SYSTEM_MACRO.fullmatch(name)} - set(UNDEF.findall(code))
                words[path] = set(re.findall(r"\w+", code))
                for kind, found in (
                        ("static function", STATIC.findall(code)),
                        ("variable", VARIABLE.findall(code)),
                        ("tag", TAG.findall(code)),
                        ("enumerator", [name for body in ENUMERATION.findall(code)
                                        for name in ENUMERATOR.findall(body)])):
                    for name in set(found):
                        tables[kind][name].append(path)
        for kind, table in tables.items():
            for name, paths in sorted(table.items()):
                if len(paths) > 1:
                    self.report(paths[1], 1, f"{kind} {name} exists in {paths[0]} too: names are unique")
        self.check_macros(macros, words)

    def check_macros(self, macros, words):
        """Checks that a source file's macros are not words of another file of its library."""
        for path, names in macros.items():
            for other in sorted(words) if path.endswith(".c") else ():
                if other == path or other.startswith(SIMULATED) != path.startswith(SIMULATED):
                    continue
                for name in sorted(names & words[other]):
                    self.report(path, 1, f"macro {name} is a word in {other}: names are unique")

    def check_function_tags(self, path, text):
        for match in FUNCTION.finditer(text):
            line = line_of(text, match.start("type"))
            name, doc = match["name"], match["doc"]
            if doc is None:
                self.report(path, line, f"{name} is not documented")
                continue
            tags = ["@threadsafety", "@since"]
            if match["type"].strip() != "void":
                tags.append("@return")
            for tag in tags:
                if tag not in doc:
                    self.report(path, line, f"{name} lacks {tag}")
            parameters = match["parameters"].strip()
            for parameter in [] if parameters == "void" else parameters.split(","):
                word = re.findall(r"\w+", parameter)[-1]
                if not re.search(rf"@param\s+{word}\b", doc):
                    self.report(path, line, f"{name} lacks @param {word}")
        declared = len(re.findall(r"^MAAR_API\b", without_comments(text), re.MULTILINE))
        documented = len(list(FUNCTION.finditer(text)))
        if declared != documented:
            self.report(path, 1, f"{declared} exported declarations, {documented} recognised")

    def check_member_comments(self, path, text):
        for match in BODY.finditer(text):
            line = line_of(text, match.start("body"))
            commented = False
            for number, content in enumerate(match["body"].split("\n")):
                stripped = content.strip()
                if stripped.startswith("/**"):
                    commented = True
                if not stripped or stripped.startswith(("*", "/*")):
                    continue
                if match["kind"] != "enum" and ";" not in stripped:
                    continue
                if not commented and "/**" not in stripped:
                    self.report(path, line + number,
                                f"{match['name']}: this line has no comment: {stripped}")
                commented = False

    def check_structure_names(self, path, text):
        """Checks that messages about a wrong sType can name every type."""
        for match in STRUCTURE.finditer(text):
            if f"MAAR_NAMED({match[1]})" not in self.texts.get(STRUCTURE_NAMES, ""):
                self.report(path, line_of(text, match.start()),
                            f"{STRUCTURE_NAMES} does not name {match[1]}")

    def run(self):
        self.known = set(self.paths)
        self.texts = {path: (self.root / path).read_text() for path in self.paths}
        for path, text in self.texts.items():
            code = without_comments(text)
            self.check_includes(path, text)
            self.check_calls(path, code)
            if path.startswith("include/"):
                self.check_function_tags(path, text)
                self.check_member_comments(path, text)
                self.check_structure_names(path, code)
            elif text.count("\n") > MAX_LINES:
                self.report(path, MAX_LINES, f"{text.count(chr(10))} lines; at most {MAX_LINES}")
            if not text.lstrip().startswith("/*"):
                self.report(path, 1, "the file does not begin with a comment about its purpose")
            if re.search(r"\b(?:TODO|FIXME|XXX)\b", text):
                self.report(path, 1, "the file contains a TODO")
        self.check_unique()
        return self.findings


def main():
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print(f"check_includes.py: expected one folder, not {' '.join(sys.argv[1:]) or 'none'}",
              file=sys.stderr)
        return 2
    check = Check(Path(sys.argv[1]))
    findings = check.run()
    print("\n".join(findings + [f"{len(check.paths)} files, {len(findings)} findings"]))
    return 1 if findings or not check.paths else 0


if __name__ == "__main__":
    sys.exit(main())
