"""A gate in a device's queue: what is submitted behind it waits, which shows who waits for whom."""

import ctypes

from maar._abi import make


class Gate:
    """What a device's queue waits for until it is opened."""

    closed = []

    def __init__(self, device):
        self._core = core = device._core
        kind = make("VkSemaphoreTypeCreateInfo", semaphoreType=1)
        info = make("VkSemaphoreCreateInfo", pNext=ctypes.addressof(kind))
        semaphore = ctypes.c_uint64()
        core.vk.vkCreateSemaphore(core.device, ctypes.byref(info), None, ctypes.byref(semaphore))
        self._semaphore = semaphore.value
        one, stages = ctypes.c_uint64(1), ctypes.c_uint32(0x10000)
        timeline = make("VkTimelineSemaphoreSubmitInfo", waitSemaphoreValueCount=1,
                        pWaitSemaphoreValues=ctypes.pointer(one))
        submit = make("VkSubmitInfo", pNext=ctypes.addressof(timeline), waitSemaphoreCount=1,
                      pWaitSemaphores=ctypes.pointer(semaphore),
                      pWaitDstStageMask=ctypes.pointer(stages))
        with core.queue_lock:
            core.vk.vkQueueSubmit(core.queue, 1, ctypes.byref(submit), 0)
        self.closed.append(self)

    def open(self):
        self.closed.remove(self)
        info = make("VkSemaphoreSignalInfo", semaphore=self._semaphore, value=1)
        self._core.vk.vkSignalSemaphore(self._core.device, ctypes.byref(info))

    @classmethod
    def open_all(cls):
        """Those of a case that failed, so that nothing waits for ever."""
        for gate in list(cls.closed):
            gate.open()

    def destroy(self):
        self._core.vk.vkDestroySemaphore(self._core.device, self._semaphore, None)
