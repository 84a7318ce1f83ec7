/*
 * A HIP runtime that the program has loaded already, under a name of its own, as PyTorch's wheels
 * do: Maar takes it before any that the system has. Over the FAKE HIP runtime and a simulated
 * device.
 */
#include "maar/hip.h"
#include "tests/fakes/fake_fixture.h"

static void loaded_runtime_is_taken_first(void** state)
{
    const struct rig_setup setup = {.sharing = rig_sharing_everything()};
    const MaarHipCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_HIP_CREATE_INFO,
        .deviceOrdinalPlusOne = 1,
    };
    struct maar_hip_runtime runtime;
    struct rig* rig = rig_new();
    MaarHip hip = VK_NULL_HANDLE;
    (void)state;
    rig_open(rig, &setup);
    rig_make_allocator(rig);
    const struct fake_control* fake = fake_load_hip(MAAR_FAKE_HIP_OF_A_WHEEL, &runtime);
    const VkResult result = maarCreateHip(rig->allocator, &info, &hip);
    if (result != VK_SUCCESS) {
        fail_msg("the loaded runtime is not found: %s", rig->messages.last);
    }
    assert_int_equal(fake->calls("hipInit"), 1);
    MaarHipInfo seen = {.sType = MAAR_STRUCTURE_TYPE_HIP_INFO};
    assert_int_equal(maarGetHipInfo(hip, &seen), VK_SUCCESS);
    assert_string_equal(seen.deviceName, "FAKE HIP device (Maar's tests; not a GPU)");
    maarDestroyHip(hip);
    /* A caller who names a library gets that one. */
    MaarHipCreateInfo named = info;
    named.pLibraryPath = "/nowhere/libamdhip64.so";
    assert_int_equal(maarCreateHip(rig->allocator, &named, &hip), VK_ERROR_INITIALIZATION_FAILED);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_PEER_MISSING, "/nowhere/libamdhip64.so");
    fake_expect_clean_end(fake);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(loaded_runtime_is_taken_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
