/*
 * Findings that no driver of the tests can be made to have: budgets, lazily allocated memory; and
 * the edges of the others. docs/findings.md has the rest as programs.
 */
#include "support/findings.h"
#include "support/memory_file.h"
#include "tests/rig/capture_bench.h"

#include <stdlib.h>

enum { MEMORY = 0x10, BUFFER = 0x1000, IMAGE = 0x2000 };

struct advice {
    struct support_history history;
    struct support_findings findings;
};

static void advise(struct capture_bench* bench, struct advice* advice)
{
    struct support_error error = {.text = ""};
    capture_bench_close(bench);
    if (!support_history_load(bench->path, &advice->history, &error) ||
        !support_findings_find(&advice->history, &advice->findings, &error)) {
        fail_msg("%s", error.text);
    }
}

static void end_advice(struct advice* advice)
{
    support_findings_release(&advice->findings);
    support_history_release(&advice->history);
}

static const struct support_finding* find(const struct advice* advice,
                                          enum support_finding_kind kind)
{
    for (size_t i = 0; i < advice->findings.count; ++i) {
        if (advice->findings.items[i].kind == kind) {
            return &advice->findings.items[i];
        }
    }
    return NULL;
}

static void put_budget(struct capture_bench* bench, uint64_t budget, uint64_t usage)
{
    const MaarCaptureBudget facts = {
        .device = 1, .heapCount = 2, .budget = {budget, 0}, .usage = {usage, usage}};
    capture_put(bench, MAAR_CAPTURE_KIND_BUDGET, &facts, sizeof facts);
}

static void use_above_the_budget_is_found_by_its_most(void** state)
{
    struct advice advice;
    capture_put_device(*state);
    put_budget(*state, 100 * MIB, 90 * MIB);
    put_budget(*state, 100 * MIB, 130 * MIB);
    put_budget(*state, 100 * MIB, 110 * MIB);
    advise(*state, &advice);
    const struct support_finding* found = find(&advice, SUPPORT_FINDING_OVER_BUDGET);
    assert_non_null(found);
    assert_int_equal(found->verdict, SUPPORT_VERDICT_PROVED);
    assert_int_equal(found->heap, 0);
    assert_int_equal(found->most, 30 * MIB);
    assert_int_equal(advice.findings.count, 1); /* a budget of 0 is unknown */
    end_advice(&advice);
}

static void put_image(struct capture_bench* bench, uint64_t handle, uint32_t usage, uint32_t types)
{
    const MaarCaptureImage image = {.device = 1,
                                    .image = handle,
                                    .usage = usage,
                                    .format = 37,
                                    .width = 64,
                                    .height = 64,
                                    .depth = 1,
                                    .needsSize = 4 * MIB,
                                    .needsAlignment = 4096,
                                    .typeBits = types,
                                    .needsFlags = MAAR_CAPTURE_NEEDS_KNOWN_BIT};
    capture_put(bench, MAAR_CAPTURE_KIND_IMAGE, &image, sizeof image);
}

static void transient_images_outside_lazy_memory_are_found(void** state)
{
    struct advice advice;
    const MaarCaptureType lazy = {.device = 1,
                                  .type = 1,
                                  .heap = 0,
                                  .flags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                                           VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT};
    const uint32_t usage =
        VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    capture_put_device(*state);
    capture_put(*state, MAAR_CAPTURE_KIND_TYPE, &lazy, sizeof lazy);
    capture_put_memory(*state, MEMORY, 8 * MIB, 0);
    capture_put_memory(*state, MEMORY + 1, 4 * MIB, 1);
    for (uint32_t i = 0; i < 2; ++i) {
        put_image(*state, IMAGE + i, usage, 3);
        capture_put_bind(*state, MAAR_CAPTURE_OBJECT_IMAGE, IMAGE + i, MEMORY, i * 4 * MIB);
    }
    put_image(*state, IMAGE + 2, usage, 3); /* where it belongs */
    capture_put_bind(*state, MAAR_CAPTURE_OBJECT_IMAGE, IMAGE + 2, MEMORY + 1, 0);
    advise(*state, &advice);
    const struct support_finding* found = find(&advice, SUPPORT_FINDING_LAZY);
    assert_non_null(found);
    assert_int_equal(found->verdict, SUPPORT_VERDICT_BOUNDED);
    assert_int_equal(found->least, 0);
    assert_int_equal(found->most, 8 * MIB);
    assert_int_equal(found->object_count, 2);
    end_advice(&advice);
}

/* Resources in system memory while the card is full are a fallback, and no mistake. */
static void fallbacks_of_a_full_card_are_no_finding(void** state)
{
    struct advice advice;
    capture_put_device(*state);
    capture_put_memory(*state, MEMORY, 1022 * MIB, 1); /* type 1 lies in heap 0 of 1 GiB */
    put_image(*state, IMAGE, VK_IMAGE_USAGE_SAMPLED_BIT, 3);
    capture_put_memory(*state, MEMORY + 1, 4 * MIB, 0);
    capture_put_bind(*state, MAAR_CAPTURE_OBJECT_IMAGE, IMAGE, MEMORY + 1, 0);
    advise(*state, &advice);
    assert_null(find(&advice, SUPPORT_FINDING_WRONG_HEAP));
    end_advice(&advice);
}

/* Bytes are those of the fullest moment, and of a heap only what its own memories hold. */
static void bytes_never_bound_are_those_of_the_peak(void** state)
{
    struct advice advice;
    capture_put_device(*state);
    for (uint32_t i = 0; i < 3; ++i) { /* one after another: the peak is one memory */
        capture_put_memory(*state, MEMORY, 16 * MIB, 0);
        capture_put_buffer(*state, BUFFER, MIB);
        capture_put_bind(*state, MAAR_CAPTURE_OBJECT_BUFFER, BUFFER, MEMORY, i * MIB);
        capture_put_end(*state, MAAR_CAPTURE_KIND_BUFFER_END, BUFFER);
        capture_put_end(*state, MAAR_CAPTURE_KIND_MEMORY_END, MEMORY);
    }
    advise(*state, &advice);
    const struct support_finding* found = find(&advice, SUPPORT_FINDING_NEVER_BOUND);
    assert_non_null(found);
    assert_int_equal(found->most, 15 * MIB);
    assert_int_equal(found->least, found->most);
    end_advice(&advice);
}

/* Puts a memory with one buffer of `used` bytes, and ends both if `ends`. */
static void put_block(struct capture_bench* bench, uint64_t which, uint64_t size, uint64_t used,
                      uint32_t type, bool ends)
{
    capture_put_memory(bench, MEMORY + which, size, type);
    capture_put_buffer(bench, BUFFER + which, used);
    capture_put_bind(bench, MAAR_CAPTURE_OBJECT_BUFFER, BUFFER + which, MEMORY + which, 0);
    if (ends) {
        capture_put_end(bench, MAAR_CAPTURE_KIND_BUFFER_END, BUFFER + which);
        capture_put_end(bench, MAAR_CAPTURE_KIND_MEMORY_END, MEMORY + which);
    }
}

/* Two moments hold as much, by blocks of which only one lives at a time. */
static void all_blocks_that_make_the_peak_are_named(void** state)
{
    struct advice advice;
    size_t count = 0;
    capture_put_device(*state);
    put_block(*state, 0, 100 * MIB, 100 * MIB, 0, false);
    put_block(*state, 1, 128 * MIB, 17 * MIB, 0, true); /* 111 MiB wasted, and gone */
    put_block(*state, 2, 128 * MIB, 52 * MIB, 0, true); /* 76 MiB wasted, and gone */
    put_block(*state, 3, 28 * MIB, 20 * MIB, 0, false); /* never where it matters */
    advise(*state, &advice);
    const struct support_finding* found = find(&advice, SUPPORT_FINDING_NEVER_BOUND);
    assert_non_null(found);
    assert_int_equal(found->verdict, SUPPORT_VERDICT_PROVED);
    assert_int_equal(found->most, (228 - 152) * MIB); /* the second one is still the most */
    assert_int_equal(found->least, found->most);
    assert_int_equal(found->object_count, 2);
    assert_int_equal(found->wasted[0], 111 * MIB);
    assert_int_equal(found->wasted[1], 76 * MIB);
    struct support_heap_peak* const peaks =
        support_findings_peaks(&advice.history, &advice.findings, &count);
    assert_non_null(peaks);
    assert_int_equal(peaks[0].held, 228 * MIB);
    assert_int_equal(peaks[0].never, 76 * MIB); /* of the fuller moment */
    free(peaks);
    end_advice(&advice);
}

/* Moves all that happens from an event on by some seconds. */
static void delay(struct support_history* history, size_t event, uint64_t seconds)
{
    for (size_t i = event; i < history->events.count; ++i) {
        history->events.items[i].time_ns += seconds * 1000000000;
    }
    for (size_t i = 0; i < history->resources.count; ++i) {
        struct support_history_resource* const resource = &history->resources.items[i];
        resource->bind_ns += resource->bind_event >= event ? seconds * 1000000000 : 0;
    }
}

static void peaks_name_what_was_bound_in_the_second_before(void** state)
{
    struct advice advice;
    size_t count = 0;
    capture_put_device(*state);
    capture_put_memory(*state, MEMORY, 100 * MIB, 0);
    const uint64_t sizes[] = {50, 1, 2, 8, 4, 16};
    uint64_t offset = 0;
    for (uint32_t i = 0; i < 6; ++i) {
        capture_put_buffer(*state, BUFFER + i, sizes[i] * MIB);
        capture_put_bind(*state, MAAR_CAPTURE_OBJECT_BUFFER, BUFFER + i, MEMORY, offset);
        offset += sizes[i] * MIB;
    }
    capture_put_end(*state, MAAR_CAPTURE_KIND_BUFFER_END, BUFFER + 2);
    capture_put_memory(*state, MEMORY + 1, MIB, 0); /* the peak, with all but one that ended */
    advise(*state, &advice);
    delay(&advice.history, advice.history.resources.items[1].bind_event, 5);
    struct support_heap_peak* const peaks =
        support_findings_peaks(&advice.history, &advice.findings, &count);
    assert_non_null(peaks);
    assert_int_equal(peaks[0].held, 101 * MIB);
    assert_int_equal(peaks[0].recent_count, 4);
    assert_int_equal(peaks[0].recent_bytes, (1 + 8 + 4 + 16) * MIB);
    assert_int_equal(support_peak_recent_count(&peaks[0]), 3);
    assert_int_equal(peaks[0].recent[0], 5);
    assert_int_equal(peaks[0].recent[1], 3);
    assert_int_equal(peaks[0].recent[2], 4);
    free(peaks);
    end_advice(&advice);
}

/* Without the waste, another moment holds as much: nothing is saved at the peak. */
static void waste_beside_a_peak_that_stays_is_no_finding(void** state)
{
    struct advice advice;
    size_t count = 0;
    capture_put_device(*state);
    put_block(*state, 0, 64 * MIB, 64 * MIB, 0, true);
    put_block(*state, 1, 65 * MIB + 32768, MIB, 0, true);
    put_block(*state, 2, 65 * MIB, 65 * MIB, 0, true);
    advise(*state, &advice);
    assert_null(find(&advice, SUPPORT_FINDING_NEVER_BOUND));
    struct support_heap_peak* const peaks =
        support_findings_peaks(&advice.history, &advice.findings, &count);
    assert_non_null(peaks);
    assert_int_equal(peaks[0].never, 64 * MIB + 32768);
    free(peaks);
    end_advice(&advice);
}

/* Images in system memory, one after another: all of them make the peak. */
static void resources_in_the_wrong_heap_at_any_time_are_named(void** state)
{
    struct advice advice;
    capture_put_device(*state);
    for (uint32_t i = 0; i < 3; ++i) {
        capture_put_memory(*state, MEMORY, 4 * MIB, 0);
        put_image(*state, IMAGE + i, VK_IMAGE_USAGE_SAMPLED_BIT, 3);
        capture_put_bind(*state, MAAR_CAPTURE_OBJECT_IMAGE, IMAGE + i, MEMORY, 0);
        capture_put_end(*state, MAAR_CAPTURE_KIND_IMAGE_END, IMAGE + i);
        capture_put_end(*state, MAAR_CAPTURE_KIND_MEMORY_END, MEMORY);
    }
    capture_put_memory(*state, MEMORY, 3 * MIB, 0); /* stays, and is the peak then */
    advise(*state, &advice);
    const struct support_finding* found = find(&advice, SUPPORT_FINDING_WRONG_HEAP);
    assert_non_null(found);
    assert_int_equal(found->most, MIB);
    assert_int_equal(found->least, MIB);
    assert_int_equal(found->object_count, 3);
    end_advice(&advice);
}

/* The card has room for one of two images that live together. */
static void only_what_fits_into_the_card_is_in_the_wrong_heap(void** state)
{
    struct advice advice;
    capture_put_device(*state);
    capture_put_memory(*state, MEMORY, 1014 * MIB, 1); /* type 1 lies in heap 0 of 1 GiB */
    capture_put_end(*state, MAAR_CAPTURE_KIND_MEMORY_END, MEMORY);
    capture_put_memory(*state, MEMORY, 1019 * MIB, 1);
    for (uint32_t i = 0; i < 2; ++i) {
        put_image(*state, IMAGE + i, VK_IMAGE_USAGE_SAMPLED_BIT, 3);
        capture_put_memory(*state, MEMORY + 1 + i, 4 * MIB, 0);
        capture_put_bind(*state, MAAR_CAPTURE_OBJECT_IMAGE, IMAGE + i, MEMORY + 1 + i, 0);
    }
    advise(*state, &advice);
    const struct support_finding* found = find(&advice, SUPPORT_FINDING_WRONG_HEAP);
    assert_non_null(found);
    assert_int_equal(found->most, 4 * MIB);
    assert_int_equal(found->object_count, 1);
    end_advice(&advice);
}

/* Growth far from the peak, or in a block that stays, proves nothing about the peak. */
static void growth_that_does_not_make_the_peak_is_bounded(void** state)
{
    for (unsigned pooled = 0; pooled < 2; ++pooled) {
        struct advice advice;
        capture_put_device(*state);
        capture_put_memory(*state, MEMORY, 100 * MIB, 0);
        if (pooled == 0) {
            capture_put_end(*state, MAAR_CAPTURE_KIND_MEMORY_END, MEMORY);
        }
        for (uint64_t i = 1; i < 6; ++i) {
            const uint64_t memory = pooled == 0 ? MEMORY + i : MEMORY;
            if (pooled == 0) {
                capture_put_memory(*state, memory, (MIB << i) + 4096, 0);
            }
            capture_put_buffer(*state, BUFFER + i, (MIB << i) + 4096);
            capture_put_bind(*state, MAAR_CAPTURE_OBJECT_BUFFER, BUFFER + i, memory, 0);
            if (i > 1) {
                capture_put_end(*state, MAAR_CAPTURE_KIND_BUFFER_END, BUFFER + i - 1);
            }
            if (i > 1 && pooled == 0) {
                capture_put_end(*state, MAAR_CAPTURE_KIND_MEMORY_END, memory - 1);
            }
        }
        capture_put_end(*state, MAAR_CAPTURE_KIND_BUFFER_END, BUFFER + 5);
        advise(*state, &advice);
        const struct support_finding* found = find(&advice, SUPPORT_FINDING_GROWTH_BY_COPY);
        assert_non_null(found);
        assert_int_equal(found->verdict, SUPPORT_VERDICT_BOUNDED);
        assert_int_equal(found->least, 0);
        assert_int_equal(found->most, 16 * MIB + 4096);
        end_advice(&advice);
        if (pooled == 0) {
            assert_int_equal(capture_bench_end(state), 0);
            assert_int_equal(capture_bench_begin(state), 0);
        }
    }
}

/* What is idle at the peak, and whose waste is largest: not the largest memory. */
static void peaks_say_what_is_idle_and_memories_what_is_wasted(void** state)
{
    struct advice advice;
    size_t count = 0;
    capture_put_device(*state);
    capture_put_memory(*state, MEMORY, 64 * MIB, 0);
    capture_put_memory(*state, MEMORY + 1, 32 * MIB, 0);
    capture_put_buffer(*state, BUFFER, 60 * MIB);
    capture_put_bind(*state, MAAR_CAPTURE_OBJECT_BUFFER, BUFFER, MEMORY, 0);
    for (uint32_t i = 1; i < 4; ++i) { /* the first two share 8 MiB; the third has ended */
        capture_put_buffer(*state, BUFFER + i, 8 * MIB);
        capture_put_bind(*state, MAAR_CAPTURE_OBJECT_BUFFER, BUFFER + i, MEMORY + 1,
                         i == 3 ? 8 * MIB : 0);
        if (i == 3) {
            capture_put_end(*state, MAAR_CAPTURE_KIND_BUFFER_END, BUFFER + i);
        }
    }
    capture_put_memory(*state, MEMORY + 2, MIB, 0); /* now the heap holds the most */
    advise(*state, &advice);
    const struct support_finding* found = find(&advice, SUPPORT_FINDING_NEVER_BOUND);
    assert_non_null(found);
    assert_int_equal(found->most, 21 * MIB);
    assert_int_equal(found->object_count, 3);
    assert_int_equal(found->objects[0], 1);
    assert_int_equal(found->wasted[0], 16 * MIB);
    assert_int_equal(found->objects[1], 0);
    assert_int_equal(found->wasted[1], 4 * MIB);
    assert_int_equal(found->wasted[2], MIB);
    struct support_heap_peak* const peaks =
        support_findings_peaks(&advice.history, &advice.findings, &count);
    assert_non_null(peaks);
    assert_int_equal(count, 1);
    assert_int_equal(peaks[0].held, 97 * MIB);
    assert_int_equal(peaks[0].bound, 68 * MIB);
    assert_int_equal(peaks[0].never, 21 * MIB);
    free(peaks);
    end_advice(&advice);
}

/* Uploads: larger buffers follow smaller ones by chance, while others of their kind live. */
static void uploads_are_no_growth(void** state)
{
    struct advice advice;
    capture_put_device(*state);
    capture_put_memory(*state, MEMORY, 256 * MIB, 0);
    for (uint64_t i = 0; i < 40; ++i) {
        capture_put_buffer(*state, BUFFER + i, (1 + i % 8) * MIB);
        capture_put_bind(*state, MAAR_CAPTURE_OBJECT_BUFFER, BUFFER + i, MEMORY, 0);
        if (i >= 2) { /* two others live */
            capture_put_end(*state, MAAR_CAPTURE_KIND_BUFFER_END, BUFFER + i - 2);
        }
    }
    advise(*state, &advice);
    assert_null(find(&advice, SUPPORT_FINDING_GROWTH_BY_COPY));
    end_advice(&advice);
}

/* Two steps are no pattern, three are. */
static void growth_takes_three_steps(void** state)
{
    struct advice advice;
    capture_put_device(*state);
    capture_put_memory(*state, MEMORY, 256 * MIB, 0);
    for (uint64_t i = 0; i < 4; ++i) {
        capture_put_buffer(*state, BUFFER + i, (MIB << i) + 1);
        capture_put_bind(*state, MAAR_CAPTURE_OBJECT_BUFFER, BUFFER + i, MEMORY, 0);
        if (i > 0) {
            capture_put_end(*state, MAAR_CAPTURE_KIND_BUFFER_END, BUFFER + i - 1);
        }
    }
    capture_put_end(*state, MAAR_CAPTURE_KIND_BUFFER_END, BUFFER + 3);
    advise(*state, &advice);
    const struct support_finding* found = find(&advice, SUPPORT_FINDING_GROWTH_BY_COPY);
    assert_non_null(found);
    assert_int_equal(found->most, 4 * MIB + 1);
    assert_int_equal(found->object_count, 3);
    end_advice(&advice);
}

/* The texts of a program reach JSON and the terminal without harm. */
static void hostile_names_stay_text(void** state)
{
    struct advice advice;
    struct support_memory_file out;
    capture_put_device(*state);
    put_image(*state, IMAGE, VK_IMAGE_USAGE_SAMPLED_BIT, 3);
    capture_put_name(*state, MAAR_CAPTURE_OBJECT_IMAGE, IMAGE, "\"}\x1b[2J\xff\n<b>");
    capture_put_memory(*state, MEMORY, 4 * MIB, 0);
    capture_put_bind(*state, MAAR_CAPTURE_OBJECT_IMAGE, IMAGE, MEMORY, 0);
    advise(*state, &advice);
    assert_non_null(find(&advice, SUPPORT_FINDING_WRONG_HEAP));
    assert_true(support_memory_file_open(&out));
    support_findings_write(&advice.history, &advice.findings, 5, out.file);
    assert_true(support_memory_file_close(&out));
    assert_int_equal(strlen(out.text), out.size);
    assert_null(strchr(out.text, '\x1b'));
    assert_non_null(strstr(out.text, "wrong-heap"));
    free(out.text);
    char* json = support_findings_json(&advice.history, &advice.findings, NULL, 0);
    assert_non_null(json);
    assert_non_null(strstr(json, "\"wrong-heap\""));
    assert_null(strchr(json, '\x1b'));
    free(json);
    end_advice(&advice);
}

static void capture_without_events_has_no_finding(void** state)
{
    struct advice advice;
    advise(*state, &advice);
    assert_int_equal(advice.findings.count, 0);
    end_advice(&advice);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, capture_bench_begin, capture_bench_end)

/* ---- targets and their uses ---- */

enum { TARGETS = 5, TARGET_SIZE = 16 };

/* Five targets of 16 MiB with memory of their own. */
static void put_targets_of_usage(struct capture_bench* bench, uint32_t uses_flags, uint32_t usage)
{
    const MaarCaptureUses uses = {.device = 1, .flags = uses_flags};
    capture_put_device(bench);
    capture_put(bench, MAAR_CAPTURE_KIND_USES, &uses, sizeof uses);
    for (uint32_t i = 0; i < TARGETS; ++i) {
        const MaarCaptureImage image = {.device = 1,
                                        .image = IMAGE + i,
                                        .usage = usage,
                                        .format = 37,
                                        .width = 2048,
                                        .height = 2048,
                                        .depth = 1,
                                        .needsSize = TARGET_SIZE * MIB,
                                        .needsAlignment = 4096,
                                        .typeBits = 1,
                                        .needsFlags = MAAR_CAPTURE_NEEDS_KNOWN_BIT};
        capture_put_memory(bench, MEMORY + i, TARGET_SIZE * MIB, 0);
        capture_put(bench, MAAR_CAPTURE_KIND_IMAGE, &image, sizeof image);
        capture_put_bind(bench, MAAR_CAPTURE_OBJECT_IMAGE, IMAGE + i, MEMORY + i, 0);
    }
}

static void put_targets(struct capture_bench* bench, uint32_t uses_flags)
{
    put_targets_of_usage(bench, uses_flags, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
}

/* Submits a batch that writes a target anew ("w"), and reads another one ("r"), or none. */
static void put_batch(struct capture_bench* bench, uint64_t queue, uint32_t written, uint32_t read)
{
    static uint64_t number;
    const MaarCaptureSubmit submit = {
        .device = 1, .submission = ++number, .queue = queue, .commandBufferCount = 1};
    const MaarCaptureUse write = {.device = 1,
                                  .objectKind = MAAR_CAPTURE_OBJECT_IMAGE,
                                  .object = IMAGE + written,
                                  .submission = number,
                                  .flags =
                                      MAAR_CAPTURE_USE_WRITE_BIT | MAAR_CAPTURE_USE_DISCARD_BIT};
    MaarCaptureUse other = write;
    other.object = IMAGE + read;
    other.flags = MAAR_CAPTURE_USE_READ_BIT;
    capture_put(bench, MAAR_CAPTURE_KIND_SUBMIT, &submit, sizeof submit);
    capture_put(bench, MAAR_CAPTURE_KIND_USE, &write, sizeof write);
    if (read != written) {
        capture_put(bench, MAAR_CAPTURE_KIND_USE, &other, sizeof other);
    }
}

/* Three frames of a chain: each batch writes a target from the one before. */
static void put_chain(struct capture_bench* bench, uint64_t queue)
{
    for (uint32_t frame = 0; frame < 3; ++frame) {
        for (uint32_t i = 0; i < TARGETS; ++i) {
            put_batch(bench, queue, i, i > 0 ? i - 1 : i);
        }
    }
}

static void expect_saving(void** state, uint64_t least)
{
    struct advice advice;
    advise(*state, &advice);
    const struct support_finding* const found = find(&advice, SUPPORT_FINDING_ALIASING);
    assert_non_null(found);
    assert_int_equal(found->verdict, SUPPORT_VERDICT_BOUNDED);
    assert_int_equal(found->most, (TARGETS - 1) * TARGET_SIZE * MIB);
    assert_int_equal(found->least, least);
    end_advice(&advice);
}

static void targets_of_a_chain_need_two_places(void** state)
{
    put_targets(*state, 0);
    put_chain(*state, 1);
    expect_saving(state, (TARGETS - 2) * TARGET_SIZE * MIB);
}

/* Writes the first `count` targets once, and reads them in turn in three frames. */
static void put_textures(struct capture_bench* bench, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        put_batch(bench, 1, i, i);
    }
    for (uint32_t i = 0; i < 3 * count; ++i) {
        put_batch(bench, 1, TARGETS - 1, i % count);
    }
}

/* As textures are: written once, and read to the end. Nothing can have their bytes between. */
static void targets_that_last_cannot_share(void** state)
{
    struct advice advice;
    put_targets(*state, 0);
    put_textures(*state, 4);
    advise(*state, &advice);
    assert_null(find(&advice, SUPPORT_FINDING_ALIASING));
    end_advice(&advice);
}

static void some_that_last_lower_the_most_that_is_saved(void** state)
{
    struct advice advice;
    put_targets(*state, 0);
    put_textures(*state, 3);
    advise(*state, &advice);
    const struct support_finding* const found = find(&advice, SUPPORT_FINDING_ALIASING);
    assert_non_null(found);
    assert_int_equal(found->most, (TARGETS - 3) * TARGET_SIZE * MIB);
    end_advice(&advice);
}

/* Mesa's zink gives all textures the usage of targets. */
static void sampled_targets_are_said_to_be_textures_perhaps(void** state)
{
    for (uint32_t others = 0; others < 2; ++others) {
        struct advice advice;
        put_targets_of_usage(*state, 0,
                             VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT);
        if (others == 1) { /* textures that are none */
            put_image(*state, IMAGE + TARGETS, VK_IMAGE_USAGE_SAMPLED_BIT, 1);
        }
        advise(*state, &advice);
        const struct support_finding* const found = find(&advice, SUPPORT_FINDING_ALIASING);
        assert_non_null(found);
        assert_true((strstr(found->arithmetic, "zink") != NULL) == (others == 0));
        end_advice(&advice);
        if (others == 0) {
            assert_int_equal(capture_bench_end(state), 0);
            assert_int_equal(capture_bench_begin(state), 0);
        }
    }
}

static void targets_without_uses_may_all_meet(void** state)
{
    put_targets(*state, 0);
    expect_saving(state, 0);
}

static void targets_of_incomplete_uses_may_all_meet(void** state)
{
    put_targets(*state, MAAR_CAPTURE_USES_INCOMPLETE_BIT);
    put_chain(*state, 1);
    expect_saving(state, 0);
}

static void target_read_in_the_next_frame_shares_with_nobody(void** state)
{
    put_targets(*state, 0);
    put_chain(*state, 1);
    put_batch(*state, 1, 0, 2); /* target 2 of the last frame, beside 0, 3 and 4 */
    put_batch(*state, 1, 1, 2);
    expect_saving(state, (TARGETS - 3) * TARGET_SIZE * MIB);
}

static void target_read_before_it_is_written_keeps_its_bytes(void** state)
{
    put_targets(*state, 0);
    put_batch(*state, 1, 0, 4);
    put_chain(*state, 1);
    expect_saving(state, (TARGETS - 3) * TARGET_SIZE * MIB);
}

static void targets_of_another_queue_keep_their_bytes(void** state)
{
    put_targets(*state, 0);
    put_chain(*state, 1);
    put_batch(*state, 2, 0, 0);
    expect_saving(state, (TARGETS - 3) * TARGET_SIZE * MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(use_above_the_budget_is_found_by_its_most),
        CASE(transient_images_outside_lazy_memory_are_found),
        CASE(fallbacks_of_a_full_card_are_no_finding),
        CASE(bytes_never_bound_are_those_of_the_peak),
        CASE(all_blocks_that_make_the_peak_are_named),
        CASE(peaks_name_what_was_bound_in_the_second_before),
        CASE(waste_beside_a_peak_that_stays_is_no_finding),
        CASE(resources_in_the_wrong_heap_at_any_time_are_named),
        CASE(only_what_fits_into_the_card_is_in_the_wrong_heap),
        CASE(growth_that_does_not_make_the_peak_is_bounded),
        CASE(peaks_say_what_is_idle_and_memories_what_is_wasted),
        CASE(uploads_are_no_growth),
        CASE(growth_takes_three_steps),
        CASE(hostile_names_stay_text),
        CASE(targets_of_a_chain_need_two_places),
        CASE(targets_that_last_cannot_share),
        CASE(some_that_last_lower_the_most_that_is_saved),
        CASE(sampled_targets_are_said_to_be_textures_perhaps),
        CASE(targets_without_uses_may_all_meet),
        CASE(targets_of_incomplete_uses_may_all_meet),
        CASE(target_read_in_the_next_frame_shares_with_nobody),
        CASE(target_read_before_it_is_written_keeps_its_bytes),
        CASE(targets_of_another_queue_keep_their_bytes),
        CASE(capture_without_events_has_no_finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
