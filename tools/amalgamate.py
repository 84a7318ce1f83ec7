#!/usr/bin/env python3
"""Make the amalgamation of Maar: amalgamate.py [--root ROOT] (--output FOLDER | --list LIBRARY)

Writes the whole library as maar.h and maar.c, for projects that prefer two files to a library; the
simulated driver as maar_simulated.h and maar_simulated.c; and VulkanMemoryAllocator's interface on
Maar as vk_mem_alloc.h, maar_vma.c, and the headers maar_vma*.h behind it. The same sources give the same bytes on every
machine.

The output contains each header once, in the order of the includes, then every source file of the
library. The requests to the system's headers stand at the top: first the feature macros, then the
includes, each below its conditions. The rest is the unchanged text of the sources.

--list prints the paths of the source files of maar, maar_simulated or maar_vma, for build systems.
"""

import argparse
import re
import sys
from pathlib import Path

PUBLIC = "include/maar"
ROOMS = ("core", "backends/vulkan", "interop")
SIMULATED = "backends/simulated"
VMA = "vma"
VMA_PUBLIC = "vma/include"
VMA_NAMES = "vma/names"  # a library of its own
# Both libraries need these files, and a program may link both: the second library renames them.
BORROWED = ("core/host_memory.c",)
FEATURES = {"_FILE_OFFSET_BITS", "_POSIX_C_SOURCE", "_DARWIN_C_SOURCE", "_DEFAULT_SOURCE", "_GNU_SOURCE",
            "ZSTD_STATIC_LINKING_ONLY"}

INCLUDE = re.compile(r'#\s*include\s*(["<])([^">]+)[">]')
IF = re.compile(r"#\s*(if|ifdef|ifndef)\b\s*(.*)")
OTHERWISE = re.compile(r"#\s*(elif|else)\b\s*(.*)")
ENDIF = re.compile(r"#\s*endif\b")
DEFINE = re.compile(r"#\s*define\s+(\w+)")
EMPTY_CONDITION = re.compile(r"^#if[^\n]*\n(?:#el[^\n]*\n|\n)*#endif[^\n]*\n", re.MULTILINE)
FEATURE_BLOCK = re.compile(r"^#if [^\n]*\n#define (\w+)[^\n]*\n#endif\n", re.MULTILINE)
LEAN_BLOCK = re.compile(r"^#ifndef WIN32_LEAN_AND_MEAN\n#define WIN32_LEAN_AND_MEAN\n#endif\n",
                        re.MULTILINE)
LEAN = re.compile(r"^#define WIN32_LEAN_AND_MEAN[^\n]*\n", re.MULTILINE)
COMMENT = re.compile(r" */\*.*?\*/")
PROTOTYPE = re.compile(r"^\w[\w\s*]*?\b(maar_\w+)\([^{]*?\);", re.MULTILINE | re.DOTALL)


class Rejected(Exception):
    """The sources contain a construct whose meaning would change in one file."""


def simple_condition(kind, text):
    """Returns the normal form of a condition."""
    text = re.sub(r"\s*(/\*.*?\*/|//.*)$", "", text).strip()
    if kind == "ifdef":
        return f"defined({text})"
    if kind == "ifndef":
        return f"!defined({text})"
    return text


def negated(condition):
    found = re.fullmatch(r"!?defined\(\w+\)", condition)
    if found:
        return condition[1:] if condition.startswith("!") else f"!{condition}"
    return f"!({condition})"


class Amalgamation:
    """One output file under construction."""

    def __init__(self, root, done=()):
        self.root = root
        self.done = set(done)
        self.features = {}
        self.systems = {}
        self.sections = []

    def add(self, path):
        """Adds the files that a file includes, then the file."""
        if path in self.done:
            return
        self.done.add(path)
        text = (self.root / path).read_text(encoding="utf-8")
        text = self.take_features(path, text)
        text = self.take_includes(path, text)
        previous = None
        while previous != text:
            previous, text = text, EMPTY_CONDITION.sub("", text)
        text = re.sub(r"\n{3,}", "\n\n", text).strip("\n")
        if path.endswith(".c") and path.startswith(f"{VMA}/"):
            # The files of this room use the same short names, each for its own flags.
            names = dict.fromkeys(re.findall(r"^#define (\w+)", text, re.MULTILINE))
            text = "\n".join([text, "", *(f"#undef {name}" for name in names)]).rstrip("\n")
        banner = f"/* {path} ".ljust(97, "=") + " */"
        self.sections.append(f"{banner}\n\n{text}\n")

    def take_features(self, path, text):
        def take(match):
            name = match[1]
            if name not in FEATURES:
                return match[0]
            first = self.features.setdefault(name, match[0])
            if COMMENT.sub("", first) != COMMENT.sub("", match[0]):
                raise Rejected(f"{path}: another file defines {name} differently")
            return ""
        return LEAN.sub("", LEAN_BLOCK.sub("", FEATURE_BLOCK.sub(take, text)))

    def take_includes(self, path, text):
        kept, conditions, defined, guard = [], [], None, None
        in_comment = False
        for number, line in enumerate(text.split("\n"), 1):
            stripped = line.strip()
            if in_comment or stripped.startswith("/*"):
                in_comment = "*/" not in stripped
                kept.append(line)
                continue
            include = INCLUDE.match(stripped)
            if include:
                where = [each for each in conditions if each is not None]
                if include[1] == "<":
                    self.systems.setdefault(include[2], []).append(" && ".join(where))
                else:
                    if defined:
                        raise Rejected(f"{path}:{number}: {defined} is defined before an include")
                    self.add(self.resolve(path, include[2]))
                continue
            kept.append(line)
            opening, otherwise = IF.match(stripped), OTHERWISE.match(stripped)
            definition = DEFINE.match(stripped)
            if opening:
                name = opening[2].split()[0] if opening[1] == "ifndef" else ""
                if guard is None and name.endswith("_H"):
                    guard = name
                    conditions.append(None)
                else:
                    conditions.append(simple_condition(opening[1], opening[2]))
            elif otherwise and conditions[-1] is not None:
                before = negated(conditions[-1])
                further = otherwise[2] if otherwise[1] == "elif" else ""
                conditions[-1] = f"{before} && {further}" if further else before
            elif ENDIF.match(stripped):
                conditions.pop()
            elif definition and definition[1] != guard and not path.endswith(".h"):
                defined = defined or definition[1]
        if conditions:
            raise Rejected(f"{path}: an #if has no #endif")
        return "\n".join(kept) + "\n"

    def resolve(self, path, name):
        for candidate in (name, f"include/{name}", f"{VMA_PUBLIC}/{name}",
                          (Path(path).parent / name).as_posix()):
            if (self.root / candidate).is_file():
                return candidate
        raise Rejected(f"{path}: the sources do not contain {name}")

    def feature_text(self):
        return "".join(self.features[name] for name in sorted(self.features))

    def system_text(self, without=()):
        """The includes of the system's headers: unconditional ones first, then those below conditions."""
        plain, below = [], {}
        for name in sorted(set(self.systems) - set(without)):
            conditions = sorted(set(self.systems[name]))
            if "" in conditions:
                plain.append(name)
                continue
            joined = conditions[0] if len(conditions) == 1 else " || ".join(
                f"({each})" for each in conditions)
            below.setdefault(joined, []).append(name)
        lines = [f"#include <{name}>" for name in plain]
        for condition, names in sorted(below.items()):
            lines.append(f"#if {condition}")
            if "windows.h" in names:
                lines += ["#ifndef WIN32_LEAN_AND_MEAN", "#define WIN32_LEAN_AND_MEAN", "#endif",
                          "#ifndef NOMINMAX", "#define NOMINMAX", "#endif"]
            # Other headers of Windows use what windows.h declares.
            names = sorted(names, key=lambda name: (name != "windows.h", name))
            lines += [f"#include <{name}>" for name in names]
            lines.append("#endif")
        return "\n".join(lines) + "\n"


def opening(root, version, says):
    licence = (root / "LICENSE").read_text(encoding="utf-8").strip("\n")
    lines = says.strip("\n").split("\n") + ["", f"SPDX-License-Identifier: MIT", ""]
    lines += licence.split("\n")
    if any("*/" in line for line in lines):
        raise Rejected("the text would end the opening comment early")
    body = "\n".join(f" * {line}".rstrip() for line in lines)
    return f"/*\n * Maar {version}: device memory for Vulkan programs, amalgamated.\n *\n{body}\n */\n"


def version_of(root):
    text = (root / PUBLIC / "base.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"#define MAAR_VERSION_{part} (\d+)", text)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


HEADER_SAYS = """
tools/amalgamate.py made this file from the sources; change the sources instead. This header
contains <maar/maar.h> and <maar/volk.h>, for programs that compile maar.c themselves:

    cc -std=c11 -c maar.c          (C11 or later, as C; links with -pthread -ldl)

The header compiles as C99, C++11, and later. It needs the Vulkan headers, 1.3.239 or later. With
MAAR_ENABLE_EXPERIMENTAL defined, it also declares the experimental API. If volk.h is included
first, it also defines maarUseVolk.
"""
SOURCE_SAYS = """
tools/amalgamate.py made this file from the sources; change the sources instead. This file is the
whole library; see maar.h. What it is linked into exports none of its functions. For a shared library
of its own, which exports those that maar.h declares, compile this file with -fPIC -DMAAR_SHARED=1 and
its users with -DMAAR_SHARED=1.
"""
SIMULATED_HEADER_SAYS = """
tools/amalgamate.py made this file from the sources; change the sources instead. This header contains
<maar/simulated.h>: the simulated driver, for tests. Compile maar_simulated.c as C11, with or without
maar.c.
"""
SIMULATED_SOURCE_SAYS = """
tools/amalgamate.py made this file from the sources; change the sources instead. This file is the
simulated driver; see maar_simulated.h. It needs maar.h, but no definition of maar.c.
"""
VMA_HEADER_SAYS = """
tools/amalgamate.py made this file from the sources; change the sources instead. A program that was
written for VulkanMemoryAllocator includes this header in the place of the library's own, and compiles
maar.c and maar_vma.c as C11 or later. One unit of the program defines VMA_IMPLEMENTATION, as before.
"""
VMA_LAYER_SAYS = """
tools/amalgamate.py made this file from the sources; change the sources instead. This header contains
<maar/vma.h>: the functions by which vk_mem_alloc.h defines its own, and those that turn handles of one
interface into handles of the other.
"""
VMA_UNIT_SAYS = """
tools/amalgamate.py made this file from the sources; change the sources instead. vk_mem_alloc.h and
maar_vma.h include this header.
"""
VMA_SOURCE_SAYS = """
tools/amalgamate.py made this file from the sources; change the sources instead. This file serves
vk_mem_alloc.h; see there. It needs maar.h, maar_vma.h and vk_mem_alloc.h, and links with maar.c.
"""
SOURCE_BEGINS = """
#if defined(__cplusplus)
#error "{name} is C: compile it as C11 or later"
#endif
#ifndef MAAR_BUILDING
#define MAAR_BUILDING 1
#endif
#ifndef MAAR_ENABLE_EXPERIMENTAL
#define MAAR_ENABLE_EXPERIMENTAL 1
#endif
{features}
#include "{header}"

{systems}
/* All symbols below are hidden. */
#if defined(__GNUC__) && !defined(_WIN32)
#pragma GCC visibility push(hidden)
#endif
"""
SOURCE_ENDS = """
#if defined(__GNUC__) && !defined(_WIN32)
#pragma GCC visibility pop
#endif
"""


def sources_in(root, room):
    """Returns every source file below a room: the files of a folder before those of its subfolders."""
    found = [path.relative_to(root) for path in (root / room).rglob("*.c")]
    return [path.as_posix() for path in sorted(found, key=lambda path: (path.parent.parts, path.name))]


def make_header(root, version, path, says, guard, first, extra=""):
    made = Amalgamation(root)
    if first:
        made.done = set(public_headers(root))
        made.done.discard(path)
    made.add(path)
    standard = {"stddef.h", "stdint.h", "vulkan/vulkan_core.h"}
    if not set(made.systems) <= standard:
        raise Rejected(f"{path}: a public header may not include {set(made.systems) - standard}")
    systems = f'#include "{first}"\n' if first else made.system_text()
    text = (f"{opening(root, version, says)}#ifndef {guard}\n#define {guard}\n\n{systems}\n" +
            "\n".join(made.sections) + f"\n#endif /* {guard} */\n{extra}")
    return text


def public_headers(root):
    return sorted(path.relative_to(root).as_posix() for path in (root / PUBLIC).glob("*.h"))


def headers_in(root, path):
    """Returns the public headers that a header includes, and itself."""
    made = Amalgamation(root)
    made.add(path)
    return set(made.done)


def vma_headers(root):
    """Returns the headers of VulkanMemoryAllocator's interface and their names in the output."""
    behind = sorted(path.name for path in (root / VMA_PUBLIC / "maar").glob("*.h"))
    return {"vma/vk_mem_alloc.h": "vk_mem_alloc.h"} | {f"maar/{name}": f"maar_{name}" for name in behind}


def make_vma_headers(root, version):
    """Returns vk_mem_alloc.h and the headers behind it. Conditions stand around their includes, so each
    remains a file."""
    says = {"vk_mem_alloc.h": VMA_HEADER_SAYS, "maar_vma.h": VMA_LAYER_SAYS}
    names = vma_headers(root)
    made = {}
    for path, name in names.items():
        text = (root / VMA_PUBLIC / path).read_text(encoding="utf-8")
        for old, new in (names | {"maar/maar.h": "maar.h"}).items():
            text = text.replace(f'#include "{old}"', f'#include "{new}"')
        wrong = re.search(r'#\s*include "\w+/[^"]*"', text)
        if wrong:
            raise Rejected(f"{name}: the file would contain {wrong[0]}")
        made[name] = opening(root, version, says.get(name, VMA_UNIT_SAYS)) + text
    return made


def make_source(root, version, name, header, says, files, prelude=""):
    """Makes a source file. It contains a public header that its own header does not."""
    contained = headers_in(root, f"{PUBLIC}/maar.h") | headers_in(root, f"{PUBLIC}/simulated.h")
    made = Amalgamation(root, contained | {f"{PUBLIC}/volk.h"} |
                        {f"{VMA_PUBLIC}/{path}" for path in vma_headers(root)})
    for path in files:
        made.add(path)
    begins = SOURCE_BEGINS.format(
        name=name, header=header, features=made.feature_text(),
        systems=made.system_text({"stddef.h", "stdint.h", "vulkan/vulkan_core.h"}))
    return (opening(root, version, says) + begins + prelude + "\n" + "\n".join(made.sections) +
            SOURCE_ENDS)


def volk_part(root):
    """Returns maar/volk.h, for users that include volk.h. It stands outside the header's guard, since
    volk.h may be included later."""
    made = Amalgamation(root, set(public_headers(root)) - {f"{PUBLIC}/volk.h"})
    made.add(f"{PUBLIC}/volk.h")
    return "\n#if defined(VOLK_H_)\n\n" + "".join(made.sections) + "\n#endif /* VOLK_H_ */\n"


def renamed(root, paths):
    """Returns the renaming of the library's files that the simulated driver shares."""
    lines = []
    for path in paths:
        header = (root / path).with_suffix(".h").read_text(encoding="utf-8")
        for name in sorted(PROTOTYPE.findall(header)):
            lines.append(f"#define {name} {name.replace('maar_', 'maar_simulated_', 1)}")
    return ("\n/* maar.c defines these functions too, and one program may contain both files. */\n" + "\n".join(lines) +
            "\n/* Only maar.c checks locks. */\n#undef MAAR_HEAVY_CHECKS\n"
            "/* Only maar.c uses some of the inline functions. */\n"
            "#if defined(__clang__)\n#pragma clang diagnostic ignored \"-Wunused-function\"\n#endif\n")


def sources_of(root):
    """Returns the source files of each library."""
    return {
        "maar": [path for room in ROOMS for path in sources_in(root, room)],
        "maar_simulated": list(BORROWED) + sources_in(root, SIMULATED),
        "maar_vma": [path for path in sources_in(root, VMA) if not path.startswith(VMA_NAMES)],
    }


def amalgamate(root):
    """Returns the name and the text of each output file."""
    version = version_of(root)
    sources = sources_of(root)
    return {
        "maar.h": make_header(root, version, f"{PUBLIC}/maar.h", HEADER_SAYS,
                              "MAAR_AMALGAMATED_H", None, volk_part(root)),
        "maar.c": make_source(root, version, "maar.c", "maar.h", SOURCE_SAYS, sources["maar"]),
        "maar_simulated.h": make_header(root, version, f"{PUBLIC}/simulated.h",
                                        SIMULATED_HEADER_SAYS, "MAAR_AMALGAMATED_SIMULATED_H",
                                        "maar.h"),
        "maar_simulated.c": make_source(root, version, "maar_simulated.c", "maar_simulated.h",
                                        SIMULATED_SOURCE_SAYS,
                                        sources["maar_simulated"],
                                        renamed(root, BORROWED)),
        **make_vma_headers(root, version),
        "maar_vma.c": make_source(root, version, "maar_vma.c", "maar_vma.h", VMA_SOURCE_SAYS,
                                  sources["maar_vma"]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--output", type=Path)
    wanted.add_argument("--list", metavar="LIBRARY", choices=("maar", "maar_simulated", "maar_vma"))
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(sources_of(arguments.root)[arguments.list]))
        return 0
    try:
        files = amalgamate(arguments.root)
    except Rejected as error:
        print(f"amalgamate.py: {error}", file=sys.stderr)
        return 1
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (arguments.output / name).write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
