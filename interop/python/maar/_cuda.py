"""CUDA's side: the driver, the timelines of its streams, and how streams are named."""

import ctypes
import os
import sys
import uuid

from . import _abi
from ._abi import C, make
from ._errors import CudaError, CudaNotFoundError, MaarError, NotSupportedError

_MODES = {C.MAAR_HANDOFF_MODE_TIMELINE: "timeline", C.MAAR_HANDOFF_MODE_BINARY: "binary",
          C.MAAR_HANDOFF_MODE_HOST: "host"}


def library_path(path):
    """The CUDA driver's library that was named, or None for the system's."""
    path = path or os.environ.get("MAAR_CUDA_LIBRARY")
    return os.fspath(path) if path else None


def _load(path):
    name = path or ("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    return _abi.load(name)


def device_uuids(path):
    """The UUIDs of CUDA's devices by their ordinals; empty without CUDA."""
    try:
        driver = _load(path)
    except OSError:
        return []
    count = ctypes.c_int()
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return []
    get_uuid = getattr(driver, "cuDeviceGetUuid_v2", None) or driver.cuDeviceGetUuid
    found = []
    for ordinal in range(count.value):
        device, data = ctypes.c_int(), (ctypes.c_ubyte * 16)()
        if driver.cuDeviceGet(ctypes.byref(device), ordinal) == 0 and get_uuid(data, device) == 0:
            found.append(uuid.UUID(bytes=bytes(data)))
    return found


def stream_address(stream):
    """A CUstream: None, 0 and 1 are the legacy default stream, 2 is the per-thread one; else an
    address, or an object of PyTorch, CuPy or anybody with __cuda_stream__."""
    if stream is None:
        return 0
    if not isinstance(stream, int):
        if hasattr(stream, "__cuda_stream__"):
            protocol = stream.__cuda_stream__
            stream = (protocol() if callable(protocol) else protocol)[1]
        elif hasattr(stream, "cuda_stream"):
            stream = stream.cuda_stream
        elif hasattr(stream, "ptr"):
            stream = stream.ptr
        else:
            raise TypeError(f"{type(stream).__name__} is no CUDA stream: an address, or an object "
                            "with __cuda_stream__, cuda_stream or ptr")
    if stream < 0:
        raise ValueError(f"{stream} is no CUDA stream")
    return 0 if stream == 1 else int(stream)


class _Timeline:
    __slots__ = ("handle", "value", "last")

    def __init__(self, handle):
        self.handle = handle
        self.value = 0
        self.last = None    # the function that handed over last


class CudaState:
    """What a device holds of CUDA. The device's lock guards the timelines."""

    def __init__(self, maar, allocator, path):
        self.maar = maar
        handle = ctypes.c_void_p()
        info = make("MaarCudaCreateInfo", pLibraryPath=path.encode() if path else None)
        maar.maarCreateCuda(allocator, ctypes.byref(info), ctypes.byref(handle))
        self.handle = handle.value
        self.timelines = {}
        try:
            self.info = self.read_info()
            self.driver = _load(path)
        except BaseException:
            maar.maarDestroyCuda(self.handle)
            raise

    def read_info(self):
        info = make("MaarCudaInfo")
        self.maar.maarGetCudaInfo(self.handle, ctypes.byref(info))
        return info

    def timeline(self, stream):
        """The timeline of a stream; one for each pair of queue and stream."""
        if stream not in self.timelines:
            handle = ctypes.c_uint64()
            self.maar.maarCreateCudaTimeline(self.handle, None, ctypes.byref(handle))
            self.timelines[stream] = _Timeline(handle.value)
        return self.timelines[stream]

    def release(self, stream, buffer, size):
        """Vulkan to the stream; returns the value that stands for it."""
        return self._hand_off(self.maar.maarReleaseToCuda, self.maar.maarAcquireFromCuda, stream,
                              buffer, size)

    def acquire(self, stream, buffer, size):
        """The stream to Vulkan."""
        return self._hand_off(self.maar.maarAcquireFromCuda, self.maar.maarReleaseToCuda, stream,
                              buffer, size)

    def _hand_off(self, function, opposite, stream, buffer, size):
        timeline = self.timeline(stream)
        if (self.info.handoffMode == C.MAAR_HANDOFF_MODE_BINARY and
                timeline.last is function):  # the sides take turns: the other one hands over nothing
            self._call(opposite, timeline, stream)
        resource = make("MaarHandoffResource", buffer=buffer, size=size)
        return self._call(function, timeline, stream, resourceCount=1,
                          pResources=ctypes.pointer(resource))

    def _call(self, function, timeline, stream, **resources):
        timeline.value += 1
        info = make("MaarCudaHandoffInfo", value=timeline.value, stream=stream or None,
                    **resources)
        self._require(function(self.handle, timeline.handle, ctypes.byref(info)))
        timeline.last = function
        return timeline.value

    @staticmethod
    def _require(result):
        if result != C.VK_SUCCESS:
            raise CudaError("the stream's last handoff by binary semaphores is not over", result)

    def wait_too(self, stream, value, other):
        """Makes another stream wait for the release that `stream` waits for."""
        if self.info.handoffMode == C.MAAR_HANDOFF_MODE_BINARY:
            raise CudaError("binary semaphores wake one stream only: acquire the buffer from the "
                            "stream that has it before another one gets it")
        self._require(self.maar.maarCudaWait(self.handle, self.timelines[stream].handle, value,
                                             other or None))

    def synchronize(self):
        """Waits until every stream of the context is done."""
        context = ctypes.c_void_p()
        if self.driver.cuCtxPushCurrent_v2(ctypes.c_void_p(self.info.pContext)) != 0:
            raise CudaError("CUDA's context is gone: who uses the buffer cannot be waited for")
        result = self.driver.cuCtxSynchronize()
        self.driver.cuCtxPopCurrent_v2(ctypes.byref(context))
        if result != 0:
            raise CudaError(f"cuCtxSynchronize failed with CUDA error {result}")

    def destroy(self):
        for timeline in self.timelines.values():
            self.maar.maarDestroyCudaTimeline(self.handle, timeline.handle)
        self.timelines = {}
        self.maar.maarDestroyCuda(self.handle)


class Cuda:
    """The CUDA device that is a maar.Device. Closed together with that."""

    def __init__(self, device):
        self._device = device

    @property
    def _state(self):
        return self._device._use().cuda

    @property
    def device(self):
        return self._device

    @property
    def name(self):
        return self._state.info.deviceName.decode("utf-8", "replace")

    @property
    def ordinal(self):
        """What torch.device("cuda", ordinal) and cudaSetDevice take."""
        return self._state.info.deviceOrdinal

    @property
    def driver_version(self):
        """The highest CUDA version that the driver knows, as (major, minor)."""
        version = self._state.info.driverVersion
        return version // 1000, version % 1000 // 10

    @property
    def context(self):
        """The CUcontext in use: the primary one, as the runtime API has it."""
        return self._state.info.pContext

    @property
    def handoff(self):
        """How Vulkan and streams wait for each other: "timeline", "binary" or "host"."""
        return _MODES.get(self._state.info.handoffMode, "none")

    @property
    def imported_blocks(self):
        """How many blocks of device memory CUDA has imported just now."""
        return self._state.read_info().importedBlockCount

    @property
    def imported_bytes(self):
        return self._state.read_info().importedBytes

    def synchronize(self):
        """Waits until every stream of the context is done."""
        self._state.synchronize()

    def __repr__(self):
        return f"<maar.Cuda {self.ordinal}: {self.name}, handoff by {self.handoff}>"


def open_state(core, path):
    """Opens CUDA for a device; the errors say what is missing."""
    if not core.export_type:
        raise NotSupportedError(f"{core.physical.name} cannot export memory, so CUDA cannot see it")
    try:
        return CudaState(core.maar, core.allocator, path)
    except MaarError:
        raise
    except OSError as error:
        raise CudaNotFoundError(f"the CUDA driver cannot be loaded: {error}") from error
