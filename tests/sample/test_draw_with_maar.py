"""The program of samples/from_vma from outside, beside the one with VulkanMemoryAllocator where that
was built: MAAR_DRAW_WITH_VMA names it.

test_draw_with_maar.py --program=PROGRAM --rig=RIG [--missing=REASON] [--slow] [--env=NAME=VALUE...]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import sample_case
from sample_case import SampleCase, main, run

LAYER = pathlib.Path("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json")


def named(value):
    """(name, bytes) of all that has a name in a dump of VMA's schema."""
    if isinstance(value, dict):
        if "Name" in value:
            yield value["Name"], value.get("Size", 0)
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from named(item)


class WithoutDriver(SampleCase):
    def test_arguments_wrong_exit_2(self):
        self.refused("usage", "--frob")
        self.refused("usage", "--picture")


class Executing(SampleCase):
    def draw(self, program, *arguments):
        """What a run printed, its picture's bytes and its dump."""
        with tempfile.TemporaryDirectory() as folder:
            picture, dump = pathlib.Path(folder, "p.png"), pathlib.Path(folder, "d.json")
            done = subprocess.run(
                [program, *arguments, "--picture", picture, "--dump", dump], capture_output=True,
                text=True, timeout=170, env=sample_case.environment(), check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(done.stderr, "")
            return done.stdout, picture.read_bytes(), json.loads(dump.read_text(encoding="utf-8"))

    def test_picture_is_same_staged_or_in_place(self):
        program = sample_case.OPTIONS.program
        in_place, staged = self.draw(program), self.draw(program, "--stage")
        self.assertIn("instances written in place", in_place[0])
        self.assertIn("instances staged", staged[0])
        self.assertEqual(in_place[1], staged[1])
        self.assertGreater(len(in_place[1]), 50000)

    def test_program_is_same_as_with_vma(self):
        theirs = os.environ.get("MAAR_DRAW_WITH_VMA", "")
        if not theirs:
            self.skip("VulkanMemoryAllocator was not found (MAAR_VMA_INCLUDE_DIR)")
        for arguments in ((), ("--stage",)):
            with self.subTest(arguments=arguments):
                before = self.draw(theirs, *arguments)
                after = self.draw(sample_case.OPTIONS.program, *arguments)
                self.assertEqual(before[0], after[0])
                self.assertEqual(before[1], after[1])
                names = sorted(named(after[2]))
                self.assertEqual(sorted(named(before[2])), names)
                self.assertIn(("stone", 256 * 256 * 4), names)

    def test_validation_is_silent(self):
        if not LAYER.is_file():
            self.skip("no validation layer found (Debian: vulkan-validationlayers)")
        sample_case.OPTIONS.env += [
            "VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation",
            "VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT"]
        for arguments in ((), ("--stage",)):
            done = run(*arguments)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertNotRegex(done.stdout + done.stderr, "VUID-|SYNC-|UNASSIGNED-")


if __name__ == "__main__":
    sys.exit(main({"none": WithoutDriver, "executing": Executing}))
