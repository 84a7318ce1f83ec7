#!/usr/bin/env python3
"""Each public call that takes a checked handle is in a test of handles: check_handles.py ROOT

A checked handle is one of a type that include/maar defines as non-dispatchable. The files of TESTS
show for each of these types that null, stale, foreign and forged handles are refused. This check
finds a type without such a file, and a call that takes such a handle, as an argument or in a
structure, but does not occur in the file of the type. Prints one line for each finding; exits with
1 if there is any.
"""

import re
import sys
from pathlib import Path

TESTS = {
    "MaarAllocation": ("tests/unit/memory/test_memory_handles.c",
                       "tests/unit/move/test_move_handles.c",
                       "tests/interop/test_cuda_handles.c", "tests/interop/test_hip.c"),
    "MaarMoveBatch": ("tests/unit/move/test_move_handles.c",),
    "MaarDefragmentation": ("tests/unit/move/test_move_handles.c",),
    "MaarPool": ("tests/unit/memory/test_memory_handles.c",
                 "tests/unit/move/test_move_handles.c"),
    "MaarSlice": ("tests/unit/memory/test_memory_handles.c",),
    "MaarReservation": ("tests/unit/reservation/test_paging_handles.c",
                         "tests/unit/residency/test_residency_misuse.c"),
    "MaarArray": ("tests/unit/reservation/test_paging_handles.c",
                   "tests/unit/residency/test_residency_arrays.c"),
    "MaarSparseImage": ("tests/unit/reservation/test_paging_handles.c",
                         "tests/unit/residency/test_residency_misuse.c"),
    "MaarTileCache": ("tests/unit/reservation/test_paging_handles.c",),
    "MaarBufferCache": ("tests/unit/reservation/test_paging_handles.c",),
    "MaarResidency": ("tests/unit/residency/test_residency_misuse.c",),
    "MaarResident": ("tests/unit/residency/test_residency_misuse.c",),
    "MaarUse": ("tests/unit/residency/test_residency_misuse.c",),
    "MaarTransientHeap": ("tests/transient/test_transient_chains.c",),
    "MaarHostBuffer": ("tests/unit/interop/test_host_buffers.c",),
    "MaarRange": ("tests/unit/placement/test_range.c",),
    "MaarCudaTimeline": ("tests/interop/test_cuda_handles.c",),
    "MaarCudaImage": ("tests/interop/test_cuda_handles.c",),
    "MaarCudaRange": ("tests/interop/test_cuda_handles.c",),
    "MaarCudaMirror": ("tests/interop/test_cuda_handles.c",),
    "MaarHipTimeline": ("tests/interop/test_hip.c",),
}
# They ignore the pool of MaarAllocationCreateInfo.
NOT_READ = {("maarChooseMemoryType", "MaarPool"), ("maarChooseMemoryTypeForBuffer", "MaarPool"),
            ("maarChooseMemoryTypeForImage", "MaarPool")}

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
TYPE = re.compile(r"VK_DEFINE_NON_DISPATCHABLE_HANDLE\((\w+)\)")
STRUCTURE = re.compile(r"typedef struct (\w+) \{(.*?)\} \w+;", re.DOTALL)
CALL = re.compile(r"MAAR_API\s+[\w*\s]+?VKAPI_CALL\s+(\w+)\(([^;]*)\);")
WORD = re.compile(r"\w+|\*")


def takes(declaration, types):
    """The type of the handle that a parameter or a member passes in, or None. A pointer without
    const is a result."""
    words = WORD.findall(declaration)
    kind = next((word for word in words if word in types), None)
    return kind if kind and ("*" not in words or words[0] == "const") else None


def read_headers(root):
    """The types, and for each call the types of the handles that it takes."""
    texts = [COMMENT.sub("", path.read_text(encoding="utf-8"))
             for path in sorted((root / "include/maar").glob("*.h"))]
    types = {match for text in texts for match in TYPE.findall(text)}
    holds = {}
    for text in texts:
        for name, members in STRUCTURE.findall(text):
            holds[name] = {takes(member, types) for member in members.split(";")} - {None}
    calls = {}
    for text in texts:
        for name, parameters in CALL.findall(text):
            taken = calls.setdefault(name, set())
            for parameter in parameters.split(","):
                taken.add(takes(parameter, types))
                structure = takes(parameter, holds)
                if structure and "*" in parameter:
                    taken |= holds[structure]
            taken.discard(None)
    return types, calls


def findings_of(root):
    types, calls = read_headers(root)
    found = [f"{kind}: no file of tests" for kind in sorted(types - set(TESTS))]
    texts = {}
    for path in {path for kind in types & set(TESTS) for path in TESTS[kind]}:
        file = root / path
        texts[path] = file.read_text(encoding="utf-8") if file.exists() else ""
    for name, taken in sorted(calls.items()):
        for kind in sorted(taken & set(TESTS)):
            known = any(re.search(rf"\b{name}\(", texts[path]) for path in TESTS[kind])
            if not known and (name, kind) not in NOT_READ:
                found.append(f"{name}: takes a {kind}, and is not in {' or '.join(TESTS[kind])}")
    return found, len(calls)


def main():
    found, count = findings_of(Path(sys.argv[1]))
    for finding in found:
        print(finding)
    print(f"{count} calls, {len(found)} findings")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
