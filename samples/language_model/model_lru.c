/*
 * Chooses by LRU; see model_lru.h. A model has few residents, so the oldest one is searched for.
 */
#include "model_lru.h"

static void VKAPI_PTR add_entry(void* data, MaarResident resident, void* entry, VkDeviceSize size,
                                uint32_t class)
{
    struct model_lru* const lru = data;
    (void)size;
    (void)class;
    lru->entries[lru->count] = entry;
    *lru->entries[lru->count++] = (struct model_lru_entry){.resident = resident};
}

static void VKAPI_PTR note_use(void* data, MaarResident resident, void* entry, uint32_t index,
                               uint32_t count)
{
    struct model_lru_entry* const used = entry;
    (void)resident;
    (void)index;
    (void)count;
    used->last_use = ++((struct model_lru*)data)->use_count;
}

static void VKAPI_PTR note_whether_it_may_leave(void* data, MaarResident resident, void* entry,
                                                MaarPolicyStateFlags state)
{
    (void)data;
    (void)resident;
    ((struct model_lru_entry*)entry)->may_leave = (state & MAAR_POLICY_STATE_CANDIDATE_BIT) != 0;
}

static MaarResident VKAPI_PTR choose_oldest_use(void* data)
{
    const struct model_lru* const lru = data;
    const struct model_lru_entry* oldest = NULL;
    for (uint32_t i = 0; i < lru->count; ++i) {
        const struct model_lru_entry* const entry = lru->entries[i];
        if (entry->may_leave && (oldest == NULL || entry->last_use < oldest->last_use)) {
            oldest = entry;
        }
    }
    return oldest != NULL ? oldest->resident : VK_NULL_HANDLE;
}

MaarResidencyPolicy model_lru_table(struct model_lru* lru)
{
    lru->count = 0;
    lru->use_count = 0;
    return (MaarResidencyPolicy){
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_POLICY,
        .pUserData = lru,
        .pfnChoose = choose_oldest_use,
        .pfnAdd = add_entry,
        .pfnUse = note_use,
        .pfnState = note_whether_it_may_leave,
    };
}
