/*
 * Tables from the loader's dispatch keys to what the layer keeps. layer/layer_registry.h describes
 * the module.
 *
 * A table is a chain of small hash tables with linear probing. A slot that was once used stays a
 * link of the probe sequence: a removed key becomes REMOVED, which a later key may replace. A
 * reader looks only for the key of a handle that lives, so its slot does not change meanwhile; the
 * value is stored before the key.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "layer/layer_registry.h"

#include <pthread.h>
#include <string.h>

#include "core/host_memory.h"

enum { SLOT_COUNT = 64 }; /* a power of two; most programs have one instance and one device */

static char removed_key;
#define REMOVED ((void*)&removed_key)

struct key_slot {
    maar_atomic_pointer key;
    maar_atomic_pointer value;
};

struct key_table {
    struct key_slot slots[SLOT_COUNT];
    maar_atomic_pointer more; /* struct key_table*, or NULL */
};

static struct key_table instance_table;
static struct key_table device_table;
static uint32_t instance_count;                                   /* guarded by the lock */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER; /* guards changes of tables */

static void* key_of(const void* handle)
{
    void* key;
    memcpy(&key, handle, sizeof key);
    return key;
}

static size_t first_slot(const void* key)
{
    const uint64_t mixed = ((uint64_t)(uintptr_t)key >> 4) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(mixed >> 32) % SLOT_COUNT;
}

static struct key_slot* find_slot(struct key_table* table, const void* key)
{
    for (; table != NULL; table = maar_atomic_pointer_load(&table->more)) {
        const size_t first = first_slot(key);
        for (size_t i = 0; i < SLOT_COUNT; ++i) {
            struct key_slot* const slot = &table->slots[(first + i) % SLOT_COUNT];
            const void* const found = maar_atomic_pointer_load(&slot->key);
            if (found == key) {
                return slot;
            }
            if (found == NULL) {
                break;
            }
        }
    }
    return NULL;
}

static struct key_slot* find_free_slot(struct key_table* table, const void* key)
{
    const size_t first = first_slot(key);
    for (size_t i = 0; i < SLOT_COUNT; ++i) {
        struct key_slot* const slot = &table->slots[(first + i) % SLOT_COUNT];
        const void* const found = maar_atomic_pointer_load(&slot->key);
        if (found == NULL || found == REMOVED) {
            return slot;
        }
    }
    return NULL;
}

/* The caller holds the lock. */
static bool add_key(struct key_table* table, void* key, void* value)
{
    struct key_slot* slot = NULL;
    if (find_slot(table, key) != NULL) {
        return false;
    }
    while ((slot = find_free_slot(table, key)) == NULL) {
        struct key_table* more = maar_atomic_pointer_load(&table->more);
        if (more == NULL) {
            more = maar_host_calloc(NULL, 1, sizeof *more);
            if (more == NULL) {
                return false;
            }
            maar_atomic_pointer_store(&table->more, more);
        }
        table = more;
    }
    maar_atomic_pointer_store(&slot->value, value);
    maar_atomic_pointer_store(&slot->key, key);
    return true;
}

/* The caller holds the lock. */
static bool remove_key(struct key_table* table, const void* key)
{
    struct key_slot* const slot = find_slot(table, key);
    if (slot != NULL) {
        maar_atomic_pointer_store(&slot->key, REMOVED);
    }
    return slot != NULL;
}

static void* find_value(struct key_table* table, const void* handle)
{
    struct key_slot* const slot = find_slot(table, key_of(handle));
    return slot != NULL ? maar_atomic_pointer_load(&slot->value) : NULL;
}

struct layer_instance* maar_layer_instance_of(const void* handle)
{
    return find_value(&instance_table, handle);
}

struct layer_device* maar_layer_device_of(const void* handle)
{
    return find_value(&device_table, handle);
}

bool maar_layer_add_instance(const void* handle, struct layer_instance* instance)
{
    (void)pthread_mutex_lock(&registry_lock);
    const bool added = add_key(&instance_table, key_of(handle), instance);
    instance_count += added ? 1 : 0;
    (void)pthread_mutex_unlock(&registry_lock);
    return added;
}

bool maar_layer_add_device(const void* handle, struct layer_device* device)
{
    (void)pthread_mutex_lock(&registry_lock);
    const bool added = add_key(&device_table, key_of(handle), device);
    (void)pthread_mutex_unlock(&registry_lock);
    return added;
}

void maar_layer_remove_instance(const void* handle)
{
    (void)pthread_mutex_lock(&registry_lock);
    instance_count -= remove_key(&instance_table, key_of(handle)) ? 1 : 0;
    (void)pthread_mutex_unlock(&registry_lock);
}

void maar_layer_remove_device(const void* handle)
{
    (void)pthread_mutex_lock(&registry_lock);
    (void)remove_key(&device_table, key_of(handle));
    (void)pthread_mutex_unlock(&registry_lock);
}

void maar_layer_each_device(void (*visit)(struct layer_device* device))
{
    for (struct key_table* table = &device_table; table != NULL;
         table = maar_atomic_pointer_load(&table->more)) {
        for (size_t i = 0; i < SLOT_COUNT; ++i) {
            const void* const key = maar_atomic_pointer_load(&table->slots[i].key);
            if (key != NULL && key != REMOVED) {
                visit(maar_atomic_pointer_load(&table->slots[i].value));
            }
        }
    }
}

uint32_t maar_layer_instance_count(void)
{
    (void)pthread_mutex_lock(&registry_lock);
    const uint32_t count = instance_count;
    (void)pthread_mutex_unlock(&registry_lock);
    return count;
}

void maar_layer_registry_hold(void)
{
    (void)pthread_mutex_lock(&registry_lock);
}

void maar_layer_registry_release(void)
{
    (void)pthread_mutex_unlock(&registry_lock);
}

static void clear_table(struct key_table* table)
{
    struct key_table* more = maar_atomic_pointer_load(&table->more);
    maar_atomic_pointer_store(&table->more, NULL);
    while (more != NULL) {
        struct key_table* const next = maar_atomic_pointer_load(&more->more);
        maar_host_free(NULL, more);
        more = next;
    }
}

void maar_layer_registry_clear(void)
{
    clear_table(&instance_table);
    clear_table(&device_table);
}
