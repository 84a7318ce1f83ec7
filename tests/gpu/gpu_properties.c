/*
 * What can be shared, and how: external properties of buffers, images and semaphores, asked for
 * with and without sparse flags, and the identities of both sides.
 */
#include "gpu_case.h"

#include <stdio.h>
#include <string.h>

struct named_bits {
    const char* name;
    VkFlags bits;
};

static const struct named_bits handle_types[] = {
    {"OPAQUE_FD", VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT},
    {"DMA_BUF", VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT},
    {"HOST_ALLOCATION", VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT},
};
enum { HANDLE_TYPES = sizeof handle_types / sizeof handle_types[0] };

/* Who has to have a VkDeviceMemory of its own. */
static struct {
    uint32_t buffers;
    uint32_t images;
} dedicated_only;

static const char* features_text(VkExternalMemoryFeatureFlags features)
{
    static const char* const texts[8] = {
        "no",     "D",         "export",         "export, D",
        "import", "import, D", "export, import", "export, import, D",
    };
    uint32_t index = 0;
    index |= (features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) != 0 ? 1u : 0u;
    index |= (features & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT) != 0 ? 2u : 0u;
    index |= (features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) != 0 ? 4u : 0u;
    return texts[index];
}

static void print_uuid(const char* name, const uint8_t* uuid, size_t size)
{
    printf("- %s: `", name);
    for (size_t i = 0; i < size; ++i) {
        printf("%02x", uuid[i]);
    }
    printf("`\n");
}

static void print_identities(struct gpu_case* gpu)
{
    MaarSharingInfo info = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    if (!gpu_vk(gpu, maarGetSharingInfo(gpu->allocator, &info), "maarGetSharingInfo")) {
        return;
    }
    print_uuid("Vulkan deviceUUID", info.deviceUUID, VK_UUID_SIZE);
    print_uuid("Vulkan driverUUID", info.driverUUID, VK_UUID_SIZE);
    printf("- alignment of host pointers: %llu bytes\n",
           (unsigned long long)info.minImportedHostPointerAlignment);
    if (!gpu->has_cuda) {
        printf("- CUDA: %s\n\n", gpu->no_cuda);
        return;
    }
    struct maar_cuda_uuid uuid = {{0}};
    maar_cuda_device device = 0;
    (void)gpu->driver.cuDeviceGet(&device, gpu->info.deviceOrdinal);
    if (gpu->driver.cuDeviceGetUuid != NULL) {
        (void)gpu->driver.cuDeviceGetUuid(&uuid, device);
    }
    print_uuid("CUDA's UUID of the device that Maar found", (const uint8_t*)uuid.bytes,
               sizeof uuid.bytes);
    printf("- CUDA driver %d.%d; handoff by mode %d (1 timeline, 2 binary, 3 host); timelines %s, "
           "binary semaphores %s, images %s, virtual memory %s\n\n",
           gpu->info.driverVersion / 1000, gpu->info.driverVersion % 1000 / 10,
           (int)gpu->info.handoffMode, gpu->info.timelineSemaphores ? "yes" : "no",
           gpu->info.binarySemaphores ? "yes" : "no", gpu->info.images ? "yes" : "no",
           gpu->info.virtualMemory ? "yes" : "no");
}

/* ---- buffers ---- */

static void print_buffers(struct gpu_case* gpu)
{
    static const struct named_bits usages[] = {
        {"transfer", VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT},
        {"storage", VK_BUFFER_USAGE_STORAGE_BUFFER_BIT},
        {"vertex, index", VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT},
        {"uniform", VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT},
    };
    static const struct named_bits flags[] = {
        {"plain", 0},
        {"sparse binding", VK_BUFFER_CREATE_SPARSE_BINDING_BIT},
        {"sparse residency",
         VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT},
        {"sparse aliased", VK_BUFFER_CREATE_SPARSE_BINDING_BIT |
                               VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT |
                               VK_BUFFER_CREATE_SPARSE_ALIASED_BIT},
    };
    printf("| buffer | flags | OPAQUE_FD | DMA_BUF | HOST_ALLOCATION |\n| --- | --- | --- | --- | "
           "--- |\n");
    for (size_t u = 0; u < sizeof usages / sizeof usages[0]; ++u) {
        for (size_t f = 0; f < sizeof flags / sizeof flags[0]; ++f) {
            printf("| %s | %s |", usages[u].name, flags[f].name);
            for (size_t t = 0; t < HANDLE_TYPES; ++t) {
                const VkPhysicalDeviceExternalBufferInfo info = {
                    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
                    .flags = flags[f].bits,
                    .usage = usages[u].bits,
                    .handleType = (VkExternalMemoryHandleTypeFlagBits)handle_types[t].bits};
                VkExternalBufferProperties found = {
                    .sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
                vkGetPhysicalDeviceExternalBufferProperties(gpu->physical, &info, &found);
                const VkExternalMemoryFeatureFlags features =
                    found.externalMemoryProperties.externalMemoryFeatures;
                dedicated_only.buffers +=
                    (features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) != 0 ? 1 : 0;
                printf(" %s |", features_text(features));
            }
            printf("\n");
        }
    }
}

static void print_memory_types(struct gpu_case* gpu)
{
    const VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .size = 65536,
                                       .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                                VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    printf("\nMemory types of a buffer that is shared:");
    for (size_t t = 0; t < HANDLE_TYPES; ++t) {
        const MaarSharingQuery query = {
            .sType = MAAR_STRUCTURE_TYPE_SHARING_QUERY,
            .pBufferInfo = &buffer,
            .handleType = (VkExternalMemoryHandleTypeFlagBits)handle_types[t].bits};
        MaarSharingSupport support = {.sType = MAAR_STRUCTURE_TYPE_SHARING_SUPPORT};
        if (maarGetSharingSupport(gpu->allocator, &query, &support) == VK_SUCCESS) {
            printf(" %s 0x%x;", handle_types[t].name, support.memoryTypeBits);
        }
    }
    printf("\n");
}

/* ---- images ---- */

/* Whether there is such an image at all: "-" if not. */
static const char* image_text(struct gpu_case* gpu, VkFormat format, VkImageTiling tiling,
                              VkImageType type, VkFlags handle_type)
{
    const VkPhysicalDeviceExternalImageFormatInfo external = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO,
        .handleType = (VkExternalMemoryHandleTypeFlagBits)handle_type};
    const VkPhysicalDeviceImageFormatInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
        .pNext = &external,
        .format = format,
        .type = type,
        .tiling = tiling,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    VkExternalImageFormatProperties found = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
    VkImageFormatProperties2 properties = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2,
                                           .pNext = &found};
    if (vkGetPhysicalDeviceImageFormatProperties2(gpu->physical, &info, &properties) !=
        VK_SUCCESS) {
        return "-";
    }
    const VkExternalMemoryFeatureFlags features =
        found.externalMemoryProperties.externalMemoryFeatures;
    dedicated_only.images +=
        (features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) != 0 ? 1 : 0;
    return features_text(features);
}

static void print_images(struct gpu_case* gpu)
{
    static const struct {
        const char* name;
        VkFormat format;
    } formats[] = {
        {"R8G8B8A8_UNORM", VK_FORMAT_R8G8B8A8_UNORM},
        {"R16G16B16A16_SFLOAT", VK_FORMAT_R16G16B16A16_SFLOAT},
        {"R32_SFLOAT", VK_FORMAT_R32_SFLOAT},
        {"BC1_RGBA_UNORM", VK_FORMAT_BC1_RGBA_UNORM_BLOCK},
        {"D32_SFLOAT", VK_FORMAT_D32_SFLOAT},
    };
    printf("\n| image | kind | OPAQUE_FD | DMA_BUF |\n| --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; ++i) {
        for (uint32_t kind = 0; kind < 3; ++kind) {
            static const char* const kinds[3] = {"2D optimal", "2D linear", "3D optimal"};
            const VkImageTiling tiling =
                kind == 1 ? VK_IMAGE_TILING_LINEAR : VK_IMAGE_TILING_OPTIMAL;
            const VkImageType type = kind == 2 ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D;
            printf("| %s | %s | %s | %s |\n", formats[i].name, kinds[kind],
                   image_text(gpu, formats[i].format, tiling, type, handle_types[0].bits),
                   image_text(gpu, formats[i].format, tiling, type, handle_types[1].bits));
        }
    }
}

/* ---- semaphores ---- */

static void print_semaphores(struct gpu_case* gpu)
{
    static const struct named_bits types[] = {
        {"OPAQUE_FD", VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT},
        {"SYNC_FD", VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT},
    };
    printf("\n| semaphore | OPAQUE_FD | SYNC_FD |\n| --- | --- | --- |\n");
    for (uint32_t kind = 0; kind < 2; ++kind) {
        const VkSemaphoreTypeCreateInfo type = {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
            .semaphoreType = kind == 0 ? VK_SEMAPHORE_TYPE_TIMELINE : VK_SEMAPHORE_TYPE_BINARY};
        printf("| %s |", kind == 0 ? "timeline" : "binary");
        for (uint32_t t = 0; t < 2; ++t) {
            const VkPhysicalDeviceExternalSemaphoreInfo info = {
                .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
                .pNext = &type,
                .handleType = (VkExternalSemaphoreHandleTypeFlagBits)types[t].bits};
            VkExternalSemaphoreProperties found = {
                .sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
            vkGetPhysicalDeviceExternalSemaphoreProperties(gpu->physical, &info, &found);
            const bool exports = (found.externalSemaphoreFeatures &
                                  VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT) != 0;
            const bool imports = (found.externalSemaphoreFeatures &
                                  VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT) != 0;
            printf(" %s%s%s |", exports ? "export" : "", exports && imports ? ", " : "",
                   imports ? "import" : (exports ? "" : "no"));
        }
        printf("\n");
    }
}

int main(int argc, char** argv)
{
    static struct gpu_case gpu;
    const int code = gpu_open(&gpu, argc, argv, GPU_NEEDS_NOTHING, "What can be shared");
    if (code == GPU_EXIT_OK) {
        print_identities(&gpu);
        print_buffers(&gpu);
        print_images(&gpu);
        print_semaphores(&gpu);
        print_memory_types(&gpu);
        printf("\nD: DEDICATED_ONLY; set for %u of the rows and columns of buffers, %u of images. "
               "-: there is no such image.\n",
               dedicated_only.buffers, dedicated_only.images);
    }
    const int closed = gpu_close(&gpu);
    return code == GPU_EXIT_OK ? closed : code;
}
