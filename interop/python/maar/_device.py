"""Devices."""

import atexit
import ctypes
import threading
import weakref
from collections import namedtuple

from . import _cuda, _memory, _vulkan
from ._abi import C, make
from ._buffer import Buffer, count_of, shape_of
from ._calls import load_maar
from ._dtype import dtype as as_dtype
from ._errors import ClosedError, NotSupportedError

Statistics = namedtuple("Statistics", "blocks block_bytes allocations allocation_bytes pending "
                                      "pending_bytes device_allocations device_frees")
Statistics.__doc__ = """What an allocator holds, in numbers and bytes; see maarGetStatistics."""

_USAGES = {True: C.MAAR_MEMORY_USAGE_READBACK, "readback": C.MAAR_MEMORY_USAGE_READBACK,
           "upload": C.MAAR_MEMORY_USAGE_UPLOAD, "device": C.MAAR_MEMORY_USAGE_DEVICE_UPLOAD}

_open = weakref.WeakSet()


class Device:
    """A Vulkan device with an allocator and one queue; may be used from any thread."""

    def __init__(self, device=None, *, library=None, vulkan_library=None, cuda_library=None,
                 validation=False):
        self._core = None
        self._buffers = weakref.WeakSet()
        self._buffers_lock = threading.Lock()
        self._cuda_library = _cuda.library_path(cuda_library)
        self._core = _memory.Core(device, library, vulkan_library, self._cuda_library, validation)
        self._cuda_device = None
        self.name = self._core.physical.name
        self.type = self._core.physical.type
        self.uuid = self._core.physical.uuid
        _open.add(self)

    def _use(self):
        if self._core is None:
            raise ClosedError("the device was closed")
        self._core.refuse_inherited()
        return self._core

    # ---- what it is ----

    @property
    def closed(self):
        return self._core is None

    @property
    def can_share(self):
        """Whether buffers can be made that other APIs see."""
        return bool(self._use().export_type)

    @property
    def extensions(self):
        """The device extensions that are enabled."""
        return self._use().extensions

    @property
    def handles(self):
        """Vulkan's handles as numbers, for other bindings: instance, physical_device, device,
        queue, queue_family. Hold queue_lock while you submit."""
        core = self._use()
        return {"instance": core.instance.handle, "physical_device": core.physical.handle,
                "device": core.device, "queue": core.queue, "queue_family": core.family}

    @property
    def queue_lock(self):
        """Held around each submission to the queue. Call nothing of this package under it."""
        return self._use().queue_lock

    def statistics(self):
        """What the allocator holds."""
        core, found = self._use(), make("MaarStatistics")
        core.maar.maarGetStatistics(core.allocator, None, ctypes.byref(found))
        return Statistics(found.blockCount, found.blockBytes, found.allocationCount,
                          found.allocationBytes, found.pendingCount, found.pendingBytes,
                          found.deviceAllocationCalls, found.deviceFreeCalls)

    # ---- what it does ----

    def buffer(self, shape, dtype="uint8", *, host_visible=False, shared=None, name=None, usage=0):
        """A buffer of that many bytes, or of a shape and an element type.

        host_visible: True for memory that the host reads and writes at will; "upload" for memory
        that it only writes, in order; "device" for the device's own memory as far as the host sees
        it. shared: whether CUDA may see it; None wherever the device can. usage: bits of
        VkBufferUsageFlags on top of transfers, uniform, storage, index, vertex and indirect ones.
        """
        core, shape, dtype = self._use(), shape_of(shape), as_dtype(dtype)
        if host_visible and host_visible not in _USAGES:
            raise ValueError(f'host_visible is True, False, "readback", "upload" or "device", not '
                             f"{host_visible!r}")
        if shared and not core.export_type:
            raise NotSupportedError(f"{self.name} cannot export memory: shared=True is not to be "
                                    "had")
        shared = bool(core.export_type) if shared is None else bool(shared)
        memory = _memory.Memory(
            core, count_of(shape) * dtype.itemsize, usage, _USAGES[host_visible] if host_visible
            else C.MAAR_MEMORY_USAGE_DEVICE_LOCAL, bool(host_visible), shared, name)
        return Buffer(self, memory, 0, shape, dtype)

    def wait(self):
        """Waits for everything that was submitted, and frees what waited for it."""
        core = self._use()
        core.wait(core.submit())
        core.maar.maarCollect(core.allocator, None)

    def trim(self):
        """Gives empty blocks back to the driver; returns their bytes."""
        core, released = self._use(), ctypes.c_uint64()
        core.maar.maarTrim(core.allocator, None, ctypes.byref(released))
        return released.value

    # ---- CUDA ----

    def _cuda_state(self):
        core = self._use()
        if core.cuda is None:
            with core.lock:
                if core.cuda is None:
                    core.cuda = _cuda.open_state(core, self._cuda_library)
        return core.cuda

    @property
    def cuda(self):
        """This device as CUDA knows it. The first use opens CUDA; CudaNotFoundError and
        CudaIncompatibleError say what is wrong."""
        self._cuda_state()
        if self._cuda_device is None:
            self._cuda_device = _cuda.Cuda(self)
        return self._cuda_device

    # ---- the end ----

    def close(self):
        """Closes the device and its buffers. What arrays and tensors still see stays until they are
        gone, and the Vulkan device with it."""
        with self._buffers_lock:
            buffers = list(self._buffers)
        for buffer in buffers:
            buffer.close()
        self._cuda_device = None
        self._core = None

    def __enter__(self):
        self._use()
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<maar.Device {self.name!r} ({self.type}){', closed' if self.closed else ''}>"


def devices(*, vulkan_library=None):
    """The devices that Vulkan finds, in its order."""
    instance = _vulkan.Instance(_vulkan.Loader(vulkan_library))
    try:
        return instance.physical_devices()
    finally:
        instance.destroy()


def open_cuda(device, library=None):
    """Opens CUDA for a device, from a driver's library other than the system's if one is named."""
    if library is not None:
        if device._use().cuda is not None:
            raise ValueError("CUDA is open already for this device")
        device._cuda_library = _cuda.library_path(library)
    return device.cuda


def version():
    """The version of libmaar, as (major, minor, patch)."""
    packed = load_maar().maarGetVersion()
    return packed >> 22, packed >> 12 & 0x3FF, packed & 0xFFF


@atexit.register
def _at_exit():
    """Closes what is open. What arrays and tensors still see stays until the process is gone: no
    finalizer runs any more, since others may have to run after it."""
    for device in list(_open):
        device.close()
    _memory.exiting = True
