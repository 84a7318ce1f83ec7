/*
 * What the store knows of Maar's own files.
 */
#ifndef MAAR_CORE_RESIDENCY_FILE_STORE_H
#define MAAR_CORE_RESIDENCY_FILE_STORE_H

#include "maar/stores.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether a table is of a file that maarOpenFileStore has opened, and its transfers may be the
 * system's. Returns the file as the system knows it. */
bool maar_file_store_has_ring(const MaarFileStore* store, intptr_t* file);

#endif
