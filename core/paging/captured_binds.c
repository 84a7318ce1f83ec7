/*
 * What a capture records of a submission of binds: see captured_binds.h.
 */
#include "core/paging/captured_binds.h"

#include "core/handle.h"
#include "core/memory/capture_entry.h"

/* Binds of one object, in the form that they share. */
struct bind_record {
    struct maar_capture_log* log;
    MaarCaptureSparseBind facts;
};

/* Prepares the records of an object. Returns false if the capture does not know the object. */
static bool begin_binds(struct bind_record* record, struct maar_capture_log* log, uint32_t kind,
                        uint64_t object, uint64_t submission)
{
    *record = (struct bind_record){
        .log = log,
        .facts = {.device = MAAR_CAPTURE_DEVICE,
                  .objectKind = kind,
                  .object = object,
                  .submission = submission},
    };
    return maar_captured_objects_place(&log->objects, kind, object, 0);
}

static void write_bytes(struct bind_record* record, uint32_t count, const VkSparseMemoryBind* binds)
{
    for (uint32_t i = 0; i < count; ++i) {
        const bool metadata = (binds[i].flags & VK_SPARSE_MEMORY_BIND_METADATA_BIT) != 0;
        record->facts.memory = MAAR_TO_BITS(binds[i].memory);
        record->facts.memoryOffset = binds[i].memoryOffset;
        record->facts.offset = binds[i].resourceOffset;
        record->facts.size = binds[i].size;
        record->facts.form = metadata ? MAAR_CAPTURE_SPARSE_METADATA : MAAR_CAPTURE_SPARSE_BYTES;
        maar_capture_write(&record->log->writer, MAAR_CAPTURE_KIND_SPARSE_BIND, &record->facts,
                           sizeof record->facts);
    }
}

static void write_texels(struct bind_record* record, uint32_t count,
                         const VkSparseImageMemoryBind* binds)
{
    for (uint32_t i = 0; i < count; ++i) {
        const VkSparseImageMemoryBind* bind = &binds[i];
        record->facts.memory = MAAR_TO_BITS(bind->memory);
        record->facts.memoryOffset = bind->memoryOffset;
        record->facts.form = MAAR_CAPTURE_SPARSE_TEXELS;
        record->facts.mip = bind->subresource.mipLevel;
        record->facts.layer = bind->subresource.arrayLayer;
        record->facts.aspect = bind->subresource.aspectMask;
        record->facts.origin[0] = bind->offset.x;
        record->facts.origin[1] = bind->offset.y;
        record->facts.origin[2] = bind->offset.z;
        record->facts.extent[0] = bind->extent.width;
        record->facts.extent[1] = bind->extent.height;
        record->facts.extent[2] = bind->extent.depth;
        maar_capture_write(&record->log->writer, MAAR_CAPTURE_KIND_SPARSE_BIND, &record->facts,
                           sizeof record->facts);
    }
}

static void write_step(struct maar_capture_log* log, uint64_t submission,
                       const VkBindSparseInfo* step)
{
    struct bind_record record;
    for (uint32_t i = 0; i < step->bufferBindCount; ++i) {
        const VkSparseBufferMemoryBindInfo* info = &step->pBufferBinds[i];
        if (begin_binds(&record, log, MAAR_CAPTURE_OBJECT_BUFFER, MAAR_TO_BITS(info->buffer),
                        submission)) {
            write_bytes(&record, info->bindCount, info->pBinds);
        }
    }
    for (uint32_t i = 0; i < step->imageOpaqueBindCount; ++i) {
        const VkSparseImageOpaqueMemoryBindInfo* info = &step->pImageOpaqueBinds[i];
        if (begin_binds(&record, log, MAAR_CAPTURE_OBJECT_IMAGE, MAAR_TO_BITS(info->image),
                        submission)) {
            write_bytes(&record, info->bindCount, info->pBinds);
        }
    }
    for (uint32_t i = 0; i < step->imageBindCount; ++i) {
        const VkSparseImageMemoryBindInfo* info = &step->pImageBinds[i];
        if (begin_binds(&record, log, MAAR_CAPTURE_OBJECT_IMAGE, MAAR_TO_BITS(info->image),
                        submission)) {
            write_texels(&record, info->bindCount, info->pBinds);
        }
    }
}

void maar_capture_binds(MaarAllocator allocator, VkQueue queue, uint32_t step_count,
                        const VkBindSparseInfo* steps)
{
    struct maar_capture_log* const log = maar_capture_enter(allocator);
    if (log == NULL) {
        return;
    }
    for (uint32_t i = 0; i < step_count; ++i) {
        const VkBindSparseInfo* step = &steps[i];
        const VkTimelineSemaphoreSubmitInfo* values = step->pNext;
        const uint64_t submission = maar_capture_log_submit(
            log, &(MaarCaptureSubmit){.kind = MAAR_CAPTURE_SUBMIT_BINDS,
                                      .queue = (uint64_t)(uintptr_t)queue,
                                      .waitCount = step->waitSemaphoreCount,
                                      .signalCount = step->signalSemaphoreCount});
        for (uint32_t w = 0; w < step->waitSemaphoreCount; ++w) {
            maar_capture_log_point(log, MAAR_CAPTURE_KIND_SUBMIT_WAIT, submission,
                                   MAAR_TO_BITS(step->pWaitSemaphores[w]),
                                   values->pWaitSemaphoreValues[w]);
        }
        for (uint32_t s = 0; s < step->signalSemaphoreCount; ++s) {
            maar_capture_log_point(log, MAAR_CAPTURE_KIND_SUBMIT_SIGNAL, submission,
                                   MAAR_TO_BITS(step->pSignalSemaphores[s]),
                                   values->pSignalSemaphoreValues[s]);
        }
        write_step(log, submission, step);
    }
    maar_capture_log_leave(log);
}
