"""Maar: Vulkan buffers as NumPy arrays, DLPack tensors and CUDA arrays, without a copy.

    import maar
    with maar.Device() as device:
        buffer = device.buffer((1024, 1024), "float32", host_visible=True)
        buffer.fill(1.5)            # Vulkan writes
        array = buffer.numpy()      # the same bytes
"""

from ._buffer import Buffer, BufferInfo
from ._cuda import Cuda
from ._device import Device, Statistics, devices, open_cuda, version
from ._dtype import dtype
from ._errors import (ClosedError, CudaError, CudaIncompatibleError, CudaNotFoundError,
                      DeviceLostError, LibraryError, MaarError, MaarWarning, NotSupportedError,
                      OutOfMemoryError, OwnershipError, UsageError)

__all__ = [
    "Buffer", "BufferInfo", "ClosedError", "Cuda", "CudaError", "CudaIncompatibleError",
    "CudaNotFoundError", "Device", "DeviceLostError", "LibraryError", "MaarError", "MaarWarning",
    "NotSupportedError", "OutOfMemoryError", "OwnershipError", "Statistics", "UsageError",
    "devices", "dtype", "open_cuda", "version",
]
