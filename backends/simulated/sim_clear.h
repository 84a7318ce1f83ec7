/*
 * The bytes that a clear writes: sim_clear.c.
 */
#ifndef MAAR_SIM_CLEAR_H
#define MAAR_SIM_CLEAR_H

#include "backends/simulated/sim.h"

enum { SIM_LARGEST_BLOCK = 32 };

/* Converts a clear value to the format. Returns false if the format cannot be cleared: blocks of
 * texels, and planes. */
bool sim_clear_color(VkFormat format, const VkClearColorValue* value,
                     uint8_t block[SIM_LARGEST_BLOCK]);
void sim_clear_depth(VkFormat format, float depth, uint8_t block[SIM_LARGEST_BLOCK]);

#endif
