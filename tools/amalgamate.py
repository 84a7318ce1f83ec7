#!/usr/bin/env python3
"""Make the amalgamation of Maar: amalgamate.py [--root ROOT] --output FOLDER

Writes the whole library as maar.h and maar.c, and the simulated driver as maar_simulated.h and
maar_simulated.c: for projects that would rather hold two files than a library. The same sources
give the same bytes, on every machine.

Headers come in the order of their includes, each once, then every source file of the library. What
the sources ask of the system's headers is gathered at the top: feature macros first, then the
headers themselves, each below the conditions it had. The rest is the sources' own text.
"""

import argparse
import re
import sys
from pathlib import Path

PUBLIC = "include/maar"
ROOMS = ("core", "backends/vulkan", "interop")
SIMULATED = "backends/simulated"
# What both libraries need, and both may be linked: the second has it under other names.
BORROWED = ("core/host_memory.c",)
FEATURES = {"_POSIX_C_SOURCE", "_DARWIN_C_SOURCE", "_DEFAULT_SOURCE", "_GNU_SOURCE"}

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
PROTOTYPE = re.compile(r"^\w[\w\s*]*?\b(maar_\w+)\([^{]*?\);", re.MULTILINE | re.DOTALL)


class Refused(Exception):
    """The sources hold something that would not mean the same in one file."""


def simple_condition(kind, text):
    """One way to write each condition."""
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
    """One output file in the making."""

    def __init__(self, root, done=()):
        self.root = root
        self.done = set(done)
        self.features = {}
        self.systems = {}
        self.sections = []

    def add(self, path):
        """Adds a file, after what it includes."""
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
        banner = f"/* {path} ".ljust(97, "=") + " */"
        self.sections.append(f"{banner}\n\n{text}\n")

    def take_features(self, path, text):
        def take(match):
            name = match[1]
            if name not in FEATURES:
                return match[0]
            if self.features.setdefault(name, match[0]) != match[0]:
                raise Refused(f"{path}: {name} is defined in another way elsewhere")
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
                        raise Refused(f"{path}:{number}: {defined} is defined before an include")
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
            raise Refused(f"{path}: an #if without its #endif")
        return "\n".join(kept) + "\n"

    def resolve(self, path, name):
        for candidate in (name, f"include/{name}", (Path(path).parent / name).as_posix()):
            if (self.root / candidate).is_file():
                return candidate
        raise Refused(f"{path}: no {name} in the sources")

    def feature_text(self):
        return "".join(self.features[name] for name in sorted(self.features))

    def system_text(self, without=()):
        """The system's headers: those of every platform, then those below conditions."""
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
            lines += [f"#include <{name}>" for name in names]
            lines.append("#endif")
        return "\n".join(lines) + "\n"


def opening(root, version, says):
    licence = (root / "LICENSE").read_text(encoding="utf-8").strip("\n")
    lines = says.strip("\n").split("\n") + ["", f"SPDX-License-Identifier: MIT", ""]
    lines += licence.split("\n")
    if any("*/" in line for line in lines):
        raise Refused("the opening comment would end early")
    body = "\n".join(f" * {line}".rstrip() for line in lines)
    return f"/*\n * Maar {version}: device memory for Vulkan programs, amalgamated.\n *\n{body}\n */\n"


def version_of(root):
    text = (root / PUBLIC / "base.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"#define MAAR_VERSION_{part} (\d+)", text)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


HEADER_SAYS = """
Made from the sources by tools/amalgamate.py; change those instead. What <maar/maar.h> and
<maar/volk.h> hold, for programs that compile maar.c with themselves:

    cc -std=c11 -c maar.c          (C11 or later, as C; links with -pthread -ldl)

Users of the header: C99 or C++11, and later. Needs the Vulkan headers, 1.3.239 or later. With
MAAR_ENABLE_EXPERIMENTAL defined it declares what is not settled yet. Where volk.h was included
first, maarUseVolk is there too.
"""
SOURCE_SAYS = """
Made from the sources by tools/amalgamate.py; change those instead. The whole library; see maar.h.
For a shared library: -fPIC -DMAAR_SHARED=1 here, -DMAAR_SHARED=1 in its users. Only what maar.h
declares is exported.
"""
SIMULATED_HEADER_SAYS = """
Made from the sources by tools/amalgamate.py; change those instead. The simulated driver, for tests:
what <maar/simulated.h> holds. Compile maar_simulated.c as C11, beside maar.c or without it.
"""
SIMULATED_SOURCE_SAYS = """
Made from the sources by tools/amalgamate.py; change those instead. The simulated driver; see
maar_simulated.h. Needs maar.h, but nothing that maar.c defines.
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
/* Nobody outside sees what follows. */
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
    """Every source file below a room: a folder's own before those of the folders in it."""
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
        raise Refused(f"{path}: a public header may not include {set(made.systems) - standard}")
    systems = f'#include "{first}"\n' if first else made.system_text()
    text = (f"{opening(root, version, says)}#ifndef {guard}\n#define {guard}\n\n{systems}\n" +
            "\n".join(made.sections) + f"\n#endif /* {guard} */\n{extra}")
    return text


def public_headers(root):
    return sorted(path.relative_to(root).as_posix() for path in (root / PUBLIC).glob("*.h"))


def make_source(root, version, name, header, says, files, prelude=""):
    made = Amalgamation(root, public_headers(root))
    for path in files:
        made.add(path)
    begins = SOURCE_BEGINS.format(
        name=name, header=header, features=made.feature_text(),
        systems=made.system_text({"stddef.h", "stdint.h", "vulkan/vulkan_core.h"}))
    return (opening(root, version, says) + begins + prelude + "\n" + "\n".join(made.sections) +
            SOURCE_ENDS)


def volk_part(root):
    """maar/volk.h, where volk.h is there. Outside the header's guard: volk.h may come later."""
    made = Amalgamation(root, set(public_headers(root)) - {f"{PUBLIC}/volk.h"})
    made.add(f"{PUBLIC}/volk.h")
    return "\n#if defined(VOLK_H_)\n\n" + "".join(made.sections) + "\n#endif /* VOLK_H_ */\n"


def renamed(root, paths):
    """Other names for what the simulated driver borrows from the library."""
    lines = []
    for path in paths:
        header = (root / path).with_suffix(".h").read_text(encoding="utf-8")
        for name in sorted(PROTOTYPE.findall(header)):
            lines.append(f"#define {name} {name.replace('maar_', 'maar_simulated_', 1)}")
    return ("\n/* maar.c has these too, and both may be in one program. */\n" + "\n".join(lines) +
            "\n/* Locks are checked by maar.c. */\n#undef MAAR_HEAVY_CHECKS\n"
            "/* Of what headers define in line, some is for maar.c alone. */\n"
            "#if defined(__clang__)\n#pragma clang diagnostic ignored \"-Wunused-function\"\n#endif\n")


def amalgamate(root):
    """The name and the text of each file."""
    version = version_of(root)
    library = [path for room in ROOMS for path in sources_in(root, room)]
    return {
        "maar.h": make_header(root, version, f"{PUBLIC}/maar.h", HEADER_SAYS,
                              "MAAR_AMALGAMATED_H", None, volk_part(root)),
        "maar.c": make_source(root, version, "maar.c", "maar.h", SOURCE_SAYS, library),
        "maar_simulated.h": make_header(root, version, f"{PUBLIC}/simulated.h",
                                        SIMULATED_HEADER_SAYS, "MAAR_AMALGAMATED_SIMULATED_H",
                                        "maar.h"),
        "maar_simulated.c": make_source(root, version, "maar_simulated.c", "maar_simulated.h",
                                        SIMULATED_SOURCE_SAYS,
                                        list(BORROWED) + sources_in(root, SIMULATED),
                                        renamed(root, BORROWED)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    try:
        files = amalgamate(arguments.root)
    except Refused as refusal:
        print(f"amalgamate.py: {refusal}", file=sys.stderr)
        return 1
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (arguments.output / name).write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
