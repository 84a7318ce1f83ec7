/*
 * Tokens a second in virtual time, for many budgets.
 */
#ifndef MAAR_SAMPLE_MODEL_SPEED_H
#define MAAR_SAMPLE_MODEL_SPEED_H

#include "model_run.h"

#define MODEL_SPEED_POINTS 8u
#define MODEL_SPEED_FIRST 30u /* percent of the model's bytes */
#define MODEL_SPEED_STEP 10u

struct model_speed {
    bool is_unified; /* the device has one memory for itself and the host */
    double roomy;    /* tokens a second with room for everything */
    struct model_speed_point {
        uint32_t percent; /* of the model's bytes: the budget */
        double tokens_per_second[MODEL_WAY_COUNT];
        double restored[MODEL_WAY_COUNT]; /* bytes for each token, over those of the model */
    } points[MODEL_SPEED_POINTS];
};

/* Plays the uses of a text with each budget and each way. The device is simulated. Prints an error
 * and returns false on failure. */
bool model_speed_measure(const struct sample_device* device, const struct model_weights* weights,
                         enum model_mistake mistake, struct model_speed* speed);

/* Checks that Maar is nowhere faster than with room, and nowhere slower than LRU, where there is a
 * bus that copies must pass. Prints an error and returns false if not. */
bool model_speed_check(const struct model_speed* speed);

/* Draws the figures. Prints an error and returns false on failure. */
bool model_speed_draw(const struct model_speed* speed, const struct model_shape* shape,
                      const char* device_name, const char* path);

#endif
