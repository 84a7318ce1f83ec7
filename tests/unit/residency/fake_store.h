/*
 * A file store in memory that fails on demand: at a call, at a byte, with wrong bytes, or full.
 */
#ifndef MAAR_TESTS_UNIT_RESIDENCY_FAKE_STORE_H
#define MAAR_TESTS_UNIT_RESIDENCY_FAKE_STORE_H

#include "maar/stores.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fake_store {
    MaarFileStore table;
    uint8_t* bytes;
    _Atomic uint64_t calls;
    _Atomic uint64_t syncs;
    uint64_t fail_at; /* the call that fails, 1 being the first; 0: none */
    /* Bytes that are still written; then writes fail, or seem to succeed. UINT64_MAX: all. */
    uint64_t bytes_left;
    int lies;          /* writes that are cut off seem to succeed */
    uint64_t size_now; /* reads beyond fail, as of a file that was cut off */
};

/* Whether a call may be made as it is. */
static inline int fake_serves(struct fake_store* fake, VkDeviceSize offset, size_t size,
                              const void* data)
{
    const VkDeviceSize alignment = fake->table.alignment;
    const uint64_t call = atomic_fetch_add(&fake->calls, 1) + 1;
    assert_true(size != 0 && offset % alignment == 0 && size % alignment == 0);
    assert_int_equal((uintptr_t)data % alignment, 0);
    assert_true(size <= fake->table.size && offset <= fake->table.size - size);
    return call != fake->fail_at;
}

static inline VkResult VKAPI_CALL fake_read(void* user, VkDeviceSize offset, size_t size,
                                            void* data)
{
    struct fake_store* fake = user;
    if (!fake_serves(fake, offset, size, data) || offset + size > fake->size_now) {
        return VK_ERROR_UNKNOWN;
    }
    memcpy(data, fake->bytes + offset, size);
    return VK_SUCCESS;
}

static inline VkResult VKAPI_CALL fake_write(void* user, VkDeviceSize offset, size_t size,
                                             void* data)
{
    struct fake_store* fake = user;
    if (!fake_serves(fake, offset, size, data)) {
        return VK_ERROR_UNKNOWN;
    }
    const size_t written = size < fake->bytes_left ? size : (size_t)fake->bytes_left;
    memcpy(fake->bytes + offset, data, written);
    if (fake->bytes_left != UINT64_MAX) {
        fake->bytes_left -= written;
    }
    return written == size || fake->lies ? VK_SUCCESS : VK_ERROR_UNKNOWN;
}

static inline VkResult VKAPI_CALL fake_sync(void* user)
{
    struct fake_store* fake = user;
    (void)atomic_fetch_add(&fake->syncs, 1);
    return atomic_fetch_add(&fake->calls, 1) + 1 == fake->fail_at ? VK_ERROR_UNKNOWN : VK_SUCCESS;
}

static inline void fake_open(struct fake_store* fake, VkDeviceSize size, VkDeviceSize alignment)
{
    *fake = (struct fake_store){.bytes_left = UINT64_MAX, .size_now = size};
    fake->bytes = malloc((size_t)size);
    assert_non_null(fake->bytes);
    memset(fake->bytes, 0xCD, (size_t)size); /* what was there before */
    fake->table = (MaarFileStore){
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE,
        .pUserData = fake,
        .size = size,
        .alignment = alignment,
        .pfnRead = fake_read,
        .pfnWrite = fake_write,
        .pfnSync = fake_sync,
    };
}

static inline void fake_close(struct fake_store* fake)
{
    free(fake->bytes);
    fake->bytes = NULL;
}

#endif
