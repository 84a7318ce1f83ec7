/*
 * The compressors that Maar can be built with. MAAR_HAVE_ZSTD and MAAR_HAVE_LZ4 say which. Both
 * work in the memory that they are given, and allocate none.
 */
#if defined(MAAR_HAVE_ZSTD) && !defined(ZSTD_STATIC_LINKING_ONLY)
#define ZSTD_STATIC_LINKING_ONLY /* contexts in memory of the caller */
#endif

#include "maar/stores.h"

#include <stdbool.h>

#if defined(MAAR_HAVE_ZSTD)
#include <zstd.h>
#endif
#if defined(MAAR_HAVE_LZ4)
#include <lz4.h>
#endif

#if defined(MAAR_HAVE_ZSTD)
enum {
    ZSTD_LEVEL = 1,
    /* Hardly looks for repetitions. On the exponents of bf16 weights this is three times as fast as
     * level 1, and what is left is smaller, since no byte is spent on repetitions by chance. */
    ZSTD_FREQUENCY_LEVEL = -100
};

static size_t VKAPI_CALL compress_zstd(void* user, void* workspace, MaarCompressFlags flags,
                                       size_t size, const void* bytes, size_t capacity,
                                       void* compressed)
{
    (void)user;
    ZSTD_CCtx* context = ZSTD_initStaticCCtx(workspace, ZSTD_estimateCCtxSize(ZSTD_LEVEL));
    if (context == NULL) {
        return 0;
    }
    const bool by_frequency = (flags & (VkFlags)MAAR_COMPRESS_FREQUENCIES_BIT) != 0;
    const int level = by_frequency ? ZSTD_FREQUENCY_LEVEL : ZSTD_LEVEL;
    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_literalCompressionMode, 1 /* always */);
    const size_t result = ZSTD_compress2(context, compressed, capacity, bytes, size);
    return ZSTD_isError(result) ? 0 : result;
}

static VkBool32 VKAPI_CALL decompress_zstd(void* user, void* workspace, size_t compressed_size,
                                           const void* compressed, size_t size, void* bytes)
{
    (void)user;
    ZSTD_DCtx* context = ZSTD_initStaticDCtx(workspace, ZSTD_estimateDCtxSize());
    if (context == NULL) {
        return VK_FALSE;
    }
    const size_t result = ZSTD_decompressDCtx(context, bytes, size, compressed, compressed_size);
    return !ZSTD_isError(result) && result == size ? VK_TRUE : VK_FALSE;
}

static void fill_zstd(MaarCompressor* compressor)
{
    const size_t packing = ZSTD_estimateCCtxSize(ZSTD_LEVEL);
    const size_t unpacking = ZSTD_estimateDCtxSize();
    compressor->pName = "zstd";
    compressor->workspaceSize = packing > unpacking ? packing : unpacking;
    compressor->pfnCompress = compress_zstd;
    compressor->pfnDecompress = decompress_zstd;
}
#endif

#if defined(MAAR_HAVE_LZ4)
static size_t VKAPI_CALL compress_lz4(void* user, void* workspace, MaarCompressFlags flags,
                                      size_t size, const void* bytes, size_t capacity,
                                      void* compressed)
{
    (void)user;
    (void)flags;
    return (size_t)LZ4_compress_fast_extState(workspace, bytes, compressed, (int)size,
                                              (int)capacity, 1);
}

static VkBool32 VKAPI_CALL decompress_lz4(void* user, void* workspace, size_t compressed_size,
                                          const void* compressed, size_t size, void* bytes)
{
    (void)user;
    (void)workspace;
    return LZ4_decompress_safe(compressed, bytes, (int)compressed_size, (int)size) == (int)size
               ? VK_TRUE
               : VK_FALSE;
}

static void fill_lz4(MaarCompressor* compressor)
{
    compressor->pName = "lz4";
    compressor->workspaceSize = (size_t)LZ4_sizeofState();
    compressor->pfnCompress = compress_lz4;
    compressor->pfnDecompress = decompress_lz4;
}
#endif

VKAPI_ATTR VkResult VKAPI_CALL maarGetCompressor(MaarCompression compression,
                                                 MaarCompressor* pCompressor)
{
    if (pCompressor == NULL || pCompressor->sType != MAAR_STRUCTURE_TYPE_COMPRESSOR) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    *pCompressor = (MaarCompressor){.sType = pCompressor->sType, .pNext = pCompressor->pNext};
    if (compression != MAAR_COMPRESSION_DEFAULT && compression != MAAR_COMPRESSION_LZ4 &&
        compression != MAAR_COMPRESSION_ZSTD) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
#if defined(MAAR_HAVE_ZSTD)
    if (compression != MAAR_COMPRESSION_LZ4) {
        fill_zstd(pCompressor);
        return VK_SUCCESS;
    }
#endif
#if defined(MAAR_HAVE_LZ4)
    if (compression != MAAR_COMPRESSION_ZSTD) {
        fill_lz4(pCompressor);
        return VK_SUCCESS;
    }
#endif
    return VK_ERROR_FEATURE_NOT_PRESENT;
}
