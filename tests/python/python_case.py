"""What the tests of the Python package have in common: skipping, and nothing left behind.

In the environment: MAAR_LIBRARY, a shared libmaar; PYTHONPATH, unless the package is installed;
MAAR_TEST_FAKE_CUDA and MAAR_TEST_FAKE_SEMAPHORES, the FAKE driver and loader of the protocol tests.
"""

import gc
import os
import sys
import unittest
import warnings

try:
    import numpy
except ImportError:
    numpy = None

import maar
from gate import Gate

SLOW = os.environ.get("MAAR_TEST_SLOW") == "1"


def open_files():
    return len(os.listdir("/proc/self/fd"))


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def settled_bytes(device):
    """What the process holds when nothing is under way and no empty block is kept: how many blocks
    are depends on how far the device lags behind."""
    device.wait()
    device.trim()
    return resident_bytes()


class MaarCase(unittest.TestCase):
    """Each case must end without a word from Maar, and without an exception that nobody saw."""

    def setUp(self):
        self._catching = warnings.catch_warnings(record=True)
        self.warned = self._catching.__enter__()
        warnings.simplefilter("always")
        self.unraised = []
        self._hook, sys.unraisablehook = sys.unraisablehook, self.unraised.append

    def tearDown(self):
        gc.collect()
        sys.unraisablehook = self._hook
        self._catching.__exit__(None, None, None)
        self.assertEqual([str(warning.message) for warning in self.warned], [])
        self.assertEqual([repr(item.exc_value) for item in self.unraised], [])

    def skip(self, reason):
        """Skip in the words that scripts/skipped.py reads."""
        name = self.id().rsplit(".", 1)[-1]
        print(f"\n[ RUN      ] {name}\nskipped: {reason}\n[  SKIPPED ] {name}", flush=True)
        self.skipTest(reason)

    def needs_versioned_capsules(self):
        try:
            numpy.zeros(1).__dlpack__(max_version=(1, 0))
        except TypeError:
            self.skip(f"NumPy {numpy.__version__} makes legacy capsules; 2.1 makes versioned ones")


class DeviceCase(MaarCase):
    """Each case has a device of its own, which must have nothing left when it is closed."""

    def setUp(self):
        super().setUp()
        self.device = maar.Device()

    def tearDown(self):
        Gate.open_all()
        if not self.device.closed:
            for buffer in list(self.device._buffers):
                buffer.close()
            gc.collect()
            self.device.wait()
            statistics = self.device.statistics()
            self.assertEqual((statistics.allocations, statistics.pending), (0, 0))
            self.device.close()
        super().tearDown()


def main(module="__main__"):
    if numpy is None:
        print("skipped: no NumPy for this Python (Debian: python3-numpy)")
        sys.exit(77)
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[module])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    if result.testsRun and len(result.skipped) == result.testsRun:
        sys.exit(77)
    sys.exit(0 if result.wasSuccessful() else 1)
