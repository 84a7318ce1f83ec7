/*
 * Pages of the host's memory.
 */
#ifndef MAAR_CORE_PORT_PAGE_H
#define MAAR_CORE_PORT_PAGE_H

#include <stddef.h>

/* Returns the page size in bytes, a power of two. */
size_t maar_port_page_size(void);

#endif
