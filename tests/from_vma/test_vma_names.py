"""docs/from-vma.md against two sets of headers: test_vma_names.py DOCUMENT INCLUDE [VMA_HEADER]

Every function, type, field, enumerator and macro that a program can meet in VMA's header has a row in
the document, and no row names one that is not there. Every name of Maar's in the document exists in
include/maar, fields in the structure that is named. Without VMA's header the second half alone is
checked, and the program exits with 77.

Each half is then tried on documents with one mistake planted in them, all of which must be found.
"""

import pathlib
import re
import sys

STRUCT = re.compile(r"typedef\s+(?:struct|union)\s+(\w+)\s*\{(.*?)\n\}\s*\w+;", re.DOTALL)
ENUM = re.compile(r"typedef\s+enum\s+(\w+)\s*\{(.*?)\}", re.DOTALL)
CODE = re.compile(r"`([^`]+)`")
# Where VMA's header lets a program replace things; what is defined further down is its own business.
CONFIGURATION = ("#ifndef _VMA_CONFIGURATION\n", "#endif // _VMA_CONFIGURATION")


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)


def fields_of(body):
    """The names of a structure's fields, from the text between its braces without comments."""
    body = re.sub(r"^\s*#.*$", "", body, flags=re.MULTILINE)
    names = set()
    for declaration in body.split(";"):
        declaration = re.sub(r"\b[A-Z_]{4,}\([^()]*\)", " ", declaration)  # annotations
        for part in declaration.split(","):
            match = re.search(r"(\w+)\s*(?:\[\w+\]\s*)*$", part.strip())
            if match:
                names.add(match.group(1))
    return names


class VmaHeader:
    """What a program can meet."""

    def __init__(self, text):
        interface, _, implementation = text.partition("#ifdef VMA_IMPLEMENTATION")
        code = without_comments(interface)
        self.fields = {name: fields_of(body) for name, body in STRUCT.findall(code)}
        names = set(re.findall(r"\bVMA_CALL_POST\s+(vma\w+)\s*\(", code))
        for _, body in ENUM.findall(code):
            names.update(re.findall(r"^\s*(VMA_\w+)\s*(?:=|,|$)", body, re.MULTILINE))
        names.update(re.findall(r"\bVK_DEFINE\w*HANDLE\((\w+)\)", code))
        names.update(re.findall(r"\b(PFN_vma\w+)\)", code))
        names.add("VMA_IMPLEMENTATION")
        macro = re.compile(r"^\s*#\s*(?:define|ifndef|if\s+!defined\()\s*(VMA_\w+)", re.MULTILINE)
        names.update(macro.findall(code))
        start, end = (implementation.index(mark) for mark in CONFIGURATION)
        names.update(macro.findall(without_comments(implementation[start:end])))
        self.names = names


class MaarHeaders:
    def __init__(self, folder):
        root = folder.parent.parent
        layer = (root / "vma" / "include").glob("*/*.h")  # the interface of that library on Maar
        code = without_comments("".join(path.read_text(encoding="utf-8")
                                        for path in [*sorted(folder.glob("*.h")), *sorted(layer)]))
        options = root / "cmake" / "MaarOptions.cmake"
        self.words = set(re.findall(r"\b\w+\b", code))
        self.words.update(re.findall(r"^option\((\w+)", options.read_text(encoding="utf-8"), re.MULTILINE))
        self.fields = {name: fields_of(body) for name, body in STRUCT.findall(code)}


def rows_of(document):
    """(line number, the structure whose section it is in or "", cells) of each row of a table."""
    structure = ""
    for number, line in enumerate(document.splitlines(), 1):
        if line.startswith("#"):
            match = re.fullmatch(r"### `(Vma\w+)`", line)
            structure = match.group(1) if match else ""
        elif line.startswith("|") and not line.startswith("| ---"):
            yield number, structure, [cell.strip() for cell in line.strip("|").split("|")]


def check_vma(document, header):
    """What is missing of VMA's names, and what is named that VMA does not have."""
    findings, seen = [], set()
    seen_fields = {name: set() for name in header.fields}
    for number, structure, cells in rows_of(document):
        for code in CODE.findall(cells[0]):
            if re.fullmatch(r"(?:vma|VMA_|Vma|PFN_vma)\w+", code):
                seen.add(code)
                if code not in header.names:
                    findings.append(f"line {number}: VMA has no {code}")
            elif structure in seen_fields:
                seen_fields[structure].add(code)
                if code not in header.fields[structure]:
                    findings.append(f"line {number}: {structure} has no {code}")
    findings += [f"no row for {name}" for name in sorted(header.names - seen)]
    for structure, fields in sorted(header.fields.items()):
        findings += [f"no row for {structure}::{name}"
                     for name in sorted(fields - seen_fields[structure])]
    return findings


def check_maar(document, headers):
    """What is called Maar's, and is not there."""
    findings = []
    for number, line in enumerate(document.splitlines(), 1):
        for structure, field in re.findall(r"\b(Maar\w+)::(\w+)", line):
            if field not in headers.fields.get(structure, set()):
                findings.append(f"line {number}: {structure} has no {field}")
        for name in re.findall(r"\b(?:PFN_maar|maar(?=[A-Z])|Maar(?=[A-Z])|MAAR_)\w+", line):
            if name not in headers.words:
                findings.append(f"line {number}: include/maar has no {name}")
    return findings


def check_mistakes(document, check, mistakes):
    """Mistakes that a check does not find."""
    missed = []
    for old, new in mistakes:
        spoilt = document.replace(old, new)
        if spoilt == document:
            missed.append(f"{old} is not in the document, so its loss cannot be tried")
        elif not check(spoilt):
            missed.append(f"{new or 'nothing'} in the place of {old} is not noticed")
    return missed


def main():
    document = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    headers = MaarHeaders(pathlib.Path(sys.argv[2]))

    def maar(text):
        return check_maar(text, headers)

    findings = maar(document) + check_mistakes(document, maar, [
        ("`maarTrim`", "`maarTrimAll`"), ("MaarPoolCreateInfo::singleKind", "MaarPool::singleKind"),
        ("MAAR_MEMORY_USAGE_UPLOAD", "MAAR_MEMORY_USAGE_STAGING"),
        ("`PFN_maarDeviceMemory`", "`PFN_maarMemory`")])
    vma_path = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    if vma_path is not None and vma_path.is_file():
        header = VmaHeader(vma_path.read_text(encoding="utf-8"))
        counts = (f"{len(header.names)} names and {sum(map(len, header.fields.values()))} fields in "
                  f"{len(header.fields)} structures of VMA's")

        def vma(text):
            return check_vma(text, header)

        findings += vma(document) + check_mistakes(document, vma, [
            ("| `vmaUnmapMemory` |", "| |"), ("| `vmaMapMemory` |", "| `vmaMapMemories` |"),
            ("| `VMA_ALLOCATION_CREATE_MAPPED_BIT` |", "| |"), ("`moveCount`, ", ""),
            ("| `blockSize` |", "| `sizeOfBlock` |"), ("`VMA_DEBUG_MARGIN`, ", "")])
    else:
        counts = None
    for finding in findings:
        print(f"docs/from-vma.md: {finding}")
    if findings:
        return 1
    if counts is None:
        print("skipped: VMA's own names; vk_mem_alloc.h was not found (MAAR_VMA_INCLUDE_DIR)")
        return 77
    print(counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
