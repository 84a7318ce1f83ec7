/*
 * Maps names to functions. As in real drivers, a program receives a function only if it has enabled
 * the version or the extension that provides the function.
 */
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_extension.h"

#include <string.h>

struct sim_function_row {
    const char* name;
    size_t length;
    uint32_t since;
    enum sim_extension extension;
    int traits;
    VkResult usual;
};

static const struct sim_function_row sim_function_rows[SIM_FN_COUNT] = {
#define SIM_ROW(name, since, extension, traits, usual)                                             \
    {#name, sizeof(#name) - 1, since, extension, traits, usual},
    SIM_FUNCTIONS(SIM_ROW)
#undef SIM_ROW
};

struct sim_alias_row {
    const char* name;
    size_t length;
    enum sim_function function;
    enum sim_extension extension;
};

static const struct sim_alias_row sim_alias_rows[] = {
#define SIM_ROW(alias, name, extension) {#alias, sizeof(#alias) - 1, SIM_FN_##name, extension},
    SIM_ALIASES(SIM_ROW)
#undef SIM_ROW
};

enum {
    SIM_ALIAS_COUNT = sizeof(sim_alias_rows) / sizeof(sim_alias_rows[0]),
    SIM_FIRST_INSTANCE_FUNCTION = SIM_FN_vkDestroyInstance,
    SIM_FIRST_DEVICE_FUNCTION = SIM_FN_vkGetDeviceProcAddr,
};

static const struct sim_entry* const sim_entry_tables[] = {
    sim_instance_entries, sim_physical_entries, sim_image_format_entries, sim_device_entries,
    sim_memory_entries,   sim_resource_entries, sim_requirements_entries, sim_bind_entries,
    sim_sync_entries,     sim_queue_entries,    sim_command_entries,      sim_other_entries,
    sim_sparse_entries,   sim_external_entries, sim_export_entries,       sim_payload_entries,
    sim_modifier_entries, sim_copy_entries,     sim_barrier_entries,      sim_query_entries,
};

const char* sim_function_name(enum sim_function function)
{
    return sim_function_rows[function].name;
}

int sim_function_traits_of(enum sim_function function)
{
    return sim_function_rows[function].traits;
}

VkResult sim_function_usual_failure(enum sim_function function)
{
    return sim_function_rows[function].usual;
}

/* A loader queries hundreds of names, and most of them already differ in length. */
static int sim_find_by_name(const char* name, const struct sim_alias_row** alias)
{
    const size_t length = strlen(name);
    *alias = NULL;
    for (int i = 0; i < SIM_FN_COUNT; i++) {
        const struct sim_function_row* row = &sim_function_rows[i];
        if (row->length == length && memcmp(row->name, name, length) == 0) {
            return i;
        }
    }
    for (int i = 0; i < SIM_ALIAS_COUNT; i++) {
        const struct sim_alias_row* row = &sim_alias_rows[i];
        if (row->length == length && memcmp(row->name, name, length) == 0) {
            *alias = row;
            return (int)row->function;
        }
    }
    return SIM_NO_MATCH;
}

int sim_function_find(const char* name)
{
    const struct sim_alias_row* alias = NULL;
    return sim_find_by_name(name, &alias);
}

static PFN_vkVoidFunction sim_pointer(int function)
{
    for (size_t i = 0; i < sizeof(sim_entry_tables) / sizeof(sim_entry_tables[0]); i++) {
        for (const struct sim_entry* entry = sim_entry_tables[i]; entry->function != SIM_FN_COUNT;
             entry++) {
            if ((int)entry->function == function) {
                return entry->pointer;
            }
        }
    }
    return NULL;
}

static bool sim_is_enabled(int function, const struct sim_alias_row* alias, uint32_t minor,
                           uint64_t extensions)
{
    if (alias != NULL) {
        return (extensions >> alias->extension & 1u) != 0;
    }
    const struct sim_function_row* row = &sim_function_rows[function];
    if (row->since != 99) {
        return row->since <= minor;
    }
    return (extensions >> row->extension & 1u) != 0;
}

PFN_vkVoidFunction VKAPI_CALL sim_get_device_proc_addr(VkDevice device, const char* name)
{
    const struct sim_device* d = SIM_DEVICE(device);
    const struct sim_alias_row* alias = NULL;
    const int function = sim_find_by_name(name, &alias);
    if (function < SIM_FIRST_DEVICE_FUNCTION ||
        !sim_is_enabled(function, alias, d->api_minor, d->extensions)) {
        return NULL;
    }
    return sim_pointer(function);
}

PFN_vkVoidFunction VKAPI_CALL maarSimulatedGetInstanceProcAddr(VkInstance instance,
                                                               const char* pName)
{
    const struct sim_instance* self = (const struct sim_instance*)(const void*)instance;
    const struct sim_alias_row* alias = NULL;
    const int function = sim_find_by_name(pName, &alias);
    if (function == SIM_NO_MATCH) {
        return NULL;
    }
    if (function < SIM_FIRST_INSTANCE_FUNCTION) {
        return sim_pointer(function);
    }
    if (self == NULL) {
        return NULL;
    }
    if (function < SIM_FIRST_DEVICE_FUNCTION) {
        return sim_is_enabled(function, alias, self->api_minor, self->extensions)
                   ? sim_pointer(function)
                   : NULL;
    }
    /* This call returns a device's function if any device of the instance could enable the
     * function. */
    uint64_t possible = 0;
    for (uint32_t i = 0; i < self->gpu_count; i++) {
        possible |= self->gpus[i]->extensions;
    }
    return sim_is_enabled(function, alias, self->api_minor, possible) ? sim_pointer(function)
                                                                      : NULL;
}
