/*
 * The functions of each file of the simulated driver, and their lookup: sim_dispatch.c.
 */
#ifndef MAAR_SIM_ENTRIES_H
#define MAAR_SIM_ENTRIES_H

#include "backends/simulated/sim.h"

struct sim_entry {
    enum sim_function function;
    PFN_vkVoidFunction pointer;
};

/* Makes an entry. A function whose type differs from Vulkan's does not compile. */
#define SIM_ENTRY(name, implementation)                                                            \
    {                                                                                              \
        SIM_FN_##name, (PFN_vkVoidFunction) _Generic(&(implementation), PFN_##name                 \
                                                     : &(implementation))                          \
    }

/* The functions of each file. A row of SIM_FN_COUNT ends each array. */
extern const struct sim_entry sim_instance_entries[];
extern const struct sim_entry sim_physical_entries[];
extern const struct sim_entry sim_image_format_entries[];
extern const struct sim_entry sim_device_entries[];
extern const struct sim_entry sim_memory_entries[];
extern const struct sim_entry sim_resource_entries[];
extern const struct sim_entry sim_requirements_entries[];
extern const struct sim_entry sim_bind_entries[];
extern const struct sim_entry sim_sparse_entries[];
extern const struct sim_entry sim_external_entries[];
extern const struct sim_entry sim_export_entries[];
extern const struct sim_entry sim_payload_entries[];
extern const struct sim_entry sim_modifier_entries[];
extern const struct sim_entry sim_sync_entries[];
extern const struct sim_entry sim_queue_entries[];
extern const struct sim_entry sim_command_entries[];
extern const struct sim_entry sim_copy_entries[];
extern const struct sim_entry sim_barrier_entries[];
extern const struct sim_entry sim_other_entries[];
extern const struct sim_entry sim_query_entries[];

const char* sim_function_name(enum sim_function function);
int sim_function_traits_of(enum sim_function function);
VkResult sim_function_usual_failure(enum sim_function function);
/* Returns the function of a name or an alias; SIM_NO_MATCH when the name is unknown. */
int sim_function_find(const char* name);
PFN_vkVoidFunction VKAPI_CALL sim_get_device_proc_addr(VkDevice device, const char* name);

#endif
