/*
 * Growable arrays.
 */
#include "growth_cases.h"
#include "growth_reservation.h"
#include "growth_steps.h"

#include <stdlib.h>

/* Elements of 256 bytes. */
enum { ELEMENT = 256, PAGE_ELEMENTS = 65536 / ELEMENT };

static MaarArray create_array(struct growth* growth, uint32_t page_count)
{
    const VkBufferCreateInfo buffer = growth_buffer(GROWTH_PAGE * page_count);
    const MaarArrayCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = ELEMENT,
        .reservation =
            {
                .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                .pBufferInfo = &buffer,
            },
        .growSize = GROWTH_PAGE,
    };
    MaarArray array = VK_NULL_HANDLE;
    GROWTH_EXPECT(maarCreateArray(growth->allocator, &info, &array));
    return array;
}

static void submit(struct growth* growth)
{
    GROWTH_EXPECT(maarSubmitBinds(growth->allocator, 0, NULL, NULL));
}

/* ---- beside other arrays ---- */

static void open_arrays(struct growth* growth)
{
    MaarArray* arrays = growth_create_state(growth, growth->n + growth->count, sizeof(MaarArray));
    for (uint32_t i = 0; i < growth->n; ++i) {
        arrays[i] = create_array(growth, 16);
        GROWTH_EXPECT(maarAppendArray(growth->allocator, arrays[i], PAGE_ELEMENTS, NULL));
    }
    submit(growth);
}

static void close_arrays(struct growth* growth)
{
    const MaarArray* arrays = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        maarDestroyArray(growth->allocator, arrays[i]);
    }
}

/* Gives all arrays so many elements. */
static void resize_all(struct growth* growth, uint64_t count)
{
    const MaarArray* arrays = growth->state;
    MaarArrayResize* resizes = growth->spare;
    for (uint32_t i = 0; i < growth->n; ++i) {
        resizes[i] = (MaarArrayResize){arrays[i], count, VK_TRUE};
    }
    GROWTH_EXPECT(maarResizeArrays(growth->allocator, growth->n, resizes, NULL));
}

static void open_resized(struct growth* growth)
{
    open_arrays(growth);
    growth->spare = bench_allocate(growth->n, sizeof(MaarArrayResize));
}

/* Within the memory that they have. */
static void do_resize_step(struct growth* growth, uint32_t index)
{
    resize_all(growth, PAGE_ELEMENTS - index % 2);
}

static void do_resize_pages(struct growth* growth, uint32_t index)
{
    (void)index;
    resize_all(growth, 3 * PAGE_ELEMENTS);
}

static void shrink_again(struct growth* growth)
{
    resize_all(growth, PAGE_ELEMENTS);
    submit(growth);
}

static void do_create(struct growth* growth, uint32_t index)
{
    MaarArray* arrays = growth->state;
    arrays[growth->n + index] = create_array(growth, 16);
}

static void do_destroy(struct growth* growth, uint32_t index)
{
    const MaarArray* arrays = growth->state;
    maarDestroyArray(growth->allocator, arrays[growth->n + index]);
}

static void create_more(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_create);
}

static void destroy_more(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_destroy);
}

static void destroy_after(struct growth* growth, uint32_t at)
{
    const MaarArray* arrays = growth->state;
    const MaarPoint point = {.value = 1 + bench_random(&growth->random) % 1000};
    GROWTH_EXPECT(maarDestroyArrayAfter(growth->allocator, arrays[at], 1, &point));
}

static void do_destroy_after(struct growth* growth, uint32_t index)
{
    destroy_after(growth, growth->n + index);
}

static void open_pending(struct growth* growth)
{
    open_arrays(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        destroy_after(growth, i);
    }
}

static void close_pending(struct growth* growth)
{
    GROWTH_EXPECT(maarAdvanceHostTimeline(growth->allocator, UINT64_MAX));
}

static void do_get_info(struct growth* growth, uint32_t index)
{
    const MaarArray* arrays = growth->state;
    MaarArrayInfo info = {.sType = MAAR_STRUCTURE_TYPE_ARRAY_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetArrayInfo(growth->allocator, arrays[growth_pick(growth)], &info));
}

/* ---- an array of n pages ---- */

static void open_long(struct growth* growth)
{
    MaarArray* array = growth_create_state(growth, 1, sizeof(MaarArray));
    *array = create_array(growth, growth->n + 2 * growth->count);
    GROWTH_EXPECT(
        maarAppendArray(growth->allocator, *array, (uint64_t)PAGE_ELEMENTS * growth->n, NULL));
    submit(growth);
}

static void close_long(struct growth* growth)
{
    const MaarArray* array = growth->state;
    maarDestroyArray(growth->allocator, *array);
}

static void do_append_page(struct growth* growth, uint32_t index)
{
    const MaarArray* array = growth->state;
    (void)index;
    GROWTH_EXPECT(maarAppendArray(growth->allocator, *array, PAGE_ELEMENTS, NULL));
}

static void do_reserve_page(struct growth* growth, uint32_t index)
{
    const MaarArray* array = growth->state;
    GROWTH_EXPECT(maarReserveArray(growth->allocator, *array,
                                   (uint64_t)PAGE_ELEMENTS * (growth->n + index + 1)));
}

static void do_truncate_page(struct growth* growth, uint32_t index)
{
    const MaarArray* array = growth->state;
    const uint64_t pages = growth->n + growth->count - index - 1;
    GROWTH_EXPECT(maarTruncateArray(growth->allocator, *array, PAGE_ELEMENTS * pages, VK_TRUE));
}

static void append_more(struct growth* growth)
{
    const MaarArray* array = growth->state;
    GROWTH_EXPECT(
        maarAppendArray(growth->allocator, *array, (uint64_t)PAGE_ELEMENTS * growth->count, NULL));
    submit(growth);
}

static void truncate_more(struct growth* growth)
{
    const MaarArray* array = growth->state;
    submit(growth);
    GROWTH_EXPECT(
        maarTruncateArray(growth->allocator, *array, (uint64_t)PAGE_ELEMENTS * growth->n, VK_TRUE));
    submit(growth);
}

#define ARRAYS(case_name, function, least, text, world, before, does, after)                       \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .n = least,                   \
        .open = open_##world, .prepare = before, .operation = does, .tidy = after,                 \
        .close = close_##world                                                                     \
    }

const struct growth_case growth_array_cases[] = {
    ARRAYS("create-array", "maarCreateArray", 500, "arrays", arrays, NULL, do_create, destroy_more),
    ARRAYS("destroy-array", "maarDestroyArray", 500, "arrays", arrays, create_more, do_destroy,
           NULL),
    ARRAYS("destroy-array-after", "maarDestroyArrayAfter", 500,
           "arrays whose destruction is pending", pending, create_more, do_destroy_after, NULL),
    ARRAYS("array-info", "maarGetArrayInfo", 500, "arrays", arrays, NULL, do_get_info, NULL),
    ARRAYS("append-array", "maarAppendArray", 16384, "pages of the array", long, NULL,
           do_append_page, truncate_more),
    ARRAYS("reserve-array", "maarReserveArray", 16384, "pages of the array", long, NULL,
           do_reserve_page, truncate_more),
    ARRAYS("truncate-array", "maarTruncateArray", 16384, "pages of the array", long, append_more,
           do_truncate_page, truncate_more),
    {.name = "resize-arrays",
     .functions = "maarResizeArrays",
     .dimension = "arrays",
     .kind = GROWTH_OVER,
     .n = 500,
     .open = open_resized,
     .operation = do_resize_step,
     .close = close_arrays},
    {.name = "resize-arrays-pages",
     .functions = "maarResizeArrays",
     .dimension = "arrays",
     .kind = GROWTH_OVER,
     .n = 500,
     .open = open_resized,
     .operation = do_resize_pages,
     .tidy = shrink_again,
     .close = close_arrays},
    {.name = NULL},
};
