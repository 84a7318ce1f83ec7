/*
 * maar info: shows devices as Maar sees them. All facts are first gathered as JSON. The text for
 * people is printed from that JSON, so that both forms agree.
 */
#include "maar/maar.h"
#include "support/json_text.h"
#include "tool_commands.h"
#include "tool_data.h"
#include "tool_device.h"
#include "tool_sharing.h"

#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char info_help[] =
    "Usage: maar info [--device D] [--validate] [--json]\n"
    "       maar info --list-profiles\n"
    "\n"
    "Lists devices with their heaps, memory types, budgets and limits. For each purpose it also\n"
    "prints the memory type that Maar uses, with the reason.\n"
    "\n"
    "  --device D       auto, vulkan:N, or simulated:PROFILE, a file or a name that\n"
    "                   --list-profiles prints. The default is all devices that Vulkan lists\n"
    "  --list-profiles  print the names of the installed device profiles and nothing else\n"
    "  --heap N=SIZE    size of heap N of a simulated device\n"
    "  --limit NAME=V   another limit of a simulated device; see maar replay --help\n"
    "  --validate       use the validation layer; a message fails the run\n"
    "  --json           print one JSON object per device and line\n"
    "\n"
    "The printed capabilities: stitching, whether a pool can make large buffers of pages that\n"
    "are not adjacent; sparse_reservations, whether buffers grow in place, page by page;\n"
    "sparse_aliasing, whether a page may be bound in two places; sparse_images_2d and _3d,\n"
    "whether images may be partly in memory; non_resident_strict, whether shaders read zero\n"
    "where no page is bound (otherwise they read any value); sparse_buffer_page, the bytes of a\n"
    "buffer's page, 0 without such buffers. docs/pools.md explains pages.\n";

struct flag_name {
    uint32_t flag;
    const char* name;
};

static const struct flag_name type_flags[] = {
    {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, "DEVICE_LOCAL"},
    {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, "HOST_VISIBLE"},
    {VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, "HOST_COHERENT"},
    {VK_MEMORY_PROPERTY_HOST_CACHED_BIT, "HOST_CACHED"},
    {VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT, "LAZILY_ALLOCATED"},
    {VK_MEMORY_PROPERTY_PROTECTED_BIT, "PROTECTED"},
    {VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD, "DEVICE_COHERENT_AMD"},
    {VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD, "DEVICE_UNCACHED_AMD"},
    {VK_MEMORY_PROPERTY_RDMA_CAPABLE_BIT_NV, "RDMA_CAPABLE_NV"},
};

/* A purpose of memory, with a typical resource. */
struct purpose {
    const char* name;
    MaarMemoryUsage usage;
    VkBufferUsageFlags buffer; /* 0: an image */
    VkImageUsageFlags image;
};

static const struct purpose purposes[] = {
    {"device-local buffers", MAAR_MEMORY_USAGE_DEVICE_LOCAL,
     VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
         VK_BUFFER_USAGE_VERTEX_BUFFER_BIT,
     0},
    {"device-local images", MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0,
     VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT},
    {"upload", MAAR_MEMORY_USAGE_UPLOAD, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, 0},
    {"readback", MAAR_MEMORY_USAGE_READBACK, VK_BUFFER_USAGE_TRANSFER_DST_BIT, 0},
    {"device-local upload", MAAR_MEMORY_USAGE_DEVICE_UPLOAD, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, 0},
    {"transient attachments", MAAR_MEMORY_USAGE_TRANSIENT, 0,
     VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT},
};

static json_t* list_flags(uint32_t flags)
{
    json_t* const list = json_array();
    for (size_t i = 0; i < sizeof(type_flags) / sizeof(type_flags[0]); ++i) {
        if ((flags & type_flags[i].flag) != 0) {
            json_array_append_new(list, json_string(type_flags[i].name));
        }
    }
    return list;
}

static json_t* list_heaps(const struct tool_device* tool, MaarAllocator allocator)
{
    json_t* const list = json_array();
    MaarHeapBudget budgets[VK_MAX_MEMORY_HEAPS];
    uint32_t count = VK_MAX_MEMORY_HEAPS;
    for (uint32_t i = 0; i < VK_MAX_MEMORY_HEAPS; ++i) {
        budgets[i] = (MaarHeapBudget){.sType = MAAR_STRUCTURE_TYPE_HEAP_BUDGET};
    }
    const bool known = maarGetHeapBudgets(allocator, &count, budgets) == VK_SUCCESS;
    for (uint32_t i = 0; i < tool->memory.memoryHeapCount; ++i) {
        const VkMemoryHeap* const heap = &tool->memory.memoryHeaps[i];
        json_t* const object = json_object();
        json_object_set_new(object, "index", tool_json_number(i));
        json_object_set_new(object, "size", tool_json_number(heap->size));
        json_object_set_new(object, "device_local",
                            json_boolean((heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0));
        if (known && i < count) {
            json_object_set_new(object, "budget", tool_json_number(budgets[i].budget));
            json_object_set_new(object, "usage", tool_json_number(budgets[i].usage));
            json_object_set_new(object, "budget_from_driver",
                                json_boolean(budgets[i].fromDriver == VK_TRUE));
        }
        json_array_append_new(list, object);
    }
    return list;
}

static json_t* list_types(const struct tool_device* tool, uint32_t avoided)
{
    json_t* const list = json_array();
    for (uint32_t i = 0; i < tool->memory.memoryTypeCount; ++i) {
        const VkMemoryType* const type = &tool->memory.memoryTypes[i];
        json_t* const object = json_object();
        json_object_set_new(object, "index", tool_json_number(i));
        json_object_set_new(object, "heap", tool_json_number(type->heapIndex));
        json_object_set_new(object, "flags", list_flags(type->propertyFlags));
        json_object_set_new(object, "avoided_unasked", json_boolean((avoided >> i & 1u) != 0));
        json_array_append_new(list, object);
    }
    return list;
}

static VkResult choose(MaarAllocator allocator, const struct purpose* purpose,
                       MaarMemoryTypeChoice* choice, MaarMemoryTypeReason* reason)
{
    const MaarAllocationCreateInfo create = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                             .usage = purpose->usage};
    *reason = (MaarMemoryTypeReason){.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_REASON};
    *choice =
        (MaarMemoryTypeChoice){.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE, .pNext = reason};
    if (purpose->buffer != 0) {
        const VkBufferCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
            .size = 65536,
            .usage = purpose->buffer,
            .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
        };
        return maarChooseMemoryTypeForBuffer(allocator, &info, &create, choice);
    }
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {1920, 1080, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = purpose->image,
    };
    return maarChooseMemoryTypeForImage(allocator, &info, &create, choice);
}

static json_t* list_choices(MaarAllocator allocator)
{
    json_t* const list = json_array();
    for (size_t i = 0; i < sizeof(purposes) / sizeof(purposes[0]); ++i) {
        MaarMemoryTypeChoice choice;
        MaarMemoryTypeReason reason;
        json_t* const object = json_object();
        json_object_set_new(object, "purpose", json_string(purposes[i].name));
        const VkResult result = choose(allocator, &purposes[i], &choice, &reason);
        if (result == VK_SUCCESS) {
            json_t* const others = json_array();
            for (uint32_t j = 1; j < choice.candidateCount; ++j) {
                json_array_append_new(others, tool_json_number(choice.candidates[j]));
            }
            json_object_set_new(object, "type", tool_json_number(choice.memoryTypeIndex));
            json_object_set_new(object, "then", others);
            json_object_set_new(object, "reason", json_string(reason.text));
        } else {
            json_object_set_new(object, "type", json_null());
            json_object_set_new(object, "then", json_array());
            json_object_set_new(object, "reason", json_string(maarGetResultName(result)));
        }
        json_array_append_new(list, object);
    }
    return list;
}

static json_t* list_limits(const struct tool_device* tool, const MaarAllocatorInfo* info)
{
    const VkPhysicalDeviceLimits* const limits = &tool->properties.limits;
    json_t* const object = json_object();
    json_object_set_new(object, "maxMemoryAllocationCount",
                        tool_json_number(info->maxMemoryAllocationCount));
    json_object_set_new(object, "maxMemoryAllocationSize",
                        tool_json_number(info->maxMemoryAllocationSize));
    json_object_set_new(object, "bufferImageGranularity",
                        tool_json_number(info->bufferImageGranularity));
    json_object_set_new(object, "nonCoherentAtomSize", tool_json_number(info->nonCoherentAtomSize));
    json_object_set_new(object, "minMemoryMapAlignment",
                        tool_json_number(limits->minMemoryMapAlignment));
    json_object_set_new(object, "maxStorageBufferRange",
                        tool_json_number(limits->maxStorageBufferRange));
    return object;
}

static json_t* list_capabilities(const MaarAllocatorInfo* info)
{
    json_t* const object = json_object();
    json_object_set_new(object, "memory_budget", json_boolean(info->memoryBudget));
    json_object_set_new(object, "memory_priority", json_boolean(info->memoryPriority));
    json_object_set_new(object, "pageable_device_local_memory",
                        json_boolean(info->pageableDeviceLocalMemory));
    json_object_set_new(object, "buffer_device_address", json_boolean(info->bufferDeviceAddress));
    json_object_set_new(object, "maintenance4", json_boolean(info->maintenance4));
    json_object_set_new(object, "timeline_semaphore", json_boolean(info->timelineSemaphore));
    return object;
}

/* Returns the page size that the driver requires for a sparse buffer; 0 without sparse buffers. */
static uint64_t find_buffer_page(MaarAllocator allocator)
{
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 65536,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
    };
    const MaarReservationCreateInfo create_info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT,
        .pBufferInfo = &buffer,
    };
    MaarReservation reservation = VK_NULL_HANDLE;
    MaarReservationInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    if (maarCreateReservation(allocator, &create_info, &reservation) == VK_SUCCESS) {
        (void)maarGetReservationInfo(allocator, reservation, &info);
        maarDestroyReservation(allocator, reservation);
    }
    return info.pageSize;
}

static json_t* list_paging(MaarAllocator allocator)
{
    MaarPagingInfo info = {.sType = MAAR_STRUCTURE_TYPE_PAGING_INFO};
    if (maarGetPagingInfo(allocator, &info) != VK_SUCCESS) {
        return json_null();
    }
    json_t* const object = json_object();
    json_object_set_new(object, "stitching", json_boolean(info.stitching));
    json_object_set_new(object, "sparse_reservations", json_boolean(info.sparseReservations));
    json_object_set_new(object, "sparse_aliasing", json_boolean(info.aliasing));
    json_object_set_new(object, "sparse_images_2d", json_boolean(info.sparseImages2D));
    json_object_set_new(object, "sparse_images_3d", json_boolean(info.sparseImages3D));
    json_object_set_new(object, "non_resident_strict", json_boolean(info.nonResidentStrict));
    json_object_set_new(object, "sparseAddressSpaceSize", tool_json_number(info.addressSpaceSize));
    json_object_set_new(
        object, "sparse_buffer_page",
        tool_json_number(info.sparseReservations == VK_TRUE ? find_buffer_page(allocator) : 0));
    return object;
}

static const char* type_of_device(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return "discrete GPU";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return "integrated GPU";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return "virtual GPU";
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return "CPU";
    default:
        return "other";
    }
}

static json_t* describe_device(struct tool_device* tool, MaarAllocator allocator)
{
    MaarAllocatorInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    if (maarGetAllocatorInfo(allocator, &info) != VK_SUCCESS) {
        return NULL;
    }
    char version[32];
    const uint32_t api = tool->properties.apiVersion;
    snprintf(version, sizeof(version), "%u.%u.%u", VK_API_VERSION_MAJOR(api),
             VK_API_VERSION_MINOR(api), VK_API_VERSION_PATCH(api));
    char name[32];
    snprintf(name, sizeof(name), "vulkan:%u", tool->index);
    json_t* const object = json_object();
    json_object_set_new(object, "option",
                        support_json_text(tool->simulated ? tool->options.device : name));
    json_object_set_new(object, "device", support_json_text(tool->properties.deviceName));
    json_object_set_new(object, "kind", json_string(type_of_device(tool->properties.deviceType)));
    json_object_set_new(object, "driver", support_json_text(tool->driver));
    json_object_set_new(object, "vulkan", json_string(version));
    json_object_set_new(object, "heaps", list_heaps(tool, allocator));
    json_object_set_new(object, "types", list_types(tool, info.avoidedTypeBits));
    json_object_set_new(object, "limits", list_limits(tool, &info));
    json_object_set_new(object, "capabilities", list_capabilities(&info));
    json_object_set_new(object, "paging", list_paging(allocator));
    json_object_set_new(object, "sharing", tool_list_sharing(allocator));
    json_object_set_new(object, "uses", list_choices(allocator));
    return object;
}

static uint64_t get_number(const json_t* object, const char* key)
{
    return tool_json_value(json_object_get(object, key));
}

static const char* get_text(const json_t* object, const char* key)
{
    return json_string_value(json_object_get(object, key));
}

static void print_heaps_and_types(const json_t* device)
{
    size_t i = 0;
    json_t* item = NULL;
    printf("\n  heap        size      budget  (source)\n");
    json_array_foreach(json_object_get(device, "heaps"), i, item)
    {
        char size[32];
        char budget[32];
        printf("  %4zu  %10s  %10s  (%s)%s\n", i,
               tool_format_size(get_number(item, "size"), size, sizeof(size)),
               tool_format_size(get_number(item, "budget"), budget, sizeof(budget)),
               json_is_true(json_object_get(item, "budget_from_driver")) ? "driver" : "assumed",
               json_is_true(json_object_get(item, "device_local")) ? "  DEVICE_LOCAL" : "");
    }
    printf("\n  type  heap  flags\n");
    json_array_foreach(json_object_get(device, "types"), i, item)
    {
        printf("  %4zu  %4" PRIu64 " ", i, get_number(item, "heap"));
        size_t j = 0;
        json_t* flag = NULL;
        json_array_foreach(json_object_get(item, "flags"), j, flag)
        {
            printf(" %s", json_string_value(flag));
        }
        printf("%s%s\n", j == 0 ? " (none)" : "",
               json_is_true(json_object_get(item, "avoided_unasked")) ? "  [only on request]" : "");
    }
}

static void print_pairs(const json_t* object)
{
    const char* key = NULL;
    json_t* value = NULL;
    json_object_foreach((json_t*)(uintptr_t)object, key, value)
    {
        if (tool_json_is_number(value)) {
            printf("  %-31s %" PRIu64 "\n", key, tool_json_value(value));
        } else if (json_is_string(value)) {
            printf("  %-31s %s\n", key, json_string_value(value));
        } else {
            printf("  %-31s %s\n", key, json_is_true(value) ? "yes" : "no");
        }
    }
}

static void print_device(const json_t* device)
{
    printf("%s: %s (%s)\n  driver %s; Vulkan %s\n", get_text(device, "option"),
           get_text(device, "device"), get_text(device, "kind"), get_text(device, "driver"),
           get_text(device, "vulkan"));
    print_heaps_and_types(device);
    printf("\n");
    print_pairs(json_object_get(device, "limits"));
    print_pairs(json_object_get(device, "capabilities"));
    print_pairs(json_object_get(device, "paging"));
    print_pairs(json_object_get(device, "sharing"));
    printf("\n  what                   type  why\n");
    size_t i = 0;
    json_t* item = NULL;
    json_array_foreach(json_object_get(device, "uses"), i, item)
    {
        char type[16] = "none";
        if (json_is_integer(json_object_get(item, "type"))) {
            snprintf(type, sizeof(type), "%" PRIu64, get_number(item, "type"));
        }
        printf("  %-22s %4s  %s", get_text(item, "purpose"), type, get_text(item, "reason"));
        size_t j = 0;
        json_t* other = NULL;
        json_array_foreach(json_object_get(item, "then"), j, other)
        {
            printf("%s%" PRIu64, j == 0 ? " (when full: " : ", ",
                   (uint64_t)json_integer_value(other));
        }
        printf("%s\n", j == 0 ? "" : ")");
    }
    printf("\n");
}

static int show_device(struct tool_device* tool, bool as_json)
{
    const struct tool_allocator_options options = {.strategy = MAAR_PLACEMENT_STRATEGY_TLSF};
    MaarAllocator allocator = VK_NULL_HANDLE;
    const VkResult result = tool_device_create_allocator(tool, &options, &allocator);
    if (result != VK_SUCCESS) {
        tool_complain("%s: maarCreateAllocator: %s", tool->properties.deviceName,
                      maarGetResultName(result));
        return TOOL_EXIT_FAILED;
    }
    json_t* const device = describe_device(tool, allocator);
    bool good = device != NULL;
    if (good && as_json) {
        good = tool_print_json(device);
    } else if (good) {
        print_device(device);
        json_decref(device);
    }
    maarDestroyAllocator(allocator);
    return good ? TOOL_EXIT_OK : TOOL_EXIT_FAILED;
}

/* Shows the named device, or all devices if none is named. */
static int show_devices(struct tool_device* tool, bool all, bool as_json)
{
    if (!all) {
        const int code = tool_device_open(tool, VK_NULL_HANDLE);
        return code == TOOL_EXIT_OK ? show_device(tool, as_json) : code;
    }
    VkPhysicalDevice* devices = NULL;
    const uint32_t count = tool_device_list(tool, &devices);
    int worst = TOOL_EXIT_OK;
    if (count == 0) {
        tool_complain("Vulkan lists no device");
        worst = TOOL_EXIT_USAGE;
    }
    for (uint32_t i = 0; i < count; ++i) {
        tool->index = i;
        int code = tool_device_open(tool, devices[i]);
        if (code == TOOL_EXIT_OK) {
            code = show_device(tool, as_json);
        }
        tool_device_close_device(tool);
        worst = code > worst ? code : worst;
    }
    free(devices);
    return worst;
}

enum info_option {
    INFO_DEVICE = 256,
    INFO_HEAP,
    INFO_LIMIT,
    INFO_VALIDATE,
    INFO_JSON,
    INFO_PROFILES,
    INFO_HELP,
};

struct info_settings {
    struct tool_device_options device;
    bool as_json;
    bool list_profiles;
    bool help;
};

static bool take_info_option(struct info_settings* settings, int option, const char* text)
{
    switch (option) {
    case INFO_DEVICE:
        settings->device.device = text;
        return true;
    case INFO_HEAP:
        return tool_device_add_heap(&settings->device, text);
    case INFO_LIMIT:
        return tool_device_add_limit(&settings->device, text);
    case INFO_VALIDATE:
        settings->device.validate = true;
        return true;
    case INFO_JSON:
        settings->as_json = true;
        return true;
    case INFO_PROFILES:
        settings->list_profiles = true;
        return true;
    default:
        settings->help = true;
        return true;
    }
}

static bool parse_info(int argc, char** argv, struct info_settings* settings)
{
    static const struct option long_options[] = {
        {"device", required_argument, NULL, INFO_DEVICE},
        {"heap", required_argument, NULL, INFO_HEAP},
        {"limit", required_argument, NULL, INFO_LIMIT},
        {"validate", no_argument, NULL, INFO_VALIDATE},
        {"json", no_argument, NULL, INFO_JSON},
        {"list-profiles", no_argument, NULL, INFO_PROFILES},
        {"help", no_argument, NULL, INFO_HELP},
        {NULL, 0, NULL, 0},
    };
    settings->device.pages = true; /* so that the capabilities include those of pages */
    int option = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (option == '?' || option == ':') {
            tool_complain_option("info", option, argv, long_options);
            return false;
        }
        if (!take_info_option(settings, option, optarg)) {
            return false;
        }
    }
    if (optind < argc) {
        tool_complain("info: unexpected argument: %s; see maar info --help", argv[optind]);
        return false;
    }
    const char* const device = settings->device.device;
    const bool simulated = device != NULL && strncmp(device, "simulated:", 10) == 0;
    if (!simulated && (settings->device.heap_count != 0 || settings->device.limit_count != 0)) {
        tool_complain("info: --heap and --limit need --device simulated:PROFILE");
        return false;
    }
    return true;
}

int tool_command_info(int argc, char** argv)
{
    struct info_settings settings = {.device = {.device = NULL}};
    if (!parse_info(argc, argv, &settings)) {
        return TOOL_EXIT_USAGE;
    }
    if (settings.help) {
        fputs(info_help, stdout);
        return TOOL_EXIT_OK;
    }
    if (settings.list_profiles) {
        return tool_data_print_names(TOOL_DATA_PROFILES) ? TOOL_EXIT_OK : TOOL_EXIT_USAGE;
    }
    const bool all = settings.device.device == NULL;
    if (all) {
        settings.device.device = "auto";
    }
    struct tool_device* const tool = calloc(1, sizeof(*tool));
    if (tool == NULL) {
        tool_complain("out of memory");
        return TOOL_EXIT_FAILED;
    }
    int code = tool_device_open_instance(tool, &settings.device);
    if (code == TOOL_EXIT_OK) {
        code = show_devices(tool, all, settings.as_json);
    }
    tool_device_close(tool);
    if (atomic_load(&tool->messages.count) != 0 && code == TOOL_EXIT_OK) {
        code = TOOL_EXIT_FAILED;
    }
    free(tool);
    return code;
}
