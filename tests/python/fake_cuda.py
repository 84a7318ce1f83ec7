"""The FAKE CUDA driver from Python: what a program does with CUDA, and what the FAKE saw of Maar.

FAKE: not a GPU, and nothing here says anything about one. See tests/fakes/fake_control.h.
"""

import ctypes

NOT_READY = 600
KINDS = ("memory", "semaphore", "image", "stream", "event", "context", "backing", "reservation",
         "mapping", "allocation", "pages")
# fake_control's members in order; test_layout.py compares them with the header.
MEMBERS = ("text", "reset", "set_device_count", "set_uuid", "set_luid", "set_pci_address",
           "set_attribute", "set_version", "set_vulkan", "set_identity", "make_context", "set_fault",
           "calls", "live", "imported_bytes", "context_depth", "pending", "last_memory",
           "last_range", "last_image", "last_semaphore", "breach_count", "breach",
           "forget_breaches", "abandon_waits", "expect_nothing_alive", "faults_left", "set_tamper")


class Control(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in MEMBERS]


class Fake:
    """The driver's functions, and the table that steers it."""

    def __init__(self, path):
        self.path = path
        self.driver = ctypes.CDLL(path)
        self.driver.maar_fake_cuda_is_a_fake.restype = ctypes.POINTER(Control)
        self._control = self.driver.maar_fake_cuda_is_a_fake().contents
        assert b"FAKE" in ctypes.string_at(self._control.text)

    def _steer(self, name, result, *types):
        return ctypes.CFUNCTYPE(result, *types)(getattr(self._control, name))

    def reset(self):
        self._steer("reset", None)()

    def set_uuid(self, uuid):
        self._steer("set_uuid", None, ctypes.c_int, ctypes.c_char_p)(0, uuid.bytes)

    def set_device_count(self, count):
        self._steer("set_device_count", None, ctypes.c_int)(count)

    def calls(self, function):
        return self._steer("calls", ctypes.c_uint64, ctypes.c_char_p)(function.encode())

    def live(self):
        count = self._steer("live", ctypes.c_uint64, ctypes.c_int)
        return {kind: count(index) for index, kind in enumerate(KINDS) if count(index)}

    def breaches(self):
        count = self._steer("breach_count", ctypes.c_uint32)()
        sentence = self._steer("breach", ctypes.c_char_p, ctypes.c_uint32)
        return [sentence(index).decode() for index in range(count)]

    def forget_breaches(self):
        self._steer("forget_breaches", None)()

    # ---- what a program does ----

    def __call__(self, function, *arguments):
        """A function of the driver's, as it returns. Numbers are addresses."""
        return getattr(self.driver, function)(
            *(ctypes.c_void_p(value) if isinstance(value, int) else value for value in arguments))

    def do(self, function, *arguments):
        result = self(function, *arguments)
        assert result == 0, f"{function}: CUDA error {result}"

    def push(self, context):
        self.do("cuCtxPushCurrent_v2", context)

    def pop(self):
        context = ctypes.c_void_p()
        self.do("cuCtxPopCurrent_v2", ctypes.byref(context))

    def stream(self):
        made = ctypes.c_void_p()
        self.do("cuStreamCreate", ctypes.byref(made), ctypes.c_uint(1))
        return made.value

    def destroy(self, stream):
        self.do("cuStreamDestroy_v2", stream)

    def set_words(self, pointer, value, count, stream):
        self.do("cuMemsetD32Async", ctypes.c_uint64(pointer), ctypes.c_uint(value),
                ctypes.c_size_t(count), stream)

    def queue_read(self, pointer, size, stream):
        """Bytes that are there once the stream is done."""
        data = ctypes.create_string_buffer(size)
        self.do("cuMemcpyDtoHAsync_v2", data, ctypes.c_uint64(pointer), ctypes.c_size_t(size),
                stream)
        return data

    def synchronize(self, stream):
        self.do("cuStreamSynchronize", stream)

    def ready(self, stream):
        result = self("cuStreamQuery", stream)
        assert result in (0, NOT_READY), result
        return result == 0
