"""A Vulkan instance, a device and one queue, by ctypes through the loader."""

import ctypes
import os
import sys
import uuid

from . import _abi
from ._abi import C, make
from ._calls import Functions
from ._errors import LibraryError, MaarError, NotSupportedError

_LOADERS = {"win32": ("vulkan-1.dll",), "darwin": ("libvulkan.1.dylib", "libMoltenVK.dylib")}

# What sharing needs on top of what maarRecommendDevice names, where a device has it.
SHARING_EXTENSIONS = (
    "VK_KHR_external_memory", "VK_KHR_external_memory_fd", "VK_KHR_external_memory_win32",
    "VK_EXT_external_memory_dma_buf", "VK_EXT_external_memory_host",
    "VK_KHR_external_semaphore", "VK_KHR_external_semaphore_fd",
    "VK_KHR_external_semaphore_win32", "VK_EXT_queue_family_foreign")

# The order in which a device is chosen when nothing says which.
_PREFERENCE = (C.VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, C.VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
               C.VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU, C.VK_PHYSICAL_DEVICE_TYPE_CPU,
               C.VK_PHYSICAL_DEVICE_TYPE_OTHER)
_TYPE_NAMES = {C.VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: "discrete",
               C.VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: "integrated",
               C.VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: "virtual",
               C.VK_PHYSICAL_DEVICE_TYPE_CPU: "cpu"}


class Loader:
    """vkGetInstanceProcAddr of the loader, or of a library that stands in for it."""

    def __init__(self, path=None):
        path = path or os.environ.get("MAAR_VULKAN_LIBRARY")
        names = (os.fspath(path),) if path else _LOADERS.get(sys.platform, ("libvulkan.so.1",))
        reasons = []
        for name in names:
            try:
                library = _abi.load(name)
                entry = library.vkGetInstanceProcAddr
                break
            except (OSError, AttributeError) as error:
                reasons.append(str(error))
        else:
            raise LibraryError(f"no Vulkan loader: {'; '.join(reasons)}")
        entry.restype, entry.argtypes = _abi.PROTOTYPES["vkGetInstanceProcAddr"]
        self.entry = entry
        self.address = _abi.address_of(entry)

    def functions(self, instance):
        def lookup(name, result, parameters):
            address = self.entry(instance, name.encode())
            if not address:
                raise LibraryError(f"the Vulkan driver has no {name}")
            return _abi.FUNCTION_TYPE(result, *parameters)(address)
        return Functions(lookup)


class PhysicalDevice:
    """A device that could be opened, as maar.devices() lists it."""

    def __init__(self, handle, index, properties, identity):
        self.handle = handle
        self.index = index
        self.name = properties.deviceName.decode("utf-8", "replace")
        self.type = _TYPE_NAMES.get(properties.deviceType, "other")
        self.api_version = properties.apiVersion
        self.uuid = uuid.UUID(bytes=bytes(identity.deviceUUID))
        self._rank = _PREFERENCE.index(properties.deviceType) \
            if properties.deviceType in _PREFERENCE else len(_PREFERENCE)

    def __repr__(self):
        return f"<maar.PhysicalDevice {self.index}: {self.name} ({self.type}, {self.uuid})>"


class Instance:
    def __init__(self, loader, validation=False):
        self.loader = loader
        before = loader.functions(None)
        version = ctypes.c_uint32()
        before.vkEnumerateInstanceVersion(ctypes.byref(version))
        if version.value < C.VK_API_VERSION_1_1:
            raise NotSupportedError("the Vulkan loader knows Vulkan 1.0 alone; Maar needs 1.1")
        self.api_version = min(version.value, C.VK_API_VERSION_1_3)
        application = make("VkApplicationInfo", pApplicationName=b"maar (Python)",
                           apiVersion=self.api_version)
        layers = _abi.strings(["VK_LAYER_KHRONOS_validation"])
        info = make("VkInstanceCreateInfo", pApplicationInfo=ctypes.pointer(application))
        if validation:
            info.enabledLayerCount, info.ppEnabledLayerNames = 1, layers
        handle = ctypes.c_void_p()
        try:
            before.vkCreateInstance(ctypes.byref(info), None, ctypes.byref(handle))
        except MaarError as error:
            hint = ("; no Vulkan driver is installed, or VK_DRIVER_FILES or VK_ICD_FILENAMES hides "
                    "it (Mesa's CPU driver: mesa-vulkan-drivers)") \
                if error.result == C.VK_ERROR_INCOMPATIBLE_DRIVER else ""
            raise LibraryError(f"Vulkan gives no instance: {error}{hint}", error.result) from error
        self.handle = handle.value
        self.vk = loader.functions(self.handle)

    def physical_devices(self):
        count = ctypes.c_uint32()
        try:
            self.vk.vkEnumeratePhysicalDevices(self.handle, ctypes.byref(count), None)
        except MaarError as error:
            raise LibraryError(f"Vulkan lists no devices: {error}", error.result) from error
        handles = (ctypes.c_void_p * max(1, count.value))()
        self.vk.vkEnumeratePhysicalDevices(self.handle, ctypes.byref(count), handles)
        found = []
        for index, handle in enumerate(handles[:count.value]):
            identity = make("VkPhysicalDeviceIDProperties")
            properties = make("VkPhysicalDeviceProperties2", pNext=_abi.address_of(identity))
            self.vk.vkGetPhysicalDeviceProperties2(handle, ctypes.byref(properties))
            found.append(PhysicalDevice(handle, index, properties.properties, identity))
        return found

    def extensions(self, physical):
        count = ctypes.c_uint32()
        self.vk.vkEnumerateDeviceExtensionProperties(physical, None, ctypes.byref(count), None)
        listed = (_abi.STRUCTURES["VkExtensionProperties"] * max(1, count.value))()
        self.vk.vkEnumerateDeviceExtensionProperties(physical, None, ctypes.byref(count), listed)
        return {item.extensionName.decode() for item in listed[:count.value]}

    def destroy(self):
        self.vk.vkDestroyInstance(self.handle, None)


def choose(found, wanted, cuda_uuids):
    """One of the physical devices: by index, by a part of its name, by its UUID, or the best."""
    if not found:
        raise LibraryError("no Vulkan driver found a device")
    listed = ", ".join(f"{item.index}: {item.name}" for item in found)
    if wanted is None:
        def rank(item):
            cuda = cuda_uuids.index(item.uuid) if item.uuid in cuda_uuids else len(cuda_uuids)
            return cuda, item._rank, item.index
        return min(found, key=rank)
    if isinstance(wanted, PhysicalDevice):
        wanted = wanted.uuid
    if isinstance(wanted, int):
        if not 0 <= wanted < len(found):
            raise LibraryError(f"there is no device {wanted} ({listed})")
        return found[wanted]
    if isinstance(wanted, bytes):
        wanted = uuid.UUID(bytes=wanted)
    if isinstance(wanted, str):
        matching = [item for item in found if wanted.lower() in item.name.lower()]
        if matching:
            return matching[0]
        try:
            wanted = uuid.UUID(wanted)
        except ValueError:
            raise LibraryError(f"no device has {wanted!r} in its name ({listed})") from None
    if not isinstance(wanted, uuid.UUID):
        raise TypeError("device is an index, a part of a name, a UUID or a PhysicalDevice, not "
                        f"{type(wanted).__name__}")
    for item in found:
        if item.uuid == wanted:
            return item
    raise LibraryError(f"no device has the UUID {wanted} ({listed})")
