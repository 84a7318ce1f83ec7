/*
 * Records of allocations: see slot_record.h.
 */
#include "core/memory/slot_record.h"

struct slot_record {
    maar_atomic_pointer record; /* NULL: none */
    maar_atomic32 obstacle;
};

/* Returns the record of a slot, or NULL if its segment has none. */
static struct slot_record* record_at(const struct maar_slot_records* records, uint32_t index)
{
    return maar_slot_side_at(&records->side, index, sizeof(struct slot_record));
}

VkResult maar_slot_record_reserve(struct maar_slot_records* records,
                                  const VkAllocationCallbacks* callbacks, uint32_t index)
{
    return maar_slot_side_reserve(&records->side, callbacks, index, sizeof(struct slot_record));
}

void maar_slot_record_put(struct maar_slot_records* records, uint32_t index, void* record,
                          uint32_t obstacle)
{
    struct slot_record* own = record_at(records, index);
    maar_atomic32_store(&own->obstacle, obstacle);
    maar_atomic_pointer_store(&own->record, record);
}

void* maar_slot_record_of(const struct maar_slot_records* records, uint32_t index)
{
    const struct slot_record* own = record_at(records, index);
    return own != NULL ? maar_atomic_pointer_load(&own->record) : NULL;
}

void* maar_slot_record_take(struct maar_slot_records* records, uint32_t index)
{
    struct slot_record* own = record_at(records, index);
    void* record = own != NULL ? maar_atomic_pointer_load(&own->record) : NULL;
    if (record != NULL) {
        maar_atomic_pointer_store(&own->record, NULL);
    }
    return record;
}

uint32_t maar_slot_record_obstacle(const struct maar_slot_records* records, uint32_t index)
{
    const struct slot_record* own = record_at(records, index);
    return own != NULL ? maar_atomic32_load(&own->obstacle) : 0;
}

void maar_slot_records_destroy(struct maar_slot_records* records,
                               const VkAllocationCallbacks* callbacks)
{
    maar_slot_side_destroy(&records->side, callbacks);
}
