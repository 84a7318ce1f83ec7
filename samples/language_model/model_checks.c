/*
 * Checks results; see model_checks.h.
 */
#include "model_checks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REFERENCE_TOKENS 4u

uint32_t model_checks_differences(const struct model_shape* shape, const struct model_text* text,
                                  const struct model_text* other)
{
    uint32_t different = 0;
    for (uint32_t i = shape->prompt; i < shape->positions; ++i) {
        const size_t at = (size_t)(i - shape->prompt) * MODEL_WORDS;
        different += text->tokens[i] != other->tokens[i] ||
                             memcmp(text->logits + at, other->logits + at,
                                    MODEL_WORDS * sizeof(text->logits[0])) != 0
                         ? 1
                         : 0;
    }
    return different;
}

bool model_checks_reference(const struct model_weights* weights, const struct model_text* text,
                            double* distance)
{
    const uint32_t prompt = weights->shape.prompt;
    const size_t count = (size_t)REFERENCE_TOKENS * MODEL_WORDS;
    double* const logits = calloc(count, sizeof(*logits));
    double greatest = 0.0;
    double most = 0.0;
    bool done =
        sample_has_memory(logits) && model_reference_logits(weights, text->tokens, prompt - 1,
                                                            prompt - 1 + REFERENCE_TOKENS, logits);
    for (size_t i = 0; done && i < count; ++i) {
        greatest = fmax(greatest, fabs(logits[i]));
        most = fmax(most, fabs(logits[i] - (double)text->logits[i]));
    }
    *distance = most / greatest;
    free(logits);
    return done;
}

bool model_checks_manager(const struct model_result* result, const char* name)
{
    const MaarTierInfo* const device = &result->info.tiers[MAAR_TIER_DEVICE];
    if (device->peakSize > device->budget) {
        sample_complain("%s: the device held %" PRIu64 " bytes, with a budget of %" PRIu64, name,
                        device->peakSize, device->budget);
        return false;
    }
    if (result->info.pinCount > 0 || result->info.lostCount > 0) {
        sample_complain("%s: %u pins are left, %" PRIu64 " residents were lost", name,
                        result->info.pinCount, result->info.lostCount);
        return false;
    }
    return true;
}
