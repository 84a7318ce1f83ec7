/** @file
 * maar/tile_cache.h: streamed textures. A tile cache keeps those tiles of a partially resident
 * image that shaders request, as many as a budget of bytes allows.
 *
 * In each frame:
 * 1. Give the shaders' requests to maarUpdateTileCache. It evicts and commits tiles, and says which
 *    tiles to fill and where.
 * 2. Call maarSubmitBinds with the point of the last frame that sampled the image.
 * 3. Record the filled uploads into a command buffer (maarRecordTileUploads). Submit it with a wait
 *    for the point of maarSubmitBinds.
 * 4. Give the point of that submission to maarEndTileUploads.
 *
 * A tile is visible in maarGetTileCacheLevels from the first update after its upload has been
 * executed until the update that evicts it. No call here waits for the device.
 *
 * The general rules of maar/allocator.h and maar/paging.h hold here too.
 */
#ifndef MAAR_TILE_CACHE_H
#define MAAR_TILE_CACHE_H

#include "maar/paging.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A cache that decides which tiles of a partially resident image have memory. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarTileCache)

/* ---------------------------------------------------------------------------------------------- */
/* What shaders request */
/* ---------------------------------------------------------------------------------------------- */

/** An empty request: a cleared feedback buffer is full of them. */
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

/** How to create a tile cache. Zero is the default of every field but sType, image and budget. */
typedef struct MaarTileCacheCreateInfo {
    /** MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** The image: it has TRANSFER_DST usage, a colour format, and no committed tiles. While the
     * cache lives, only the cache commits and evicts tiles, and the image stays alive. */
    MaarSparseImage image;
    /** Bytes that the image's pages may take: tiles, mip tails and metadata. Never exceeded: pages
     * that are being filled count, and so do pages that are about to be given back. */
    VkDeviceSize budget;
    /** Most uploads that an update starts; 0: 64. */
    uint32_t maxUploadsPerUpdate;
    /** Bytes of staging memory; 0: enough for the uploads of three updates. Each upload takes the
     * bytes of one tile, from the update that starts it until it has been executed. */
    VkDeviceSize stagingSize;
    /** Number of updates that a tile stays after it was last wanted, unless coarser tiles need its
     * page. 0: until the next update that wants another tile. Programs that read requests of
     * another part of the screen in each frame set this to the number of parts. */
    uint32_t keepUpdates;
    /** Number of coarsest levels that are always committed. The levels of a mip tail count, and are
     * always among them; without a tail, one level always is. 0: no further levels. */
    uint32_t pinnedLevelCount;
} MaarTileCacheCreateInfo;

/** What an update takes. */
typedef struct MaarTileCacheUpdate {
    /** MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** How many requests. */
    uint32_t requestCount;
    /** The requests of shaders, as MAAR_PACK_TILE_REQUEST makes them; read once, in order. Requests
     * are hints. A request that names no tile is counted and skipped. A tile may be named any
     * number of times: the more often, the sooner it is uploaded. */
    const uint32_t* pRequests;
    /** A new budget, bytes, at least MaarTileCacheInfo::pinnedSize; 0: no change. This update
     * reaches a smaller budget, except for tiles that are being filled, which later updates evict.
     */
    VkDeviceSize budget;
    /** Most uploads that this update starts; 0: maxUploadsPerUpdate. */
    uint32_t maxUploads;
} MaarTileCacheUpdate;

/**
 * A tile to be filled: a box of one level, at most a tile in size. Levels of a mip tail are cut
 * into such boxes too. Row and slice pitch are always those of a whole tile, also where the level
 * ends within the tile. So a tile of a file that stores whole tiles is copied in one piece.
 */
typedef struct MaarTileUpload {
    /** Names the upload as long as it has not ended. */
    uint64_t id;
    /** The level. */
    uint32_t mipLevel;
    /** The layer. */
    uint32_t arrayLayer;
    /** The first texel. */
    VkOffset3D offset;
    /** The texels; none lies beyond the level. */
    VkExtent3D extent;
    /** Where the texels go, rows of texel blocks from the first on. This is mapped staging memory
     * with undefined contents. The device does not read it until the upload is recorded. Any thread
     * may write it. */
    void* pData;
    /** Bytes of pData: a whole tile. */
    VkDeviceSize size;
    /** Bytes from a row of texel blocks to the next. */
    VkDeviceSize rowPitch;
    /** Bytes from a slice to the next. */
    VkDeviceSize slicePitch;
} MaarTileUpload;

/** Most levels of an image. */
#define MAAR_TILE_CACHE_MAX_LEVELS 16u

/** The state of a tile cache. Counts begin with its creation unless they say otherwise. */
typedef struct MaarTileCacheInfo {
    /** MAAR_STRUCTURE_TYPE_TILE_CACHE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Its image. */
    MaarSparseImage image;
    /** Bytes that the image's pages may take. */
    VkDeviceSize budget;
    /** Bytes that the image's pages take, as recorded. Above the budget only while tiles are being
     * filled after the budget was made smaller. */
    VkDeviceSize committedSize;
    /** Most bytes that they have taken. */
    VkDeviceSize peakCommittedSize;
    /** Bytes of committedSize that are always committed: pinned levels, mip tails, metadata. */
    VkDeviceSize pinnedSize;
    /** First level that is always committed. */
    uint32_t firstPinnedLevel;
    /** Uploads that fit into the staging memory. */
    uint32_t slotCount;
    /** Uploads that are in it now. */
    uint32_t usedSlotCount;
    /** Bytes of each. */
    VkDeviceSize slotSize;
    /** Updates. */
    uint64_t updateCount;
    /** Requests other than MAAR_TILE_REQUEST_NONE. */
    uint64_t requestCount;
    /** Requests among these that named no tile. */
    uint64_t rejectedCount;
    /** Tiles wanted and visible; each counts once in an update. */
    uint64_t hitCount;
    /** Tiles wanted and not visible; each counts once in an update. Tiles of coarser levels that
     * cover wanted tiles are wanted too, and count neither as hits nor as misses. */
    uint64_t missCount;
    /** Uploads started. */
    uint64_t uploadCount;
    /** Uploads executed. */
    uint64_t completedCount;
    /** Uploads cancelled. */
    uint64_t cancelledCount;
    /** Tiles evicted. */
    uint64_t evictionCount;
    /** Tiles committed and tiles evicted, together: each is a page of a bind. */
    uint64_t bindCount;
    /** Wanted tiles for which an update had no staging memory or no uploads left. */
    uint64_t delayedCount;
    /** Wanted tiles for which the budget had no room. */
    uint64_t crowdedCount;
    /** Updates in which the device, or the heap's budget, had no memory for a page that the cache's
     * budget allowed. Later updates ask again; until then evicted tiles make room. */
    uint64_t shortageCount;
    /** hitCount of the last update alone. */
    uint32_t lastHitCount;
    /** missCount of the last update alone. */
    uint32_t lastMissCount;
    /** uploadCount of the last update alone. */
    uint32_t lastUploadCount;
    /** evictionCount of the last update alone. */
    uint32_t lastEvictionCount;
    /** Grows with each change of the answer of maarGetTileCacheLevels. */
    uint64_t levelsGeneration;
    /** Visible tiles of each level. A level of a mip tail counts the boxes that fill it. */
    uint32_t visibleTileCounts[MAAR_TILE_CACHE_MAX_LEVELS];
    /** Tiles of each level, counted in the same way. */
    uint32_t tileCounts[MAAR_TILE_CACHE_MAX_LEVELS];
} MaarTileCacheInfo;

/**
 * Creates a tile cache. Commits the pinned levels, whose binds are recorded for maarSubmitBinds,
 * and allocates staging memory. Calls the driver.
 *
 * @param allocator    not null
 * @param pCreateInfo  not NULL
 * @param pCache       receives the cache
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_POOL_MEMORY when the budget is less than the pinned pages and
 *         one tile (the message gives the figures); VK_ERROR_FORMAT_NOT_SUPPORTED for a format
 * whose texels Maar cannot count, or with other aspects than colour; VK_ERROR_FEATURE_NOT_PRESENT
 *         for an image too large for requests; as maarCommitTiles and maarCreateBuffer;
 *         VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; the image externally
 * @lifetime destroy it with maarDestroyTileCache before the image
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateTileCache(MaarAllocator allocator,
                                                 const MaarTileCacheCreateInfo* pCreateInfo,
                                                 MaarTileCache* pCache);

/**
 * Destroys a tile cache. Never blocks: its staging memory is freed once the uploads that
 * maarEndTileUploads has ended have been executed. No thread may write to MaarTileUpload::pData any
 * more. The image and its pages stay as they are.
 * Uploads that were recorded and not ended must have been executed, or must not be submitted later.
 *
 * @param allocator  not null
 * @param cache      may be VK_NULL_HANDLE
 * @threadsafety internally synchronized; `cache` externally
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyTileCache(MaarAllocator allocator, MaarTileCache cache);

/**
 * Reads requests, notes which uploads have been executed, and decides. Tiles that no request wants
 * are evicted, the least recently wanted first, and among equals the finer first. Wanted tiles get
 * pages and uploads, the coarser first, each after all tiles of coarser levels that cover it. The
 * first updates start the uploads of the pinned levels.
 *
 * The binds are recorded for maarSubmitBinds. Call it with the point of the last frame that sampled
 * the image, before the next such frame is submitted. A shortage of staging memory, of budget or of
 * device memory is no failure: the update starts fewer uploads.
 *
 * Reads the values of timelines from the driver, and may allocate page blocks, within the heap's
 * budget and without a call of pfnOutOfMemory: if memory is short, other tiles make room. Never
 * waits.
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
 * Records copies of filled tiles, and the barriers that order them. The command buffer is outside a
 * render pass, and its queue can transfer. The image is always in VK_IMAGE_LAYOUT_GENERAL. The
 * first call moves it there from VK_IMAGE_LAYOUT_UNDEFINED, also without any upload: make this call
 * before the first use of the image. Uploads may come from any earlier update, so that the program
 * may take its time to fill them. Flushes staging memory where needed.
 *
 * The submission must wait for a point that maarSubmitBinds returned after the update that started
 * the uploads. All command buffers recorded here belong to one queue family. Frames on another
 * queue must be submitted with a wait for the uploads' points, although these have passed already.
 *
 * @param allocator      not null
 * @param cache          not null
 * @param commandBuffer  in the recording state, not NULL
 * @param uploadCount    how many
 * @param pUploads       uploads that are filled, each named once, not recorded yet; only `id` is
 *                       read
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
 * Sets the point after which the uploads recorded since the last call have been executed.
 *
 * @param allocator  not null
 * @param cache      not null
 * @param pPoint     the point; its semaphore must live until an update has found that the point has
 *                   passed, or, if the cache is destroyed first, as MaarPoint says. NULL: the
 * command buffer will not be submitted, and its uploads will be recorded again.
 * @return VK_SUCCESS; VK_ERROR_TOO_MANY_OBJECTS for uploads on more than MAAR_MAX_POINTS timelines
 *         at a time; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `cache` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarEndTileUploads(MaarAllocator allocator, MaarTileCache cache,
                                                const MaarPoint* pPoint);

/**
 * Cancels uploads that cannot be filled. Their tiles keep their pages and are not visible. They are
 * uploaded when they are wanted again, or evicted like other tiles. The next update starts the
 * uploads of pinned tiles again.
 *
 * @param allocator    not null
 * @param cache        not null
 * @param uploadCount  how many
 * @param pUploads     uploads that were not recorded, each named once; only `id` is read
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT, when none was cancelled
 * @threadsafety internally synchronized; `cache` and its image externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCancelTileUploads(MaarAllocator allocator, MaarTileCache cache,
                                                   uint32_t uploadCount,
                                                   const MaarTileUpload* pUploads);

/**
 * Finds for each tile of level 0 the finest level that a shader may sample there in frames
 * submitted after the last update: this level and all coarser ones are visible wherever they cover
 * that tile. A filter that reads neighbouring tiles uses the coarsest of their levels. Does not
 * call the driver.
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
