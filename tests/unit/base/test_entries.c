/*
 * Every function of the library with zeros for arguments: without an allocator, on a poisoned one,
 * and on a sound one. Each is refused, or has nothing to do.
 */
#include "tests/rig/rig.h"

#include "core/memory/allocator_state.h"
#include "maar/cuda.h"
#include "maar/hip.h"

/* What a result is held to. */
static bool (*is_expected)(VkResult result);
static uint32_t call_count;

static void expect(const char* call, VkResult result)
{
    ++call_count;
    if (!is_expected(result)) {
        fail_msg("%s: %d", call, (int)result);
    }
}

#define EXPECT(call) expect(#call, call)

static void call_memory(MaarAllocator a)
{
    EXPECT(maarGetAllocatorInfo(a, NULL));
    EXPECT(maarBeginCapture(a, NULL));
    EXPECT(maarEndCapture(a));
    EXPECT(maarCaptureFrame(a, VK_NULL_HANDLE));
    EXPECT(maarCaptureMark(a, NULL));
    EXPECT(maarCaptureSubmit(a, NULL));
    EXPECT(maarChooseMemoryType(a, 0, NULL, NULL));
    EXPECT(maarCreatePool(a, NULL, NULL));
    EXPECT(maarTrim(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarTrimAged(a, VK_NULL_HANDLE, 0, 0, NULL));
    EXPECT(maarSetPoolPriority(a, VK_NULL_HANDLE, 0.5F));
    EXPECT(maarSetPoolName(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarAllocateMemory(a, NULL, NULL, NULL));
    EXPECT(maarAllocateMemories(a, 0, NULL, NULL, NULL));
    EXPECT(maarGetAllocationInfo(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarSetAllocationUserData(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarSetAllocationName(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarSetAllocationPriority(a, VK_NULL_HANDLE, 0.5F));
    EXPECT(maarMapMemory(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarFlushAllocation(a, VK_NULL_HANDLE, 0, 0));
    EXPECT(maarInvalidateAllocation(a, VK_NULL_HANDLE, 0, 0));
    EXPECT(maarFlushAllocations(a, 0, NULL, NULL, NULL));
    EXPECT(maarInvalidateAllocations(a, 0, NULL, NULL, NULL));
    EXPECT(maarCopyToAllocation(a, VK_NULL_HANDLE, 0, 0, NULL));
    EXPECT(maarCopyFromAllocation(a, VK_NULL_HANDLE, 0, 0, NULL));
    EXPECT(maarFreeMemoryAfter(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarAdvanceHostTimeline(a, 0));
    EXPECT(maarCollect(a, NULL));
    EXPECT(maarWaitPending(a, 0));
    EXPECT(maarGetStatistics(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarGetMemoryTypeStatistics(a, 0, NULL));
    EXPECT(maarGetDetailedStatistics(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarGetMemoryTypeDetailedStatistics(a, 0, NULL));
    EXPECT(maarGetHeapBudgets(a, NULL, NULL));
    EXPECT(maarEnumerateBlocks(a, VK_NULL_HANDLE, NULL, NULL));
    EXPECT(maarEnumerateBlockRanges(a, 0, NULL, NULL));
    EXPECT(maarWriteDump(a, NULL, NULL, NULL));
    EXPECT(maarCheckAllocator(a, NULL));
    EXPECT(maarCheckMargins(a, VK_NULL_HANDLE, 0));
    maarDestroyPool(a, VK_NULL_HANDLE);
    maarFreeMemory(a, VK_NULL_HANDLE);
    maarFreeMemories(a, 0, NULL);
    assert_null(maarGetMappedData(a, VK_NULL_HANDLE));
    assert_true(maarFindAllocation(a, 1) == VK_NULL_HANDLE);
    maarUnmapMemory(a, VK_NULL_HANDLE);
    maarResetPeaks(a);
}

static void call_objects(MaarAllocator a)
{
    EXPECT(maarCreateBuffer(a, NULL, NULL, NULL, NULL));
    EXPECT(maarDestroyBufferAfter(a, VK_NULL_HANDLE, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarCreateImage(a, NULL, NULL, NULL, NULL));
    EXPECT(maarDestroyImageAfter(a, VK_NULL_HANDLE, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarCreateDisjointImage(a, NULL, NULL, 0, NULL, NULL));
    EXPECT(maarCreateAliasingBuffer(a, VK_NULL_HANDLE, 0, NULL, NULL));
    EXPECT(maarCreateAliasingImage(a, VK_NULL_HANDLE, 0, NULL, NULL));
    EXPECT(maarAllocateMemoryForBuffer(a, VK_NULL_HANDLE, NULL, NULL));
    EXPECT(maarAllocateMemoryForImage(a, VK_NULL_HANDLE, (VkImageTiling)0, NULL, NULL));
    EXPECT(maarBindBuffer(a, VK_NULL_HANDLE, 0, VK_NULL_HANDLE, NULL));
    EXPECT(maarBindImage(a, VK_NULL_HANDLE, 0, VK_NULL_HANDLE, NULL));
    EXPECT(maarChooseMemoryTypeForBuffer(a, NULL, NULL, NULL));
    EXPECT(maarChooseMemoryTypeForImage(a, NULL, NULL, NULL));
    EXPECT(maarGetBufferAddress(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarCreateSlice(a, NULL, NULL));
    EXPECT(maarDestroySliceAfter(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarGetSliceInfo(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarCreateTransientHeap(a, NULL, NULL));
    EXPECT(maarDestroyTransientHeapAfter(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarUpdateTransientHeap(a, VK_NULL_HANDLE, NULL, 0, NULL));
    EXPECT(maarGetTransientHeapInfo(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarGetTransientResource(a, VK_NULL_HANDLE, 0, 0, NULL));
    EXPECT(maarGetTransientPassBarriers(a, VK_NULL_HANDLE, 0, 0, NULL));
    maarDestroyBuffer(a, VK_NULL_HANDLE, VK_NULL_HANDLE);
    maarDestroyImage(a, VK_NULL_HANDLE, VK_NULL_HANDLE);
    maarDestroySlice(a, VK_NULL_HANDLE);
    maarDestroyTransientHeap(a, VK_NULL_HANDLE);
}

static void call_pages(MaarAllocator a)
{
    EXPECT(maarGetPagingInfo(a, NULL));
    EXPECT(maarGetPagingStatistics(a, NULL));
    EXPECT(maarSubmitBinds(a, 0, NULL, NULL));
    EXPECT(maarDelayBinds(a, 0, NULL));
    EXPECT(maarEnumerateAllocationPages(a, VK_NULL_HANDLE, NULL, NULL));
    EXPECT(maarCreateReservation(a, NULL, NULL));
    EXPECT(maarDestroyReservationAfter(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarGetReservationInfo(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarCommitPages(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarCommitNewPages(a, VK_NULL_HANDLE, 0, NULL, NULL));
    EXPECT(maarRecordZeroPages(a, VK_NULL_HANDLE, 0, NULL, VK_NULL_HANDLE));
    EXPECT(maarGetHostPages(a, VK_NULL_HANDLE, NULL, NULL, NULL));
    EXPECT(maarFlushPages(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarInvalidatePages(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarDecommitPages(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarAliasPages(a, VK_NULL_HANDLE, 0, 0, VK_NULL_HANDLE, 0));
    EXPECT(maarEnumerateReservationPages(a, VK_NULL_HANDLE, NULL, NULL));
    EXPECT(maarCreateArray(a, NULL, NULL));
    EXPECT(maarDestroyArrayAfter(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarGetArrayInfo(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarReserveArray(a, VK_NULL_HANDLE, 0));
    EXPECT(maarAppendArray(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarTruncateArray(a, VK_NULL_HANDLE, 0, VK_FALSE));
    EXPECT(maarCreateSparseImage(a, NULL, NULL));
    EXPECT(maarDestroySparseImageAfter(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarGetSparseImageInfo(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarCommitTiles(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarEvictTiles(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarCommitMipTail(a, VK_NULL_HANDLE, 0, 0));
    EXPECT(maarEvictMipTail(a, VK_NULL_HANDLE, 0, 0));
    EXPECT(maarGetTileResidency(a, VK_NULL_HANDLE, 0, 0, NULL, NULL));
    EXPECT(maarGetMinResidentLevels(a, VK_NULL_HANDLE, 0, NULL, NULL));
    EXPECT(maarCreateTileCache(a, NULL, NULL));
    EXPECT(maarUpdateTileCache(a, VK_NULL_HANDLE, NULL, NULL, NULL));
    EXPECT(maarRecordTileUploads(a, VK_NULL_HANDLE, NULL, 0, NULL));
    EXPECT(maarEndTileUploads(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarCancelTileUploads(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarGetTileCacheLevels(a, VK_NULL_HANDLE, 0, NULL, NULL));
    EXPECT(maarGetTileCacheInfo(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarCreateBufferCache(a, NULL, NULL));
    EXPECT(maarGetBufferCacheInfo(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarSetBufferCacheBudget(a, VK_NULL_HANDLE, 0));
    EXPECT(maarAddBufferItems(a, VK_NULL_HANDLE, 0, NULL, NULL));
    EXPECT(maarRemoveBufferItems(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarGetBufferItemInfo(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarLockBufferItems(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarUnlockBufferItems(a, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarBeginBufferUse(a, VK_NULL_HANDLE, NULL, NULL, NULL));
    EXPECT(maarEndBufferUse(a, VK_NULL_HANDLE, 0, 0, NULL));
    EXPECT(maarPrefetchBufferItems(a, VK_NULL_HANDLE, NULL, NULL));
    EXPECT(maarTakeBufferUploads(a, VK_NULL_HANDLE, NULL, NULL));
    EXPECT(maarSubmitBufferUploads(a, VK_NULL_HANDLE, 0, NULL, NULL));
    EXPECT(maarCancelBufferUploads(a, VK_NULL_HANDLE, 0, NULL));
    maarCancelBufferUse(a, VK_NULL_HANDLE, 0);
    maarDestroyBufferCache(a, VK_NULL_HANDLE);
    maarDestroyReservation(a, VK_NULL_HANDLE);
    maarDestroyArray(a, VK_NULL_HANDLE);
    maarDestroySparseImage(a, VK_NULL_HANDLE);
    maarDestroyTileCache(a, VK_NULL_HANDLE);
}

static void call_sharing(MaarAllocator a)
{
    EXPECT(maarWrapFd(a, 0, NULL));
    EXPECT(maarWrapWin32Handle(a, NULL, NULL));
    EXPECT(maarTakeFd(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarTakeWin32Handle(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarDuplicateExternalHandle(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarGetSharingInfo(a, NULL));
    EXPECT(
        maarGetExternalHandleInfo(a, VK_NULL_HANDLE, (VkExternalMemoryHandleTypeFlagBits)0, NULL));
    EXPECT(maarGetSharingSupport(a, NULL, NULL));
    EXPECT(maarExportMemory(a, VK_NULL_HANDLE, (VkExternalMemoryHandleTypeFlagBits)0, NULL));
    EXPECT(maarImportMemory(a, NULL, NULL));
    EXPECT(maarImportBuffer(a, NULL, NULL, NULL, NULL));
    EXPECT(maarImportImage(a, NULL, NULL, NULL, NULL));
    EXPECT(maarImportHostImage(a, NULL, NULL, NULL, NULL));
    EXPECT(maarCreateHostBuffer(a, NULL, NULL));
    EXPECT(maarGetHostBufferInfo(a, VK_NULL_HANDLE, NULL));
    EXPECT(maarPushHostBuffer(a, VK_NULL_HANDLE, 0, 0));
    EXPECT(maarPullHostBuffer(a, VK_NULL_HANDLE, 0, 0));
    EXPECT(maarCreateSharedSemaphore(a, NULL, NULL));
    EXPECT(maarExportSemaphore(a, VK_NULL_HANDLE, (VkExternalSemaphoreHandleTypeFlagBits)0, NULL));
    EXPECT(maarImportSemaphore(a, VK_NULL_HANDLE, (VkExternalSemaphoreHandleTypeFlagBits)0,
                               (VkSemaphoreType)0, NULL));
    EXPECT(maarCmdRelease(a, NULL, 0, (MaarHandoffPeer)0, 0, NULL));
    EXPECT(maarCmdAcquire(a, NULL, 0, (MaarHandoffPeer)0, 0, NULL));
    EXPECT(maarSubmitHandoff(a, NULL));
    EXPECT(maarWriteDescriptor(a, NULL, NULL));
    EXPECT(maarReadDescriptor(a, 0, NULL, NULL));
    EXPECT(maarDescribeMemory(a, VK_NULL_HANDLE, (VkExternalMemoryHandleTypeFlagBits)0, NULL, NULL,
                              NULL));
    EXPECT(maarDescribeTimeline(a, VK_NULL_HANDLE, (VkExternalSemaphoreHandleTypeFlagBits)0, NULL,
                                NULL));
    EXPECT(maarSendHandle(a, 0, NULL, VK_NULL_HANDLE));
    EXPECT(maarReceiveHandle(a, 0, 0, NULL, NULL));
    EXPECT(maarImportDescribedBuffer(a, NULL, VK_NULL_HANDLE, NULL, NULL));
    EXPECT(maarCreateCuda(a, NULL, NULL));
    EXPECT(maarCreateHip(a, NULL, NULL));
    maarDestroyExternalHandle(a, VK_NULL_HANDLE);
    maarDestroyHostBuffer(a, VK_NULL_HANDLE);
}

static void call_without_allocator(void)
{
    EXPECT(maarRecommendDevice(NULL, NULL, NULL, NULL, NULL));
    EXPECT(maarCreateAllocator(NULL, NULL));
    EXPECT(maarCreatePlan(NULL, NULL));
    EXPECT(maarGetPlanInfo(VK_NULL_HANDLE, NULL));
    EXPECT(maarGetPlanClasses(VK_NULL_HANDLE, NULL, NULL));
    EXPECT(maarGetPlanPlacements(VK_NULL_HANDLE, NULL, NULL));
    EXPECT(maarGetPlanEdges(VK_NULL_HANDLE, NULL, NULL));
    EXPECT(maarGetPlanWrapEdges(VK_NULL_HANDLE, NULL, NULL));
    EXPECT(maarCreatePlanCache(NULL, NULL));
    EXPECT(maarCreateRangeAllocator(NULL, NULL));
    EXPECT(maarAllocateRange(VK_NULL_HANDLE, NULL, NULL, NULL));
    EXPECT(maarFreeRange(VK_NULL_HANDLE, VK_NULL_HANDLE));
    EXPECT(maarResetRangeAllocator(VK_NULL_HANDLE));
    EXPECT(maarResizeRangeAllocator(VK_NULL_HANDLE, 0));
    EXPECT(maarGetRangeInfo(VK_NULL_HANDLE, VK_NULL_HANDLE, NULL));
    EXPECT(maarSetRangeUserData(VK_NULL_HANDLE, VK_NULL_HANDLE, 0));
    EXPECT(maarGetRangeStatistics(VK_NULL_HANDLE, NULL));
    EXPECT(maarWalkRanges(VK_NULL_HANDLE, NULL, NULL));
    EXPECT(maarGetCudaInfo(VK_NULL_HANDLE, NULL));
    EXPECT(maarGetCudaMemory(VK_NULL_HANDLE, VK_NULL_HANDLE, NULL));
    EXPECT(maarCreateCudaImage(VK_NULL_HANDLE, VK_NULL_HANDLE, NULL, NULL));
    EXPECT(maarGetCudaImageInfo(VK_NULL_HANDLE, VK_NULL_HANDLE, NULL));
    EXPECT(maarCreateCudaTimeline(VK_NULL_HANDLE, NULL, NULL));
    EXPECT(maarGetCudaTimelineInfo(VK_NULL_HANDLE, VK_NULL_HANDLE, NULL));
    EXPECT(maarGetCudaTimelineSignal(VK_NULL_HANDLE, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarGetCudaTimelineWait(VK_NULL_HANDLE, VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarCudaWait(VK_NULL_HANDLE, VK_NULL_HANDLE, 0, VK_NULL_HANDLE));
    EXPECT(maarCudaSignal(VK_NULL_HANDLE, VK_NULL_HANDLE, 0, VK_NULL_HANDLE));
    EXPECT(maarReleaseToCuda(VK_NULL_HANDLE, VK_NULL_HANDLE, NULL));
    EXPECT(maarAcquireFromCuda(VK_NULL_HANDLE, VK_NULL_HANDLE, NULL));
    EXPECT(maarAllocateCudaMemory(VK_NULL_HANDLE, NULL, 0, NULL, NULL));
    EXPECT(maarCreateCudaRange(VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarAppendToCudaRange(VK_NULL_HANDLE, VK_NULL_HANDLE, VK_NULL_HANDLE));
    EXPECT(maarGetCudaRangeInfo(VK_NULL_HANDLE, VK_NULL_HANDLE, NULL));
    EXPECT(maarCreateCudaMirror(VK_NULL_HANDLE, NULL, NULL));
    EXPECT(maarGrowCudaMirror(VK_NULL_HANDLE, VK_NULL_HANDLE, 0));
    EXPECT(maarGetCudaMirrorInfo(VK_NULL_HANDLE, VK_NULL_HANDLE, NULL));
    EXPECT(maarGetHipInfo(VK_NULL_HANDLE, NULL));
    EXPECT(maarGetHipMemory(VK_NULL_HANDLE, VK_NULL_HANDLE, NULL));
    EXPECT(maarCreateHipTimeline(VK_NULL_HANDLE, 0, NULL));
    EXPECT(maarGetHipTimelineSemaphore(VK_NULL_HANDLE, VK_NULL_HANDLE, NULL));
    EXPECT(maarHipWait(VK_NULL_HANDLE, VK_NULL_HANDLE, 0, VK_NULL_HANDLE));
    EXPECT(maarHipSignal(VK_NULL_HANDLE, VK_NULL_HANDLE, 0, VK_NULL_HANDLE));
    EXPECT(maarReleaseToHip(VK_NULL_HANDLE, VK_NULL_HANDLE, NULL));
    EXPECT(maarAcquireFromHip(VK_NULL_HANDLE, VK_NULL_HANDLE, NULL));
    maarDestroyPlan(VK_NULL_HANDLE);
    maarDestroyPlanCache(VK_NULL_HANDLE);
    maarDestroyRangeAllocator(VK_NULL_HANDLE);
    maarDestroyCuda(VK_NULL_HANDLE);
    maarDestroyCudaImage(VK_NULL_HANDLE, VK_NULL_HANDLE);
    maarDestroyCudaTimeline(VK_NULL_HANDLE, VK_NULL_HANDLE);
    maarDestroyCudaRange(VK_NULL_HANDLE, VK_NULL_HANDLE);
    maarDestroyCudaMirror(VK_NULL_HANDLE, VK_NULL_HANDLE);
    maarDestroyHip(VK_NULL_HANDLE);
    maarDestroyHipTimeline(VK_NULL_HANDLE, VK_NULL_HANDLE);
    assert_int_equal(maarPeekFd(VK_NULL_HANDLE), -1);
    assert_null(maarPeekWin32Handle(VK_NULL_HANDLE));
}

static void call_everything(MaarAllocator a)
{
    call_memory(a);
    call_objects(a);
    call_pages(a);
    call_sharing(a);
}

static bool is_refused(VkResult result)
{
    return result == VK_ERROR_VALIDATION_FAILED_EXT;
}

static bool is_unknown(VkResult result)
{
    return result == VK_ERROR_UNKNOWN;
}

static bool is_refused_or_nothing(VkResult result)
{
    return result == VK_SUCCESS || result == VK_ERROR_VALIDATION_FAILED_EXT ||
           result == VK_ERROR_FEATURE_NOT_PRESENT;
}

static void no_allocator_is_refused(void** state)
{
    (void)state;
    is_expected = is_refused;
    call_count = 0;
    call_everything(VK_NULL_HANDLE);
    maarDestroyAllocator(VK_NULL_HANDLE);
    assert_true(call_count > 110);
}

static void no_object_is_refused(void** state)
{
    (void)state;
    is_expected = is_refused;
    call_count = 0;
    call_without_allocator();
    assert_true(call_count > 40);
}

static void poisoned_allocator_does_nothing(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    is_expected = is_unknown;
    call_count = 0;
    maar_atomic32_store(&rig->allocator->reporter.poisoned, 1);
    const uint64_t calls = rig_counters(rig).callCount;
    call_everything(rig->allocator);
    assert_true(call_count > 110);
    assert_int_equal(rig_counters(rig).callCount, calls);
    maar_atomic32_store(&rig->allocator->reporter.poisoned, 0);
    rig_check(rig);
}

static void zeros_are_refused_or_nothing_to_do(void** state)
{
    (void)state;
    const struct rig_setup setup = {.paging = true, .sharing = rig_sharing_everything()};
    struct rig* const rig = rig_begin(&setup);
    is_expected = is_refused_or_nothing;
    call_everything(rig->allocator);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_FATAL], 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 0);
    rig_check(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_allocator_is_refused),
        cmocka_unit_test(no_object_is_refused),
        rig_unit_test(poisoned_allocator_does_nothing),
        rig_unit_test(zeros_are_refused_or_nothing_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
