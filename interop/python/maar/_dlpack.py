"""DLPack capsules, versioned and legacy, of NumPy's making.

What deletes a capsule or its tensor runs on any thread, without the interpreter's lock, while an
exception is under way, or after the interpreter is gone. A callback made by ctypes crashes in the
last two cases. NumPy has functions in C that get all of this right, so a capsule is made as that of
an array over the same bytes, and what NumPy cannot know is set afterwards: the device that the bytes
are on, and element types that NumPy has not.
"""

import ctypes

CPU, CUDA = 1, 2            # DLDeviceType
IS_COPIED = 1 << 1          # DLPACK_FLAG_BITMASK_IS_COPIED
VERSION = (1, 0)            # the newest that is given out


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", DLDevice), ("ndim", ctypes.c_int32),
                ("dtype", DLDataType), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class DLManagedTensor(ctypes.Structure):
    _fields_ = [("dl_tensor", DLTensor), ("manager_ctx", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p)]


class DLPackVersion(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [("version", DLPackVersion), ("manager_ctx", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("dl_tensor", DLTensor)]


# Functions of our own, so that nobody else's argtypes for the same names matter.
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi))

# Stand-ins of the same size; the true element type is set in the tensor.
_STAND_INS = {1: "|u1", 2: "<u2", 4: "<u4", 8: "<u8", 16: "<c16"}


def import_numpy(what):
    try:
        import numpy
    except ImportError:
        raise BufferError(f"{what} needs NumPy, which is not installed") from None
    return numpy


class Pin:
    """Bytes at an address, as in NumPy's array interface; keeps their memory alive."""

    __slots__ = ("_memory", "__array_interface__")

    def __init__(self, memory, address, shape, typestr):
        self._memory = memory
        self.__array_interface__ = {
            "version": 3, "data": (address, False), "shape": shape, "typestr": typestr}


def tensor_of(capsule):
    """The managed tensor in a capsule that nobody has consumed."""
    for name, kind in ((b"dltensor_versioned", DLManagedTensorVersioned),
                       (b"dltensor", DLManagedTensor)):
        if _is_valid(capsule, name):
            return kind.from_address(_get_pointer(capsule, name))
    raise ValueError("this is no DLPack capsule, or it was consumed")


def make_capsule(memory, address, shape, dtype, device, max_version, copied=False):
    """A capsule for the bytes at an address; `memory` lives until the consumer is done."""
    numpy = import_numpy("DLPack")
    array = numpy.asarray(Pin(memory, address, shape, _STAND_INS[dtype.itemsize]))
    if max_version is not None and tuple(max_version) >= VERSION:
        try:
            capsule = array.__dlpack__(max_version=VERSION)
        except TypeError:  # before NumPy 2.1: a legacy capsule, as the protocol allows
            capsule = array.__dlpack__()
    else:
        capsule = array.__dlpack__()
    managed = tensor_of(capsule)
    managed.dl_tensor.device = DLDevice(*device)
    managed.dl_tensor.dtype = DLDataType(dtype.code, 8 * dtype.itemsize, 1)
    if copied and isinstance(managed, DLManagedTensorVersioned):
        managed.flags |= IS_COPIED
    return capsule
