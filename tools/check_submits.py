"""The calls that submit to a queue are those that docs/threads.md and MaarQueue::pfnLock list.

A program locks its queue for these calls only, so a call that submits and is not in the list is a
race in every program that believed it. The functions that reach maar_queue_lock by a path of calls
are found in the sources, as far as names show. Two things that a name does not show are written here:
calls through a pointer, and calls that happen before anything was submitted.

Usage: check_submits.py ROOT
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

import call_graph

LOCK = "maar_queue_lock"

# Who calls these functions through a pointer, instead of the functions that name them. A function
# that reaches the lock and is used as a value has to be here.
POINTERS = {
    "destroy_paging": {"maarDestroyAllocator"},
    "end_leaked_buffer_cache": {"maarDestroyAllocator"},
    "maar_peer_acquire": {"maarAcquireFromCuda", "maarAcquireFromHip"},
    "maar_peer_release": {"maarReleaseToCuda", "maarReleaseToHip"},
}

# Calls that undo a creation which has failed: nothing was submitted that has to be waited for.
UNDO = {
    ("maarCreateBufferCache", "free_buffer_cache"),
    ("maarCreateResidency", "free_parts"),
}


def read_calls(sources):
    """{(file, function): functions that it names}: those of its own file before those of others."""
    shared = {}
    for path, source in sources.items():
        for name in source.functions:
            if path.endswith(".h") or not re.match(r"\s*(?:static|MAAR_NOINLINE)\b",
                                                   source.heads[name]):
                shared[name] = (path, name)
    calls = {}
    for path, source in sources.items():
        for name, body in source.functions.items():
            named = set(call_graph.NAME.findall(body))
            calls[(path, name)] = {(path, other) if other in source.functions else shared[other]
                                   for other in named
                                   if other in source.functions or other in shared}
    return calls


def reach_lock(calls):
    """The functions from which calls lead to the lock, each with the next one on its way."""
    callers = defaultdict(set)
    for caller, named in calls.items():
        for other in named:
            if (caller[1], other[1]) not in UNDO:
                callers[other].add(caller)
    for name, users in POINTERS.items():
        for key in [key for key in calls if key[1] == name]:
            callers[key] = {other for other in calls if other[1] in users}
    found = {key: None for key in calls if key[1] == LOCK}
    todo = list(found)
    while todo:
        key = todo.pop()
        for caller in sorted(callers[key]):
            if caller not in found:
                found[caller] = key
                todo.append(caller)
    return found


def values_among(sources, found):
    """The functions that a source assigns, passes or writes into a table."""
    used = set()
    shared = {key[1] for key in found if key[1].startswith("maar_")}
    for path, source in sources.items():
        for name in source.names:
            if (path, name) in found or name in shared:
                if re.search(rf"[=,{{(&]\s*{name}\s*[,;)}}]", source.text):
                    used.add(name)
    return used


def way(found, key):
    steps = []
    while key is not None:
        steps.append(key[1])
        key = found[key]
    return " -> ".join(steps)


def listed(text):
    return set(re.findall(r"\bmaar[A-Z]\w+", text))


def findings_of(root):
    sources = call_graph.read_sources(root, ("core", "interop"))
    found = reach_lock(read_calls(sources))
    submitting = {key[1]: key for key in found if re.fullmatch(r"maar[A-Z]\w+", key[1])}
    errors = []
    if "maarSubmitBinds" not in submitting:
        errors.append("maarSubmitBinds does not reach the lock: the sources were not understood")
    for name in sorted(values_among(sources, found) - set(POINTERS)):
        errors.append(f"{name} reaches the lock and is used as a value: "
                      "say in POINTERS who calls it")
    page = (root / "docs/threads.md").read_text(encoding="utf-8")
    header = (root / "include/maar/allocator.h").read_text(encoding="utf-8")
    lists = {
        "docs/threads.md, Queues": re.search(
            r"^## Queues\n(.*?)^They use the queues", page, re.DOTALL | re.MULTILINE)[1],
        "MaarQueue::pfnLock": re.search(
            r"/\*\*((?:(?!\*/).)*)\*/\s*PFN_maarQueueLock pfnLock;", header, re.DOTALL)[1],
    }
    for place, text in lists.items():
        for name in sorted(set(submitting) - listed(text)):
            errors.append(f"{place}: lacks {name}, which submits "
                          f"({way(found, submitting[name])})")
        for name in sorted(listed(text) - set(submitting)):
            errors.append(f"{place}: {name} does not submit")
    return errors


def main():
    errors = findings_of(Path(sys.argv[1]))
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
