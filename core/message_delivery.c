/*
 * Names message identifiers, finds the first broken rule, and calls the message callback. No other
 * file calls it.
 */
#include "core/message_delivery.h"

#include "core/lock_rank.h"
#include "core/message_list.h"

#define MAAR_MESSAGE_NAME(name) {MAAR_MESSAGE_ID_##name, #name},

static const struct {
    MaarMessageId id;
    const char* name;
} message_names[] = {MAAR_MESSAGE_LIST(MAAR_MESSAGE_NAME)};

const char* maar_message_name(MaarMessageId id)
{
    for (size_t i = 0; i < sizeof message_names / sizeof message_names[0]; ++i) {
        if (message_names[i].id == id) {
            return message_names[i].name;
        }
    }
    return "UNKNOWN";
}

struct maar_fault maar_find_fault(const struct maar_rule* rules)
{
    while (rules->sentence != NULL && !rules->broken) {
        ++rules;
    }
    return maar_fault(rules->id, rules->sentence);
}

void maar_message_deliver(const struct maar_reporter* reporter, MaarMessageSeverity severity,
                          MaarMessageId id, const char* function, const char* text)
{
    if (reporter->message == NULL) {
        return;
    }
    const MaarMessage message = {
        .sType = MAAR_STRUCTURE_TYPE_MESSAGE,
        .severity = severity,
        .id = id,
        .pIdName = maar_message_name(id),
        .pFunction = function,
        .pText = text,
    };
    maar_lock_rank_expect_none();
    reporter->message(reporter->user_data, &message);
}
