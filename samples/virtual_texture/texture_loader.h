/*
 * Fills tiles on a thread of its own, as a program would that reads them from a file. Tiles go in
 * by texture_loader_give and come out by texture_loader_take, both on the thread that draws,
 * neither of which waits.
 */
#ifndef MAAR_SAMPLE_TEXTURE_LOADER_H
#define MAAR_SAMPLE_TEXTURE_LOADER_H

#include "maar/tile_cache.h"

#include <stdbool.h>

struct texture_loader;

/* texture: texels of level 0 in x and in y; capacity: most tiles in it at a time; skip: leave every
 * so many-th tile as it is, 0 for none. NULL when out of memory. */
struct texture_loader* texture_loader_start(uint32_t texture, uint32_t capacity, uint32_t skip);

/* Tiles to be filled. */
void texture_loader_give(struct texture_loader* loader, uint32_t count,
                         const MaarTileUpload* uploads);

/* Tiles that have been filled: at most so many; returns how many. */
uint32_t texture_loader_take(struct texture_loader* loader, uint32_t capacity,
                             MaarTileUpload* uploads);

/* Ends the thread; what was not taken is forgotten. May be NULL. */
void texture_loader_stop(struct texture_loader* loader);

#endif
