/*
 * See fuzz_host.h. Only for one thread.
 */
#include "tests/fuzz/fuzz_host.h"
#include "tests/fuzz/fuzz_input.h"

/* In front of each piece; keeps what follows aligned to 16. */
struct fuzz_piece {
    uint64_t size;
    uint64_t magic;
};

static const uint64_t piece_magic = 0x66757a7a686f7374;

static bool host_says_no(struct fuzz_host* host)
{
    if (host->refuse == 0) {
        return false;
    }
    if (host->before != 0) {
        host->before -= 1;
        return false;
    }
    host->refuse -= 1;
    host->struck += 1;
    return true;
}

static void* VKAPI_PTR host_allocate(void* user, size_t size, size_t alignment,
                                     VkSystemAllocationScope scope)
{
    struct fuzz_host* host = user;
    (void)scope;
    fuzz_require(size != 0 && alignment != 0 && (alignment & (alignment - 1)) == 0);
    if (alignment > 16 || host_says_no(host)) {
        return NULL;
    }
    struct fuzz_piece* piece = malloc(sizeof(*piece) + size);
    fuzz_require(piece != NULL);
    *piece = (struct fuzz_piece){.size = size, .magic = piece_magic};
    memset(piece + 1, 0xA5, size);
    host->live += 1;
    return piece + 1;
}

static void VKAPI_PTR host_free(void* user, void* memory)
{
    struct fuzz_host* host = user;
    if (memory == NULL) {
        return;
    }
    struct fuzz_piece* piece = (struct fuzz_piece*)memory - 1;
    fuzz_require(piece->magic == piece_magic && host->live != 0);
    host->live -= 1;
    piece->magic = 0;
    free(piece);
}

static void* VKAPI_PTR host_reallocate(void* user, void* original, size_t size, size_t alignment,
                                       VkSystemAllocationScope scope)
{
    if (size == 0) {
        host_free(user, original);
        return NULL;
    }
    void* memory = host_allocate(user, size, alignment, scope);
    if (memory != NULL && original != NULL) {
        const struct fuzz_piece* piece = (const struct fuzz_piece*)original - 1;
        memcpy(memory, original, piece->size < size ? (size_t)piece->size : size);
        host_free(user, original);
    }
    return memory;
}

void fuzz_host_init(struct fuzz_host* host)
{
    *host = (struct fuzz_host){
        .callbacks =
            {
                .pUserData = host,
                .pfnAllocation = host_allocate,
                .pfnReallocation = host_reallocate,
                .pfnFree = host_free,
            },
    };
}

void fuzz_host_plan(struct fuzz_host* host, uint64_t before, uint64_t refuse)
{
    host->before = before;
    host->refuse = refuse;
}
