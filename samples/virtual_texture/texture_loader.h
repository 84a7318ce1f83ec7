/*
 * Fills tiles on a separate thread, like a program that reads them from a file.
 * texture_loader_give() adds tiles and texture_loader_take() returns filled ones. The drawing
 * thread calls both, and neither waits.
 */
#ifndef MAAR_SAMPLE_TEXTURE_LOADER_H
#define MAAR_SAMPLE_TEXTURE_LOADER_H

#include "maar/tile_cache.h"

#include <stdbool.h>

struct texture_loader;

/* Creates a loader. `texture` is the number of texels of level 0 in x and in y, `capacity` the most
 * tiles in the loader. Every `skip`-th tile stays unfilled; 0 for none. Returns NULL when out of
 * memory. */
struct texture_loader* texture_loader_start(uint32_t texture, uint32_t capacity, uint32_t skip);

/* Adds tiles to fill. */
void texture_loader_give(struct texture_loader* loader, uint32_t count,
                         const MaarTileUpload* uploads);

/* Takes at most `most` filled tiles. Returns their number. */
uint32_t texture_loader_take(struct texture_loader* loader, uint32_t capacity,
                             MaarTileUpload* uploads);

/* Ends the thread and drops all tiles that were not taken. `loader` may be NULL. */
void texture_loader_stop(struct texture_loader* loader);

#endif
