/*
 * The stand-ins for the CUDA driver and the HIP runtime: see growth_peer.h.
 */
#include "growth_peer.h"

#include <stdio.h>
#include <stdlib.h>

const char* growth_cuda_library;
const char* growth_hip_library;

/* Gives the stand-ins the UUID of the simulated device. */
static void name_device(struct growth* growth)
{
    MaarSharingInfo info = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    char text[2 * VK_UUID_SIZE + 1];
    GROWTH_EXPECT(maarGetSharingInfo(growth->allocator, &info));
    for (size_t i = 0; i < VK_UUID_SIZE; ++i) {
        (void)snprintf(text + 2 * i, 3, "%02x", info.deviceUUID[i]);
    }
    if (setenv("MAAR_FAKE_UUID", text, 1) != 0) {
        bench_die(BENCH_EXIT_FAILED, "the environment is full");
    }
}

static void require(const char* library, const char* option)
{
    if (library == NULL) {
        bench_die(BENCH_EXIT_USAGE, "the case needs %s, a library of tests/fakes", option);
    }
}

MaarCuda growth_create_cuda(struct growth* growth)
{
    require(growth_cuda_library, "--cuda");
    name_device(growth);
    const MaarCudaCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO,
        .pLibraryPath = growth_cuda_library,
    };
    MaarCuda cuda = NULL;
    GROWTH_EXPECT(maarCreateCuda(growth->allocator, &info, &cuda));
    return cuda;
}

MaarHip growth_create_hip(struct growth* growth)
{
    require(growth_hip_library, "--hip");
    name_device(growth);
    const MaarHipCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_HIP_CREATE_INFO,
        .pLibraryPath = growth_hip_library,
        .deviceOrdinalPlusOne = 1,
    };
    MaarHip hip = NULL;
    GROWTH_EXPECT(maarCreateHip(growth->allocator, &info, &hip));
    return hip;
}
