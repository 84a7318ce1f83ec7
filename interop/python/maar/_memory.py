"""The state of an open device, and buffers' memory, which lives as long as anything sees it.

A Core is kept by its Device and by every Memory; a Memory by its Buffer, and by each array, tensor
and capsule made of it. The last one out ends it.
"""

import contextlib
import ctypes
import os
import threading
from collections import deque

from . import _abi, _cuda, _vulkan
from ._abi import C, make
from ._calls import MESSAGE_CALLBACK, guarded, load_maar, run_or_defer
from ._errors import (MaarError, NotSupportedError, OutOfMemoryError, OwnershipError,
                      UsageError)

WAIT_SLICE_NS = 100_000_000  # between two looks for Ctrl-C
SHARED_ALIGNMENT = 256       # of every buffer: what DLPack asks for

_BASE_USAGE = (C.VK_BUFFER_USAGE_TRANSFER_SRC_BIT | C.VK_BUFFER_USAGE_TRANSFER_DST_BIT
               | C.VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | C.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT
               | C.VK_BUFFER_USAGE_INDEX_BUFFER_BIT | C.VK_BUFFER_USAGE_VERTEX_BUFFER_BIT
               | C.VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT)

exiting = False  # the interpreter is about to end: what is left is the system's to clean up


class Core:
    """An instance, a device, its one queue and its allocator."""

    def __init__(self, wanted, library, vulkan_library, cuda_library, validation):
        self.instance = self.device = self.allocator = self.cuda = None
        self.process = os.getpid()
        self.timeline = self.command_pool = 0
        self.lock = threading.RLock()        # guards what follows, and buffers' owners
        self.value = 0                       # of the timeline: the last submission
        self.in_flight = deque()             # (value, command buffer)
        self.queue_lock = threading.Lock()   # around one submission; nothing is called under it
        self.export_type = 0
        self.maar = load_maar(library)
        self.instance = _vulkan.Instance(_vulkan.Loader(vulkan_library), validation)
        self.vk = self.instance.vk
        found = self.instance.physical_devices()
        uuids = _cuda.device_uuids(cuda_library) if wanted is None and len(found) > 1 else []
        self.physical = _vulkan.choose(found, wanted, uuids)
        self._open_device()
        self._open_allocator()
        self._open_queue()

    def _open_device(self):
        loader, physical = self.instance.loader, self.physical.handle
        self.recommended = recommended = make("MaarDeviceRecommendation")
        self.maar.maarRecommendDevice(loader.address, self.instance.handle, physical, None,
                                      ctypes.byref(recommended))
        if not recommended.timelineSemaphore.timelineSemaphore:
            raise NotSupportedError(f"{self.physical.name} has no timeline semaphores, which this "
                                    "package needs (Vulkan 1.2)")
        if recommended.mainQueueFamily == 0xFFFFFFFF:
            raise NotSupportedError(f"{self.physical.name} has no queue that computes")
        names = [name.decode() for name in
                 recommended.ppExtensionNames[:recommended.extensionCount]]
        there = self.instance.extensions(physical)
        names += [name for name in _vulkan.SHARING_EXTENSIONS
                  if name in there and name not in names]
        self.extensions = tuple(names)
        self.extension_names = _abi.strings(names)
        self.family = recommended.mainQueueFamily
        queue = make("VkDeviceQueueCreateInfo", queueFamilyIndex=self.family, queueCount=1,
                     pQueuePriorities=ctypes.pointer(ctypes.c_float(1.0)))
        info = make("VkDeviceCreateInfo", pNext=recommended.pFeatures, queueCreateInfoCount=1,
                    pQueueCreateInfos=ctypes.pointer(queue), enabledExtensionCount=len(names),
                    ppEnabledExtensionNames=self.extension_names)
        handle = ctypes.c_void_p()
        self.vk.vkCreateDevice(physical, ctypes.byref(info), None, ctypes.byref(handle))
        self.device = handle.value
        self.vk.vkGetDeviceQueue(self.device, self.family, 0, ctypes.byref(handle))
        self.queue = handle.value

    def _open_allocator(self):
        take, give = self.queue_lock.acquire, self.queue_lock.release
        self._callbacks = (_abi.QUEUE_CALLBACK(lambda _data, _queue: take()),
                           _abi.QUEUE_CALLBACK(lambda _data, _queue: give()))
        queue = make("MaarQueue", familyIndex=self.family, queue=self.queue,
                     pfnLock=_abi.address_of(self._callbacks[0]),
                     pfnUnlock=_abi.address_of(self._callbacks[1]))
        info = make(
            "MaarAllocatorCreateInfo",
            apiVersion=min(self.instance.api_version, self.physical.api_version),
            instance=self.instance.handle, physicalDevice=self.physical.handle, device=self.device,
            pfnGetInstanceProcAddr=self.instance.loader.address,
            enabledExtensionCount=len(self.extensions),
            ppEnabledExtensionNames=self.extension_names,
            pEnabledFeatures=self.recommended.pFeatures,
            queueCount=1, pQueues=ctypes.pointer(queue),
            pfnMessage=_abi.address_of(MESSAGE_CALLBACK))
        handle = ctypes.c_void_p()
        self.maar.maarCreateAllocator(ctypes.byref(info), ctypes.byref(handle))
        self.allocator = handle.value
        self.usage = _BASE_USAGE
        if self.recommended.bufferDeviceAddress.bufferDeviceAddress:
            self.usage |= C.VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT
        for name, bit in (
                ("VK_KHR_external_memory_fd", C.VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT),
                ("VK_KHR_external_memory_win32",
                 C.VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT)):
            if name in self.extensions and self._can_export(bit):
                self.export_type = bit

    def _can_export(self, bit):
        buffer = make("VkBufferCreateInfo", size=4, usage=self.usage)
        query = make("MaarSharingQuery", pBufferInfo=ctypes.pointer(buffer), handleType=bit)
        support = make("MaarSharingSupport")
        self.maar.maarGetSharingSupport(self.allocator, ctypes.byref(query), ctypes.byref(support))
        return bool(support.exportable)

    def _open_queue(self):
        kind = make("VkSemaphoreTypeCreateInfo", semaphoreType=C.VK_SEMAPHORE_TYPE_TIMELINE)
        info = make("VkSemaphoreCreateInfo", pNext=_abi.address_of(kind))
        handle = ctypes.c_uint64()
        self.vk.vkCreateSemaphore(self.device, ctypes.byref(info), None, ctypes.byref(handle))
        self.timeline = handle.value
        info = make("VkCommandPoolCreateInfo", queueFamilyIndex=self.family,
                    flags=C.VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT)
        self.vk.vkCreateCommandPool(self.device, ctypes.byref(info), None, ctypes.byref(handle))
        self.command_pool = handle.value

    # ---- submissions ----

    def completed(self):
        value = ctypes.c_uint64()
        self.vk.vkGetSemaphoreCounterValue(self.device, self.timeline, ctypes.byref(value))
        return value.value

    def wait(self, value):
        """Blocks until the submission with that value is done; Ctrl-C is heard."""
        info = make("VkSemaphoreWaitInfo", semaphoreCount=1,
                    pSemaphores=ctypes.pointer(ctypes.c_uint64(self.timeline)),
                    pValues=ctypes.pointer(ctypes.c_uint64(value)))
        while self.vk.vkWaitSemaphores(self.device, ctypes.byref(info),
                                       WAIT_SLICE_NS) == C.VK_TIMEOUT:
            pass

    def _command_buffer(self):
        if self.in_flight and self.in_flight[0][0] <= self.completed():
            return self.in_flight.popleft()[1]
        info = make("VkCommandBufferAllocateInfo", commandPool=self.command_pool,
                    level=C.VK_COMMAND_BUFFER_LEVEL_PRIMARY, commandBufferCount=1)
        handle = ctypes.c_void_p()
        self.vk.vkAllocateCommandBuffers(self.device, ctypes.byref(info), ctypes.byref(handle))
        return handle.value

    def barrier(self, commands, stages, access):
        """A memory barrier: ((from stages, to stages), (from accesses, to accesses))."""
        info = make("VkMemoryBarrier", srcAccessMask=access[0], dstAccessMask=access[1])
        self.vk.vkCmdPipelineBarrier(commands, stages[0], stages[1], 0, 1, ctypes.byref(info), 0,
                                     None, 0, None)

    def submit(self, record=None):
        """Records transfers between full barriers and submits them; returns their value. Without
        `record` the value stands for all that was submitted before."""
        everything = C.VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | C.VK_PIPELINE_STAGE_HOST_BIT
        moved = C.VK_ACCESS_TRANSFER_READ_BIT | C.VK_ACCESS_TRANSFER_WRITE_BIT
        with guarded(), self.lock:
            commands = self._command_buffer() if record else None
            if record:
                begin = make("VkCommandBufferBeginInfo",
                             flags=C.VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT)
                self.vk.vkBeginCommandBuffer(commands, ctypes.byref(begin))
                self.barrier(commands, (everything, C.VK_PIPELINE_STAGE_TRANSFER_BIT),
                             (C.VK_ACCESS_MEMORY_WRITE_BIT | C.VK_ACCESS_HOST_WRITE_BIT, moved))
                record(commands)
                self.barrier(commands, (C.VK_PIPELINE_STAGE_TRANSFER_BIT, everything),
                             (C.VK_ACCESS_TRANSFER_WRITE_BIT,
                              C.VK_ACCESS_MEMORY_READ_BIT | C.VK_ACCESS_MEMORY_WRITE_BIT
                              | C.VK_ACCESS_HOST_READ_BIT))
                self.vk.vkEndCommandBuffer(commands)
            value = ctypes.c_uint64(self.value + 1)
            timeline = make("VkTimelineSemaphoreSubmitInfo", signalSemaphoreValueCount=1,
                            pSignalSemaphoreValues=ctypes.pointer(value))
            info = make("VkSubmitInfo", pNext=_abi.address_of(timeline), signalSemaphoreCount=1,
                        pSignalSemaphores=ctypes.pointer(ctypes.c_uint64(self.timeline)))
            if record:
                info.commandBufferCount = 1
                info.pCommandBuffers = ctypes.pointer(ctypes.c_void_p(commands))
            with self.queue_lock:
                self.vk.vkQueueSubmit(self.queue, 1, ctypes.byref(info), 0)
            self.value = value.value
            if record:
                self.in_flight.append((self.value, commands))
            return self.value

    def is_inherited(self):
        """Whether it came here by a fork: the driver's threads and handles are the parent's."""
        return self.process != os.getpid()

    def refuse_inherited(self):
        if self.is_inherited():
            raise UsageError("the device was opened before this process was forked, and Vulkan does "
                             "not survive a fork: start processes by multiprocessing's spawn")

    # ---- the end ----

    def __del__(self):
        if not exiting and self.instance is not None and not self.is_inherited():
            run_or_defer(_destroy_core, self.__dict__)


def _destroy_core(state):
    vk, maar, device = state["vk"], state["maar"], state["device"]
    if device:
        for wait, *arguments in filter(None, (state["cuda"] and (state["cuda"].synchronize,),
                                              (vk.vkDeviceWaitIdle, device))):
            with contextlib.suppress(MaarError):  # lost: nothing to wait for
                wait(*arguments)
        if state["cuda"]:
            state["cuda"].destroy()
        if state["allocator"]:
            maar.maarDestroyAllocator(state["allocator"])
        vk.vkDestroyCommandPool(device, state["command_pool"], None)
        vk.vkDestroySemaphore(device, state["timeline"], None)
        vk.vkDestroyDevice(device, None)
    state["instance"].destroy()


class Memory:
    """A VkBuffer with its memory: so many bytes, and padding up to whole words."""

    __slots__ = ("core", "buffer", "allocation", "asked", "size", "info", "mapped", "coherent",
                 "shared", "name", "last_use", "handed", "owner", "on_cuda", "__weakref__")

    def __init__(self, core, asked, usage, memory_usage, mapped, shared, name):
        self.core = None
        size = (asked + 3) // 4 * 4
        buffer_info = make("VkBufferCreateInfo", size=size, usage=core.usage | usage)
        info = make("MaarAllocationCreateInfo", usage=memory_usage, minAlignment=SHARED_ALIGNMENT,
                    flags=C.MAAR_ALLOCATION_CREATE_MAPPED_BIT if mapped else 0,
                    pName=name.encode() if name else None)
        export = make("MaarExportInfo", handleTypes=core.export_type)
        if shared:
            info.pNext = _abi.address_of(export)
        buffer, allocation = ctypes.c_uint64(), ctypes.c_uint64()
        try:
            core.maar.maarCreateBuffer(core.allocator, ctypes.byref(buffer_info),
                                       ctypes.byref(info), ctypes.byref(buffer),
                                       ctypes.byref(allocation))
        except OutOfMemoryError as error:
            raise OutOfMemoryError(f"{size} bytes: {error}", error.result) from None
        self.buffer, self.allocation = buffer.value, allocation.value
        self.asked, self.size, self.shared, self.name = asked, size, shared, name
        self.last_use = 0       # value of the core's timeline
        self.handed = False     # a handoff was submitted after that
        self.owner = None       # None: Vulkan; else (stream, value of that stream's timeline)
        self.on_cuda = False    # a stream may use it: wait for all before it is freed
        self.core = core        # from here on it is freed
        self.info = make("MaarAllocationInfo")
        core.maar.maarGetAllocationInfo(core.allocator, self.allocation, ctypes.byref(self.info))
        self.mapped = self.info.pMappedData if mapped else None
        self.coherent = bool(self.info.propertyFlags & C.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)

    def __del__(self):
        if not exiting and self.core is not None and not self.core.is_inherited():
            run_or_defer(_free, self.core, self.buffer, self.allocation, self.last_use,
                         self.handed, self.on_cuda)

    def require_vulkan(self, verb):
        if self.owner is not None:
            raise OwnershipError(f"{self.describe()} belongs to CUDA: call acquire_from_cuda "
                                 f"before Vulkan or the host may {verb} it")

    def describe(self):
        return f"buffer {self.name!r}" if self.name else "the buffer"

    def used(self, value):
        self.last_use = max(self.last_use, value)

    def wait(self):
        if self.handed:
            with guarded(), self.core.lock:
                self.handed = False
                self.used(self.core.submit())
        if self.last_use:
            self.core.wait(self.last_use)

    def flush(self):
        if self.mapped and not self.coherent:
            self.core.maar.maarFlushAllocation(self.core.allocator, self.allocation, 0,
                                               0xFFFFFFFFFFFFFFFF)

    def invalidate(self):
        if self.mapped and not self.coherent:
            self.core.maar.maarInvalidateAllocation(self.core.allocator, self.allocation, 0,
                                                    0xFFFFFFFFFFFFFFFF)

    # ---- CUDA ----

    def cuda_pointer(self, cuda):
        memory = make("MaarCudaMemory")
        self.core.maar.maarGetCudaMemory(cuda.handle, self.allocation, ctypes.byref(memory))
        return memory.devicePointer

    def release_to(self, cuda, stream):
        """To a stream; a second stream may be made to wait for the same."""
        with guarded(), self.core.lock:
            if self.owner is None:
                self.flush()
                self.owner = (stream, cuda.release(stream, self.buffer, self.size))
                self.handed = self.on_cuda = True
            elif self.owner[0] != stream:
                cuda.wait_too(*self.owner, stream)

    def acquire_from(self, cuda, stream):
        with guarded(), self.core.lock:
            if self.owner is None:
                raise OwnershipError(f"{self.describe()} belongs to Vulkan already")
            stream = self.owner[0] if stream is None else stream
            cuda.acquire(stream, self.buffer, self.size)
            self.owner = None
            self.handed, self.on_cuda = True, False


def _free(core, buffer, allocation, last_use, handed, on_cuda):
    if on_cuda and core.cuda:
        core.cuda.synchronize()
    if handed:
        last_use = core.submit()
    if last_use and core.completed() < last_use:
        point = make("MaarPoint", semaphore=core.timeline, value=last_use)
        core.maar.maarDestroyBufferAfter(core.allocator, buffer, allocation, 1,
                                         ctypes.byref(point))
    else:
        core.maar.maarDestroyBuffer(core.allocator, buffer, allocation)

