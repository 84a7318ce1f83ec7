/*
 * Exported functions whose faults are injected by test_sharing_faults, since they need devices that
 * share memory; that program has a step for each of them.
 */
#ifndef MAAR_TESTS_FAULT_ELSEWHERE_H
#define MAAR_TESTS_FAULT_ELSEWHERE_H

static const char* const fault_elsewhere[] = {
    "maarAcquireFromCuda",
    "maarCmdAcquire",
    "maarCmdRelease",
    "maarCreateCuda",
    "maarCreateCudaTimeline",
    "maarCreateHostBuffer",
    "maarCreateSharedSemaphore",
    "maarCudaSignal",
    "maarCudaWait",
    "maarDescribeMemory",
    "maarDescribeTimeline",
    "maarDestroyCuda",
    "maarDestroyCudaTimeline",
    "maarDestroyExternalHandle",
    "maarDestroyHostBuffer",
    "maarDuplicateExternalHandle",
    "maarExportMemory",
    "maarExportSemaphore",
    "maarGetCudaInfo",
    "maarGetCudaMemory",
    "maarGetCudaTimelineInfo",
    "maarGetCudaTimelineSignal",
    "maarGetCudaTimelineWait",
    "maarGetHostBufferInfo",
    "maarGetSharingInfo",
    "maarGetSharingSupport",
    "maarImportBuffer",
    "maarImportDescribedBuffer",
    "maarImportImage",
    "maarImportMemory",
    "maarImportSemaphore",
    "maarPeekFd",
    "maarPeekWin32Handle",
    "maarPullHostBuffer",
    "maarPushHostBuffer",
    "maarReadDescriptor",
    "maarReceiveHandle",
    "maarReleaseToCuda",
    "maarSendHandle",
    "maarSubmitHandoff",
    "maarTakeFd",
    "maarTakeWin32Handle",
    "maarWrapFd",
    "maarWrapWin32Handle",
    "maarWriteDescriptor",
};

#endif
