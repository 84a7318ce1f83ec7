/*
 * Images in CUDA. An image is a mipmapped array over the imported block; its first levels are
 * looked up when it is created.
 */
#include "core/memory/allocation_handle.h"
#include "interop/cuda/cuda_internal.h"

enum { SHOWN_LEVELS = 16 };

struct maar_cuda_image {
    struct maar_peer_object object; /* first */
    struct maar_cuda_mipmapped_array* array;
    uint32_t level_count;
    struct maar_cuda_array* levels[SHOWN_LEVELS];
};

/* The image that make_array makes of a block, and its description. */
struct image_request {
    struct maar_cuda_image* image;
    struct maar_cuda_memory_image info;
};

static void undo_array(struct maar_peer_block* block, void* data)
{
    struct maar_cuda_image* image = ((struct image_request*)data)->image;
    MaarCuda cuda = maar_cuda_of(image->object.peer);
    (void)block;
    (void)maar_cuda_report(cuda, "the end of an image", "cuMipmappedArrayDestroy",
                           cuda->driver.cuMipmappedArrayDestroy(image->array),
                           MAAR_CUDA_CALL_PLAIN);
    image->array = NULL;
}

static VkResult make_array(const char* call, struct maar_peer_block* block, void* data)
{
    struct image_request* request = data;
    struct maar_cuda_image* image = request->image;
    MaarCuda cuda = maar_cuda_of(image->object.peer);
    if (block->memory == NULL) {
        return maar_misuse(cuda->peer.allocator, MAAR_MESSAGE_ID_PEER_NOT_SUPPORTED, call,
                           "allocation is memory that CUDA made, and CUDA makes no images of such "
                           "memory");
    }
    VkResult result = maar_cuda_report(cuda, call, "cuExternalMemoryGetMappedMipmappedArray",
                                       cuda->driver.cuExternalMemoryGetMappedMipmappedArray(
                                           &image->array, block->memory, &request->info),
                                       MAAR_CUDA_CALL_IMPORT);
    if (result != VK_SUCCESS) {
        return result;
    }
    for (uint32_t i = 0; i < image->level_count && i < SHOWN_LEVELS && result == VK_SUCCESS; ++i) {
        result = maar_cuda_report(
            cuda, call, "cuMipmappedArrayGetLevel",
            cuda->driver.cuMipmappedArrayGetLevel(&image->levels[i], image->array, i),
            MAAR_CUDA_CALL_IMPORT);
    }
    if (result != VK_SUCCESS) {
        undo_array(block, request);
    }
    return result;
}

static VkResult check_cuda_image(MaarCuda cuda, const char* call, const VkImageCreateInfo* info,
                                 struct maar_cuda_array_shape* shape)
{
    MaarAllocator allocator = cuda->peer.allocator;
    const char* fault = NULL;
    VkResult result = maar_check_structure(allocator, call, "pImageInfo", info,
                                           VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (info->mipLevels == 0 || info->arrayLayers == 0 || info->extent.width == 0) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_ZERO_SIZE, call,
                           "pImageInfo has no levels, no layers or no width");
    }
    if (!cuda->images) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PEER_NOT_SUPPORTED,
                    call, "CUDA maps no images here");
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    result = maar_cuda_image_shape(info, shape, &fault);
    if (result != VK_SUCCESS) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PEER_NOT_SUPPORTED,
                    call, "%s", fault);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateCudaImage(MaarCuda cuda, MaarAllocation allocation,
                                                   const VkImageCreateInfo* pImageInfo,
                                                   MaarCudaImage* pImage)
{
    const struct maar_output outputs[] = {{"pImage", pImage, sizeof *pImage}, {0}};
    VkResult result = maar_peer_enter_outputs(maar_peer_of_cuda(cuda), __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarAllocator allocator = cuda->peer.allocator;
    struct image_request request = {.image = NULL};
    result = check_cuda_image(cuda, __func__, pImageInfo, &request.info.shape);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_slot* slot = maar_resolve(allocator, __func__, allocation, NULL);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    request.image = maar_host_calloc(allocator->callbacks, 1, sizeof *request.image);
    if (request.image == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    request.image->object.peer = &cuda->peer;
    request.image->level_count = pImageInfo->mipLevels;
    request.info.offset = maar_slot_find_bytes(allocator, slot).offset;
    request.info.levels = pImageInfo->mipLevels;
    /* Opens the handle first, because an import cannot be undone once another thread uses the
     * block. */
    result = maar_peer_object_open(&request.image->object, MAAR_OBJECT_CUDA_IMAGE);
    if (result == VK_SUCCESS) {
        const struct maar_peer_use use = {.make = make_array, .undo = undo_array, .data = &request};
        struct maar_peer_block* block = NULL;
        result = maar_peer_use_block(&cuda->peer, __func__, slot, &use, &block);
    }
    if (result != VK_SUCCESS) {
        maar_peer_object_close(&request.image->object);
        maar_host_free(allocator->callbacks, request.image);
        return result;
    }
    (void)maar_atomic32_add(&cuda->peer.object_count, 1);
    *pImage = MAAR_FROM_BITS(MaarCudaImage, request.image->object.handle);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyCudaImage(MaarCuda cuda, MaarCudaImage image)
{
    if (cuda == VK_NULL_HANDLE || image == VK_NULL_HANDLE) {
        return;
    }
    struct maar_cuda_image* own = maar_peer_object_claim(
        &cuda->peer, __func__, "image", MAAR_OBJECT_CUDA_IMAGE, MAAR_TO_BITS(image));
    if (own == NULL) {
        return;
    }
    struct image_request request = {.image = own};
    int previous = 0;
    maar_lock_rank_expect_none();
    if (cuda->peer.driver->enter(&cuda->peer, __func__, &previous) == VK_SUCCESS) {
        undo_array(NULL, &request);
        cuda->peer.driver->leave(&cuda->peer, previous);
    }
    maar_host_free(cuda->peer.allocator->callbacks, own);
    (void)maar_atomic32_drop(&cuda->peer.object_count);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetCudaImageInfo(MaarCuda cuda, MaarCudaImage image,
                                                    MaarCudaImageInfo* pInfo)
{
    void* object = NULL;
    VkResult result = maar_peer_object_enter(maar_peer_of_cuda(cuda), __func__, "image",
                                             MAAR_OBJECT_CUDA_IMAGE, MAAR_TO_BITS(image), &object);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(cuda->peer.allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_CUDA_IMAGE_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_cuda_image* own = object;
    pInfo->pMipmappedArray = own->array;
    pInfo->levelCount = own->level_count;
    for (size_t i = 0; i < SHOWN_LEVELS; ++i) {
        pInfo->ppLevels[i] = own->levels[i];
    }
    return VK_SUCCESS;
}
