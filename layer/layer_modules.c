/*
 * Which module an address belongs to. layer/layer_modules.h describes the module.
 *
 * The layer asks the dynamic linker once for each page of code from which it is called, which it
 * remembers in a table of pages. Two threads may ask for the same module at once; a reader ignores
 * the second record.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif

#include "layer/layer_modules.h"

#include <link.h>
#include <string.h>
#include <unistd.h>

#include "core/port_atomic.h"
#include "layer/layer_capture.h"

enum {
    PAGE_SLOTS = 512, /* pages of code that call the layer; two in one slot are looked up again */
    PAGE_SHIFT = 12,
    MODULE_SLOTS = 256 /* modules that are recorded; of more, some are recorded again */
};

static maar_atomic64 page_slots[PAGE_SLOTS];     /* page + 1, or 0 */
static maar_atomic64 module_slots[MODULE_SLOTS]; /* the first address of a module, or 0 */

struct module_search {
    uint64_t address;
    uint64_t begin;
    uint64_t end;
    char name[1024];
};

const char* maar_layer_program_path(char* out, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", out, size - 1);
    out[length > 0 ? length : 0] = '\0';
    return out;
}

/* Looks at one module. Returns 1, which ends the search, if it contains the address. */
static int look_at_module(struct dl_phdr_info* info, size_t size, void* context)
{
    struct module_search* const search = context;
    uint64_t begin = UINT64_MAX;
    uint64_t end = 0;
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; ++i) {
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            const uint64_t first = (uint64_t)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            const uint64_t behind = first + info->dlpi_phdr[i].p_memsz;
            begin = first < begin ? first : begin;
            end = behind > end ? behind : end;
        }
    }
    if (search->address < begin || search->address >= end) {
        return 0;
    }
    search->begin = begin;
    search->end = end;
    if (info->dlpi_name != NULL && info->dlpi_name[0] != '\0') {
        const size_t length = strlen(info->dlpi_name);
        const size_t most = sizeof search->name - 1;
        memcpy(search->name, info->dlpi_name, length < most ? length : most);
    } else {
        (void)maar_layer_program_path(search->name, sizeof search->name);
    }
    return 1;
}

static void record_module(uint64_t address)
{
    struct module_search search = {.address = address};
    if (dl_iterate_phdr(look_at_module, &search) != 1) {
        return; /* code that the program made itself */
    }
    maar_atomic64* const slot = &module_slots[(search.begin >> PAGE_SHIFT) % MODULE_SLOTS];
    if (maar_atomic64_exchange(slot, search.begin) == search.begin) {
        return;
    }
    const MaarCaptureModule module = {.begin = search.begin, .end = search.end};
    const char* const texts[] = {search.name};
    maar_layer_write_global(MAAR_CAPTURE_KIND_MODULE, &module, sizeof module, texts, 1);
}

void maar_layer_record_module(uint64_t address)
{
    const uint64_t page = (address >> PAGE_SHIFT) + 1;
    maar_atomic64* const slot = &page_slots[page % PAGE_SLOTS];
    if (maar_atomic64_load(slot) != page) {
        maar_atomic64_store(slot, page);
        record_module(address);
    }
}

void maar_layer_forget_modules(void)
{
    for (size_t i = 0; i < PAGE_SLOTS; ++i) {
        maar_atomic64_store(&page_slots[i], 0);
    }
    for (size_t i = 0; i < MODULE_SLOTS; ++i) {
        maar_atomic64_store(&module_slots[i], 0);
    }
}
