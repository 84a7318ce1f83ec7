"""Buffers on a device that executes: NumPy's view against what Vulkan writes and reads, copies,
element types, mistakes. Runs on whatever VK_ICD_FILENAMES names; nothing here needs CUDA."""

import os
import struct
import subprocess
import sys
import threading
import types
import uuid
from unittest import mock

from python_case import DeviceCase, MaarCase, main, numpy

import maar
from maar import _calls, _vulkan


class Views(DeviceCase):
    def test_numpy_sees_what_vulkan_fills(self):
        buffer = self.device.buffer((64, 32), "uint32", host_visible=True, name="filled")
        array = buffer.numpy()
        self.assertEqual((array.shape, array.dtype), ((64, 32), numpy.uint32))
        for value in (0xDEADBEEF, 0, 7):
            buffer.fill(value)
            self.assertTrue((array == value).all())

    def test_vulkan_copies_what_numpy_wrote(self):
        source = self.device.buffer(1000, "float32", host_visible=True)
        target = self.device.buffer(1000, "float32", host_visible=True)
        target.fill(-1.0)
        source.numpy()[:] = numpy.arange(1000, dtype="f4")
        target.copy_from(source)
        self.assertTrue((target.numpy() == numpy.arange(1000)).all())
        source.numpy()[:] *= 2
        source.copy_to(target)
        self.assertTrue((target.numpy() == 2 * numpy.arange(1000)).all())

    def test_views_are_not_copies(self):
        buffer = self.device.buffer(256, "int32", host_visible=True)
        first, second = buffer.numpy(), numpy.asarray(buffer)
        self.assertTrue(numpy.shares_memory(first, second))
        self.assertTrue(numpy.shares_memory(first, numpy.from_dlpack(buffer)))
        first[3] = 77
        self.assertEqual(second[3], 77)
        self.assertEqual(buffer.memoryview().cast("i")[3], 77)
        copied = numpy.array(buffer)
        self.assertFalse(numpy.shares_memory(first, copied))
        self.assertEqual(numpy.asarray(buffer, dtype="float64")[3], 77.0)

    def test_queued_work_is_waited_for_by_the_view(self):
        source = self.device.buffer((4 << 20,), "uint8", host_visible=True)
        target = self.device.buffer((4 << 20,), "uint8", host_visible=True)
        for value in range(20):
            source.fill(value, wait=False)
            target.copy_from(source, wait=False)
            self.assertTrue((target.numpy() == value).all())

    def test_mapped_gives_the_array(self):
        buffer = self.device.buffer(16, "float32", host_visible="upload")
        with buffer.mapped() as array:
            array[:] = 4
        other = self.device.buffer(16, "float32", host_visible="readback")
        other.copy_from(buffer)
        with other.mapped() as array:
            self.assertEqual(array.sum(), 64)

    def test_every_element_type_is_filled_by_vulkan(self):
        values = {"bool": True, "int8": -3, "int16": -300, "int32": -70000, "int64": -2 ** 40,
                  "uint8": 200, "uint16": 60000, "uint32": 2 ** 31, "uint64": 2 ** 63 + 1,
                  "float16": 0.5, "float32": 1.25, "float64": -1 / 3, "complex64": 1 - 2j,
                  "complex128": -1 / 3 + 1j}
        for name, value in values.items():
            for count in (1, 3, 4096, 9001):
                with self.subTest(name, count=count):
                    buffer = self.device.buffer(count, name, host_visible=True)
                    buffer.fill(value)
                    array = buffer.numpy()
                    self.assertEqual(array.dtype, numpy.dtype(name))
                    self.assertTrue((array == value).all())

    def test_a_filled_part_ends_where_it_ends(self):
        for begin in range(8):
            for end in range(begin + 1, 9):
                with self.subTest(begin=begin, end=end):
                    buffer = self.device.buffer(8, host_visible=True)
                    buffer.fill(1)
                    buffer.view(end - begin, "uint8", begin).fill(2)
                    expected = [2 if begin <= i < end else 1 for i in range(8)]
                    self.assertEqual(buffer.numpy().tolist(), expected)

    def test_bfloat16_rounds_to_even(self):
        buffer = self.device.buffer(5, "bfloat16", host_visible=True)
        for value, bits in ((1.0, 0x3F80), (1.00390625, 0x3F80), (1.01171875, 0x3F82),
                            (float("inf"), 0x7F80), (-0.0, 0x8000)):
            buffer.fill(value)
            self.assertEqual(set(buffer.view(5, "uint16").numpy().tolist()), {bits}, value)
        with self.assertRaisesRegex(TypeError, "NumPy has no bfloat16"):
            buffer.numpy()

    def test_values_that_no_element_has_are_refused(self):
        for name, value in (("bfloat16", 1e40), ("bfloat16", "x"), ("complex64", 1e40),
                            ("float32", 1e40), ("int8", 300), ("uint32", -1)):
            with self.assertRaisesRegex(ValueError, f"is no {name}"):
                self.device.buffer(4, name).fill(value)

    def test_parts_have_untouched_neighbours(self):
        buffer = self.device.buffer(4096, "uint8", host_visible=True)
        expected = numpy.zeros(4096, "u1")
        buffer.fill(0)
        for offset, count, value in ((0, 4, 1), (5, 3, 2), (1023, 1025, 3), (4093, 3, 4),
                                     (2048, 1024, 5), (3, 1, 6)):
            buffer.view(count, offset=offset).fill(value)
            expected[offset:offset + count] = value
            self.assertTrue((buffer.numpy() == expected).all(), offset)
        part = buffer.view((8, 4), "float64", offset=256)
        part.fill(0.1)
        expected[256:512] = numpy.frombuffer(struct.pack("<d", 0.1) * 32, "u1")
        self.assertTrue((buffer.numpy() == expected).all())
        self.assertEqual(part.info.offset, buffer.info.offset + 256)

    def test_device_local_bytes_travel_by_copies(self):
        buffer = self.device.buffer((100, 3), "float32")
        data = numpy.arange(300, dtype="f4").reshape(100, 3)
        buffer.copy_from(data)
        data[:] = 0
        back = numpy.empty((100, 3), "f4")
        buffer.copy_to(back)
        self.assertTrue((back.ravel() == numpy.arange(300)).all())
        self.assertEqual(buffer.tobytes(), back.tobytes())
        buffer.copy_from(bytes(1200))
        self.assertEqual(buffer.tobytes(), bytes(1200))
        odd = self.device.buffer(7)
        odd.copy_from(b"1234567", wait=False)
        self.assertEqual(odd.tobytes(), b"1234567")
        with self.assertRaisesRegex(maar.NotSupportedError, "host_visible=True"):
            buffer.numpy()

    def test_info_says_where_the_bytes_are(self):
        buffer = self.device.buffer(100, host_visible=True, name="named")
        other = self.device.buffer(100, host_visible=True)
        info = buffer.info
        self.assertEqual(buffer.name, "named")
        self.assertEqual(info.size, 100)
        self.assertIn("host_visible", info.memory_properties)
        self.assertEqual(info.offset % 256, 0)
        self.assertEqual(info.block_id, other.info.block_id)
        self.assertNotEqual(info.offset, other.info.offset)
        self.assertGreater(info.block_size, 100)
        self.assertGreater(buffer.handle, 0)
        self.assertIn("named", repr(buffer))
        if "VK_KHR_buffer_device_address" in self.device.extensions:
            self.assertGreater(buffer.address, 0)
            self.assertEqual(buffer.view(4, offset=8).address, buffer.address + 8)

    def test_threads_use_one_device(self):
        wrong = []

        def work(seed):
            for turn in range(25):
                buffer = self.device.buffer(5000, "uint16", host_visible=True)
                buffer.fill(seed * 100 + turn)
                if not (buffer.numpy() == seed * 100 + turn).all():
                    wrong.append((seed, turn))
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Mistakes(DeviceCase):
    def test_shapes_and_types_are_checked(self):
        for shape in (0, -1, (), (3, 0)):
            if shape != ():
                with self.assertRaises(ValueError):
                    self.device.buffer(shape)
        self.assertEqual(self.device.buffer((), "float32", host_visible=True).numpy().shape, ())
        for shape in (1.5, "12"):
            with self.assertRaises((TypeError, AttributeError)):
                self.device.buffer(shape)
        for dtype in ("float8", object, ">f4", numpy.dtype("U3"), None):
            with self.assertRaisesRegex(TypeError, "no element type"):
                self.device.buffer(4, dtype)
        for dtype in ("float32", "f4", "<f4", numpy.float32, numpy.dtype("f4")):
            self.assertEqual(maar.dtype(dtype), maar.dtype("float32"))
        with self.assertRaisesRegex(ValueError, "host_visible is"):
            self.device.buffer(4, host_visible="sideways")

    def test_values_are_checked(self):
        for dtype, value in (("uint8", 256), ("uint8", -1), ("int16", 2 ** 15),
                             ("float16", 1e6)):
            with self.assertRaises(ValueError):
                self.device.buffer(4, dtype).fill(value)
        with self.assertRaisesRegex(TypeError, "integer"):
            self.device.buffer(4, "int32").fill(1.5)

    def test_copies_are_checked(self):
        buffer = self.device.buffer(16, "float32", host_visible=True)
        with self.assertRaisesRegex(ValueError, "60 bytes into a buffer of 64"):
            buffer.copy_from(numpy.zeros(15, "f4"))
        for copy in (buffer.copy_from, buffer.copy_to):
            with self.assertRaisesRegex(ValueError, "int32 beside a buffer of float32"):
                copy(numpy.zeros(16, "i4"))
            copy(numpy.zeros(64, "u1"))
        with self.assertRaisesRegex(ValueError, "not contiguous"):
            buffer.copy_from(numpy.zeros(32, "f4")[::2])
        with self.assertRaisesRegex(ValueError, "read-only"):
            buffer.copy_to(bytes(64))
        with self.assertRaisesRegex(ValueError, "32 bytes into a buffer of 64"):
            buffer.copy_from(self.device.buffer(32))
        with self.assertRaisesRegex(ValueError, "overlap"):
            buffer.view(32, offset=0).copy_from(buffer.view(32, offset=16))
        with maar.Device() as other, self.assertRaisesRegex(ValueError, "two devices"):
            buffer.copy_from(other.buffer(64))

    def test_parts_are_checked(self):
        buffer = self.device.buffer(64)
        for shape, dtype, offset in ((65, "uint8", 0), (16, "float32", 4), (1, "uint8", -1),
                                     (1, "uint8", 64)):
            with self.assertRaisesRegex(ValueError, "do not fit"):
                buffer.view(shape, dtype, offset)
        with self.assertRaisesRegex(ValueError, "not aligned"):
            buffer.view(4, "float32", 2)

    def test_closed_things_say_so(self):
        buffer = self.device.buffer(64, host_visible=True, name="gone")
        buffer.close()
        buffer.close()
        self.assertTrue(buffer.closed)
        for use in (buffer.numpy, buffer.tobytes, buffer.__dlpack__, buffer.__dlpack_device__,
                    lambda: buffer.fill(1), lambda: buffer.info, lambda: buffer.view(4),
                    lambda: self.device.buffer(64).copy_from(buffer), buffer.__enter__,
                    lambda: buffer.cuda_pointer, lambda: buffer.__cuda_array_interface__):
            with self.assertRaisesRegex(maar.ClosedError, "'gone' was closed"):
                use()
        self.device.close()
        self.device.close()
        for use in (lambda: self.device.buffer(4), self.device.wait, lambda: self.device.cuda):
            with self.assertRaisesRegex(maar.ClosedError, "the device was closed"):
                use()

    def test_too_much_memory_is_reported_in_a_sentence(self):
        with self.assertRaises(maar.MaarError) as caught:
            self.device.buffer(1 << 50)
        self.assertIsNotNone(caught.exception.result)
        self.assertIn("maarCreateBuffer", str(caught.exception))

    def test_misuse_carries_the_sentence_of_maar(self):
        buffer = self.device.buffer(64)
        with self.assertRaises(maar.UsageError) as caught:
            core = buffer._memory.core
            core.maar.maarFlushAllocation(core.allocator, buffer._memory.allocation, 1 << 40, 4)
        self.assertRegex(str(caught.exception), r"(?i)offset|range|mapped")
        self.assertIn("VK_ERROR_VALIDATION_FAILED_EXT", str(caught.exception))


class Devices(MaarCase):
    def test_devices_are_chosen_by_index_name_and_uuid(self):
        found = maar.devices()
        self.assertGreater(len(found), 0)
        first = found[0]
        for wanted in (0, first.name, first.name[2:9].upper(), first.uuid, first.uuid.bytes,
                       str(first.uuid), first, None):
            with maar.Device(wanted) as device:
                self.assertEqual(device.uuid, first.uuid)
        for wanted, words in ((99, "no device 99"),
                              ("no such name", "no device has 'no such name'"),
                              (uuid.UUID(int=5), "no device has the UUID")):
            with self.assertRaisesRegex(maar.LibraryError, words):
                maar.Device(wanted)
        with self.assertRaises(TypeError):
            maar.Device(1.5)

    def test_the_device_of_cuda_is_preferred(self):
        kinds = ("cpu", "discrete", "integrated", "discrete")
        ranks = {"discrete": 0, "integrated": 1, "cpu": 3}
        found = [types.SimpleNamespace(index=index, name=kind, uuid=uuid.UUID(int=index),
                                       _rank=ranks[kind]) for index, kind in enumerate(kinds)]

        def chosen(*cuda):
            return _vulkan.choose(found, None, [uuid.UUID(int=index) for index in cuda]).index
        self.assertEqual(chosen(), 1)
        self.assertEqual(chosen(3), 3)
        self.assertEqual(chosen(3, 1), 3)
        self.assertEqual(chosen(2, 3), 2)
        self.assertEqual(chosen(77), 1)
        self.assertEqual(_vulkan.choose(found, 0, [uuid.UUID(int=3)]).index, 0)

    def test_missing_libraries_are_named(self):
        with self.assertRaisesRegex(maar.LibraryError, "/nowhere/libmaar.so cannot be loaded"):
            maar.Device(library="/nowhere/libmaar.so")
        with self.assertRaisesRegex(maar.LibraryError, "no maarGetVersion"):
            maar.Device(library="libm.so.6")
        with self.assertRaisesRegex(maar.LibraryError, "no Vulkan loader.*/nowhere/libvulkan.so"):
            maar.Device(vulkan_library="/nowhere/libvulkan.so")
        with self.assertRaisesRegex(maar.LibraryError, "no Vulkan loader"):
            maar.Device(vulkan_library="libm.so.6")

    def test_without_a_library_of_its_own_the_systems_is_taken(self):
        own = _calls.load_maar()
        self.assertEqual(_calls.SYSTEM_LIBRARY, "libmaar.so.0.2")
        with mock.patch.dict(os.environ), mock.patch.object(_calls, "__file__", "/nowhere/_calls.py"):
            os.environ.pop("MAAR_LIBRARY", None)
            with mock.patch.object(_calls, "SYSTEM_LIBRARY", "libmaar-nowhere.so.0.2"):
                with self.assertRaisesRegex(maar.LibraryError, "nor installed in this system"):
                    _calls.load_maar()
            path = next(path for path, functions in _calls._loaded.items() if functions is own)
            with mock.patch.object(_calls, "SYSTEM_LIBRARY", path):
                self.assertIs(_calls.load_maar(), own)

    def test_version_is_that_of_the_package(self):
        self.assertEqual(maar.version()[:2], (0, 2))

    def test_forked_child_gets_an_error_and_frees_nothing(self):
        if not hasattr(os, "fork"):
            self.skip("no fork")
        code = """
import gc, maar, os
device = maar.Device()
buffer = device.buffer(8, host_visible=True)
array = buffer.numpy()
child = os.fork()
if child == 0:
    for use in (lambda: buffer.fill(1), buffer.numpy, lambda: device.buffer(4)):
        try:
            use()
            os._exit(1)
        except maar.UsageError as error:
            assert "forked" in str(error)
    del array, buffer
    device.close()
    gc.collect()
    os._exit(0)  # in exit, lavapipe 26 waits for threads that stayed with the parent
assert os.waitpid(child, 0)[1] == 0
buffer.fill(7)
assert (array == 7).all()
"""
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, env=dict(os.environ),
                              check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_validation_layer_finds_nothing(self):
        """The whole of what a buffer can do, under VK_LAYER_KHRONOS_validation."""
        code = """
import maar, sys
try:
    device = maar.Device(validation=True)
except maar.LibraryError as error:
    sys.exit(77)
with device:
    for shared in (True, False) if device.can_share else (False,):
        for visible in (False, True, "upload"):
            buffer = device.buffer(10001, "float64", host_visible=visible, shared=shared)
            other = device.buffer(10001, "float64", shared=shared)
            buffer.fill(0.25)
            buffer.view(7, offset=3).fill(9)
            other.copy_from(buffer, wait=False)
            other.copy_from(bytes(80008), wait=False)
            assert other.tobytes() == bytes(80008)
print("ended")
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env=dict(os.environ), check=False)
        if done.returncode == 77:
            self.skip("no validation layer (Debian: vulkan-validationlayers)")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ended\n", ""))


if __name__ == "__main__":
    main()
