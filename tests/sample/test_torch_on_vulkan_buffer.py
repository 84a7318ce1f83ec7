"""The sample of the Python package from outside: figures, mistakes noticed, arguments.

test_torch_on_vulkan_buffer.py SAMPLE
"""

import json
import os
import subprocess
import sys
import unittest

import maar

SAMPLE = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))


def run(*arguments, **environment):
    return subprocess.run([sys.executable, "-W", "error", SAMPLE, *arguments], text=True,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=170, check=False,
                          env={**os.environ, **environment})


class Sample(unittest.TestCase):
    def skip(self, reason):
        """Skip in the words that scripts/skipped.py reads."""
        name = self.id().rsplit(".", 1)[-1]
        print(f"\n[ RUN      ] {name}\nskipped: {reason}\n[  SKIPPED ] {name}", flush=True)
        self.skipTest(reason)

    def figures(self, *arguments, **environment):
        done = run("--json", "--size", "96", "--rounds", "3", *arguments, **environment)
        if done.returncode == 77:
            self.skip(done.stderr.strip().replace("skipped: ", ""))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def check(self, figures):
        self.assertGreater(figures["elements_compared"], 3 * 4096)
        self.assertGreater(figures["matmul_shared_ms"], 0)

    def test_numpy_route(self):
        figures = self.figures("--route", "numpy")
        self.check(figures)
        self.assertEqual(figures["route"], "NumPy")
        self.assertIn("CUDA", " ".join(figures["not_shown"]))

    def test_torch_route(self):
        figures = self.figures("--route", "torch")
        self.check(figures)
        self.assertEqual(figures["route"], "PyTorch on the CPU")

    def test_cuda_route_with_fakes(self):
        """FAKE CUDA driver, FAKE torch: the route's calls are right; of a GPU this says nothing."""
        if "MAAR_TEST_FAKE_CUDA" not in os.environ:
            self.skip("no FAKE CUDA driver on this system")
        environment = {
            "MAAR_CUDA_LIBRARY": os.environ["MAAR_TEST_FAKE_CUDA"],
            "MAAR_VULKAN_LIBRARY": os.environ["MAAR_TEST_FAKE_SEMAPHORES"],
            "MAAR_FAKE_UUID": maar.devices()[0].uuid.hex,
            "MAAR_TEST_PYTHON_FOLDER": os.path.join(HERE, "..", "python"),
            "PYTHONPATH": os.pathsep.join(filter(None, (os.path.join(HERE, "FAKE_torch"),
                                                        os.environ.get("PYTHONPATH"))))}
        figures = self.figures("--route", "cuda", **environment)
        self.check(figures)
        self.assertEqual((figures["route"], figures["handoff"]), ("PyTorch on CUDA", "timeline"))
        self.assertIn("FAKE", figures["cuda_device"])
        self.assertEqual(figures["cuda_memory_taken_meanwhile"], 0)
        self.assertEqual(figures["not_shown"], [])
        done = run("--route", "cuda", "--plant", "copy", "--size", "96", **environment)
        self.assertEqual(done.returncode, 1, done.stderr)

    def test_a_copy_is_noticed(self):
        done = run("--plant", "copy", "--size", "96", "--route", "numpy")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("after the first addition: element 0 is 1.0, not 2.0", done.stderr)

    def test_report_is_for_people(self):
        done = run("--size", "96", "--rounds", "1", "--route", "numpy")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("without a copy", done.stdout)
        self.assertIn("not shown here: ", done.stdout)

    def test_wrong_arguments_exit_2(self):
        for arguments in (("--size", "8"), ("--rounds", "0"), ("--route", "scenic"), ("--what",)):
            self.assertEqual(run(*arguments).returncode, 2, arguments)

    def test_no_device_exits_77(self):
        done = run(VK_ICD_FILENAMES="/nowhere.json", VK_DRIVER_FILES="/nowhere.json")
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
        self.assertIn("skipped: ", done.stderr)


if __name__ == "__main__":
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("skipped: no NumPy for this Python (Debian: python3-numpy)")
        sys.exit(77)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Sample)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    sys.exit(0 if result.wasSuccessful() else 1)
