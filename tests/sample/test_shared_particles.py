"""The shared particles from outside: arguments, figures, picture, validation, mistakes noticed.

test_shared_particles.py --program=PROGRAM --rig=RIG [--missing=REASON] [--slow] [--env=NAME=VALUE...]

Rig none checks arguments, radv:GPU that a driver that executes nothing is no success, lavapipe two
processes that share a buffer. CUDA has a card to run on, or is skipped; the program's own part of that
route is tried on the FAKE CUDA driver, which is no GPU and proves nothing about one. MAAR_FAKE_CUDA and
MAAR_FAKE_KERNELS name that driver and what stands in for the kernel there.
"""

import json
import os
import pathlib
import re
import signal
import struct
import sys
import tempfile
import time

from sample_case import SampleCase, main, run, start

SMALL = ("--particles", "20000", "--frames", "30", "--size", "160x90")


class WithoutDriver(SampleCase):
    def test_arguments_wrong_exit_2(self):
        self.refused("no such option", "--frob")
        self.refused("expected auto, cuda or process", "--route", "hip")
        self.refused("expected none, skip or stray", "--plant", "tree")
        self.refused("needs --route process", "--plant", "stray")
        for count in ("", "0", "x", "-1", "50000001"):
            self.refused("--particles", "--particles", count)
        self.refused("--frames", "--frames", "0")
        self.refused("--size", "--size", "9x9")

    def test_help_exits_0(self):
        self.check_help("--route", "--particles", "--frames", "--out", "--validate", "--plant")


class Case(SampleCase):
    def figures(self, *arguments):
        done = self.finished(0, "--json", *SMALL, *arguments)
        return json.loads(done.stdout)

    def check_figures(self, result):
        self.assertTrue(result["well"])
        self.assertEqual(result["particles"], 20000)
        self.assertEqual(result["frames"], 30)
        self.assertEqual(result["steps"], 30)
        self.assertEqual(result["shared_bytes"], 20000 * 32)
        self.assertGreaterEqual(result["block_bytes"], result["shared_bytes"])
        self.assertLess(result["furthest_off"], 1e-4)
        self.assertLess(result["furthest_off"], result["shortest_step"])
        self.assertEqual(result["lost"], 0)


class Noop(Case):
    def test_driver_that_executes_nothing_is_no_success(self):
        done = run("--json", "--route", "process", *SMALL)
        self.assertNotEqual(done.returncode, 0, done.stdout + done.stderr)


class Executing(Case):
    def test_two_processes_share_the_particles(self):
        result = self.figures("--route", "process")
        self.check_figures(result)
        self.assertEqual(result["route"], "another process")
        self.assertRegex(result["moved_by"], "^process [0-9]+, a compute shader")
        self.assertEqual(result["mover_own_memory"], 0)
        self.assertEqual(result["mover_shared_memory"], result["block_bytes"])
        self.assertEqual(result["words"], 60)

    def test_auto_says_why_it_is_not_cuda(self):
        done = self.finished(0, *SMALL)
        if "a CUDA kernel on" in done.stdout:  # a real one
            self.skip("CUDA was there")
        self.assertRegex(done.stdout, "no CUDA here: .+")
        self.assertEqual(done.stderr, "")

    def test_cuda_moves_them_where_it_can(self):
        result = self.figures("--route", "cuda")
        self.check_figures(result)
        self.assertEqual(result["route"], "CUDA")

    def fake_driver(self):
        """Arguments for the FAKE CUDA driver, which is set to be the Vulkan device."""
        fake = os.environ.get("MAAR_FAKE_CUDA")
        if not fake:
            self.skip("the FAKE CUDA driver is not built")
        arguments = ("--route", "cuda", "--cuda-library", fake, *SMALL)
        os.environ.pop("MAAR_FAKE_UUID", None)
        done = run(*arguments)
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
        found = re.search(r"\(([0-9a-f]{32})\)\s*$", done.stderr)
        if not found:
            self.skip(done.stderr.strip())
        os.environ["MAAR_FAKE_UUID"] = found[1]
        self.addCleanup(os.environ.pop, "MAAR_FAKE_UUID")
        return arguments

    def test_cuda_route_works_on_the_fake_driver(self):
        arguments = self.fake_driver()
        result = json.loads(self.finished(0, "--json", *arguments).stdout)
        self.check_figures(result)
        self.assertIn("FAKE", result["moved_by"])

    def test_cuda_route_notices_a_mistake_on_the_fake_driver(self):
        arguments = self.fake_driver()
        result = json.loads(self.finished(1, "--json", "--plant", "skip", *arguments).stdout)
        self.assertGreater(result["furthest_off"], 1e-4)

    def test_cuda_route_is_validated_on_the_fake_driver(self):
        arguments = self.fake_driver()
        self.finished(0, "--json", "--validate", *arguments)

    def test_validation_is_silent_on_both_sides(self):
        self.check_figures(self.figures("--route", "process", "--validate"))

    def test_mistakes_are_noticed(self):
        for mistake in ("skip", "stray"):
            with self.subTest(mistake=mistake):
                done = self.finished(1, "--json", *SMALL, "--route", "process", "--plant", mistake)
                result = json.loads(done.stdout)
                self.assertFalse(result["well"])
                self.assertGreater(result["furthest_off"], 1e-4)
                self.assertIn("not all promises were kept", done.stderr)

    def test_odd_numbers_come_out_well(self):
        for numbers in (("--particles", "1", "--frames", "1", "--size", "64x64"),
                        ("--particles", "65", "--frames", "3", "--size", "65x127"),
                        ("--particles", "70001", "--frames", "2", "--size", "64x64")):
            with self.subTest(numbers=numbers):
                done = self.finished(0, "--json", "--route", "process", *numbers)
                self.assertTrue(json.loads(done.stdout)["well"])

    def test_picture_is_the_same_each_time(self):
        with tempfile.TemporaryDirectory() as folder:
            pictures = []
            for name in ("a.png", "b.png"):
                path = pathlib.Path(folder) / name
                self.figures("--route", "process", "--out", path)
                pictures.append(path.read_bytes())
            width, height = struct.unpack(">II", pictures[0][16:24])
            self.assertEqual(width, 160)
            self.assertGreater(height, 90)
            self.assertGreater(len(pictures[0]), 5000)  # not black
            self.assertEqual(pictures[0], pictures[1])

    def test_other_process_that_dies_is_reported(self):
        with start("--route", "process", "--frames", "100000", "--particles", "1000", "--size",
                   "64x64") as program:
            children = pathlib.Path(f"/proc/{program.pid}/task/{program.pid}/children")
            deadline = time.monotonic() + 60
            while not children.read_text(encoding="ascii") and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(1.0)
            os.kill(int(children.read_text(encoding="ascii").split()[0]), signal.SIGKILL)
            output, errors = program.communicate(timeout=100)
        self.assertEqual(program.returncode, 1, output + errors)
        self.assertRegex(errors, "the other process does not|did not come up")

    def test_other_process_that_cannot_start_is_reported(self):
        done = run("--mover", "3")
        self.assertEqual(done.returncode, 1)
        self.assertNotEqual(done.stderr, "")


if __name__ == "__main__":
    sys.exit(main({"none": WithoutDriver, "executing": Executing, "noop": Noop}))
