"""The growing array from outside: arguments, figures, contents, validation.

test_growing_array.py --program=PROGRAM --rig=RIG [--missing=REASON] [--slow] [--env=NAME=VALUE...]

Rig none checks arguments, simulated the figures on profiles, drivers over a no-op kernel that one that executes
nothing is no success, lavapipe everything.
"""

import json
import pathlib
import sys
import tempfile

from sample_case import SampleCase, main, on_swiftshader, run

SPARSE = ("amd-rx7900xtx-radv25.0", "nvidia-rtx4090-linux", "apple-m1-honeykrisp26.2",
          "intel-arc-a770m-anv25.0", "qualcomm-adreno740-turnip26.2", "cpu-lavapipe25.0")
COPYING = ("amd-hd7800-pitcairn-radv25.0", "cpu-swiftshader")
MIB = 1 << 20


class Case(SampleCase):
    def figures(self, *arguments):
        done = self.finished(0, "--json", *arguments)
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def check_pages(self, result, size):
        self.assertEqual(result["way"], "pages")
        self.assertEqual(result["appended"], size)
        self.assertGreaterEqual(result["committed"], size)
        self.assertEqual(result["copied"], 0)
        self.assertEqual(result["moves"], 0)
        self.assertTrue(result["address_unchanged"])
        self.assertEqual(result["pages"] * result["page_size"], result["committed"])
        self.assertLess(20 * result["binds"], result["pages"])
        self.assertLessEqual(result["submissions"], result["appends"])

    def check_copies(self, result):
        self.assertEqual(result["way"], "copies")
        self.assertEqual(result["pages"], 0)
        self.assertGreater(result["moves"], 2)
        self.assertGreater(result["copied"], result["appended"])
        self.assertLess(result["copied"], 3 * result["appended"])


class WithoutDriver(SampleCase):
    def test_arguments_wrong_exit_2(self):
        self.refused("no such option", "--frob")
        self.refused("no such option", "--frob", "x")
        self.refused("value is missing", "--picture")
        for size in ("", "x", "64", "1T", "65G", "1GG", "-1M", "99999999999M"):
            self.refused("expected 64K to 64G", "--size", size)
        for device in ("", "vulkan:", "vulkan:x", "vulkan:0x"):
            self.refused("expected for example auto", "--memory-only", "--device", device)
        self.refused("needs no --copying", "--copying", "--compare")
        self.refused("executes nothing", "--device", "simulated:" + SPARSE[0])
        self.refused("no_such", "--memory-only", "--device", "simulated:no_such")

    def test_help_exits_0(self):
        self.check_help("--size", "--copying", "--compare", "--picture", "--memory-only")


class Simulated(Case):
    def test_growth_of_profiles_copies_nothing(self):
        for profile in SPARSE:
            with self.subTest(profile=profile):
                pages, copies = self.figures("--memory-only", "--compare", "--device",
                                             "simulated:" + profile)
                self.check_pages(pages, 1024 * MIB)
                self.check_copies(copies)
                self.assertLess(pages["most_memory"], 1.1 * pages["appended"])
                self.assertLess(pages["most_memory"], 0.6 * copies["most_memory"])

    def test_growth_without_residency_is_by_copies(self):
        for profile in COPYING:
            with self.subTest(profile=profile):
                result = self.figures("--memory-only", "--device", "simulated:" + profile)
                self.check_copies(result[0])

    def test_fall_back_to_copies_is_explained(self):
        for profile, reason in zip(COPYING, ("sparse residency of buffers", "sparse binding")):
            done = run("--memory-only", "--device", "simulated:" + profile)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("growing by copies, since the device has no " + reason, done.stdout)

    def test_size_that_does_not_fit_is_less_and_reported(self):
        done = run("--memory-only", "--size", "60G", "--batch", "1G", "--device",
                   "simulated:cpu-lavapipe25.0")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, "of this device allows at most [0-9]+ of")

    def test_size_is_bytes_without_a_letter(self):
        done = run("--memory-only", "--size", 5 << 30, "--batch", 1 << 30, "--device",
                   "simulated:" + SPARSE[0])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"maxBufferSize of this device allows at most 4294901760 of {5 << 30} "
                      "bytes", done.stdout)

    def test_picture_is_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "growth.svg"
            self.figures("--memory-only", "--compare", "--device", "simulated:" + SPARSE[0],
                         "--picture", path)
            text = path.read_text(encoding="utf-8")
            self.assertIn("growing by pages", text)
            self.assertIn("growing by copies", text)
            self.assertIn("</svg>", text)


class Noop(Case):
    def test_driver_that_executes_nothing_is_no_success(self):
        done = run("--json", "--size", "8M", "--copying")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        for line in done.stdout.splitlines():
            self.assertEqual(json.loads(line)["verified"], 0)


class Executing(Case):
    def need_pages(self):
        if on_swiftshader():
            self.skip("the driver has no sparse binding")

    def test_every_element_is_verified_after_copies(self):
        result = self.figures("--size", "40M", "--batch", "1M", "--copying")[0]
        self.check_copies(result)
        self.assertEqual(result["elements"], 40 * MIB // 16)
        self.assertEqual(result["verified"], result["elements"])

    def test_every_element_is_verified(self):
        self.need_pages()
        for reach in ((), ("--windows",)):
            with self.subTest(reach=reach):
                # More than one window of maxStorageBufferRange, which is 128 MiB here.
                pages, copies = self.figures("--size", "200M", "--compare", *reach)
                self.check_pages(pages, 200 * MIB)
                self.check_copies(copies)
                for result in (pages, copies):
                    self.assertEqual(result["elements"], 200 * MIB // 16)
                    self.assertEqual(result["verified"], result["elements"])
                    self.assertEqual(result["by_address"], not reach)

    def test_odd_sizes_are_verified(self):
        self.need_pages()
        for size, batch in (("64K", "64K"), ("1000K", "65K"), ("3M", "64G")):
            with self.subTest(size=size, batch=batch):
                result = self.figures("--size", size, "--batch", batch, "--windows")[0]
                self.assertEqual(result["verified"], result["elements"])
                self.assertEqual(result["moves"], 0)

    def test_validation_is_silent(self):
        self.need_pages()
        for reach in ((), ("--windows",)):
            with self.subTest(reach=reach):
                results = self.figures("--size", "40M", "--batch", "1M", "--compare", "--validate",
                                       *reach)
                self.assertEqual(len(results), 2)


if __name__ == "__main__":
    sys.exit(main({"none": WithoutDriver, "simulated": Simulated, "executing": Executing,
                   "noop": Noop}))
