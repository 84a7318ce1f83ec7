"""PROTOCOL TESTS of the package's CUDA side, against the FAKE CUDA driver over lavapipe's exported
memory. They prove bookkeeping, order and lifetimes; of a GPU they say nothing.

MAAR_FAKE_SEMAPHORES says what both sides share: all (timelines), binary, or none (the host stands
between).
"""

import ctypes
import gc
import os
import sys
import threading
import uuid
import weakref

from capsules import Consumed
from fake_cuda import Fake
from gate import Gate
from python_case import SLOW, MaarCase, main, numpy, open_files, settled_bytes

import maar

CPU, CUDA = (1, 0), (2, 0)
MODE = {"all": "timeline", "binary": "binary", "none": "host"}[
    os.environ.get("MAAR_FAKE_SEMAPHORES", "all")]
FAKE = None


class FakeCase(MaarCase):
    """A device, and the FAKE's account of it: no rule broken, nothing alive at the end."""

    def setUp(self):
        super().setUp()
        FAKE.reset()
        FAKE.set_uuid(maar.devices()[0].uuid)
        self.device = maar.Device(vulkan_library=os.environ["MAAR_TEST_FAKE_SEMAPHORES"],
                                  cuda_library=FAKE.path)
        self.context = self.device.cuda.context
        FAKE.push(self.context)
        self.stream = FAKE.stream()

    def tearDown(self):
        Gate.open_all()
        for buffer in list(self.device._buffers):
            buffer.close()
        gc.collect()
        self.device.wait()
        self.assertEqual(self.device.statistics().allocations, 0)
        FAKE.destroy(self.stream)
        FAKE.pop()
        self.device.close()
        gc.collect()
        self.assertEqual(FAKE.live(), {})
        self.assertEqual(FAKE.breaches(), [])
        super().tearDown()

    def read(self, buffer, stream=None):
        """The bytes through CUDA's pointer."""
        stream = self.stream if stream is None else stream
        data = FAKE.queue_read(buffer.cuda_pointer, buffer.nbytes, stream)
        FAKE.synchronize(stream)
        return numpy.frombuffer(data.raw, dtype=buffer.dtype.typestr).reshape(buffer.shape)


class Sharing(FakeCase):
    def test_device_is_found_and_named(self):
        cuda = self.device.cuda
        self.assertIn("FAKE", cuda.name)
        self.assertEqual((cuda.ordinal, cuda.handoff), (0, MODE))
        self.assertEqual(cuda.driver_version, (13, 0))
        self.assertIs(maar.open_cuda(self.device), cuda)
        self.assertIs(cuda.device, self.device)

    def test_cuda_reads_what_vulkan_wrote(self):
        buffer = self.device.buffer((32, 8), "uint32", name="to CUDA")
        buffer.fill(0xC0FFEE, wait=False)
        buffer.release_to_cuda(self.stream)
        self.assertEqual(buffer.owner, "cuda")
        self.assertTrue((self.read(buffer) == 0xC0FFEE).all())
        buffer.acquire_from_cuda()

    def test_vulkan_reads_what_cuda_wrote(self):
        buffer = self.device.buffer(256, "uint32")
        seen = self.device.buffer(256, "uint32", host_visible=True)
        buffer.fill(1)
        buffer.release_to_cuda(self.stream)
        FAKE.set_words(buffer.cuda_pointer + 64, 99, 16, self.stream)
        buffer.acquire_from_cuda(self.stream, wait=False)
        self.assertEqual(buffer.owner, "vulkan")
        seen.copy_from(buffer)
        self.assertEqual(seen.numpy().tolist(), [1] * 16 + [99] * 16 + [1] * 224)

    def test_parts_of_one_block_are_imported_once(self):
        buffers = [self.device.buffer(1000, "uint8") for _ in range(5)]
        for index, buffer in enumerate(buffers):
            buffer.fill(index + 1, wait=False)
        for buffer in buffers:
            buffer.release_to_cuda(self.stream)
        self.assertEqual(len({buffer.info.block_id for buffer in buffers}), 1)
        self.assertEqual(self.device.cuda.imported_blocks, 0)
        self.assertEqual(len({buffer.cuda_pointer for buffer in buffers}), 5)
        self.assertEqual(self.device.cuda.imported_blocks, 1)
        self.assertEqual(self.device.cuda.imported_bytes, buffers[0].info.block_size)
        FAKE.set_words(buffers[2].cuda_pointer, 0x77777777, 250, self.stream)
        for index, buffer in enumerate(buffers):
            self.assertEqual(set(self.read(buffer).tolist()), {0x77 if index == 2 else index + 1})
        part = buffers[3].view(8, offset=100)
        self.assertEqual(part.cuda_pointer, buffers[3].cuda_pointer + 100)
        self.assertEqual(part.owner, "cuda")

    def test_rounds_keep_every_byte(self):
        buffer = self.device.buffer(64, "uint32")
        seen = self.device.buffer(64, "uint32", host_visible=True)
        for turn in range(50 if SLOW else 200):
            buffer.fill(turn, wait=False)
            with buffer.on_cuda(self.stream, wait=False):
                first = FAKE.queue_read(buffer.cuda_pointer, 256, self.stream)
                FAKE.set_words(buffer.cuda_pointer, turn + 1000, 64, self.stream)
            seen.copy_from(buffer)
            self.assertEqual(set(numpy.frombuffer(first.raw, "u4").tolist()), {turn})
            self.assertEqual(set(seen.numpy().tolist()), {turn + 1000})

    def test_owner_is_kept_track_of(self):
        buffer = self.device.buffer(64, host_visible=True, name="owned")
        other = self.device.buffer(64)
        with self.assertRaisesRegex(maar.OwnershipError, "belongs to Vulkan already"):
            buffer.acquire_from_cuda(self.stream)
        buffer.release_to_cuda(self.stream)
        for use in (lambda: buffer.fill(1), buffer.numpy, lambda: other.copy_from(buffer),
                    lambda: other.copy_to(buffer), buffer.tobytes,
                    lambda: buffer.view(4).fill(2)):
            with self.assertRaisesRegex(maar.OwnershipError,
                                        "'owned' belongs to CUDA: call acquire_from_cuda"):
                use()
        with self.assertRaisesRegex(maar.OwnershipError, "belongs to CUDA already"):
            buffer.release_to_cuda(self.stream)
        buffer.acquire_from_cuda()
        buffer.fill(3)
        self.assertEqual(buffer.numpy()[5], 3)

    def test_streams_are_taken_in_every_form(self):
        class Torch:
            cuda_stream = self.stream

        class CuPy:
            ptr = self.stream

        class Anybody:
            __cuda_stream__ = staticmethod(lambda: (0, self.stream))
        buffer = self.device.buffer(64)
        for stream in (None, 0, 1, self.stream, Torch(), CuPy(), Anybody()):
            with buffer.on_cuda(stream):
                pass
        for wrong, kind in ((-5, ValueError), ("stream", TypeError)):
            with self.assertRaises(kind):
                buffer.release_to_cuda(wrong)

    def test_what_is_not_shared_says_so(self):
        buffer = self.device.buffer(64, shared=False, name="private")
        with self.assertRaisesRegex(maar.NotSupportedError, "'private' was made with shared=False"):
            buffer.release_to_cuda()
        self.assertFalse(hasattr(buffer, "__cuda_array_interface__"))
        with self.assertRaisesRegex(BufferError, "neither host-visible nor seen by CUDA"):
            buffer.__dlpack__()


class Threads(FakeCase):
    def test_threads_hand_over_on_streams_of_their_own(self):
        wrong = []

        def work(seed):
            try:
                FAKE.push(self.context)
                stream = FAKE.stream()
                for turn in range(10 if SLOW else 40):
                    buffer = self.device.buffer(256, "uint32", host_visible=True)
                    buffer.fill(1000 * seed + turn, wait=False)
                    with buffer.on_cuda(stream):
                        data = FAKE.queue_read(buffer.cuda_pointer, 1024, stream)
                        FAKE.set_words(buffer.cuda_pointer, turn, 256, stream)
                    got = (set(numpy.frombuffer(data.raw, "u4").tolist()),
                           set(buffer.numpy().tolist()))
                    if got != ({1000 * seed + turn}, {turn}):
                        wrong.append((seed, turn, got))
                    if turn % 3 == 0:
                        Consumed(buffer.__dlpack__(dl_device=CUDA, stream=stream)).delete()
                FAKE.synchronize(stream)
                FAKE.destroy(stream)
                FAKE.pop()
            except BaseException as error:
                wrong.append(error)
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Order(FakeCase):
    """A stream waits for Vulkan, and Vulkan for the stream, by the timeline alone."""

    def stream_waits_for_vulkan(self, hand_over):
        buffer = self.device.buffer(1024, "uint32")
        buffer.fill(5)
        gate = Gate(self.device)
        buffer.fill(6, wait=False)
        if MODE == "host":  # the host waits in the handoff: somebody else opens
            opener = threading.Timer(0.05, gate.open)
            opener.start()
            hand_over(buffer)
            opener.join()
            data = FAKE.queue_read(buffer.cuda_pointer, 4096, self.stream)
        else:
            hand_over(buffer)
            data = FAKE.queue_read(buffer.cuda_pointer, 4096, self.stream)
            self.assertFalse(FAKE.ready(self.stream))
            gate.open()
        FAKE.synchronize(self.stream)
        self.assertEqual(set(numpy.frombuffer(data.raw, "u4").tolist()), {6})
        buffer.acquire_from_cuda()
        gate.destroy()

    def test_release_makes_the_stream_wait(self):
        self.stream_waits_for_vulkan(lambda buffer: buffer.release_to_cuda(self.stream))

    def test_capsule_makes_the_consumers_stream_wait(self):
        self.stream_waits_for_vulkan(
            lambda buffer: Consumed(buffer.__dlpack__(stream=self.stream)).delete())

    def test_vulkan_waits_for_the_stream(self):
        """The wait is queued while the stream itself still waits for another queue."""
        if MODE != "timeline":
            self.skip(f"waits before their signal need timelines; the mode is {MODE}")
        other = maar.Device(vulkan_library=os.environ["MAAR_TEST_FAKE_SEMAPHORES"],
                            cuda_library=FAKE.path)
        gate = Gate(other)
        stopper = other.buffer(64)
        stopper.release_to_cuda(self.stream)
        buffer = self.device.buffer(64, "uint32", host_visible=True)
        buffer.fill(1)
        buffer.release_to_cuda(self.stream)
        FAKE.set_words(buffer.cuda_pointer, 2, 64, self.stream)
        buffer.acquire_from_cuda(wait=False)
        self.assertEqual(ctypes.c_uint32.from_address(buffer._memory.mapped).value, 1)
        self.assertFalse(FAKE.ready(self.stream))
        opener = threading.Timer(0.05, gate.open)
        opener.start()
        self.assertEqual(set(buffer.numpy().tolist()), {2})
        opener.join()
        stopper.acquire_from_cuda()
        stopper.close()
        gate.destroy()
        other.close()

    def test_second_stream_waits_too(self):
        second = FAKE.stream()
        buffer = self.device.buffer(1024, "uint32")
        gate = Gate(self.device) if MODE == "timeline" else None
        buffer.fill(3, wait=False)
        buffer.release_to_cuda(self.stream)
        try:
            tensor = Consumed(buffer.__dlpack__(stream=second))
        except BufferError as error:
            self.assertEqual(MODE, "binary", error)
            self.assertIn("one stream only", str(error))
        else:
            self.assertNotEqual(MODE, "binary")
            if gate:
                data = FAKE.queue_read(buffer.cuda_pointer, 4096, second)
                self.assertFalse(FAKE.ready(second))
                gate.open()
                FAKE.synchronize(second)
                self.assertEqual(set(numpy.frombuffer(data.raw, "u4").tolist()), {3})
            self.assertTrue((self.read(buffer, second) == 3).all())
            tensor.delete()
        buffer.acquire_from_cuda()
        FAKE.synchronize(second)
        FAKE.destroy(second)
        if gate:
            gate.destroy()


class Protocols(FakeCase):
    def test_cuda_array_interface_is_version_3(self):
        buffer = self.device.buffer((4, 6), "float32")
        buffer.fill(1.5, wait=False)
        interface = buffer.__cuda_array_interface__
        self.assertEqual(interface, {
            "version": 3, "shape": (4, 6), "typestr": "<f4", "strides": None,
            "data": (buffer.cuda_pointer, False), "stream": 1})
        self.assertEqual(buffer.owner, "cuda")
        self.assertEqual(buffer.__cuda_array_interface__, interface)
        self.assertTrue((self.read(buffer, 0) == 1.5).all())
        buffer.acquire_from_cuda()
        buffer.release_to_cuda(self.stream)
        self.assertEqual(buffer.__cuda_array_interface__["stream"], self.stream)
        brain = self.device.buffer(4, "bfloat16")
        self.assertFalse(hasattr(brain, "__cuda_array_interface__"))

    def test_who_took_the_interface_keeps_the_memory(self):
        buffer = self.device.buffer(64)
        gone = []
        weakref.finalize(buffer._memory, gone.append, 1)
        interface = buffer.__cuda_array_interface__
        buffer.close()
        self.assertEqual(gone, [])
        FAKE.set_words(interface["data"][0], 1, 16, 0)
        del buffer
        self.assertEqual(gone, [1])

    def capsule(self, max_version):
        buffer = self.device.buffer((2, 3), "float64", name="tensor")
        buffer.fill(-0.25, wait=False)
        self.assertEqual(buffer.__dlpack_device__(), CUDA)
        capsule = buffer.__dlpack__(stream=self.stream, max_version=max_version)
        self.assertEqual(buffer.owner, "cuda")
        freed = []
        weakref.finalize(buffer._memory, freed.append, 1)
        pointer = buffer.cuda_pointer
        buffer.close()
        self.assertEqual(freed, [])
        before = FAKE.calls("cuCtxSynchronize")
        tensor = Consumed(capsule)
        self.assertEqual((tensor.pointer, tensor.device, tensor.shape, tensor.dtype),
                         (pointer, CUDA, (2, 3), (2, 64, 1)))
        data = FAKE.queue_read(tensor.pointer, 48, self.stream)
        FAKE.synchronize(self.stream)
        self.assertEqual(numpy.frombuffer(data.raw).tolist(), [-0.25] * 6)
        tensor.delete()
        self.assertEqual(freed, [1])
        self.assertEqual(FAKE.calls("cuCtxSynchronize"), before + 1)
        return tensor

    def test_legacy_capsule(self):
        self.assertEqual(self.capsule(None).name, b"dltensor")

    def test_versioned_capsule(self):
        self.needs_versioned_capsules()
        tensor = self.capsule((1, 0))
        self.assertEqual((tensor.name, tensor.version, tensor.flags),
                         (b"dltensor_versioned", (1, 0), 0))

    def test_streams_of_dlpack(self):
        buffer = self.device.buffer(64)
        with self.assertRaisesRegex(ValueError, "stream 0 is ambiguous"):
            buffer.__dlpack__(stream=0)
        tensor = Consumed(buffer.__dlpack__(stream=-1))
        self.assertEqual(buffer.owner, "vulkan")
        tensor.delete()
        tensor = Consumed(buffer.__dlpack__(stream=None))
        self.assertEqual(buffer.owner, "cuda")
        tensor.delete()
        buffer.acquire_from_cuda()

    def test_both_sides_of_a_buffer_that_the_host_sees(self):
        buffer = self.device.buffer(16, "int32", host_visible=True)
        buffer.fill(4)
        self.assertEqual(buffer.__dlpack_device__(), CPU)
        self.assertEqual(numpy.from_dlpack(buffer).sum(), 64)
        tensor = Consumed(buffer.__dlpack__(dl_device=CUDA, stream=self.stream))
        self.assertEqual(tensor.device, CUDA)
        self.assertEqual(self.read(buffer).sum(), 64)
        with self.assertRaises(BufferError):
            buffer.__dlpack__(dl_device=(2, 1), stream=self.stream)
        with self.assertRaises(BufferError):
            buffer.__dlpack__(dl_device=CUDA, stream=self.stream, copy=True)
        with self.assertRaises(maar.OwnershipError):
            buffer.__dlpack__()
        tensor.delete()
        buffer.acquire_from_cuda()


class Ends(FakeCase):
    def test_buffer_on_cuda_waits_for_its_streams(self):
        buffer = self.device.buffer(1 << 16, "uint32")
        buffer.release_to_cuda(self.stream)
        FAKE.set_words(buffer.cuda_pointer, 1, 1 << 16, self.stream)
        before = FAKE.calls("cuCtxSynchronize")
        buffer.close()
        self.assertEqual(FAKE.calls("cuCtxSynchronize"), before + 1)
        self.assertTrue(FAKE.ready(self.stream))
        buffer = self.device.buffer(64)
        buffer.release_to_cuda(self.stream)
        buffer.acquire_from_cuda(wait=False)
        buffer.close()
        self.assertEqual(FAKE.calls("cuCtxSynchronize"), before + 1)

    def test_cycles_leak_neither_memory_nor_descriptors(self):
        rounds = 100 if SLOW else 1000

        def cycle(turn):
            buffer = self.device.buffer(1 << 20)
            buffer.fill(turn % 256, wait=False)
            if turn % 3 == 0:
                buffer.release_to_cuda(self.stream)
            elif turn % 3 == 1:
                Consumed(buffer.__dlpack__(stream=self.stream)).delete()
            else:
                buffer.__dlpack__(stream=self.stream, max_version=(1, 0))
            if turn % 2:
                buffer.acquire_from_cuda(wait=False)
        for turn in range(300):
            cycle(turn)
        memory, files = settled_bytes(self.device), open_files()
        for turn in range(rounds):
            cycle(turn)
        self.device.wait()
        self.assertEqual(self.device.statistics().allocations, 0)
        grown = settled_bytes(self.device) - memory
        self.assertEqual(open_files(), files)
        self.assertLess(grown, 16 << 20)
        print(f"{rounds} cycles of 1 MiB: {grown / 1024:+.0f} KiB resident, "
              f"{open_files() - files:+d} descriptors")

    def test_blocks_of_their_own_come_and_go(self):
        files = None
        for turn in range(60):
            with self.device.buffer(48 << 20) as buffer:
                buffer.release_to_cuda(self.stream)
                buffer.acquire_from_cuda()
            self.device.trim()
            if turn == 20:
                files = open_files()
        self.assertEqual(open_files(), files)
        self.assertEqual(self.device.cuda.imported_blocks, 0)
        self.assertNotIn("memory", FAKE.live())

    def test_device_closes_with_tensors_alive(self):
        device = maar.Device(vulkan_library=os.environ["MAAR_TEST_FAKE_SEMAPHORES"],
                             cuda_library=FAKE.path)
        buffer = device.buffer(64)
        tensor = Consumed(buffer.__dlpack__(stream=self.stream))
        device.close()
        del buffer, device
        FAKE.set_words(tensor.pointer, 1, 16, self.stream)
        tensor.delete()


class Missing(MaarCase):
    """Errors that name what is missing."""

    def open(self, **options):
        device = maar.Device(vulkan_library=os.environ["MAAR_TEST_FAKE_SEMAPHORES"], **options)
        self.addCleanup(device.close)
        return device

    def test_no_driver(self):
        device = self.open(cuda_library="/nowhere/libcuda.so.1")
        with self.assertRaisesRegex(maar.CudaNotFoundError, "/nowhere/libcuda.so.1"):
            device.cuda
        buffer = device.buffer(64)
        with self.assertRaisesRegex(BufferError, "/nowhere/libcuda.so.1"):
            buffer.__dlpack_device__()
        self.assertFalse(hasattr(buffer, "__cuda_array_interface__"))
        buffer.close()

    def test_other_device(self):
        FAKE.reset()
        FAKE.set_uuid(uuid.UUID(int=0x1234))
        device = self.open(cuda_library=FAKE.path)
        with self.assertRaises(maar.CudaIncompatibleError) as caught:
            device.cuda
        self.assertIn(device.name.split(" ")[0], str(caught.exception))
        self.assertIn(uuid.UUID(int=0x1234).hex, str(caught.exception))
        self.assertIn(device.uuid.hex, str(caught.exception))
        self.assertEqual(FAKE.live(), {})

    def test_no_devices(self):
        FAKE.reset()
        FAKE.set_device_count(0)
        device = self.open(cuda_library=FAKE.path)
        with self.assertRaises((maar.CudaNotFoundError, maar.CudaIncompatibleError)):
            device.cuda

    def test_path_may_come_from_the_environment(self):
        FAKE.reset()
        FAKE.set_uuid(maar.devices()[0].uuid)
        os.environ["MAAR_CUDA_LIBRARY"] = FAKE.path
        self.addCleanup(os.environ.pop, "MAAR_CUDA_LIBRARY")
        device = self.open()
        self.assertIn("FAKE", device.cuda.name)

    def test_path_may_be_given_when_cuda_is_opened(self):
        FAKE.reset()
        FAKE.set_uuid(maar.devices()[0].uuid)
        device = self.open()
        self.assertIn("FAKE", maar.open_cuda(device, FAKE.path).name)
        with self.assertRaisesRegex(ValueError, "open already"):
            maar.open_cuda(device, FAKE.path)


if __name__ == "__main__":
    if "MAAR_TEST_FAKE_CUDA" not in os.environ:
        print("skipped: no FAKE CUDA driver on this system")
        sys.exit(77)
    FAKE = Fake(os.environ["MAAR_TEST_FAKE_CUDA"])
    main()
