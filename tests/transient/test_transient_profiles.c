/*
 * Transient heaps on every device profile, with all features that the device offers and without
 * them. Everything lies inside its memory, and there is no hazard.
 */
#include <stdio.h>

#include "tests/transient/frame_player.h"

enum { MOST_PROFILES = 128, NAME_SIZE = 80 };

static struct rig rig;
static struct graph_maker maker;
static char names[MOST_PROFILES][NAME_SIZE];
static uint32_t name_count;

/* Reads the names of the profiles from the table of memory types, which lists all of them. */
static int read_names(void** state)
{
    (void)state;
    char line[1024];
    FILE* file = fopen(MAAR_SOURCE_DIR "/tests/profiles/expected_types.csv", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, " ,\r\n")] = '\0';
        if (line[0] != '\0' && line[0] != '#' && strcmp(line, "profile") != 0) {
            assert_true(name_count < MOST_PROFILES && strlen(line) < NAME_SIZE);
            memcpy(names[name_count++], line, strlen(line) + 1);
        }
    }
    (void)fclose(file);
    assert_true(name_count >= 40);
    return 0;
}

static void play_on(uint32_t profile, VkFlags off, uint32_t copies)
{
    const struct rig_setup setup = {
        .profile = graph_profile(rig_profile_file(names[profile])),
        .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT,
        .off = off,
        .count_host = true,
    };
    struct rig_random random = {profile};
    struct player player;
    rig_start(&rig, &setup);
    graph_randomize(&maker, &random, 2, 2, 8, 12);
    const MaarTransientHeapCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
        .copyCount = copies,
        .pGraph = &maker.graph,
        .planNodeLimit = 500,
    };
    MaarTransientHeap heap = VK_NULL_HANDLE;
    VkResult result = maarCreateTransientHeap(rig.allocator, &info, &heap);
    if (result != VK_SUCCESS) {
        fail_msg("%s: no heap: %d, \"%s\"", names[profile], (int)result, rig.messages.last);
    }
    player_open(&player, &rig, heap, &maker);
    player_run(&player, 0, 5, 1);
    if (hazards_finding_count(player.hazards) > 0) {
        fail_msg("%s: %s", names[profile], hazards_finding(player.hazards, 0));
    }
    player_close(&player);
    maarDestroyTransientHeap(rig.allocator, heap);
    rig_check(&rig);
    rig_close(&rig);
}

static void every_profile_serves_heaps(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < name_count; ++i) {
        play_on(i, 0, 1 + i % 3);
        play_on(i, RIG_OFF_ALL, 1);
    }
    print_message("%u profiles\n", name_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_profile_serves_heaps),
    };
    return cmocka_run_group_tests(tests, read_names, NULL);
}
