/** @file
 * maar/tile_cache.h: streamed textures. Keeps in a partially resident image those tiles that
 * shaders ask for, as many as a budget of bytes allows.
 *
 * A frame: hand what shaders asked for to maarUpdateTileCache, which evicts and commits tiles and
 * says which are to be filled, and where; call maarSubmitBinds with the point of the last frame
 * that sampled the image; record the uploads that are filled into a command buffer, submit that,
 * waiting for the point of maarSubmitBinds, and tell its own point to maarEndTileUploads. A tile is
 * visible, in what maarGetTileCacheLevels says, from the first update after its upload has been
 * executed, and no longer from the update on that evicts it. No call here waits for the device.
 *
 * The general rules of maar/allocator.h and maar/paging.h hold here too: of stale handles only
 * those given to maarDestroyTileCache are told.
 */
#ifndef MAAR_TILE_CACHE_H
#define MAAR_TILE_CACHE_H

#include "maar/paging.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What decides which tiles of a partially resident image are there. */
VK_DEFINE_HANDLE(MaarTileCache)

/* ---------------------------------------------------------------------------------------------- */
/* What shaders ask for */
/* ---------------------------------------------------------------------------------------------- */

/** A request that asks for nothing: a cleared feedback buffer is full of them. */
#define MAAR_TILE_REQUEST_NONE 0u
/** Most levels that requests can name: 0 to 14. */
#define MAAR_TILE_REQUEST_MAX_LEVELS 15u
/** Most layers that requests can name; of a 3D image, tiles in depth. */
#define MAAR_TILE_REQUEST_MAX_LAYERS 256u
/** Most tiles of a level in x and in y that requests can name. */
#define MAAR_TILE_REQUEST_MAX_TILES 1024u
/**
 * A request for a tile, 32 bits: level + 1 in the upper 4, then 8 for the layer (of a 3D image the
 * tile's z), 10 for y and 10 for x, in tiles. Arguments are unsigned and in range. The same
 * expression, without the prefix, is GLSL.
 */
#define MAAR_PACK_TILE_REQUEST(level, layer, x, y)                                                 \
    ((((level) + 1u) << 28) | ((layer) << 20) | ((y) << 10) | (x))
/** The level of a request; UINT32_MAX of MAAR_TILE_REQUEST_NONE. */
#define MAAR_TILE_REQUEST_LEVEL(request) (((request) >> 28) - 1u)
/** The layer of a request, or the tile's z. */
#define MAAR_TILE_REQUEST_LAYER(request) (((request) >> 20) & 255u)
/** The tile's x. */
#define MAAR_TILE_REQUEST_X(request) ((request)&1023u)
/** The tile's y. */
#define MAAR_TILE_REQUEST_Y(request) (((request) >> 10) & 1023u)

/* ---------------------------------------------------------------------------------------------- */
/* The cache */
/* ---------------------------------------------------------------------------------------------- */

/** What a tile cache is to be. Zero is the default of every field but sType, image and budget. */
typedef struct MaarTileCacheCreateInfo {
    /** MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** The image, with TRANSFER_DST usage, of a colour format and without committed tiles. While
     * the cache lives, nobody else commits or evicts, and the image stays alive. */
    MaarSparseImage image;
    /** Bytes that the image's pages may take: tiles, mip tails and metadata. Never exceeded,
     * neither by pages that are being filled nor by those that are about to go. */
    VkDeviceSize budget;
    /** Most uploads that an update starts; 0: 64. */
    uint32_t maxUploadsPerUpdate;
    /** Bytes of staging memory; 0: as much as the uploads of three updates take. Each upload takes
     * a tile's worth from the update that starts it until it has been executed. */
    VkDeviceSize stagingSize;
    /** For how many updates after it was last wanted a tile stays, unless coarser ones need its
     * page. 0: until the next update at which something else is wanted. Programs that look at
     * another part of the screen in each frame set it to the number of parts. */
    uint32_t keepUpdates;
    /** The coarsest levels that are always there, those of a mip tail included: at least as many as
     * the mip tail has, or 1 without one. 0: no more than that. */
    uint32_t pinnedLevelCount;
} MaarTileCacheCreateInfo;

/** What an update is told. */
typedef struct MaarTileCacheUpdate {
    /** MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** How many requests. */
    uint32_t requestCount;
    /** What shaders asked for, as MAAR_PACK_TILE_REQUEST makes it; read once, in order. Taken for
     * hints: what names no tile is counted and passed over, and any tile may be named any number of
     * times; the more often, the sooner it comes. */
    const uint32_t* pRequests;
    /** A new budget, bytes; 0: as before. At least what is pinned takes. A smaller one is reached
     * in this update, or, where tiles are being filled, as soon as they are. */
    VkDeviceSize budget;
    /** Most uploads that this update starts; 0: as created. */
    uint32_t maxUploads;
} MaarTileCacheUpdate;

/**
 * A tile to be filled: a box of one level, at most a tile in size. Levels of a mip tail are cut
 * into such boxes too. Row and slice pitch are those of a whole tile, also where the level ends
 * within it, so that a tile of a file that stores whole tiles is copied in one piece.
 */
typedef struct MaarTileUpload {
    /** Names the upload as long as it has not ended. */
    uint64_t id;
    /** The level, */
    uint32_t mipLevel;
    /** the layer, */
    uint32_t arrayLayer;
    /** the first texel, */
    VkOffset3D offset;
    /** and the texels, none of which lie beyond the level. */
    VkExtent3D extent;
    /** Where the texels go, rows of texel blocks from the first on. Staging memory, mapped, not
     * read by the device until the upload is recorded; any thread may write it. Contents are
     * undefined. */
    void* pData;
    /** Bytes there: a whole tile. */
    VkDeviceSize size;
    /** Bytes from a row of texel blocks to the next. */
    VkDeviceSize rowPitch;
    /** Bytes from a slice to the next. */
    VkDeviceSize slicePitch;
} MaarTileUpload;

/** Most levels of an image. */
#define MAAR_TILE_CACHE_MAX_LEVELS 16u

/** What is known of a tile cache. Counts are since its creation unless they say otherwise. */
typedef struct MaarTileCacheInfo {
    /** MAAR_STRUCTURE_TYPE_TILE_CACHE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Its image. */
    MaarSparseImage image;
    /** Bytes that the image's pages may take, */
    VkDeviceSize budget;
    /** and do take, as recorded: never more, unless the budget was made smaller and tiles are being
     * filled. */
    VkDeviceSize committedSize;
    /** The most that they have taken. */
    VkDeviceSize peakCommittedSize;
    /** Of committedSize, bytes that are always there: pinned levels, mip tails, metadata. */
    VkDeviceSize pinnedSize;
    /** First level that is always there. */
    uint32_t firstPinnedLevel;
    /** Staging memory: uploads that fit, */
    uint32_t slotCount;
    /** those in use, */
    uint32_t usedSlotCount;
    /** and bytes of each. */
    VkDeviceSize slotSize;
    /** Updates. */
    uint64_t updateCount;
    /** Requests seen, those of MAAR_TILE_REQUEST_NONE not counted. */
    uint64_t requestCount;
    /** Of these, named no tile. */
    uint64_t rejectedCount;
    /** Tiles wanted and visible: each counts once an update. */
    uint64_t hitCount;
    /** Tiles wanted and not visible: likewise. Tiles that cover wanted ones in coarser levels are
     * wanted too, but count neither as hits nor as misses. */
    uint64_t missCount;
    /** Uploads started, */
    uint64_t uploadCount;
    /** executed, */
    uint64_t completedCount;
    /** and cancelled. */
    uint64_t cancelledCount;
    /** Tiles evicted. */
    uint64_t evictionCount;
    /** Tiles committed and evicted: each is a page of a bind. */
    uint64_t bindCount;
    /** Wanted tiles for which an update had no staging memory or no more uploads left, */
    uint64_t delayedCount;
    /** and those for which the budget had no room. */
    uint64_t crowdedCount;
    /** Updates in which the device, or the heap's budget, had no memory for a page that the cache's
     * budget allowed. It is asked again later; until then others make room. */
    uint64_t shortageCount;
    /** The same for the last update alone: tiles wanted and visible, */
    uint32_t lastHitCount;
    /** wanted and not visible, */
    uint32_t lastMissCount;
    /** uploads started, */
    uint32_t lastUploadCount;
    /** and tiles evicted. */
    uint32_t lastEvictionCount;
    /** Grows by one with each change of what maarGetTileCacheLevels says. */
    uint64_t levelsGeneration;
    /** Tiles of each level that are visible; levels of a mip tail count the boxes that they are
     * filled by. */
    uint32_t visibleTileCounts[MAAR_TILE_CACHE_MAX_LEVELS];
    /** Tiles of each level, likewise. */
    uint32_t tileCounts[MAAR_TILE_CACHE_MAX_LEVELS];
} MaarTileCacheInfo;

/**
 * Creates a tile cache: commits what is always there, which is recorded for maarSubmitBinds, and
 * allocates staging memory. Calls the driver.
 *
 * @param allocator    not null
 * @param pCreateInfo  not NULL
 * @param pCache       receives the cache
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_POOL_MEMORY when the budget does not hold what is always
 * there and one tile more (the message gives the figures); VK_ERROR_FORMAT_NOT_SUPPORTED for a
 *         format whose texels Maar cannot count, or with more aspects than colour;
 *         VK_ERROR_FEATURE_NOT_PRESENT for an image too large for requests; as maarCommitTiles and
 *         maarCreateBuffer; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; the image externally
 * @lifetime destroy it with maarDestroyTileCache before the image
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateTileCache(MaarAllocator allocator,
                                                 const MaarTileCacheCreateInfo* pCreateInfo,
                                                 MaarTileCache* pCache);

/**
 * Destroys a tile cache. Never blocks: its staging memory goes once the uploads told of by
 * maarEndTileUploads have been executed. The image stays as it is, with its pages. Uploads that
 * were recorded and not ended must have been executed, or never be submitted.
 *
 * @param allocator  not null
 * @param cache      may be VK_NULL_HANDLE
 * @threadsafety internally synchronized; `cache` externally
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyTileCache(MaarAllocator allocator, MaarTileCache cache);

/**
 * Takes note of what is wanted and of the uploads that have been executed, and decides: tiles that
 * nothing wants go, least recently wanted first, and among equals the finer first; tiles that are
 * wanted come, the coarser first, each after all tiles of coarser levels that cover it. What is
 * evicted and committed is recorded for maarSubmitBinds, to be called before the next frame that
 * samples is submitted, with the point of the last one. A shortage of staging memory, of budget or
 * of device memory is no failure: fewer uploads are started. The first updates start those of the
 * levels that are always there.
 *
 * Asks the driver for timelines' values, and may ask it for page blocks, but neither beyond the
 * heap's budget nor with pfnOutOfMemory: other tiles make room then. Never waits.
 *
 * @param allocator     not null
 * @param cache         not null
 * @param pUpdate       not NULL
 * @param pUploadCount  in: room in pUploads; out: uploads started, 0 on failure
 * @param pUploads      receives the uploads; NULL only if there is no room
 * @return VK_SUCCESS; what vkGetSemaphoreCounterValue returns, such as VK_ERROR_DEVICE_LOST;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `cache` and its image externally
 * @lifetime an upload ends when it has been executed, or by maarCancelTileUploads
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarUpdateTileCache(MaarAllocator allocator, MaarTileCache cache,
                                                 const MaarTileCacheUpdate* pUpdate,
                                                 uint32_t* pUploadCount, MaarTileUpload* pUploads);

/**
 * Records copies of filled tiles, and the barriers that order them, into a command buffer outside a
 * render pass, of a queue that can transfer. The image is in VK_IMAGE_LAYOUT_GENERAL and stays so;
 * the first call takes it there from VK_IMAGE_LAYOUT_UNDEFINED, also without any upload, so it
 * comes before the first use of the image. Uploads may be of any earlier update, so that what takes
 * long to read may come later. Flushes staging memory where that is needed.
 *
 * The submission must wait for a point that maarSubmitBinds returned after the update that started
 * the uploads. All command buffers recorded here belong to one queue family; frames on another
 * queue must be submitted with a wait for the uploads' points, which have passed already.
 *
 * @param allocator      not null
 * @param cache          not null
 * @param commandBuffer  in the recording state, not NULL
 * @param uploadCount    how many
 * @param pUploads       uploads that are filled, each named once, not recorded yet; only `id` is
 *                       looked at
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_OUT_OF_DEVICE_MEMORY;
 *         VK_ERROR_VALIDATION_FAILED_EXT, when nothing was recorded
 * @threadsafety internally synchronized; `cache` and `commandBuffer` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarRecordTileUploads(MaarAllocator allocator, MaarTileCache cache,
                                                   VkCommandBuffer commandBuffer,
                                                   uint32_t uploadCount,
                                                   const MaarTileUpload* pUploads);

/**
 * Says when what maarRecordTileUploads has recorded since the last call will have been executed.
 *
 * @param allocator  not null
 * @param cache      not null
 * @param pPoint     the point; its semaphore must live until an update has found it passed, or, if
 *                   the cache is destroyed first, as MaarPoint says. NULL: the command buffer will
 *                   not be submitted, and its uploads are to be recorded again.
 * @return VK_SUCCESS; VK_ERROR_FEATURE_NOT_PRESENT for a semaphore without the timelineSemaphore
 *         feature; VK_ERROR_TOO_MANY_OBJECTS for uploads on more than MAAR_MAX_POINTS timelines at
 * a time; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `cache` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarEndTileUploads(MaarAllocator allocator, MaarTileCache cache,
                                                const MaarPoint* pPoint);

/**
 * Gives uploads up that cannot be filled. Their tiles keep their pages, but are not visible: they
 * are uploaded anew when they are wanted again, or go as others do; those of pinned levels are
 * started again by the next update.
 *
 * @param allocator    not null
 * @param cache        not null
 * @param uploadCount  how many
 * @param pUploads     uploads that were not recorded, each named once; only `id` is looked at
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT, when none was given up
 * @threadsafety internally synchronized; `cache` and its image externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCancelTileUploads(MaarAllocator allocator, MaarTileCache cache,
                                                   uint32_t uploadCount,
                                                   const MaarTileUpload* pUploads);

/**
 * Says for each tile of level 0 the finest level that a shader may sample there in frames submitted
 * after the last update: from it on all coarser ones are visible wherever they cover that tile. A
 * filter that reaches into neighbouring tiles takes the coarsest of theirs. Does not call the
 * driver.
 *
 * @param allocator   not null
 * @param cache       not null
 * @param arrayLayer  layer
 * @param pCount      in: room in pLevels; out: tiles written, or their number if pLevels is NULL
 * @param pLevels     receives a level for each tile of level 0, x fastest, then y, then z;
 *                    the image's number of levels where nothing is visible yet; or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `cache` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetTileCacheLevels(MaarAllocator allocator, MaarTileCache cache,
                                                    uint32_t arrayLayer, uint32_t* pCount,
                                                    uint8_t* pLevels);

/**
 * Reads a tile cache. Does not call the driver.
 *
 * @param allocator  not null
 * @param cache      not null
 * @param pInfo      sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `cache` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetTileCacheInfo(MaarAllocator allocator, MaarTileCache cache,
                                                  MaarTileCacheInfo* pInfo);

#ifdef __cplusplus
}
#endif

#endif
