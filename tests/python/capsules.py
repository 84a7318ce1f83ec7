"""A consumer of DLPack capsules, by the letter of the protocol: renames, reads, deletes once."""

import ctypes

from maar import _dlpack

_set_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_SetName", ctypes.pythonapi))
_USED = {b"dltensor": b"used_dltensor", b"dltensor_versioned": b"used_dltensor_versioned"}


def name_of(capsule):
    return next(name for name in _USED if _dlpack._is_valid(capsule, name))


class Consumed:
    """What a consumer knows of a tensor."""

    def __init__(self, capsule):
        self.name = name_of(capsule)
        self._managed = _dlpack.tensor_of(capsule)
        _set_name(capsule, _USED[self.name])
        tensor = self._managed.dl_tensor
        self.versioned = self.name == b"dltensor_versioned"
        self.version = (self._managed.version.major, self._managed.version.minor) \
            if self.versioned else None
        self.flags = self._managed.flags if self.versioned else 0
        self.pointer = tensor.data + tensor.byte_offset
        self.device = (tensor.device.device_type, tensor.device.device_id)
        self.shape = tuple(tensor.shape[:tensor.ndim])
        self.strides = tuple(tensor.strides[:tensor.ndim]) if tensor.strides else None
        self.dtype = (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes)

    def delete(self):
        deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._managed.deleter)
        deleter(ctypes.addressof(self._managed))
        self._managed = None
