"""Buffers: the same bytes for Vulkan, NumPy, and all who speak DLPack or CUDA's array interface."""

import contextlib
import ctypes
from collections import namedtuple

from . import _dlpack
from ._abi import C, make
from ._calls import guarded
from ._cuda import stream_address
from ._dtype import dtype as as_dtype
from ._errors import ClosedError, MaarError, NotSupportedError, OwnershipError
from ._memory import Memory

BufferInfo = namedtuple("BufferInfo", "memory_type memory_properties offset size block_id "
                                      "block_size dedicated fallback")
BufferInfo.__doc__ = """Where a buffer's memory is: type and properties, place in which block."""

_PROPERTIES = (("device_local", C.VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT),
               ("host_visible", C.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT),
               ("host_coherent", C.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT),
               ("host_cached", C.VK_MEMORY_PROPERTY_HOST_CACHED_BIT),
               ("lazily_allocated", C.VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT),
               ("protected", C.VK_MEMORY_PROPERTY_PROTECTED_BIT))
UPDATE_LIMIT = 65536  # bytes that vkCmdUpdateBuffer takes


def shape_of(shape):
    """A shape as a tuple: a number is a length."""
    try:
        sizes = (shape.__index__(),)
    except AttributeError:
        sizes = tuple(size.__index__() for size in shape)
    if any(size <= 0 for size in sizes):
        raise ValueError(f"{shape!r}: every dimension of a buffer is at least 1")
    return sizes


def count_of(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def host_bytes(thing, writable, element):
    """The bytes of an object of the host, as a flat memoryview. An array must have elements of that
    type, or either side bytes."""
    if hasattr(thing, "__array__") and not isinstance(thing, (bytes, bytearray, memoryview)):
        thing = _dlpack.import_numpy("copying an array").asarray(thing)
        bytes_alone = ("|u1", None)  # None: bfloat16, which NumPy lacks
        if thing.dtype.str != element.typestr and not (
                thing.dtype.str in bytes_alone or element.typestr in bytes_alone):
            raise ValueError(f"an array of {thing.dtype} beside a buffer of {element.name}: convert "
                             'it with astype, or take its bytes with view("uint8")')
    view = memoryview(thing)
    if not view.c_contiguous:
        raise ValueError("the array is not contiguous: copy it first")
    if writable and view.readonly:
        raise ValueError("the array is read-only")
    return view.cast("B") if view.nbytes else view


def _window(address, size):
    """Bytes at an address; keeps nothing alive."""
    return memoryview((ctypes.c_ubyte * size).from_address(address)).cast("B")


def _staging(core, size):
    """Memory that the host and Vulkan see, for one copy."""
    return Memory(core, size, 0, C.MAAR_MEMORY_USAGE_READBACK, True, False,
                  "maar.python.staging")


def _submit(memories, record, wait):
    core = memories[0].core
    with guarded(), core.lock:
        for memory in memories:
            memory.require_vulkan("use")
            memory.flush()
        value = core.submit(record)
        for memory in memories:
            memory.used(value)
    if wait:
        core.wait(value)
        for memory in memories:
            memory.invalidate()


def _copy(commands, source, source_offset, target, target_offset, size):
    region = make("VkBufferCopy", srcOffset=source_offset, dstOffset=target_offset, size=size)
    source.core.vk.vkCmdCopyBuffer(commands, source.buffer, target.buffer, 1,
                                   ctypes.byref(region))


def _double(commands, memory, offset, size, data):
    """Writes the data at the front, and again behind all that is there, until it is full."""
    done = len(data)
    memory.core.vk.vkCmdUpdateBuffer(commands, memory.buffer, offset, done, data)
    while done < size:
        memory.core.barrier(
            commands, (C.VK_PIPELINE_STAGE_TRANSFER_BIT,) * 2,
            (C.VK_ACCESS_TRANSFER_WRITE_BIT,
             C.VK_ACCESS_TRANSFER_READ_BIT | C.VK_ACCESS_TRANSFER_WRITE_BIT))
        more = min(done, size - done)
        _copy(commands, memory, offset, memory, offset + done, more)
        done += more


class Buffer:
    """A buffer of a maar.Device. Made by maar.Device.buffer; see docs/python.md."""

    def __init__(self, device, memory, offset, shape, dtype):
        self._device = device
        self._memory = memory
        self._lent = None   # keeps the memory for those who keep this object, even closed
        self._offset = offset
        self.shape = shape
        self.dtype = dtype
        self.nbytes = count_of(shape) * dtype.itemsize
        self.name = memory.name
        self.host_visible = memory.mapped is not None
        self.shared = memory.shared
        with device._buffers_lock:
            device._buffers.add(self)

    def _use(self):
        if self._memory is None:
            raise ClosedError(f"buffer {self.name!r} was closed" if self.name
                              else "the buffer was closed")
        self._memory.core.refuse_inherited()
        return self._memory

    # ---- what it is ----

    @property
    def device(self):
        return self._device

    @property
    def closed(self):
        return self._memory is None

    @property
    def info(self):
        """Where the bytes are, as a BufferInfo."""
        memory = self._use()
        info = memory.info
        return BufferInfo(
            info.memoryTypeIndex,
            tuple(name for name, bit in _PROPERTIES if info.propertyFlags & bit),
            info.offset + self._offset, self.nbytes, info.blockId, info.blockSize,
            bool(info.dedicated), bool(info.fallback))

    @property
    def handle(self):
        """The VkBuffer as a number; the bytes begin at `offset` in it."""
        return self._use().buffer

    @property
    def offset(self):
        """Where in the VkBuffer the bytes begin."""
        return self._offset

    @property
    def address(self):
        """The device address in shaders."""
        memory, address = self._use(), ctypes.c_uint64()
        memory.core.maar.maarGetBufferAddress(memory.core.allocator, memory.buffer,
                                              ctypes.byref(address))
        return address.value + self._offset

    @property
    def owner(self):
        """Who has the bytes just now: "vulkan" (and the host), or "cuda"."""
        return "vulkan" if self._use().owner is None else "cuda"

    def view(self, shape, dtype="uint8", offset=0):
        """The same bytes, or some of them, in another shape. Owned, waited for and handed over
        together with the whole; lives on its own when this object is closed."""
        memory, shape, dtype = self._use(), shape_of(shape), as_dtype(dtype)
        offset = offset.__index__()
        size = count_of(shape) * dtype.itemsize
        if not 0 <= offset <= self.nbytes - size:
            raise ValueError(f"{size} bytes at {offset} do not fit into {self.nbytes}")
        if (self._offset + offset) % dtype.itemsize:
            raise ValueError(f"offset {offset} is not aligned to {dtype.name}")
        return Buffer(self._device, memory, self._offset + offset, shape, dtype)

    # ---- the host's side ----

    def _host_address(self):
        memory = self._use()
        if not self.host_visible:
            raise NotSupportedError(f"{memory.describe()} was made without host_visible=True: the "
                                    "host copies it with copy_to and copy_from")
        memory.require_vulkan("see")
        memory.wait()
        memory.invalidate()
        return memory, memory.mapped + self._offset

    def numpy(self):
        """A NumPy array over the bytes, without a copy. Waits for what Vulkan does to them; the
        array keeps the memory alive."""
        numpy = _dlpack.import_numpy("numpy()")
        if self.dtype.typestr is None:
            raise TypeError(f"NumPy has no {self.dtype.name}: see it as uint16 through view()")
        memory, address = self._host_address()
        return numpy.asarray(_dlpack.Pin(memory, address, self.shape, self.dtype.typestr))

    def memoryview(self):
        """The bytes as a flat, writable memoryview, without a copy and without NumPy."""
        memory, address = self._host_address()
        window = (ctypes.c_ubyte * self.nbytes).from_address(address)
        window._maar_memory = memory
        return memoryview(window).cast("B")

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        if dtype is not None and dtype != array.dtype:
            if copy is False:
                raise ValueError(f"as {dtype} the buffer would have to be copied")
            return array.astype(dtype)
        return array.copy() if copy else array

    def flush(self):
        """Shows Vulkan what the host wrote. Needed where `host_coherent` is not among the memory's
        properties; Vulkan's calls here and handoffs do it by themselves."""
        self._use().flush()

    def invalidate(self):
        """Shows the host what Vulkan wrote with wait=False, once that is done."""
        self._use().invalidate()

    @contextlib.contextmanager
    def mapped(self):
        """`with buffer.mapped() as array:` invalidates before and flushes after."""
        array = self.numpy()
        try:
            yield array
        finally:
            self.flush()

    def wait(self):
        """Waits for what Vulkan does to the bytes."""
        memory = self._use()
        memory.wait()
        memory.invalidate()

    # ---- Vulkan's side ----

    def fill(self, value, wait=True):
        """Vulkan sets every element to a value."""
        memory = self._use()
        one, offset, size = self.dtype.pack(value), self._offset, self.nbytes
        # Behind the last byte of all is padding up to a whole word; elsewhere are others' bytes.
        words = memory.size - offset if offset + size == memory.asked else size
        staging = ()
        if offset % 4 == 0 and words % 4 == 0 and len(one) <= 4:
            pattern = int.from_bytes(one * (4 // len(one)), "little")

            def record(commands):
                memory.core.vk.vkCmdFillBuffer(commands, memory.buffer, offset, words, pattern)
        elif offset % 4 == 0 and size % 4 == 0:
            def record(commands):
                _double(commands, memory, offset, size,
                        one * (min(size, UPDATE_LIMIT) // len(one)))
        else:  # a part that begins or ends within a word
            staging = (_staging(memory.core, size),)
            ctypes.memmove(staging[0].mapped, one * (size // len(one)), size)

            def record(commands):
                _copy(commands, staging[0], 0, memory, offset, size)
        _submit((memory, *staging), record, wait)

    def copy_from(self, source, wait=True):
        """Vulkan copies a buffer of the same size here; or the bytes of an array, or of anything
        with the buffer protocol, come from the host."""
        memory, offset, size = self._use(), self._offset, self.nbytes
        if isinstance(source, Buffer):
            other, other_offset = source._use(), source._offset
            self._check_copy(source)

            def record(commands):
                _copy(commands, other, other_offset, memory, offset, size)
            _submit((memory, other), record, wait)
            return
        data = host_bytes(source, False, self.dtype)
        if data.nbytes != size:
            raise ValueError(f"{data.nbytes} bytes into a buffer of {size}")
        if self.host_visible:
            self.memoryview()[:] = data
            memory.flush()
            return
        staging = _staging(memory.core, size)
        _window(staging.mapped, size)[:] = data

        def record(commands):
            _copy(commands, staging, 0, memory, offset, size)
        _submit((memory, staging), record, wait)

    def copy_to(self, target, wait=True):
        """Vulkan copies into a buffer of the same size; or the bytes go to a writable array of the
        host, which is always waited for."""
        memory, offset, size = self._use(), self._offset, self.nbytes
        if isinstance(target, Buffer):
            target.copy_from(self, wait)
            return
        data = host_bytes(target, True, self.dtype)
        if data.nbytes != size:
            raise ValueError(f"{size} bytes into an array of {data.nbytes}")
        if self.host_visible:
            data[:] = self.memoryview()
            return
        staging = _staging(memory.core, size)

        def record(commands):
            _copy(commands, memory, offset, staging, 0, size)
        _submit((memory, staging), record, True)
        data[:] = _window(staging.mapped, size)

    def tobytes(self):
        """A copy of the bytes."""
        data = bytearray(self.nbytes)
        self.copy_to(data)
        return bytes(data)

    def _check_copy(self, source):
        if source._device is not self._device:
            raise ValueError("the buffers belong to two devices")
        if source.nbytes != self.nbytes:
            raise ValueError(f"{source.nbytes} bytes into a buffer of {self.nbytes}")
        if (source._memory is self._memory and
                abs(source._offset - self._offset) < source.nbytes):
            raise ValueError("the two overlap")

    # ---- CUDA's side ----

    def _cuda(self):
        memory = self._use()
        if not memory.shared:
            raise NotSupportedError(f"{memory.describe()} was made with shared=False, or its "
                                    "device cannot export memory")
        return self._device._cuda_state()

    @property
    def cuda_pointer(self):
        """The bytes' address in CUDA. Says nothing of who has them: see release_to_cuda."""
        cuda = self._cuda()
        return self._memory.cuda_pointer(cuda) + self._offset

    def release_to_cuda(self, stream=None):
        """Vulkan gives the bytes to a stream, which waits for all that Vulkan was asked to do
        before. None is the default stream; a number is a CUstream; PyTorch's and CuPy's streams
        are taken as they are."""
        cuda, memory = self._cuda(), self._memory
        if memory.owner is not None:
            raise OwnershipError(f"{memory.describe()} belongs to CUDA already")
        memory.release_to(cuda, stream_address(stream))

    def acquire_from_cuda(self, stream=None, wait=True):
        """A stream gives the bytes back: what Vulkan does next comes after all that the stream was
        asked to do before. None is the stream that got them."""
        cuda, memory = self._cuda(), self._memory
        memory.acquire_from(cuda, None if stream is None else stream_address(stream))
        if wait:
            self.wait()

    @contextlib.contextmanager
    def on_cuda(self, stream=None, wait=True):
        """`with buffer.on_cuda(stream):` releases before and acquires after."""
        self.release_to_cuda(stream)
        try:
            yield self
        finally:
            self.acquire_from_cuda(stream_address(stream), wait)

    @property
    def __cuda_array_interface__(self):
        """Version 3. To ask for it is a handoff to the default stream, unless a stream has the
        bytes already. Absent where CUDA cannot see the buffer."""
        try:
            pointer = self.cuda_pointer
            memory = self._memory
            if memory.owner is None:
                memory.release_to(self._device._cuda_state(), 0)
            stream = memory.owner[0]
        except ClosedError:
            raise
        except (MaarError, OSError) as error:
            raise AttributeError(f"__cuda_array_interface__: {error}") from error
        if self.dtype.typestr is None:
            raise AttributeError(f"CUDA's array interface has no {self.dtype.name}: use DLPack")
        self._lent = memory  # who asks keeps this object, and so the memory
        return {"version": 3, "shape": self.shape, "typestr": self.dtype.typestr,
                "data": (pointer, False), "strides": None, "stream": stream or 1}

    # ---- DLPack ----

    def __dlpack_device__(self):
        """(kDLCPU, 0) for a host-visible buffer, else (kDLCUDA, ordinal)."""
        self._use()
        if self.host_visible:
            return _dlpack.CPU, 0
        try:
            return _dlpack.CUDA, self._cuda().info.deviceOrdinal
        except (MaarError, OSError) as error:
            raise BufferError(f"the buffer is neither host-visible nor seen by CUDA: {error}") \
                from error

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A DLPack capsule. On the CPU it waits for Vulkan; on CUDA it is a handoff to the
        consumer's stream, unless stream is -1. `dl_device` asks for the other side of a buffer
        that both see."""
        self._use()
        here = self.__dlpack_device__() if dl_device is None else tuple(map(int, dl_device))
        if here == (_dlpack.CPU, 0):
            return self._cpu_capsule(stream, max_version, copy)
        if here[0] == _dlpack.CUDA:
            return self._cuda_capsule(here, stream, max_version, copy)
        raise BufferError(f"DLPack device {here} is neither the CPU nor this buffer's CUDA device")

    def _cpu_capsule(self, stream, max_version, copy):
        if stream not in (None, -1):
            raise ValueError("on the CPU there are no streams: stream must be None")
        if not self.host_visible:
            raise BufferError("the host does not see this buffer: it was made without "
                              "host_visible=True")
        memory, address = self._host_address()
        if copy:
            data = ctypes.create_string_buffer(self.nbytes)
            ctypes.memmove(data, address, self.nbytes)
            memory, address = data, ctypes.addressof(data)
        return _dlpack.make_capsule(memory, address, self.shape, self.dtype, (_dlpack.CPU, 0),
                                    max_version, bool(copy))

    def _cuda_capsule(self, device, stream, max_version, copy):
        if copy:
            raise BufferError("a buffer is not copied on CUDA: copy what from_dlpack gives")
        if stream == 0:
            raise ValueError("stream 0 is ambiguous: 1 is the legacy default stream, 2 the "
                             "per-thread one")
        try:
            cuda = self._cuda()
            if device[1] != cuda.info.deviceOrdinal:
                raise BufferError(f"the buffer is on CUDA device {cuda.info.deviceOrdinal}, not "
                                  f"{device[1]}")
            memory = self._memory
            pointer = memory.cuda_pointer(cuda) + self._offset
            if stream == -1:
                memory.on_cuda = True
            else:
                memory.release_to(cuda, stream_address(stream))
        except (MaarError, OSError) as error:
            raise BufferError(str(error)) from error
        return _dlpack.make_capsule(memory, pointer, self.shape, self.dtype, device, max_version)

    # ---- the end ----

    def close(self):
        """Ends the use of this object. The memory goes as soon as no array, tensor or capsule sees
        it, and Vulkan and CUDA are done with it."""
        self._memory = None
        with self._device._buffers_lock:
            self._device._buffers.discard(self)

    def __enter__(self):
        self._use()
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        kind = "closed" if self.closed else "host-visible" if self.host_visible else "device-local"
        name = f" {self.name!r}" if self.name else ""
        return f"<maar.Buffer{name} {self.shape} {self.dtype.name}, {kind}>"
