/*
 * Which codes the public functions answered while their calls failed.
 */
#include "tests/fault/fault_answers.h"

enum { MOST_ANSWERS = 8192 };

static struct fault_answer noted[MOST_ANSWERS];
static uint32_t noted_count;

static bool is_noted(const struct fault_answer* wanted)
{
    for (uint32_t i = 0; i < noted_count; ++i) {
        const struct fault_answer* const answer = &noted[i];
        if (strcmp(answer->function, wanted->function) == 0 &&
            (wanted->code == VK_SUCCESS || answer->code == wanted->code) &&
            (wanted->driver == NULL ||
             (answer->driver != NULL && strcmp(answer->driver, wanted->driver) == 0))) {
            return true;
        }
    }
    return false;
}

void fault_note_answer(const char* function, VkResult code, const char* driver)
{
    const struct fault_answer answer = {.function = function, .code = code, .driver = driver};
    if (code != VK_SUCCESS && !is_noted(&answer)) {
        assert_true(noted_count < MOST_ANSWERS);
        noted[noted_count++] = answer;
    }
}

void fault_expect_answers(const struct fault_answer* list, size_t count)
{
    uint32_t missing = 0;
    for (size_t i = 0; i < count; ++i) {
        if (!is_noted(&list[i])) {
            ++missing;
            print_error("%s did not answer %d%s%s\n", list[i].function, (int)list[i].code,
                        list[i].driver != NULL ? " for " : "",
                        list[i].driver != NULL ? list[i].driver : "");
        }
    }
    assert_int_equal(missing, 0);
}
