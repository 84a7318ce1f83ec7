/*
 * The pieces of a copy: see store_state.h.
 */
#ifndef MAAR_CORE_RESIDENCY_STORE_COPY_H
#define MAAR_CORE_RESIDENCY_STORE_COPY_H

#include "core/residency/store_state.h"

/* Returns the bytes of the file that a copy takes; 0 if there cannot be so many. */
uint64_t maar_copy_extent_size(const struct maar_store* store, uint64_t length);
/* Returns the piece of an extent at an offset, with buffers of a size. */
struct maar_piece maar_copy_piece(const struct maar_store* store, uint64_t length, uint64_t offset,
                                  size_t buffer_size);
/* Makes the head of a write, with the checksums. Reads all bytes. */
void maar_copy_make_head(struct maar_store_request* request);
/* Fills the buffer with what a write has at a piece. */
void maar_copy_fill(const struct maar_store_request* request, const struct maar_piece* piece,
                    uint8_t* buffer);
/* Takes a piece of a read out of the buffer. */
void maar_copy_take(struct maar_store_request* request, const struct maar_piece* piece,
                    const uint8_t* buffer);
/* Whether what was read is the copy that was asked for. Reads all bytes. */
bool maar_copy_is_right(const struct maar_store_request* request);
/* Transfers a piece on this thread. */
bool maar_copy_transfer(const struct maar_store* store, const struct maar_store_request* request,
                        const struct maar_piece* piece, uint8_t* buffer);

#endif
