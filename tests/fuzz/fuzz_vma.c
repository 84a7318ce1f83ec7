/*
 * VulkanMemoryAllocator's interface on Maar: random calls, valid and invalid. Nothing is left in
 * the end, and where that library was found, its answers to the valid calls are the same.
 */
#include "tests/fuzz/fuzz_vma_play.h"

#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static struct fuzz_vma_answers answers;
    fuzz_vma_play_maar(data, size, &answers);
#ifdef FUZZ_VMA_PEER
    static struct fuzz_vma_answers expected;
    fuzz_vma_play_peer(data, size, &expected);
    for (uint32_t i = 0; i < answers.count && i < expected.count; ++i) {
        if (answers.all[i].value != expected.all[i].value) {
            (void)fprintf(stderr, "answer %u, of call %u: %llu instead of %llu\n", i,
                          answers.all[i].call, (unsigned long long)answers.all[i].value,
                          (unsigned long long)expected.all[i].value);
        }
        fuzz_require(answers.all[i].value == expected.all[i].value);
    }
    fuzz_require(answers.count == expected.count);
#endif
    return 0;
}
