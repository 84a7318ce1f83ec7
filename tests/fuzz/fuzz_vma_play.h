/*
 * The calls of fuzz_vma.c: the bytes of an input as calls of VulkanMemoryAllocator's interface, on
 * a simulated device. The file is compiled with maar::vma, and once more with the other library.
 */
#ifndef MAAR_TESTS_FUZZ_FUZZ_VMA_PLAY_H
#define MAAR_TESTS_FUZZ_FUZZ_VMA_PLAY_H

#include <stddef.h>
#include <stdint.h>

enum { FUZZ_VMA_ANSWERS = 4096 };

/* What calls have answered, as far as both libraries must say the same. */
struct fuzz_vma_answers {
    uint32_t count;
    struct {
        uint32_t call; /* which */
        uint64_t value;
    } all[FUZZ_VMA_ANSWERS];
};

/* On maar::vma; also makes the calls that the interface forbids. */
void fuzz_vma_play_maar(const uint8_t* data, size_t size, struct fuzz_vma_answers* answers);
/* On the other library, which would assert or break. */
void fuzz_vma_play_peer(const uint8_t* data, size_t size, struct fuzz_vma_answers* answers);

#endif
