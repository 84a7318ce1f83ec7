/*
 * Records budgets, and the facts of a device.
 */
#ifndef MAAR_LAYER_BUDGET_H
#define MAAR_LAYER_BUDGET_H

#include "layer/layer_state.h"

/* Whether a list of extensions has a name. */
bool maar_layer_is_listed(const char* const* names, uint32_t count, const char* name);

/* Whether the physical device has an extension. */
bool maar_layer_has_extension(const struct layer_device* device, const char* name);

/* Records the budgets of a device if the last time is long ago. */
void maar_layer_record_budget(struct layer_device* device);

/* Records the device, its heaps and its memory types, and notes what the layer needs to know. */
void maar_layer_record_device(struct layer_device* device);

#endif
