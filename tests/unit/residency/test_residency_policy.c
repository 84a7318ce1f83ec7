/*
 * Policies of the program's own: what a table learns, whose answers count, and that contents
 * survive whatever it answers. Hints that change the order of what is brought.
 */
#include <pthread.h>

#include "maar/residency_policy.h"
#include "tests/unit/residency/residency_fixture.h"

enum { RESIDENTS = 10 };

/* What a table knows of a resident. MaarResidentCreateInfo::pUserData points to it. */
struct known {
    MaarResident resident;
    VkDeviceSize size;
    uint32_t priority_class;
    MaarPolicyStateFlags state;
    uint32_t adds;
    uint32_t removals;
    uint32_t uses;
    uint64_t last;     /* use of all */
    uint64_t distance; /* of the last hint; 0: none */
};

/* A policy. Its answers come from `choose`. */
struct policy {
    struct known all[RESIDENTS];
    uint64_t uses;
    uint64_t random;
    uint32_t classes; /* that residents have in turn */
    uint32_t asked;
    uint32_t answered; /* with a resident */
    uint32_t calls;
    pthread_t thread; /* that calls the manager */
    MaarResident answer;
};

static struct policy policy;
static MaarResident residents[RESIDENTS];

/* Each function begins with this. */
static void note_call(const void* data)
{
    assert_ptr_equal(data, &policy);
    assert_true(pthread_equal(pthread_self(), policy.thread));
    ++policy.calls;
}

static void VKAPI_PTR note_add(void* data, MaarResident resident, void* of, VkDeviceSize size,
                               uint32_t class)
{
    struct known* own = of;
    note_call(data);
    own->resident = resident;
    own->size = size;
    own->priority_class = class;
    ++own->adds;
}

static void VKAPI_PTR note_removal(void* data, MaarResident resident, void* of)
{
    struct known* own = of;
    note_call(data);
    assert_true(resident == own->resident);
    assert_int_equal(own->state & MAAR_POLICY_STATE_CANDIDATE_BIT, 0);
    ++own->removals;
}

static void VKAPI_PTR note_use(void* data, MaarResident resident, void* of, uint32_t index,
                               uint32_t count)
{
    struct known* own = of;
    note_call(data);
    assert_true(resident == own->resident && index < count);
    ++own->uses;
    own->last = ++policy.uses;
}

static void VKAPI_PTR note_hint(void* data, MaarResident resident, void* of, uint64_t distance)
{
    struct known* own = of;
    note_call(data);
    assert_true(resident == own->resident);
    own->distance = distance;
}

static void VKAPI_PTR note_state(void* data, MaarResident resident, void* of,
                                 MaarPolicyStateFlags state)
{
    struct known* own = of;
    note_call(data);
    assert_true(resident == own->resident);
    assert_true(state != own->state);
    own->state = state;
}

static bool is_candidate(const struct known* own)
{
    return (own->state & MAAR_POLICY_STATE_CANDIDATE_BIT) != 0;
}

/* Returns a resident, which is a candidate unless the table lies. */
static MaarResident answer_with(MaarResident resident)
{
    ++policy.asked;
    policy.answered += resident != VK_NULL_HANDLE ? 1 : 0;
    return resident;
}

static MaarResident VKAPI_PTR choose_oldest(void* data)
{
    const struct known* best = NULL;
    note_call(data);
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        const struct known* own = &policy.all[i];
        best = is_candidate(own) && (best == NULL || own->last < best->last) ? own : best;
    }
    return answer_with(best != NULL ? best->resident : VK_NULL_HANDLE);
}

static MaarResident VKAPI_PTR choose_at_random(void* data)
{
    const struct known* chosen = NULL;
    uint64_t count = 0;
    note_call(data);
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        policy.random = policy.random * 6364136223846793005u + 1442695040888963407u;
        if (is_candidate(&policy.all[i]) && (policy.random >> 33) % ++count == 0) {
            chosen = &policy.all[i];
        }
    }
    return answer_with(chosen != NULL ? chosen->resident : VK_NULL_HANDLE);
}

static MaarResident VKAPI_PTR choose_given(void* data)
{
    note_call(data);
    return answer_with(policy.answer);
}

static uint64_t VKAPI_PTR say_distance(void* data, MaarResident resident, void* of)
{
    const struct known* own = of;
    note_call(data);
    assert_true(resident == own->resident);
    return own->distance;
}

static MaarResidencyPolicy table_of(PFN_maarPolicyChoose choose)
{
    return (MaarResidencyPolicy){
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_POLICY,
        .pUserData = &policy,
        .pfnChoose = choose,
        .pfnAdd = note_add,
        .pfnRemove = note_removal,
        .pfnUse = note_use,
        .pfnExpect = note_hint,
        .pfnState = note_state,
    };
}

/* A device with room for four of the residents, and host memory for all. */
static void open_policy(const MaarResidencyPolicy* table)
{
    MaarResidencyCreateInfo info = manager_info(4 * UNIT, 2 * RESIDENTS * UNIT);
    memset(&policy, 0, sizeof policy);
    policy.random = 7;
    policy.thread = pthread_self();
    policy.classes = 1;
    info.pNext = table;
    open_device();
    open_manager(&info);
}

static VkResult VKAPI_PTR read_words(void* data, VkDeviceSize size, void* bytes)
{
    memcpy(bytes, data, (size_t)size);
    return VK_SUCCESS;
}

static void make_resident(uint32_t i)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(UNIT);
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .pBufferInfo = &buffer,
        .priorityClass = i % policy.classes,
        .pUserData = &policy.all[i],
    };
    residents[i] = create_resident(&info);
    write_buffer(residents[i], i + 1);
}

static void make_residents(uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        make_resident(i);
    }
    settle();
}

static void read_resident(uint32_t i)
{
    expect_buffer(residents[i], i + 1);
    settle();
}

static void expect_all(uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        expect_buffer(residents[i], i + 1);
    }
}

/* ---- what a table learns ---- */

static void table_learns_of_residents_uses_and_hints(void** state)
{
    const MaarResidencyPolicy table = table_of(choose_oldest);
    (void)state;
    open_policy(&table);
    policy.classes = 3;
    make_residents(3);
    assert_true(policy.all[2].resident == residents[2]);
    assert_int_equal(policy.all[2].size, state_of(residents[2]).size);
    assert_int_equal(policy.all[2].priority_class, 2);
    assert_int_equal(policy.all[2].uses, 1);
    read_resident(0);
    assert_int_equal(policy.all[0].uses, 2);
    assert_true(policy.all[0].last > policy.all[2].last);
    const MaarResident order[] = {residents[2], residents[1], residents[2]};
    assert_int_equal(maarPrefetchResidents(rig->allocator, manager, 3, order), VK_SUCCESS);
    assert_int_equal(policy.all[2].distance, 1);
    assert_int_equal(policy.all[1].distance, 2);
    assert_int_equal(maarEvictResident(rig->allocator, manager, residents[0]), VK_SUCCESS);
    assert_int_equal(policy.all[0].distance, UINT64_MAX);
    destroy_resident(residents[1]);
    assert_int_equal(policy.all[1].removals, 1);
    close_scene();
    assert_int_equal(policy.all[0].removals, 1);
    assert_int_equal(policy.all[2].removals, 1);
}

static void table_knows_the_candidates(void** state)
{
    const MaarPolicyStateFlags dirty = MAAR_POLICY_STATE_DIRTY_BIT;
    const MaarPolicyStateFlags candidate = MAAR_POLICY_STATE_CANDIDATE_BIT;
    const MaarResidencyPolicy table = table_of(choose_oldest);
    (void)state;
    open_policy(&table);
    make_residents(5);
    assert_int_equal(policy.all[0].state, 0); /* was evicted */
    assert_int_equal(policy.all[4].state, candidate | dirty);
    const MaarUse use = begin_use(residents[4], MAAR_ACCESS_READ_BIT, 0);
    assert_int_equal(policy.all[4].state, dirty);
    cancel_use(use);
    assert_int_equal(policy.all[4].state, candidate | dirty);
    assert_int_equal(maarLockResident(rig->allocator, manager, residents[4]), VK_SUCCESS);
    assert_int_equal(policy.all[4].state, dirty);
    assert_int_equal(maarUnlockResident(rig->allocator, manager, residents[4]), VK_SUCCESS);
    read_resident(0);
    assert_int_equal(policy.all[0].state, candidate); /* its copy in host memory is valid */
    const MaarUse writes = begin_use(residents[0], MAAR_ACCESS_WRITE_BIT, 0);
    (void)begin_commands();
    end_use_at(writes, submit_commands());
    assert_int_equal(policy.all[0].state, candidate | dirty);
    close_scene();
}

static void* work(void* data)
{
    assert_int_equal(maarWorkResidency(rig->allocator, manager, 0, data), VK_SUCCESS);
    return NULL;
}

/* Contents of a file are read by a thread of the program, and go to the device in a later call. */
static void table_is_called_by_calls_on_the_manager(void** state)
{
    static uint32_t words[UNIT / sizeof(uint32_t)];
    const VkBufferCreateInfo buffer = rig_buffer_info(UNIT);
    const MaarResidencyPolicy table = table_of(choose_oldest);
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pfnRead = read_words,
        .pSourceUserData = words,
        .pUserData = &policy.all[4],
    };
    MaarUse use = VK_NULL_HANDLE;
    uint32_t done = 0;
    pthread_t thread;
    (void)state;
    open_policy(&table);
    make_residents(4);
    residents[4] = create_resident(&info);
    assert_int_equal(try_use(residents[4], MAAR_ACCESS_READ_BIT, 0, &use), VK_NOT_READY);
    const uint32_t calls = policy.calls;
    assert_int_equal(pthread_create(&thread, NULL, work, &done), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(done, 1);
    assert_int_equal(policy.calls, calls);
    expect_buffer(residents[4], 0);
    assert_true(policy.calls > calls);
    close_scene();
}

/* ---- whose answers count ---- */

static void table_decides_what_makes_room(void** state)
{
    static const uint32_t victims[] = {2, 0, 4};
    const MaarResidencyPolicy table = table_of(choose_given);
    (void)state;
    open_policy(&table);
    make_residents(4);
    for (uint32_t i = 0; i < 3; ++i) {
        policy.answer = residents[victims[i]];
        assert_true(is_in(policy.answer, MAAR_TIER_DEVICE));
        make_resident(4 + i);
        assert_false(is_in(policy.answer, MAAR_TIER_DEVICE));
        policy.answer = VK_NULL_HANDLE;
        settle();
    }
    expect_all(7);
    close_scene();
}

static void oldest_use_by_a_table_evicts_the_oldest(void** state)
{
    const MaarResidencyPolicy table = table_of(choose_oldest);
    (void)state;
    open_policy(&table);
    make_residents(RESIDENTS);
    for (uint32_t round = 0; round < 3; ++round) {
        for (uint32_t i = 0; i < RESIDENTS; ++i) {
            read_resident(i); /* in a circle, nothing is there when it is needed */
            assert_int_equal(answer.restoredSize, UNIT);
        }
    }
    assert_true(policy.answered > 0);
    close_scene();
}

static void random_table_keeps_contents(void** state)
{
    const MaarResidencyPolicy table = table_of(choose_at_random);
    (void)state;
    open_policy(&table);
    make_residents(RESIDENTS);
    uint64_t random = 11;
    for (uint32_t step = 0; step < 300; ++step) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint32_t i = (uint32_t)(random >> 33) % RESIDENTS;
        if (step % 7 == 0) {
            write_buffer(residents[i], i + 1);
        } else {
            expect_buffer(residents[i], i + 1);
        }
        if (step % 3 == 0) {
            update();
        }
    }
    assert_true(policy.answered > 100);
    close_scene(); /* expects that nothing was reported */
}

static void table_that_does_not_know_leaves_it_to_maar(void** state)
{
    const MaarResidencyPolicy table = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_POLICY,
                                       .pUserData = &policy,
                                       .pfnChoose = choose_given};
    (void)state;
    open_policy(&table);
    make_residents(RESIDENTS);
    expect_all(RESIDENTS);
    assert_true(policy.asked > 0);
    assert_int_equal(policy.answered, 0);
    close_scene();
}

/* Makes a resident while the table gives an answer. Returns how many messages came. */
static uint32_t reports_of(uint32_t i, MaarResident given)
{
    const uint32_t before = rig->messages.total;
    policy.answer = given;
    make_resident(i);
    policy.answer = VK_NULL_HANDLE;
    return rig->messages.total - before;
}

static MaarResident find_candidate(bool is_there)
{
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        if (policy.all[i].adds > 0 && is_candidate(&policy.all[i]) == is_there && i != 3) {
            return residents[i];
        }
    }
    fail_msg("no such resident");
    return VK_NULL_HANDLE;
}

/* A handle of nothing, a resident that is pinned and one that is not on the device. */
static void wrong_answers_are_reported_and_lose_nothing(void** state)
{
    const MaarResidencyPolicy table = table_of(choose_given);
    (void)state;
    open_policy(&table);
    make_residents(4);
    const MaarUse pin = begin_use(residents[3], MAAR_ACCESS_READ_BIT, 0);
    assert_int_equal(reports_of(4, (MaarResident)(uintptr_t)0xDEADBEEF), 1);
    assert_int_equal(reports_of(5, (MaarResident)(uintptr_t)0xDEADBEEF), 0); /* not again */
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_POLICY_ANSWER, "pfnChoose");
    assert_int_equal(reports_of(6, find_candidate(true)), 0);
    assert_int_equal(reports_of(7, residents[3]), 1);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_POLICY_ANSWER, "pfnChoose");
    assert_true(is_in(residents[3], MAAR_TIER_DEVICE));
    assert_int_equal(reports_of(8, find_candidate(true)), 0);
    assert_int_equal(reports_of(9, find_candidate(false)), 1);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_POLICY_ANSWER, "pfnChoose");
    cancel_use(pin);
    expect_all(RESIDENTS);
    close_scene();
}

static void table_without_a_choice_is_refused(void** state)
{
    MaarResidencyPolicy table = table_of(NULL);
    MaarResidencyCreateInfo info = manager_info(4 * UNIT, 8 * UNIT);
    MaarResidency made = (MaarResidency)(uintptr_t)1;
    (void)state;
    open_scene(8);
    info.pNext = &table;
    assert_int_equal(maarCreateResidency(rig->allocator, &info, &made),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(made == VK_NULL_HANDLE);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "MaarResidencyPolicy::pfnChoose");
    close_scene();
}

/* ---- hints ---- */

/* A prefetch evicts what the table says is used clearly later, and nothing else. */
static void distances_of_a_table_limit_prefetches(void** state)
{
    MaarResidencyPolicy table = table_of(choose_oldest);
    (void)state;
    table.pfnDistance = say_distance;
    open_policy(&table);
    make_residents(5);
    assert_false(is_in(residents[0], MAAR_TIER_DEVICE));
    assert_int_equal(maarPrefetchResidents(rig->allocator, manager, 1, residents), VK_SUCCESS);
    policy.all[0].distance = 75;
    static const uint64_t others[] = {75, 100, 101, UINT64_MAX};
    for (uint32_t step = 0; step < 3; ++step) {
        assert_false(is_in(residents[0], MAAR_TIER_DEVICE));
        for (uint32_t i = 1; i < 5; ++i) {
            policy.all[i].distance = others[step];
        }
        update();
    }
    assert_true(is_in(residents[0], MAAR_TIER_DEVICE));
    const uint32_t gone = !is_in(residents[1], MAAR_TIER_DEVICE) ? 1 : 2;
    policy.all[0].distance = others[3];
    assert_int_equal(maarPrefetchResidents(rig->allocator, manager, 1, &residents[gone]),
                     VK_SUCCESS);
    update();
    assert_true(is_in(residents[gone], MAAR_TIER_DEVICE));
    close_scene();
}

/* What the last call has named comes first, each resident at its first place. */
static void last_hints_come_first(void** state)
{
    const MaarResidencyUpdate one = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_UPDATE,
                                     .maxCopyCount = 1};
    (void)state;
    open_policy(NULL);
    make_residents(8);
    for (uint32_t i = 4; i < 8; ++i) {
        assert_int_equal(maarEvictResident(rig->allocator, manager, residents[i]), VK_SUCCESS);
    }
    assert_int_equal(maarPrefetchResidents(rig->allocator, manager, 2, &residents[0]), VK_SUCCESS);
    const MaarResident order[] = {residents[2], residents[1], residents[2]};
    assert_int_equal(maarPrefetchResidents(rig->allocator, manager, 3, order), VK_SUCCESS);
    const MaarResident expected[] = {residents[2], residents[1], residents[0]};
    for (uint32_t i = 0; i < 3; ++i) {
        assert_false(is_in(expected[i], MAAR_TIER_DEVICE));
        assert_int_equal(maarUpdateResidency(rig->allocator, manager, &one), VK_SUCCESS);
        assert_true(is_in(expected[i], MAAR_TIER_DEVICE));
    }
    expect_all(8);
    close_scene();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(table_learns_of_residents_uses_and_hints),
        rig_unit_test(table_knows_the_candidates),
        rig_unit_test(table_is_called_by_calls_on_the_manager),
        rig_unit_test(table_decides_what_makes_room),
        rig_unit_test(oldest_use_by_a_table_evicts_the_oldest),
        rig_unit_test(random_table_keeps_contents),
        rig_unit_test(table_that_does_not_know_leaves_it_to_maar),
        rig_unit_test(wrong_answers_are_reported_and_lose_nothing),
        rig_unit_test(table_without_a_choice_is_refused),
        rig_unit_test(distances_of_a_table_limit_prefetches),
        rig_unit_test(last_hints_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
