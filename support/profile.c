/*
 * Reads device profiles with the schema maar-device-profile/1.
 */
#include "support/profile.h"
#include "support/profile_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROFILE_MAX_BYTES = 16 << 20,
    PROFILE_MAX_QUEUES = 4096,
};

/* The limits of sensible heaps and alignments: 1 EiB and 1 GiB. Larger values are errors. */
static const uint64_t profile_max_heap = (uint64_t)1 << 60;
static const uint64_t profile_max_alignment = (uint64_t)1 << 30;

/* The values of missing fields: the weakest that Vulkan permits. */
static const VkDeviceSize profile_offset_alignment = 256;
static const VkDeviceSize profile_map_alignment = 64;
static const uint32_t profile_storage_range = 1u << 27;

#define PROFILE_COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct profile_word profile_heap_flags[] = {
    {"DEVICE_LOCAL", VK_MEMORY_HEAP_DEVICE_LOCAL_BIT},
    {"MULTI_INSTANCE", VK_MEMORY_HEAP_MULTI_INSTANCE_BIT},
};

static const struct profile_word profile_type_flags[] = {
    {"DEVICE_LOCAL", VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT},
    {"HOST_VISIBLE", VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT},
    {"HOST_COHERENT", VK_MEMORY_PROPERTY_HOST_COHERENT_BIT},
    {"HOST_CACHED", VK_MEMORY_PROPERTY_HOST_CACHED_BIT},
    {"LAZILY_ALLOCATED", VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT},
    {"PROTECTED", VK_MEMORY_PROPERTY_PROTECTED_BIT},
    {"DEVICE_COHERENT_AMD", VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD},
    {"DEVICE_UNCACHED_AMD", VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD},
    {"RDMA_CAPABLE_NV", VK_MEMORY_PROPERTY_RDMA_CAPABLE_BIT_NV},
};

/* The video queues are numbers here, since older headers name them only for beta programs. */
static const struct profile_word profile_queue_flags[] = {
    {"GRAPHICS", VK_QUEUE_GRAPHICS_BIT},
    {"COMPUTE", VK_QUEUE_COMPUTE_BIT},
    {"TRANSFER", VK_QUEUE_TRANSFER_BIT},
    {"SPARSE_BINDING", VK_QUEUE_SPARSE_BINDING_BIT},
    {"PROTECTED", VK_QUEUE_PROTECTED_BIT},
    {"VIDEO_DECODE", 0x20},
    {"VIDEO_ENCODE", 0x40},
    {"OPTICAL_FLOW", 0x100},
};

static const struct profile_word profile_device_types[] = {
    {"OTHER", VK_PHYSICAL_DEVICE_TYPE_OTHER},
    {"INTEGRATED_GPU", VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU},
    {"DISCRETE_GPU", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU},
    {"VIRTUAL_GPU", VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU},
    {"CPU", VK_PHYSICAL_DEVICE_TYPE_CPU},
};

static bool profile_read_version(const struct profile_source* source, const json_t* root,
                                 uint32_t* version)
{
    char text[32] = "";
    if (!profile_string(source, "", root, "apiVersion", PROFILE_OPTIONAL, text, sizeof(text))) {
        return false;
    }
    if (text[0] == 0) {
        return true;
    }
    unsigned long parts[3] = {0, 0, 0};
    const unsigned long most[3] = {127, 1023, 4095};
    const char* at = text;
    for (int i = 0; i < 3; i++) {
        char* end = NULL;
        const bool digit = *at >= '0' && *at <= '9';
        parts[i] = digit ? strtoul(at, &end, 10) : 0;
        if (!digit || parts[i] > most[i] || *end != (i < 2 ? '.' : 0)) {
            return profile_fail(source, "", "apiVersion", "is not like \"1.3.250\"");
        }
        at = end + 1;
    }
    if (parts[0] != 1) {
        return profile_fail(source, "", "apiVersion", "is not Vulkan 1");
    }
    *version = VK_MAKE_API_VERSION(0, (uint32_t)parts[0], (uint32_t)parts[1], (uint32_t)parts[2]);
    return true;
}

static bool profile_read_identity(const struct profile_source* source, const json_t* root,
                                  MaarSimulatedProfile* profile)
{
    char type[32] = "OTHER";
    uint32_t driver_id = 0;
    if (!profile_string(source, "", root, "name", PROFILE_REQUIRED, profile->name,
                        sizeof(profile->name)) ||
        !profile_string(source, "", root, "device", PROFILE_REQUIRED, profile->deviceName,
                        sizeof(profile->deviceName)) ||
        !profile_string(source, "", root, "driver", PROFILE_OPTIONAL, profile->driverName,
                        sizeof(profile->driverName)) ||
        !profile_string(source, "", root, "driverInfo", PROFILE_OPTIONAL, profile->driverInfo,
                        sizeof(profile->driverInfo)) ||
        !profile_u32(source, "", root, "driverID", PROFILE_OPTIONAL, &driver_id) ||
        !profile_hex(source, "", root, "vendorID", &profile->vendorID) ||
        !profile_hex(source, "", root, "deviceID", &profile->deviceID) ||
        !profile_string(source, "", root, "deviceType", PROFILE_OPTIONAL, type, sizeof(type)) ||
        !profile_read_version(source, root, &profile->apiVersion)) {
        return false;
    }
    profile->driverID = (VkDriverId)driver_id;
    for (size_t i = 0; i < PROFILE_COUNT(profile_device_types); i++) {
        if (strcmp(profile_device_types[i].word, type) == 0) {
            profile->deviceType = (VkPhysicalDeviceType)profile_device_types[i].value;
            return true;
        }
    }
    return profile_fail(source, "", "deviceType", "is an unknown word");
}

static bool profile_read_limits(const struct profile_source* source, const json_t* root,
                                MaarSimulatedLimits* limits)
{
    bool good = true;
    const json_t* from = profile_object(source, "", root, "limits", PROFILE_REQUIRED, &good);
    if (from == NULL) {
        return false;
    }
    limits->minMemoryMapAlignment = profile_map_alignment;
    limits->minUniformBufferOffsetAlignment = profile_offset_alignment;
    limits->minStorageBufferOffsetAlignment = profile_offset_alignment;
    limits->minTexelBufferOffsetAlignment = profile_offset_alignment;
    limits->maxStorageBufferRange = profile_storage_range;
    const struct {
        const char* key;
        VkDeviceSize* value;
    } powers[] = {
        {"bufferImageGranularity", &limits->bufferImageGranularity},
        {"nonCoherentAtomSize", &limits->nonCoherentAtomSize},
        {"minMemoryMapAlignment", &limits->minMemoryMapAlignment},
        {"minUniformBufferOffsetAlignment", &limits->minUniformBufferOffsetAlignment},
        {"minStorageBufferOffsetAlignment", &limits->minStorageBufferOffsetAlignment},
        {"minTexelBufferOffsetAlignment", &limits->minTexelBufferOffsetAlignment},
        {"optimalBufferCopyOffsetAlignment", &limits->optimalBufferCopyOffsetAlignment},
        {"optimalBufferCopyRowPitchAlignment", &limits->optimalBufferCopyRowPitchAlignment},
        {"minImportedHostPointerAlignment", &limits->minImportedHostPointerAlignment},
    };
    for (size_t i = 0; i < PROFILE_COUNT(powers); i++) {
        if (!profile_power(source, "limits", from, powers[i].key, profile_max_alignment,
                           powers[i].value)) {
            return false;
        }
    }
    const struct {
        const char* key;
        VkDeviceSize* value;
    } sizes[] = {
        {"sparseAddressSpaceSize", &limits->sparseAddressSpaceSize},
        {"maxMemoryAllocationSize", &limits->maxMemoryAllocationSize},
        {"maxBufferSize", &limits->maxBufferSize},
    };
    for (size_t i = 0; i < PROFILE_COUNT(sizes); i++) {
        if (!profile_u64(source, "limits", from, sizes[i].key, PROFILE_OPTIONAL, UINT64_MAX,
                         sizes[i].value, NULL)) {
            return false;
        }
    }
    return profile_u32(source, "limits", from, "maxMemoryAllocationCount", PROFILE_OPTIONAL,
                       &limits->maxMemoryAllocationCount) &&
           profile_u32(source, "limits", from, "maxStorageBufferRange", PROFILE_OPTIONAL,
                       &limits->maxStorageBufferRange);
}

/* Returns an array of 1 to `most` objects; NULL after an error. */
static const json_t* profile_rows(const struct profile_source* source, const json_t* root,
                                  const char* key, size_t most, uint32_t* count)
{
    bool good = true;
    const json_t* array = profile_array(source, "", root, key, PROFILE_REQUIRED, &good);
    if (array == NULL) {
        return NULL;
    }
    if (json_array_size(array) == 0 || json_array_size(array) > most) {
        profile_fail(source, "", key, json_array_size(array) == 0 ? "is empty" : "has too many");
        return NULL;
    }
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (!json_is_object(json_array_get(array, i))) {
            profile_fail(source, "", key, "contains an element that is not an object");
            return NULL;
        }
    }
    *count = (uint32_t)json_array_size(array);
    return array;
}

static bool profile_read_heaps(const struct profile_source* source, const json_t* root,
                               MaarSimulatedProfile* profile)
{
    const json_t* rows =
        profile_rows(source, root, "heaps", VK_MAX_MEMORY_HEAPS, &profile->heapCount);
    for (uint32_t i = 0; rows != NULL && i < profile->heapCount; i++) {
        const json_t* from = json_array_get(rows, i);
        MaarSimulatedHeap* heap = &profile->heaps[i];
        char path[32];
        bool budget = false;
        snprintf(path, sizeof(path), "heaps[%u]", (unsigned)i);
        if (!profile_u64(source, path, from, "size", PROFILE_REQUIRED, profile_max_heap,
                         &heap->size, NULL) ||
            !profile_flags(source, path, from, "flags", profile_heap_flags,
                           PROFILE_COUNT(profile_heap_flags), &heap->flags) ||
            !profile_u64(source, path, from, "budget", PROFILE_OPTIONAL, UINT64_MAX, &heap->budget,
                         &budget) ||
            !profile_u64(source, path, from, "usage", PROFILE_OPTIONAL, UINT64_MAX, &heap->usage,
                         NULL)) {
            return false;
        }
        if (heap->size == 0) {
            return profile_fail(source, path, "size", "is zero");
        }
        heap->budgetKnown = budget ? VK_TRUE : VK_FALSE;
    }
    return rows != NULL;
}

static bool profile_read_types(const struct profile_source* source, const json_t* root,
                               MaarSimulatedProfile* profile)
{
    const json_t* rows =
        profile_rows(source, root, "types", VK_MAX_MEMORY_TYPES, &profile->typeCount);
    for (uint32_t i = 0; rows != NULL && i < profile->typeCount; i++) {
        const json_t* from = json_array_get(rows, i);
        MaarSimulatedType* type = &profile->types[i];
        char path[32];
        snprintf(path, sizeof(path), "types[%u]", (unsigned)i);
        if (!profile_u32(source, path, from, "heap", PROFILE_REQUIRED, &type->heap) ||
            !profile_flags(source, path, from, "flags", profile_type_flags,
                           PROFILE_COUNT(profile_type_flags), &type->flags)) {
            return false;
        }
        if (type->heap >= profile->heapCount) {
            return profile_fail(source, path, "heap", "is not the index of a heap");
        }
    }
    return rows != NULL;
}

static bool profile_read_queues(const struct profile_source* source, const json_t* root,
                                MaarSimulatedProfile* profile)
{
    if (json_object_get(root, "queueFamilies") == NULL) {
        return true;
    }
    const json_t* rows =
        profile_rows(source, root, "queueFamilies", MAAR_SIMULATED_MAX_QUEUE_FAMILIES,
                     &profile->queueFamilyCount);
    for (uint32_t i = 0; rows != NULL && i < profile->queueFamilyCount; i++) {
        const json_t* from = json_array_get(rows, i);
        MaarSimulatedQueueFamily* family = &profile->queueFamilies[i];
        char path[32];
        snprintf(path, sizeof(path), "queueFamilies[%u]", (unsigned)i);
        if (!profile_u32(source, path, from, "count", PROFILE_REQUIRED, &family->count) ||
            !profile_flags(source, path, from, "flags", profile_queue_flags,
                           PROFILE_COUNT(profile_queue_flags), &family->flags)) {
            return false;
        }
        if (family->count == 0 || family->count > PROFILE_MAX_QUEUES) {
            return profile_fail(source, path, "count", "is zero or too large");
        }
    }
    return rows != NULL;
}

static bool profile_add_extension(const struct profile_source* source, const char* name,
                                  MaarSimulatedProfile* profile)
{
    for (uint32_t i = 0; i < profile->extensionCount; i++) {
        if (strcmp(profile->extensions[i], name) == 0) {
            return true;
        }
    }
    if (profile->extensionCount == MAAR_SIMULATED_MAX_EXTENSIONS) {
        return profile_fail(source, "", "extensions", "has too many");
    }
    memcpy(profile->extensions[profile->extensionCount++], name, strlen(name) + 1);
    return true;
}

static bool profile_read_extensions(const struct profile_source* source, const json_t* root,
                                    MaarSimulatedProfile* profile)
{
    bool good = true;
    const json_t* names = profile_array(source, "", root, "extensions", PROFILE_OPTIONAL, &good);
    for (size_t i = 0; good && i < json_array_size(names); i++) {
        const char* const name = json_string_value(json_array_get(names, i));
        if (name == NULL || name[0] == 0 || strlen(name) >= MAAR_SIMULATED_MAX_NAME) {
            return profile_fail(source, "", "extensions", "contains an element that is not a name");
        }
        good = profile_add_extension(source, name, profile);
    }
    for (uint32_t i = 0; good && i < profile->heapCount; i++) {
        if (profile->heaps[i].budgetKnown) {
            good = profile_add_extension(source, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, profile);
        }
    }
    return good;
}

/* Reads one value under either of the two names that sources use for it. */
static bool profile_read_either(const struct profile_source* source, const char* path,
                                const json_t* from, const char* key, const char* other,
                                VkBool32* value)
{
    return profile_bool(source, path, from, key, value) &&
           profile_bool(source, path, from, other, value);
}

static bool profile_read_sparse(const struct profile_source* source, const json_t* root,
                                MaarSimulatedSparse* sparse)
{
    bool good = true;
    const json_t* from = profile_object(source, "", root, "sparse", PROFILE_OPTIONAL, &good);
    if (from == NULL) {
        return good;
    }
    const json_t* features =
        profile_object(source, "sparse", from, "features", PROFILE_OPTIONAL, &good);
    const json_t* properties =
        profile_object(source, "sparse", from, "properties", PROFILE_OPTIONAL, &good);
    VkPhysicalDeviceSparseProperties* p = &sparse->properties;
    const struct {
        const char* key;
        const char* other;
        VkBool32* value;
    } rows[] = {
        {"sparseBinding", "binding", &sparse->sparseBinding},
        {"residencyBuffer", "sparseResidencyBuffer", &sparse->residencyBuffer},
        {"residencyImage2D", "sparseResidencyImage2D", &sparse->residencyImage2D},
        {"residencyImage3D", "sparseResidencyImage3D", &sparse->residencyImage3D},
        {"residency2Samples", "sparseResidency2Samples", &sparse->residency2Samples},
        {"residency4Samples", "sparseResidency4Samples", &sparse->residency4Samples},
        {"residency8Samples", "sparseResidency8Samples", &sparse->residency8Samples},
        {"residency16Samples", "sparseResidency16Samples", &sparse->residency16Samples},
        {"residencyAliased", "sparseResidencyAliased", &sparse->residencyAliased},
        {"standard2DBlockShape", "Standard2DBlockShape", &p->residencyStandard2DBlockShape},
        {"standard2DMSBlockShape", "Standard2DMultisampleBlockShape",
         &p->residencyStandard2DMultisampleBlockShape},
        {"standard3DBlockShape", "Standard3DBlockShape", &p->residencyStandard3DBlockShape},
        {"alignedMipSize", "AlignedMipSize", &p->residencyAlignedMipSize},
        {"nonResidentStrict", "NonResidentStrict", &p->residencyNonResidentStrict},
    };
    enum { FEATURE_ROWS = 9 };
    for (size_t i = 0; good && i < PROFILE_COUNT(rows); i++) {
        good = profile_read_either(
            source, i < FEATURE_ROWS ? "sparse.features" : "sparse.properties",
            i < FEATURE_ROWS ? features : properties, rows[i].key, rows[i].other, rows[i].value);
    }
    return good;
}

/* The destinations of a probe's alignment and type bits; NULL if they are not needed. */
struct profile_probe {
    const char* what;
    VkDeviceSize* alignment;
    uint32_t* type_bits;
    VkDeviceSize size;
};

static bool profile_read_probe(const struct profile_source* source, const char* path,
                               const json_t* row, struct profile_probe* probe)
{
    uint64_t alignment = 0;
    uint32_t type_bits = 0;
    if (!profile_power(source, path, row, "alignment", profile_max_alignment, &alignment) ||
        !profile_u32(source, path, row, "typeBits", PROFILE_REQUIRED, &type_bits) ||
        !profile_u64(source, path, row, "size", PROFILE_REQUIRED, profile_max_heap, &probe->size,
                     NULL)) {
        return false;
    }
    if (alignment == 0 || type_bits == 0) {
        return profile_fail(source, path, alignment == 0 ? "alignment" : "typeBits",
                            "is zero or missing");
    }
    *probe->alignment = alignment;
    if (probe->type_bits != NULL) {
        *probe->type_bits = type_bits;
    }
    return true;
}

/* Reads a probe's answer about the mip tail of an image. An offset inside the image has the same
 * meaning as in the simulated driver. Any other offset has a meaning that only its driver knows;
 * the profile keeps it. */
static bool profile_read_tail(const struct profile_source* source, const char* path,
                              const json_t* row, MaarSimulatedRequirements* to)
{
    uint32_t flags = 0;
    uint64_t size = 0;
    uint64_t offset = 0;
    if (!profile_u32(source, path, row, "flags", PROFILE_REQUIRED, &flags) ||
        !profile_u64(source, path, row, "mipTailSize", PROFILE_REQUIRED, UINT64_MAX, &size, NULL) ||
        !profile_u64(source, path, row, "mipTailOffset", PROFILE_REQUIRED, UINT64_MAX, &offset,
                     NULL)) {
        return false;
    }
    to->mipTail = size == 0 ? MAAR_SIMULATED_MIP_TAIL_NONE
                  : (flags & VK_SPARSE_IMAGE_FORMAT_SINGLE_MIPTAIL_BIT) != 0
                      ? MAAR_SIMULATED_MIP_TAIL_SINGLE
                      : MAAR_SIMULATED_MIP_TAIL_PER_LAYER;
    to->mipTailOffset = offset > profile_max_heap ? offset : 0;
    return true;
}

static bool profile_read_requirements(const struct profile_source* source, const json_t* root,
                                      MaarSimulatedRequirements* to)
{
    bool good = true;
    const json_t* rows = profile_array(source, "", root, "requirements", PROFILE_OPTIONAL, &good);
    struct profile_probe probes[] = {
        {"buffer 1 B TRANSFER", &to->bufferAlignment, &to->bufferTypeBits, 0},
        {"buffer 65537 B STORAGE", &to->storageAlignment, NULL, 0},
        {"buffer 256 B UNIFORM", &to->uniformAlignment, NULL, 0},
        {"buffer 1 MiB SPARSE_BINDING", &to->sparseAlignment, NULL, 0},
        {"sparse image2D 1024x1024 RGBA8", &to->sparseImageAlignment, NULL, 0},
        {"image2D 16x16 RGBA8 optimal SAMPLED", &to->smallImageAlignment, NULL, 0},
        {"image2D 1024x1024 RGBA8 optimal COLOR", &to->imageAlignment, &to->imageTypeBits, 0},
        {"image2D 1920x1080 D32 optimal DEPTH", &to->depthImageAlignment, NULL, 0},
        {"image2D 1920x1080 RGBA16F 4xMSAA COLOR|TRANSIENT", &to->multisampleImageAlignment,
         &to->transientTypeBits, 0},
        {"image2D 1024x1024 RGBA8 linear SAMPLED", &to->linearImageAlignment, NULL, 0},
    };
    for (size_t i = 0; good && i < json_array_size(rows); i++) {
        const json_t* row = json_array_get(rows, i);
        char path[40];
        char what[96] = "";
        snprintf(path, sizeof(path), "requirements[%zu]", i);
        if (!json_is_object(row)) {
            return profile_fail(source, "", "requirements",
                                "contains an element that is not an object");
        }
        good = profile_string(source, path, row, "what", PROFILE_REQUIRED, what, sizeof(what));
        const bool refused = json_object_get(row, "result") != NULL;
        if (refused && strcmp(what, "image2D 1920x1080 D24S8 optimal DEPTH") == 0) {
            to->depth24Unsupported = VK_TRUE;
        }
        if (refused && strcmp(what, "sparse image2D 1024x1024 D32") == 0) {
            to->sparseDepthUnsupported = VK_TRUE;
        }
        if (good && strcmp(what, "sparse image2D 1024x1024 RGBA8 sparse[0]") == 0) {
            good = profile_read_tail(source, path, row, to);
        }
        for (size_t p = 0; good && !refused && p < PROFILE_COUNT(probes); p++) {
            if (strcmp(probes[p].what, what) == 0) {
                good = profile_read_probe(source, path, row, &probes[p]);
            }
        }
    }
    /* The first two buffers, of 1 and 65537 bytes, show the rounding of sizes. */
    const VkDeviceSize unit = probes[0].size;
    if (unit != 0 && (unit & (unit - 1)) == 0 &&
        probes[1].size == (65537 + unit - 1) / unit * unit) {
        to->bufferSizeRounding = unit;
    }
    return good;
}

bool support_profile_parse(const char* name, const char* text, size_t size,
                           MaarSimulatedProfile* profile, struct support_error* error)
{
    struct profile_source source = {.name = name, .error = error};
    char schema[40] = "";
    memset(profile, 0, sizeof(*profile));
    json_t* root = profile_json_parse(&source, text, size);
    if (root == NULL) {
        return false;
    }
    profile->sType = MAAR_STRUCTURE_TYPE_SIMULATED_PROFILE;
    bool good = json_is_object(root);
    if (!good) {
        support_error_set(error, name, 1, "the profile is not an object");
    }
    good = good &&
           profile_string(&source, "", root, "schema", PROFILE_REQUIRED, schema, sizeof(schema));
    if (good && strcmp(schema, "maar-device-profile/1") != 0) {
        good = profile_fail(&source, "", "schema", "is not maar-device-profile/1");
    }
    good = good && profile_read_identity(&source, root, profile) &&
           profile_read_limits(&source, root, &profile->limits) &&
           profile_read_heaps(&source, root, profile) &&
           profile_read_types(&source, root, profile) &&
           profile_read_queues(&source, root, profile) &&
           profile_read_extensions(&source, root, profile) &&
           profile_read_sparse(&source, root, &profile->sparse) &&
           profile_read_requirements(&source, root, &profile->requirements);
    json_decref(root);
    if (!good) {
        memset(profile, 0, sizeof(*profile));
    }
    return good;
}

/* Rejects a file that does not begin like a JSON object. An empty file is left to the parser. */
static const char* find_no_object(const char* head, size_t size)
{
    size_t at = 0;
    while (at < size &&
           (head[at] == ' ' || head[at] == '\t' || head[at] == '\r' || head[at] == '\n')) {
        ++at;
    }
    return size == 0 || (at < size && head[at] == '{') ? NULL : "no JSON object: '{' expected";
}

bool support_profile_load(const char* path, MaarSimulatedProfile* profile,
                          struct support_error* error)
{
    char* text = NULL;
    size_t size = 0;
    memset(profile, 0, sizeof(*profile));
    if (!support_read_checked_file(path, PROFILE_MAX_BYTES, find_no_object, &text, &size, error)) {
        return false;
    }
    const bool good = support_profile_parse(path, text, size, profile, error);
    free(text);
    return good;
}
