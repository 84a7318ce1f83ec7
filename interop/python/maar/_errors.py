"""Exceptions. Each carries the sentence that Maar said, if it said one."""

from ._abi import C


class MaarError(Exception):
    """Something that Maar, Vulkan or CUDA refused. `result` is the VkResult, or None."""

    def __init__(self, message, result=None):
        super().__init__(message)
        self.result = result


class LibraryError(MaarError, OSError):
    """libmaar, the Vulkan loader or a Vulkan device cannot be had."""


class OutOfMemoryError(MaarError, MemoryError):
    """Neither the device nor the host has that much memory left."""


class DeviceLostError(MaarError):
    """The device is lost; all that is left to do is to close it."""


class NotSupportedError(MaarError):
    """This device, or the way it was opened, cannot do that."""


class UsageError(MaarError, ValueError):
    """A rule of Maar was broken; the message says which."""


class ClosedError(MaarError, ValueError):
    """The object was closed."""


class OwnershipError(MaarError):
    """The bytes belong to CUDA just now, or to Vulkan."""


class CudaError(MaarError):
    """CUDA refused something."""


class CudaNotFoundError(CudaError):
    """There is no CUDA driver, or it does not start."""


class CudaIncompatibleError(CudaError):
    """The CUDA driver is too old, or none of its devices is this Vulkan device."""


class MaarWarning(UserWarning):
    """What Maar has to say while it does what it was asked for, leaks at the end included."""


RESULT_NAMES = {value: name for name, value in vars(C).items()
                if name.startswith("VK_ERROR_") or name in
                ("VK_SUCCESS", "VK_NOT_READY", "VK_TIMEOUT", "VK_INCOMPLETE")}

_KINDS = {
    C.VK_ERROR_OUT_OF_HOST_MEMORY: OutOfMemoryError,
    C.VK_ERROR_OUT_OF_DEVICE_MEMORY: OutOfMemoryError,
    C.VK_ERROR_OUT_OF_POOL_MEMORY: OutOfMemoryError,
    C.VK_ERROR_DEVICE_LOST: DeviceLostError,
    C.VK_ERROR_FEATURE_NOT_PRESENT: NotSupportedError,
    C.VK_ERROR_EXTENSION_NOT_PRESENT: NotSupportedError,
    C.VK_ERROR_LAYER_NOT_PRESENT: NotSupportedError,
    C.VK_ERROR_VALIDATION_FAILED_EXT: UsageError,
}
_CUDA_KINDS = {
    C.VK_ERROR_INITIALIZATION_FAILED: CudaNotFoundError,
    C.VK_ERROR_INCOMPATIBLE_DRIVER: CudaIncompatibleError,
    C.VK_ERROR_INVALID_EXTERNAL_HANDLE: CudaError,
    C.VK_ERROR_UNKNOWN: CudaError,
}


def error_for(result, function, sentences):
    """The exception for a VkResult below zero."""
    kind = _KINDS.get(result)
    if kind is None and "Cuda" in function:
        kind = _CUDA_KINDS.get(result)
    name = RESULT_NAMES.get(result, f"VkResult {result}")
    message = f"{' '.join(sentences)} ({function}: {name})" if sentences else f"{function}: {name}"
    return (kind or MaarError)(message, result)
