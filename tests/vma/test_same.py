#!/usr/bin/env python3
"""The same program on Maar's vk_mem_alloc.h and on VulkanMemoryAllocator's.

test_same.py --program=PROGRAM --ranking=PROGRAM --margins=PROGRAM [--peer=PROGRAM --peer-margins=PROGRAM]
    --page=docs/vma.md [--runner=COMMAND]

Whatever the two print differently must be a row of the page's table of differences, and each row must
differ. The second program ranks memory types as that library does, so its types must all be the same, on
every device profile. The third one checks margins. Without the peer, the sizes are compared with the known ones and the rest is skipped.
"""

import argparse
import json
import re
import subprocess
import sys

# Bytes of version 3.4, with all extensions known: where a pointer has 64 bits, and on i386. The first
# structure consists of three pointers. layout_table.c has the offsets.
SIZES = {
    "VmaDeviceMemoryCallbacks": (24, 12),
    "VmaVulkanFunctions": (224, 112),
    "VmaAllocatorCreateInfo": (88, 48),
    "VmaAllocationCreateInfo": (56, 40),
    "VmaDefragmentationInfo": (48, 28),
    "VmaPoolCreateInfo": (56, 40),
}
KEYS = re.compile(r"`([\w-]+\.[\w.-]+)`")


RUNNER = []  # what runs programs for another system


def run(program, *arguments):
    done = subprocess.run([*RUNNER, program, *arguments], capture_output=True, text=True, timeout=60,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{program} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def lines(text):
    """{key: value} of the lines; a key that comes again gets a number."""
    found = {}
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        number = 2
        name = key
        while name in found:
            name = f"{key}-{number}"
            number += 1
        found[name] = value
    return found


def check_sizes(ours):
    column = int(ours["layout.size.VmaDeviceMemoryCallbacks"] == "12")
    return [f"{name} has {ours['layout.size.' + name]} bytes, and {sizes[column]} are known"
            for name, sizes in SIZES.items() if ours[f"layout.size.{name}"] != str(sizes[column])]


def explained_keys(page):
    """The keys in the first column of the page's table of differences."""
    text = page.read()
    start = text.index("## What answers differ")
    end = text.find("\n## ", start + 1)
    rows = [row for row in text[start:end].splitlines() if row.startswith("| `")]
    return {key for row in rows for key in KEYS.findall(row.split("|")[1])}


def keys_of(value):
    """The paths of a JSON value, where numbers of blocks and types are one."""
    if isinstance(value, dict):
        for key, item in value.items():
            name = re.sub(r"\d+$", "N", key)
            yield name
            yield from (f"{name}.{path}" for path in keys_of(item))
    elif isinstance(value, list):
        for item in value:
            yield from keys_of(item)


def usages_of(value):
    """What stands beside Usage in each allocation of a JSON value."""
    if isinstance(value, dict):
        if "Usage" in value and "Type" in value:
            yield (value["Type"], value["Size"], value["Usage"])
        for item in value.values():
            yield from usages_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from usages_of(item)


def check_usages(options):
    both = [sorted(usages_of(json.loads(run(program, "detailed"))))
            for program in (options.program, options.peer)]
    if both[0] != both[1] or not any(usage for _, _, usage in both[0]):
        return [f"usages in the JSON: {both[0]} here, {both[1]} there"]
    return []


def check_texts(options):
    """What readers of JSON look for is there."""
    faults = []
    for kind in ("plain", "detailed", "virtual"):
        ours = set(keys_of(json.loads(run(options.program, kind))))
        theirs = set(keys_of(json.loads(run(options.peer, kind))))
        faults += [f"the JSON ({kind}) lacks {path}" for path in sorted(theirs - ours)]
    return faults


def check_types(options):
    """With that library's ranking, every type is the same."""
    faults = []
    for arguments in ((), ("profiles",)):
        ours = lines(run(options.ranking, *arguments))
        theirs = lines(run(options.peer, *arguments))
        kinds = ("type.", "profile.")
        keys = [key for key in sorted(ours.keys() | theirs.keys()) if key.startswith(kinds)]
        faults += [f"{key}: {ours.get(key)} by its ranking here, {theirs.get(key)} there"
                   for key in keys if ours.get(key) != theirs.get(key)]
        print(f"{len(keys)} rows of memory types by its ranking")
        if len(keys) < 20:
            faults.append("hardly any memory types were compared")
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--ranking", required=True)
    parser.add_argument("--margins", required=True)
    parser.add_argument("--peer")
    parser.add_argument("--peer-margins")
    parser.add_argument("--page", required=True, type=argparse.FileType("r", encoding="utf-8"))
    parser.add_argument("--runner", default="")
    options = parser.parse_args()
    RUNNER.extend(options.runner.split())
    ours = lines(run(options.program) + run(options.margins, "margins"))
    faults = check_sizes(ours)
    if options.peer:
        theirs = lines(run(options.peer) + run(options.peer_margins, "margins"))
        explained = explained_keys(options.page)
        different = {key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)}
        for key in sorted(different - explained):
            faults.append(f"{key}: {ours.get(key)} here, {theirs.get(key)} there, not in the page")
        faults += [f"{key}: in the page, but the same" for key in sorted(explained - different)]
        faults += check_texts(options)
        faults += check_usages(options)
        faults += check_types(options)
        print(f"{len(ours)} answers, {len(different)} of them differ")
    for fault in faults:
        print(fault)
    if faults:
        return 1
    if not options.peer:
        print("skipped: VulkanMemoryAllocator was not found (MAAR_VMA_INCLUDE_DIR)")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
