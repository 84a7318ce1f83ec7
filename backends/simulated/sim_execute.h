/*
 * The execution of recorded commands on real bytes: sim_execute.c and sim_execute_image.c.
 */
#ifndef MAAR_SIM_EXECUTE_H
#define MAAR_SIM_EXECUTE_H

#include "backends/simulated/sim_bytes.h"
#include "backends/simulated/sim_layout.h"
#include "backends/simulated/sim_record.h"

/* One command that is being executed. */
struct sim_execution {
    struct sim_device* device;
    enum sim_function function;
    struct sim_known* queue; /* its clock; NULL: time stands still */
    struct sim_findings findings;
};

/* Executes a recording of a submission. Returns false when the host has no pages for the bytes.
 * Lock held. */
bool sim_execute(struct sim_submission* submission, const struct sim_recording* recording);

/* Returns a live buffer or image with memory; records a violation and returns NULL otherwise. */
struct sim_resource* sim_execution_resource(struct sim_execution* e, uint64_t handle,
                                            enum sim_kind kind);
/* Records that a region lies outside its resource. */
void sim_execution_outside(struct sim_execution* e, const char* what);
/* Returns whether [at, at + size) lies in the buffer. */
bool sim_buffer_has(const struct sim_resource* buffer, VkDeviceSize at, VkDeviceSize size);

/* The commands on images. */
void sim_execute_buffer_image(struct sim_execution* e, const struct sim_op_copy_buffer_image* op);
void sim_execute_copy_image(struct sim_execution* e, const struct sim_op_copy_image* op);
void sim_execute_clear(struct sim_execution* e, const struct sim_op_clear* op);
/* Executes a barrier of an image: applies its scopes, moves its layout, and discards the contents
 * if the old layout is undefined. */
void sim_execute_image_barrier(struct sim_execution* e, const struct sim_barrier* barrier);

#endif
