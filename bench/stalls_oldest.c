/*
 * The oldest use: see stalls_oldest.h.
 */
#include "stalls_oldest.h"

static void take_out(struct stalls_oldest_item* item)
{
    item->older->newer = item->newer;
    item->newer->older = item->older;
}

static void make_newest(struct stalls_oldest* policy, struct stalls_oldest_item* item)
{
    item->older = policy->ends.older;
    item->newer = &policy->ends;
    item->older->newer = item;
    policy->ends.older = item;
}

static void VKAPI_PTR add_resident(void* data, MaarResident resident, void* item, VkDeviceSize size,
                                   uint32_t class)
{
    struct stalls_oldest_item* added = item;
    (void)size;
    (void)class;
    *added = (struct stalls_oldest_item){.resident = resident};
    make_newest(data, added);
}

static void VKAPI_PTR remove_resident(void* data, MaarResident resident, void* item)
{
    (void)data;
    (void)resident;
    take_out(item);
}

static void VKAPI_PTR use_resident(void* data, MaarResident resident, void* item, uint32_t index,
                                   uint32_t count)
{
    (void)resident;
    (void)index;
    (void)count;
    take_out(item);
    make_newest(data, item);
}

static void VKAPI_PTR note_state(void* data, MaarResident resident, void* item,
                                 MaarPolicyStateFlags state)
{
    struct stalls_oldest_item* changed = item;
    (void)data;
    (void)resident;
    changed->is_candidate = (state & MAAR_POLICY_STATE_CANDIDATE_BIT) != 0;
}

static MaarResident VKAPI_PTR choose_oldest(void* data)
{
    const struct stalls_oldest* policy = data;
    const struct stalls_oldest_item* item = policy->ends.newer;
    while (item != &policy->ends && !item->is_candidate) {
        item = item->newer;
    }
    return item->resident;
}

MaarResidencyPolicy stalls_oldest_table(struct stalls_oldest* policy)
{
    policy->ends = (struct stalls_oldest_item){
        .resident = VK_NULL_HANDLE, .older = &policy->ends, .newer = &policy->ends};
    return (MaarResidencyPolicy){
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_POLICY,
        .pUserData = policy,
        .pfnChoose = choose_oldest,
        .pfnAdd = add_resident,
        .pfnRemove = remove_resident,
        .pfnUse = use_resident,
        .pfnState = note_state,
    };
}
