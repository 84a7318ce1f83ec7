/*
 * The FAKE behind the steps of CUDA and HIP: see fault_peer.h.
 */
#include "tests/fault/fault_peer.h"

const struct fake_control* fault_fake;

void fault_set_peer_fault(const char* function, uint64_t nth, uint64_t count, int code)
{
    fault_fake->set_fault(function, nth, count, code);
}

uint64_t fault_count_peer_calls(const char* function)
{
    return fault_fake->calls(function);
}

uint64_t fault_count_peer_alive(void)
{
    uint64_t alive = fault_fake->context_depth() + fault_fake->breach_count();
    for (int kind = 0; kind < FAKE_KIND_COUNT; ++kind) {
        alive += fault_fake->live((enum fake_kind)kind);
    }
    return alive;
}

void fault_begin_fake(struct fault_context* context, const struct fake_control* fake)
{
    MaarSharingInfo sharing = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    fault_fake = fake;
    assert_int_equal(maarGetSharingInfo(context->rig.allocator, &sharing), VK_SUCCESS);
    fault_fake->set_uuid(0, sharing.deviceUUID);
}

void fault_finish_fake(struct fault_context* context)
{
    (void)context;
    fake_expect_clean_end(fault_fake);
    fault_fake->reset();
}

void fault_make_exported_buffer(struct fault_context* context, MaarDedicated dedicated)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    how.dedicated = dedicated;
    assert_int_equal(
        maarCreateBuffer(context->rig.allocator, &info, &how, &context->buffer, &context->memory),
        VK_SUCCESS);
}
