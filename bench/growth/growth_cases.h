/*
 * The cases of each file. Each list ends with an entry without a name.
 */
#ifndef MAAR_BENCH_GROWTH_CASES_H
#define MAAR_BENCH_GROWTH_CASES_H

#include "growth.h"

extern const struct growth_case growth_access_cases[];
extern const struct growth_case growth_array_cases[];
extern const struct growth_case growth_binding_cases[];
extern const struct growth_case growth_buffer_cache_cases[];
extern const struct growth_case growth_cuda_cases[];
extern const struct growth_case growth_cuda_range_cases[];
extern const struct growth_case growth_draining_cases[];
extern const struct growth_case growth_handle_cases[];
extern const struct growth_case growth_handoff_cases[];
extern const struct growth_case growth_hip_cases[];
extern const struct growth_case growth_memory_cases[];
extern const struct growth_case growth_move_cases[];
extern const struct growth_case growth_object_cases[];
extern const struct growth_case growth_ordered_cases[];
extern const struct growth_case growth_page_cases[];
extern const struct growth_case growth_page_move_cases[];
extern const struct growth_case growth_pending_cases[];
extern const struct growth_case growth_plan_cases[];
extern const struct growth_case growth_pool_cases[];
extern const struct growth_case growth_range_cases[];
extern const struct growth_case growth_reservation_cases[];
extern const struct growth_case growth_resident_cases[];
extern const struct growth_case growth_sharing_cases[];
extern const struct growth_case growth_simulated_cases[];
extern const struct growth_case growth_slice_cases[];
extern const struct growth_case growth_sparse_image_cases[];
extern const struct growth_case growth_stitched_cases[];
extern const struct growth_case growth_tile_cache_cases[];
extern const struct growth_case growth_touch_cases[];
extern const struct growth_case growth_transient_cases[];
extern const struct growth_case growth_watch_cases[];

#endif
