"""The package's declarations against the headers: a compiler compares every size, offset, type,
prototype and constant, so that the two cannot drift apart.

test_layout.py --compiler=CC [--include=FOLDER...]
"""

import argparse
import ctypes
import subprocess
import sys
import unittest

import fake_cuda
from maar import _abi, _declarations, _dlpack

OPTIONS = None
HEAD = """#include <stddef.h>
#include <stdint.h>
#include "maar/cuda.h"
#include "maar/maar.h"
#include "maar/share.h"
#define IS(condition, text) _Static_assert(condition, "the package and the headers differ: " text)
#define IS_TYPE(type, field, wanted) IS(_Generic(((type*)0)->field, wanted: 1, default: 0), \\
    #type "::" #field " is no " #wanted)
"""


def structure_lines():
    for name, fields in _abi.parse_structures(_declarations.STRUCTURES):
        made = _abi.STRUCTURES[name]
        yield f'IS(sizeof({name}) == {ctypes.sizeof(made)}, "size of {name}");'
        yield f'IS(_Alignof({name}) == {ctypes.alignment(made)}, "alignment of {name}");'
        for field, ctype, count in fields:
            if name in _declarations.OPAQUE:
                continue
            member = getattr(made, field)
            yield f'IS(offsetof({name}, {field}) == {member.offset}, "offset of {name}::{field}");'
            yield (f"IS(sizeof(((({name}*)0)->{field})) == {member.size}, "
                   f'"size of {name}::{field}");')
            if count is None:
                yield f"IS_TYPE({name}, {field}, {ctype});"


def other_lines():
    constants = dict(_declarations.CONSTANTS)
    constants.update(_declarations.STRUCTURE_TYPES.values())
    for name, value in constants.items():
        yield f'IS((long long)({name}) == {value}, "{name}");'
    for text in (_declarations.VULKAN_FUNCTIONS, _declarations.MAAR_FUNCTIONS):
        for name, result, parameters in _abi.parse_functions(text):
            yield f"{result} VKAPI_CALL {name}({', '.join(parameters) or 'void'});"


def compiled(lines):
    """What the compiler says of the lines; empty when all are true."""
    text = HEAD + "\n".join(lines) + "\n"
    done = subprocess.run(
        [OPTIONS.compiler, "-std=c11", "-Wall", "-Werror", "-Wno-redundant-decls", "-fsyntax-only",
         *(f"-I{folder}" for folder in OPTIONS.include), "-x", "c", "-"],
        input=text, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr or "failed"


class Layout(unittest.TestCase):
    def test_declarations_are_those_of_the_headers(self):
        self.assertEqual(compiled([*structure_lines(), *other_lines()]), "")

    def test_every_structure_that_maar_reads_has_its_type(self):
        for name in set(_abi.STRUCTURES) - set(_declarations.OPAQUE):
            members = [field for field, *_ in _abi.STRUCTURES[name]._fields_]
            self.assertEqual("sType" in members, name in _declarations.STRUCTURE_TYPES
                             or name.endswith(("Features", "Features2", "FeaturesEXT")), name)

    def test_each_kind_of_difference_is_noticed(self):
        for line, words in (
                ('IS(offsetof(MaarCudaMemory, size) == 24, "x");', "differ"),
                ("IS_TYPE(MaarCudaInfo, deviceOrdinal, uint32_t);", "is no uint32_t"),
                ('IS((long long)(MAAR_HANDOFF_MODE_HOST) == 2, "x");', "differ"),
                ("VkResult VKAPI_CALL maarCudaWait(MaarCuda, MaarCudaTimeline, uint32_t, "
                 "MaarCudaStream);", "conflicting types")):
            self.assertIn(words, compiled([line]))

    def test_fakes_table_is_that_of_its_header(self):
        lines = ['#include "tests/fakes/fake_control.h"']
        for index, name in enumerate(fake_cuda.MEMBERS):
            lines.append(f"IS(offsetof(struct fake_control, {name}) == {index} * sizeof(void*), "
                         f'"{name}");')
        lines.append(f"IS(FAKE_KIND_COUNT == {len(fake_cuda.KINDS)}, \"kinds\");")
        self.assertEqual(compiled(lines), "")

    def test_dlpack_is_as_its_specification_says(self):
        """From the published layout of DLPack 1.0, for 64-bit pointers."""
        tensor, old, new = (_dlpack.DLTensor, _dlpack.DLManagedTensor,
                            _dlpack.DLManagedTensorVersioned)
        self.assertEqual([getattr(tensor, name).offset for name, _ in tensor._fields_],
                         [0, 8, 16, 20, 24, 32, 40])
        self.assertEqual([getattr(old, name).offset for name, _ in old._fields_], [0, 48, 56])
        self.assertEqual([getattr(new, name).offset for name, _ in new._fields_],
                         [0, 8, 16, 24, 32])
        self.assertEqual([ctypes.sizeof(kind) for kind in (tensor, old, new)], [48, 64, 80])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", default=[])
    OPTIONS = parser.parse_args()
    unittest.main(argv=sys.argv[:1], verbosity=2)
