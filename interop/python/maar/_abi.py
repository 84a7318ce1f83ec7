"""ctypes made of the C in _declarations.py: structures, constants, prototypes, callbacks."""

import ctypes
import re
import sys
from types import SimpleNamespace

from . import _declarations

_POINTER = ctypes.c_void_p
_INT = ctypes.c_int
_FLAGS = ctypes.c_uint32

# By the C name. Handles that Vulkan calls non-dispatchable have 64 bits everywhere.
_TYPES = {
    "void": None, "int": _INT, "float": ctypes.c_float, "char": ctypes.c_char,
    "uint8_t": ctypes.c_uint8, "uint32_t": ctypes.c_uint32, "uint64_t": ctypes.c_uint64,
    "VkBool32": ctypes.c_uint32, "VkDeviceSize": ctypes.c_uint64,
    "VkDeviceAddress": ctypes.c_uint64, "MaarCudaStream": _POINTER,
}
for _names, _ctype in (
        ("VkInstance VkPhysicalDevice VkDevice VkQueue VkCommandBuffer MaarAllocator MaarPool "
         "MaarCuda PFN_vkVoidFunction PFN_vkGetInstanceProcAddr "
         "PFN_vkGetDeviceProcAddr PFN_maarQueueLock PFN_maarMessage PFN_maarDeviceMemory "
         "PFN_maarOutOfMemory", _POINTER),
        ("VkBuffer VkImage VkDeviceMemory VkSemaphore VkFence VkCommandPool MaarAllocation "
         "MaarCudaTimeline",
         ctypes.c_uint64),
        ("VkResult VkStructureType VkPhysicalDeviceType VkSharingMode VkSemaphoreType "
         "VkCommandBufferLevel VkImageLayout VkExternalMemoryHandleTypeFlagBits MaarStructureType "
         "MaarPlacementStrategy MaarMemoryUsage MaarDedicated MaarResourceKind MaarHandoffMode "
         "MaarMessageSeverity MaarMessageId",
         _INT),
        ("VkInstanceCreateFlags VkMemoryPropertyFlags VkMemoryHeapFlags VkDeviceQueueCreateFlags "
         "VkDeviceCreateFlags VkBufferCreateFlags VkBufferUsageFlags VkSemaphoreCreateFlags "
         "VkSemaphoreWaitFlags VkCommandPoolCreateFlags VkCommandBufferUsageFlags "
         "VkPipelineStageFlags VkAccessFlags VkDependencyFlags VkImageAspectFlags "
         "VkExternalMemoryHandleTypeFlags MaarAllocatorCreateFlags MaarAllocationCreateFlags "
         "MaarCudaCreateFlags", _FLAGS)):
    for _name in _names.split():
        _TYPES[_name] = _ctype


def _type_of(text):
    """The ctypes type of a C type such as `const VkBufferCreateInfo*`."""
    stars = text.count("*")
    name = re.sub(r"\bconst\b|\*", "", text).strip()
    if stars == 0:
        return _TYPES[name]
    if name == "char":
        inner, stars = ctypes.c_char_p, stars - 1
    else:
        inner = _TYPES.get(name)  # void and what is never looked into: an address
        if inner is None:
            inner, stars = _POINTER, stars - 1
    for _ in range(stars):
        inner = ctypes.POINTER(inner)
    return inner


def parse_structures(text):
    """Yields (structure, [(field, C type, array length or None)])."""
    for match in re.finditer(r"struct (\w+) \{(.*?)\};", text, re.DOTALL):
        fields = []
        for line in filter(None, (line.strip() for line in match[2].splitlines())):
            ctype, name, count = re.fullmatch(r"(.+?)(\w+)(?:\[(\d+)\])?;", line).groups()
            fields.append((name, ctype.strip(), int(count) if count else None))
        yield match[1], fields


def parse_functions(text):
    """Yields (function, C type of its result, [C types of its parameters])."""
    for line in filter(None, text.splitlines()):
        result, name, parameters = re.fullmatch(r"(\w+) (\w+)\((.*)\);", line).groups()
        yield name, result, [] if parameters == "void" else parameters.split(", ")


def _make_structures():
    made = {}
    for name, fields in parse_structures(_declarations.STRUCTURES):
        members = []
        for field, ctype, count in fields:
            kind = _type_of(ctype)
            members.append((field, kind * count if count else kind))
        made[name] = type(name, (ctypes.Structure,), {"_fields_": members, "__slots__": ()})
        _TYPES[name] = made[name]
    return made


STRUCTURES = _make_structures()
C = SimpleNamespace(**_declarations.CONSTANTS)
PROTOTYPES = {
    name: (_type_of(result), [_type_of(parameter) for parameter in parameters])
    for text in (_declarations.VULKAN_FUNCTIONS, _declarations.MAAR_FUNCTIONS)
    for name, result, parameters in parse_functions(text)
}

if sys.platform == "win32":
    FUNCTION_TYPE, load = ctypes.WINFUNCTYPE, ctypes.WinDLL
else:
    FUNCTION_TYPE, load = ctypes.CFUNCTYPE, ctypes.CDLL

MESSAGE_CALLBACK = FUNCTION_TYPE(None, _POINTER, ctypes.POINTER(STRUCTURES["MaarMessage"]))
QUEUE_CALLBACK = FUNCTION_TYPE(None, _POINTER, _POINTER)


def make(name, **fields):
    """A structure, its sType set; other fields as given, else zero."""
    made = STRUCTURES[name]()
    if name in _declarations.STRUCTURE_TYPES:
        made.sType = _declarations.STRUCTURE_TYPES[name][1]
    for field, value in fields.items():
        setattr(made, field, value)
    return made


def address_of(thing):
    """The address of a structure or callback, for a void pointer. Keep the thing alive."""
    return ctypes.cast(thing, _POINTER).value if isinstance(thing, ctypes._CFuncPtr) \
        else ctypes.addressof(thing)


def strings(names):
    """An array of C strings."""
    return (ctypes.c_char_p * max(1, len(names)))(*[name.encode() for name in names])
