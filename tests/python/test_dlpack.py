"""DLPack on the CPU, and how long memory lives: views, capsules consumed and not, each let go of
exactly once; threads, exceptions under way, and the end of the interpreter."""

import ctypes
import gc
import itertools
import os
import subprocess
import sys
import threading
import weakref

from capsules import Consumed, name_of
from gate import Gate
from python_case import SLOW, DeviceCase, main, numpy, open_files, settled_bytes

import maar

CPU = (1, 0)


class Freed:
    """Counts how often a buffer's memory is freed."""

    def __init__(self, buffer):
        self.count = 0
        weakref.finalize(buffer._memory, self._add)

    def _add(self):
        self.count += 1


class Capsules(DeviceCase):
    def make(self, shape=(3, 5), dtype="float32"):
        return self.device.buffer(shape, dtype, host_visible=True)

    def test_legacy_capsule_describes_the_buffer(self):
        buffer = self.make()
        for max_version in (None, (0, 8)):
            tensor = Consumed(buffer.__dlpack__(max_version=max_version))
            self.assertEqual(tensor.name, b"dltensor")
            self.check(buffer, tensor)
            tensor.delete()

    def test_versioned_capsule_describes_the_buffer(self):
        self.needs_versioned_capsules()
        buffer = self.make()
        for max_version in ((1, 0), (1, 3), (2, 0)):
            tensor = Consumed(buffer.__dlpack__(max_version=max_version))
            self.assertEqual((tensor.name, tensor.version), (b"dltensor_versioned", (1, 0)))
            self.assertEqual(tensor.flags, 0)
            self.check(buffer, tensor)
            tensor.delete()

    def check(self, buffer, tensor):
        self.assertEqual(tensor.pointer, buffer.numpy().ctypes.data)
        self.assertEqual(tensor.pointer % 256, 0)
        self.assertEqual((tensor.device, tensor.shape, tensor.dtype), (CPU, (3, 5), (2, 32, 1)))
        self.assertIn(tensor.strides, (None, (5, 1)))

    def test_every_element_type_has_its_code(self):
        expected = {"bool": (6, 8), "int8": (0, 8), "int64": (0, 64), "uint16": (1, 16),
                    "float16": (2, 16), "float64": (2, 64), "bfloat16": (4, 16),
                    "complex64": (5, 64), "complex128": (5, 128)}
        for name, (code, bits) in expected.items():
            tensor = Consumed(self.make(4, name).__dlpack__())
            self.assertEqual(tensor.dtype, (code, bits, 1), name)
            tensor.delete()

    def test_device_and_stream_are_checked(self):
        buffer = self.make()
        self.assertEqual(buffer.__dlpack_device__(), CPU)
        for wrong in ((3, 0), (1, 1), (10, 0)):
            with self.assertRaises(BufferError):
                buffer.__dlpack__(dl_device=wrong)
        with self.assertRaisesRegex(ValueError, "stream must be None"):
            buffer.__dlpack__(stream=1)
        hidden = self.device.buffer(4)
        with self.assertRaisesRegex(BufferError, "host_visible=True"):
            hidden.__dlpack__(dl_device=CPU)

    def test_copies_are_copies(self):
        buffer = self.make()
        buffer.fill(2)
        tensor = Consumed(buffer.__dlpack__(copy=True))
        self.assertNotEqual(tensor.pointer, buffer.numpy().ctypes.data)
        buffer.fill(3)
        self.assertEqual(ctypes.c_float.from_address(tensor.pointer).value, 2)
        tensor.delete()

    def test_versioned_copies_say_so(self):
        self.needs_versioned_capsules()
        buffer = self.make()
        tensor = Consumed(buffer.__dlpack__(copy=True, max_version=(1, 0)))
        self.assertEqual(tensor.flags, 2)
        tensor.delete()

    def test_numpy_reads_and_writes_through_dlpack(self):
        buffer = self.make()
        buffer.fill(4)
        array = numpy.from_dlpack(buffer)
        self.assertEqual((array.shape, array.sum()), ((3, 5), 60))
        self.assertTrue(numpy.shares_memory(array, buffer.numpy()))
        buffer.fill(5)
        self.assertEqual(array.sum(), 75)


class Lifetimes(DeviceCase):
    def make(self):
        buffer = self.device.buffer(4096, "uint8", host_visible=True)
        buffer.fill(9)
        return buffer, Freed(buffer)

    def test_memory_goes_with_the_last_view(self):
        for see in (lambda buffer: buffer.numpy(), numpy.asarray, numpy.from_dlpack,
                    lambda buffer: buffer.memoryview(), lambda buffer: buffer.numpy()[7:],
                    lambda buffer: memoryview(buffer.numpy()), lambda buffer: buffer.view(100)):
            buffer, freed = self.make()
            seen = see(buffer)
            del buffer
            self.assertEqual(freed.count, 0)
            self.assertEqual(self.device.statistics().allocations, 1)
            data = seen.numpy() if isinstance(seen, maar.Buffer) else seen
            self.assertEqual(data[50], 9)
            del seen, data
            self.assertEqual(freed.count, 1)
            self.assertEqual(self.device.statistics().allocations, 0)

    def test_memory_waits_for_vulkan(self):
        gate = Gate(self.device)
        buffer = self.device.buffer(4096)
        buffer.fill(1, wait=False)
        buffer.close()
        del buffer
        statistics = self.device.statistics()
        self.assertEqual((statistics.allocations, statistics.pending), (0, 1))
        gate.open()
        self.device.wait()
        self.assertEqual(self.device.statistics().pending, 0)
        gate.destroy()

    def test_views_outlive_close_and_the_device(self):
        device = maar.Device()
        with device.buffer(64, host_visible=True) as buffer:
            buffer.fill(3)
            array, freed = buffer.numpy(), Freed(buffer)
        self.assertTrue(buffer.closed)
        device.close()
        del buffer, device
        self.assertEqual((freed.count, array.sum()), (0, 192))
        array[:] = 5
        core = weakref.ref(array.base._memory.core)
        self.assertIsNotNone(core())
        del array
        self.assertEqual(freed.count, 1)
        self.assertIsNone(core())

    def test_capsule_lets_go_exactly_once(self):
        ways = ("dropped", "consumed", "consumed and dropped first", "by NumPy")
        for max_version, how in itertools.product([None, (1, 0)], ways):
            with self.subTest(how, max_version=max_version):
                buffer, freed = self.make()
                capsule = buffer.__dlpack__(max_version=max_version)
                self.assertIn(name_of(capsule), (b"dltensor", b"dltensor_versioned"))
                buffer.close()
                self.assertEqual(freed.count, 0)
                if how == "by NumPy":
                    array = numpy.from_dlpack(Exporter(capsule))
                    del capsule
                    self.assertEqual((freed.count, array[7]), (0, 9))
                    del array
                elif how.startswith("consumed"):
                    tensor = Consumed(capsule)
                    if how == "consumed":
                        tensor.delete()
                        self.assertEqual(freed.count, 1)
                        del capsule
                    else:
                        del capsule
                        self.assertEqual(freed.count, 0)
                        tensor.delete()
                else:
                    del capsule
                self.assertEqual(freed.count, 1)
                gc.collect()
                self.assertEqual(freed.count, 1)

    def test_deleter_runs_on_any_thread(self):
        for _ in range(50):
            buffer, freed = self.make()
            tensor = Consumed(buffer.__dlpack__())
            del buffer
            thread = threading.Thread(target=tensor.delete)
            thread.start()
            thread.join()
            self.assertEqual(freed.count, 1)

    def test_capsule_dies_while_an_exception_is_under_way(self):
        def refuse(*_):
            raise AssertionError
        for _ in range(20):
            buffer, freed = self.make()
            try:
                refuse(buffer.__dlpack__(), numpy.from_dlpack(buffer), 1 / 0)
            except ZeroDivisionError as error:
                caught = error
            self.assertIsInstance(caught, ZeroDivisionError)
            # What NumPy cannot read makes it drop the capsule with its error set.
            strange = self.device.buffer(4, "bfloat16", host_visible=True)
            with self.assertRaises((RuntimeError, BufferError)):
                numpy.from_dlpack(strange)
            caught = None
            del buffer
            self.assertEqual(freed.count, 1)

    def test_cycles_leak_neither_memory_nor_descriptors(self):
        size, rounds = 1 << 20, 200 if SLOW else 1000

        def cycle(turn):
            buffer = self.device.buffer(size, host_visible=True)
            buffer.fill(turn % 256, wait=turn % 2 == 0)
            arrays = [buffer.numpy(), numpy.from_dlpack(buffer), numpy.asarray(buffer)]
            capsules = [buffer.__dlpack__(), buffer.__dlpack__(max_version=(1, 0))]
            tensor = Consumed(buffer.__dlpack__())
            self.assertEqual(arrays[turn % 3][turn], turn % 256)
            if turn % 3:
                buffer.close()
            tensor.delete()
            return arrays, capsules
        for turn in range(50):
            cycle(turn)
        gc.collect()
        memory, files = settled_bytes(self.device), open_files()
        for turn in range(rounds):
            cycle(turn)
        gc.collect()
        self.device.wait()
        self.assertEqual(self.device.statistics().allocations, 0)
        grown = settled_bytes(self.device) - memory
        self.assertEqual(open_files(), files)
        self.assertLess(grown, 16 << 20)
        print(f"{rounds} cycles of 1 MiB: {grown / 1024:+.0f} KiB resident, "
              f"{open_files() - files:+d} descriptors")

    def test_devices_come_and_go(self):
        for _ in range(3):
            maar.Device().close()
        gc.collect()
        files = open_files()
        for _ in range(5):
            with maar.Device() as device:
                device.buffer(1 << 16, host_visible=True).fill(1)
        self.assertEqual(open_files(), files)


class Exporter:
    """An object that gives out one capsule."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        capsule, self.capsule = self.capsule, None
        return capsule

    def __dlpack_device__(self):
        return CPU


class TheEnd(DeviceCase):
    """Interpreters that end with something still open."""

    def ends(self, code, expected=""):
        done = subprocess.run([sys.executable, "-X", "dev", "-W", "error", "-c", code],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env=dict(os.environ), check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, expected, ""))

    def test_all_is_forgotten(self):
        self.ends("""
import maar
d = maar.Device()
b = d.buffer(64, host_visible=True)
b.fill(1, wait=False)
""")

    def test_views_are_still_there(self):
        self.ends("""
import atexit
kept = []
atexit.register(lambda: print(*(array[3] for array in kept)))  # runs after what maar registered
import maar, numpy
d = maar.Device()
b = d.buffer(64, "uint8", host_visible=True)
b.fill(7)
kept += [b.numpy(), numpy.from_dlpack(b)]
""", "7 7\n")

    def test_capsules_are_still_there(self):
        self.ends("""
import builtins, maar, numpy
d = maar.Device()
b = d.buffer(64, host_visible=True)
builtins.kept = [b.__dlpack__(), b.__dlpack__(max_version=(1, 0)), numpy.from_dlpack(b)]
del b, d
""")

    def test_exit_in_a_thread(self):
        self.ends("""
import maar, threading, time
d = maar.Device()
def work():
    try:
        while True:
            d.buffer(4096, host_visible=True).fill(1)
    except maar.ClosedError:
        pass
threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
""")


if __name__ == "__main__":
    main()
