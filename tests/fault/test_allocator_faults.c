/*
 * Promise 3, point by point: every host allocation and every call of the driver that a public
 * function makes fails, one after another, each in every way it may. After each failure outputs are
 * null, totals are as they were, the driver holds the same objects, the heavy check finds nothing,
 * a second failure costs no further host memory, and the call succeeds once nothing fails. Every
 * exported function has a step; one that is said to call nothing that can fail is proven to.
 */
#include "tests/fault/fault_elsewhere.h"
#include "tests/fault/fault_tables.h"

#include <stdio.h>

static const struct fault_table* const tables[] = {
    &fault_memory_steps,  &fault_object_steps, &fault_later_steps,     &fault_watch_steps,
    &fault_ordered_steps, &fault_range_steps,  &fault_transient_steps, &fault_plan_steps,
    &fault_paging_steps,  &fault_tile_steps,   &fault_move_steps,      &fault_page_move_steps,
    &fault_touch_steps,   &fault_buffer_steps, &fault_store_steps,     &fault_resident_steps,
};

static void every_point_of_every_function_may_fail(void** state)
{
    (void)state;
    fault_run_tables(tables, sizeof tables / sizeof tables[0]);
}

static void points_are_where_they_are_said_to_be(void** state)
{
    (void)state;
    fault_expect_points(500);
}

static bool is_elsewhere(const char* function)
{
    for (size_t i = 0; i < sizeof fault_elsewhere / sizeof fault_elsewhere[0]; ++i) {
        if (strcmp(fault_elsewhere[i], function) == 0) {
            return true;
        }
    }
    return false;
}

static void every_exported_function_has_a_step(void** state)
{
    (void)state;
    FILE* file = fopen(MAAR_SOURCE_DIR "/tests/abi/symbols.txt", "r");
    assert_non_null(file);
    char line[128];
    uint32_t exported = 0;
    uint32_t missing = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        if (strncmp(line, "maar", 4) != 0) {
            continue;
        }
        ++exported;
        if (!fault_is_tallied(line) && !is_elsewhere(line)) {
            ++missing;
            print_error("%s is in no table of steps\n", line);
        }
    }
    (void)fclose(file);
    assert_int_equal(missing, 0);
    assert_int_equal(exported,
                     fault_tallied() + sizeof fault_elsewhere / sizeof fault_elsewhere[0]);
}

/* Codes that the headers name for these functions, each seen while something failed. */
static const struct fault_answer answers[] = {
    {"maarRecommendDevice", VK_SUCCESS, "vkEnumerateDeviceExtensionProperties"},
    {"maarAliasPages", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarAllocateMemories", VK_ERROR_DEVICE_LOST, NULL},
    {"maarAllocateMemories", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarAllocateMemories", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarAllocateMemories", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarAllocateMemory", VK_ERROR_DEVICE_LOST, NULL},
    {"maarAllocateMemory", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarAllocateMemory", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarAllocateMemoryForBuffer", VK_ERROR_DEVICE_LOST, NULL},
    {"maarAllocateMemoryForBuffer", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarAllocateMemoryForBuffer", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarAllocateMemoryForBuffer", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarAllocateMemoryForImage", VK_ERROR_DEVICE_LOST, NULL},
    {"maarAllocateMemoryForImage", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarAllocateMemoryForImage", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarAllocateMemoryForImage", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarAllocateRange", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarAppendArray", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarAppendArray", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarAppendArray", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarBeginDefragmentation", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarBeginMoves", VK_ERROR_DEVICE_LOST, NULL},
    {"maarBeginMoves", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarBeginMoves", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarBeginMoves", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarBindBuffer", VK_SUCCESS, "vkBindBufferMemory2"},
    {"maarBindImage", VK_SUCCESS, "vkBindImageMemory2"},
    {"maarBindMovedBuffer", VK_SUCCESS, "vkBindBufferMemory2"},
    {"maarBindMovedImage", VK_SUCCESS, "vkBindImageMemory2"},
    {"maarCancelMoves", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarChooseMemoryTypeForBuffer", VK_SUCCESS, "vkCreateBuffer"},
    {"maarChooseMemoryTypeForImage", VK_SUCCESS, "vkCreateImage"},
    {"maarCollect", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCollect", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCommitMipTail", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCommitMoves", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarBeginPageMigration", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarBeginPageMigration", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarResizeArrays", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarResizeArrays", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarTouchPages", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarTouchPages", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCommitNewPages", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCommitNewPages", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCommitNewPages", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarCommitNewPages", VK_SUCCESS, "vkCreateBuffer"},
    {"maarCommitPages", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCommitPages", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarCommitPages", VK_SUCCESS, "vkCreateBuffer"},
    {"maarCommitPages", VK_SUCCESS, "vkMapMemory"},
    {"maarCommitTiles", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCopyFromAllocation", VK_ERROR_MEMORY_MAP_FAILED, NULL},
    {"maarCopyFromAllocation", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCopyFromAllocation", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCopyToAllocation", VK_ERROR_MEMORY_MAP_FAILED, NULL},
    {"maarCopyToAllocation", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCopyToAllocation", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateBufferCache", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateBufferCache", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCreateBufferCache", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarCreateBufferCache", VK_ERROR_MEMORY_MAP_FAILED, NULL},
    {"maarCreateBufferCache", VK_ERROR_DEVICE_LOST, NULL},
    {"maarSetBufferCacheBudget", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarSetBufferCacheBudget", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarSetBufferCacheBudget", VK_ERROR_DEVICE_LOST, NULL},
    {"maarAddBufferItems", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarBeginBufferUse", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarBeginBufferUse", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarBeginBufferUse", VK_ERROR_DEVICE_LOST, NULL},
    {"maarPrefetchBufferItems", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarPrefetchBufferItems", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarPrefetchBufferItems", VK_ERROR_DEVICE_LOST, NULL},
    {"maarSubmitBufferUploads", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarSubmitBufferUploads", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarSubmitBufferUploads", VK_ERROR_DEVICE_LOST, NULL},
    {"maarCreateAliasingBuffer", VK_SUCCESS, "vkBindBufferMemory2"},
    {"maarCreateAliasingBuffer", VK_SUCCESS, "vkCreateBuffer"},
    {"maarCreateAllocator", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateArray", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCreateArray", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateBuffer", VK_ERROR_DEVICE_LOST, NULL},
    {"maarCreateBuffer", VK_ERROR_MEMORY_MAP_FAILED, NULL},
    {"maarCreateBuffer", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCreateBuffer", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateBuffer", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarCreateBuffer", VK_SUCCESS, "vkBindBufferMemory2"},
    {"maarCreateBuffer", VK_SUCCESS, "vkCreateBuffer"},
    {"maarCreateMovedObjects", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateMovedObjects", VK_SUCCESS, "vkBindBufferMemory2"},
    {"maarCreateMovedObjects", VK_SUCCESS, "vkBindImageMemory2"},
    {"maarCreateMovedObjects", VK_SUCCESS, "vkCreateBuffer"},
    {"maarCreateMovedObjects", VK_SUCCESS, "vkCreateImage"},
    {"maarCreateDisjointImage", VK_ERROR_DEVICE_LOST, NULL},
    {"maarCreateDisjointImage", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCreateDisjointImage", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateDisjointImage", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarCreateImage", VK_ERROR_DEVICE_LOST, NULL},
    {"maarCreateImage", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCreateImage", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateImage", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarCreateImage", VK_SUCCESS, "vkBindImageMemory2"},
    {"maarCreateImage", VK_SUCCESS, "vkCreateImage"},
    {"maarCreatePlan", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreatePlanCache", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreatePool", VK_ERROR_DEVICE_LOST, NULL},
    {"maarCreatePool", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreatePool", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarCreateRangeAllocator", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateReservation", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateReservation", VK_SUCCESS, "vkCreateBuffer"},
    {"maarCreateSlice", VK_ERROR_DEVICE_LOST, NULL},
    {"maarCreateSlice", VK_ERROR_MEMORY_MAP_FAILED, NULL},
    {"maarCreateSlice", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCreateSlice", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateSlice", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarCreateSparseImage", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCreateSparseImage", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateSparseImage", VK_SUCCESS, "vkCreateImage"},
    {"maarCreateTileCache", VK_ERROR_DEVICE_LOST, NULL},
    {"maarCreateTileCache", VK_ERROR_MEMORY_MAP_FAILED, NULL},
    {"maarCreateTileCache", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCreateTileCache", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateTileCache", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarCreateTransientHeap", VK_ERROR_DEVICE_LOST, NULL},
    {"maarCreateTransientHeap", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarCreateTransientHeap", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarCreateTransientHeap", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarCreateTransientHeap", VK_SUCCESS, "vkCreateBuffer"},
    {"maarCreateTransientHeap", VK_SUCCESS, "vkCreateImage"},
    {"maarCreateTransientHeap", VK_SUCCESS, "vkCreateImageView"},
    {"maarDestroyBufferAfter", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarDestroyImageAfter", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarDestroySliceAfter", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarDestroySparseImageAfter", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarDestroyTransientHeapAfter", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarFlushAllocation", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarFlushAllocation", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarFlushMovedMemory", VK_SUCCESS, "vkFlushMappedMemoryRanges"},
    {"maarFlushAllocations", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarFlushAllocations", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarFreeMemoryAfter", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarGetMinResidentLevels", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarInvalidateAllocation", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarInvalidateAllocation", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarInvalidateMovedMemory", VK_SUCCESS, "vkInvalidateMappedMemoryRanges"},
    {"maarInvalidateAllocations", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarInvalidateAllocations", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarMapMemory", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarMapMemory", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarMapMovedMemory", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarMapMovedMemory", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarRecommendDevice", VK_ERROR_INITIALIZATION_FAILED, NULL},
    {"maarRecordMoves", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarRecordMoves", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarReserveArray", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarReserveArray", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarReserveArray", VK_ERROR_TOO_MANY_OBJECTS, NULL},
    {"maarResizeRangeAllocator", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarSetAllocationName", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarStepDefragmentation", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarSubmitBinds", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarSubmitMoves", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarSubmitMoves", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarSubmitMoves", VK_SUCCESS, "vkQueueSubmit"},
    {"maarUpdateTransientHeap", VK_ERROR_DEVICE_LOST, NULL},
    {"maarUpdateTransientHeap", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarUpdateTransientHeap", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarWaitPending", VK_ERROR_DEVICE_LOST, NULL},
    {"maarWaitPending", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarWaitPending", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarWaitPoints", VK_ERROR_DEVICE_LOST, NULL},
    {"maarWaitPoints", VK_ERROR_OUT_OF_DEVICE_MEMORY, NULL},
    {"maarWaitPoints", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
    {"maarWriteDump", VK_ERROR_OUT_OF_HOST_MEMORY, NULL},
};

static void listed_codes_are_answered(void** state)
{
    (void)state;
    fault_expect_listed(answers, sizeof answers / sizeof answers[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_point_of_every_function_may_fail, fault_report_where),
        cmocka_unit_test(listed_codes_are_answered),
        cmocka_unit_test(points_are_where_they_are_said_to_be),
        cmocka_unit_test(every_exported_function_has_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
