/*
 * Shared memory for the growth cases: see growth_shared.h.
 */
#include "growth_shared.h"

#include "growth_steps.h"

VkBufferCreateInfo growth_shared_buffer(VkDeviceSize size)
{
    static const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = GROWTH_SHARED_TYPE,
    };
    VkBufferCreateInfo info = growth_buffer(size);
    info.pNext = &external;
    return info;
}

MaarAllocation growth_create_shared(struct growth* growth, VkDeviceSize size, bool dedicated,
                                    VkBuffer* buffer)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = GROWTH_SHARED_TYPE,
    };
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pNext = &export,
        .dedicated = dedicated ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_AUTO,
    };
    const VkBufferCreateInfo info = growth_shared_buffer(size);
    MaarAllocation memory = VK_NULL_HANDLE;
    GROWTH_EXPECT(maarCreateBuffer(growth->allocator, &info, &how, buffer, &memory));
    return memory;
}

MaarExportedMemory growth_export(struct growth* growth, MaarAllocation memory)
{
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    GROWTH_EXPECT(maarExportMemory(growth->allocator, memory, GROWTH_SHARED_TYPE, &exported));
    return exported;
}

void growth_open_shared(struct growth* growth, bool dedicated)
{
    const size_t count = (size_t)growth->n + growth->count;
    bench_raise_descriptors();
    growth_create_allocator(growth);
    growth->memory = bench_allocate(count, sizeof *growth->memory);
    growth->spare = bench_allocate(count, sizeof(VkBuffer));
    VkBuffer* buffers = growth->spare;
    for (uint32_t i = 0; i < growth->n; ++i) {
        growth->memory[i] = growth_create_shared(growth, 64 * GROWTH_KIB, dedicated, &buffers[i]);
    }
}

void growth_close_shared(struct growth* growth)
{
    const VkBuffer* buffers = growth->spare;
    for (uint32_t i = 0; i < growth->n; ++i) {
        maarDestroyBuffer(growth->allocator, buffers[i], growth->memory[i]);
    }
}

void growth_create_more_shared(struct growth* growth)
{
    VkBuffer* buffers = growth->spare;
    for (uint32_t i = growth->n; i < growth->n + growth->count; ++i) {
        growth->memory[i] = growth_create_shared(growth, 64 * GROWTH_KIB, true, &buffers[i]);
    }
}

void growth_destroy_more_shared(struct growth* growth)
{
    const VkBuffer* buffers = growth->spare;
    for (uint32_t i = growth->n; i < growth->n + growth->count; ++i) {
        maarDestroyBuffer(growth->allocator, buffers[i], growth->memory[i]);
    }
}
