"""The port of a media library's memory from outside: arguments, figures, validation.

test_port.py --program=PROGRAM --rig=RIG [--missing=REASON] [--slow] [--env=NAME=VALUE...]

Rig none checks arguments, the others that the whole interface works.
"""

import re
import sys

from sample_case import SampleCase, main


class WithoutDriver(SampleCase):
    def test_wrong_arguments_exit_2(self):
        self.refused("no such option", "--nonsense", "1")
        self.refused("value is missing", "--device")
        self.refused("no such profile", "--device", "simulated:nonsense")

    def test_help_exits_0(self):
        self.check_help("--device", "--validate")


class Playing(SampleCase):
    def figures(self, *arguments):
        text = self.finished(0, *arguments).stdout
        found = re.search(r"small buffers +2000, in (\d+) VkBuffers and (\d+) VkDeviceMemory", text)
        self.assertIsNotNone(found, text)
        self.assertLessEqual(int(found.group(1)), 24)
        self.assertLessEqual(int(found.group(2)), 24)
        self.assertRegex(text, r"available +\d+\.\d MiB")
        return text


class Simulated(Playing):
    def test_every_hook_works(self):
        for profile in ("nvidia-rtx4090-linux", "amd-rx7900xtx-radv25.0", "cpu-lavapipe25.0"):
            self.figures("--device", f"simulated:{profile}")


class Executing(Playing):
    def test_every_hook_works_under_validation(self):
        text = self.figures("--validate")
        self.assertIn("seen through another", text)
        self.assertIn("in place", text)


if __name__ == "__main__":
    sys.exit(main({"none": WithoutDriver, "simulated": Simulated, "executing": Executing}))
