"""FAKE torch: not PyTorch, and no CUDA. As much of its face as samples/torch_on_vulkan_buffer.py
sees on its CUDA route, over the FAKE CUDA driver, whose "device pointers" the host can read. It keeps
that route from rotting where there is no GPU, and proves nothing else.
"""

import ctypes
import os
import sys

import numpy

sys.path.insert(0, os.environ["MAAR_TEST_PYTHON_FOLDER"])
from capsules import Consumed  # noqa: E402
from fake_cuda import Fake     # noqa: E402

_fake = Fake(os.environ["MAAR_CUDA_LIBRARY"])


class Tensor:
    """A NumPy array at what the FAKE calls a device pointer."""

    def __init__(self, array, consumed=None):
        self.array = array
        self._consumed = consumed

    def __del__(self):
        if self._consumed is not None:
            self._consumed.delete()

    def data_ptr(self):
        return self.array.ctypes.data

    def __iadd__(self, value):
        cuda.synchronize()
        self.array += value
        return self

    def clone(self):
        cuda.synchronize()
        return Tensor(self.array.copy())

    def sum(self):
        cuda.synchronize()
        return self.array.sum()


def from_dlpack(exporter):
    device = exporter.__dlpack_device__()
    if device[0] != 2:
        raise RuntimeError("FAKE torch is for the FAKE CUDA driver alone")
    tensor = Consumed(exporter.__dlpack__(stream=1, max_version=(1, 0)))
    size = int(numpy.prod(tensor.shape))
    data = (ctypes.c_float * size).from_address(tensor.pointer)
    return Tensor(numpy.frombuffer(data, "f4").reshape(tensor.shape), tensor)


def rand(shape, device):
    if device != "cuda":
        raise RuntimeError("FAKE torch knows cuda alone")
    return Tensor(numpy.random.default_rng(1).random(shape, dtype="f4"))


def matmul(left, right, out):
    cuda.synchronize()
    numpy.matmul(left.array, right.array, out=out.array)


class _Stream:
    cuda_stream = 0


class cuda:
    @staticmethod
    def is_available():
        return True

    @staticmethod
    def set_device(ordinal):
        """The device's primary context becomes the thread's, as with the runtime API."""
        context = ctypes.c_void_p()
        _fake.do("cuInit", ctypes.c_uint(0))
        _fake.do("cuDevicePrimaryCtxRetain", ctypes.byref(context), ctypes.c_int(ordinal))
        _fake.push(context.value)

    @staticmethod
    def mem_get_info():
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        _fake.do("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    @staticmethod
    def current_stream():
        return _Stream()

    @staticmethod
    def synchronize():
        _fake.synchronize(0)
