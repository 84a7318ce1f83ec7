/*
 * Copies, piece by piece: see store_state.h.
 */
#include "core/residency/store_copy.h"

#include "core/bits.h"
#include "core/residency/checksum.h"

#include <stddef.h>
#include <string.h>

#define EXTENT_MAGIC 0x31544E455852414Dull /* MARXENT1 */

uint64_t maar_copy_extent_size(const struct maar_store* store, uint64_t length)
{
    return length > store->file.size
               ? 0
               : maar_align_up(length + sizeof(struct maar_extent_head), store->file.alignment);
}

struct maar_piece maar_copy_piece(const struct maar_store* store, uint64_t length, uint64_t offset,
                                  size_t buffer_size)
{
    const uint64_t left = maar_copy_extent_size(store, length) - offset;
    struct maar_piece piece = {.offset = offset};
    piece.size = left < buffer_size ? (size_t)left : buffer_size;
    piece.head = offset == 0 ? sizeof(struct maar_extent_head) : 0;
    piece.copied = offset == 0 ? 0 : offset - sizeof(struct maar_extent_head);
    const uint64_t rest = length - (piece.copied < length ? piece.copied : length);
    const size_t room = piece.size - piece.head;
    piece.bytes = rest < room ? (size_t)rest : room;
    return piece;
}

static uint64_t head_checksum(const struct maar_extent_head* head)
{
    return maar_checksum(head, offsetof(struct maar_extent_head, checksum));
}

void maar_copy_make_head(struct maar_store_request* request)
{
    const struct maar_extent* extent = &request->extent;
    request->head = (struct maar_extent_head){
        .magic = EXTENT_MAGIC,
        .offset = extent->offset,
        .length = extent->length,
        .identity = extent->identity,
        .serial = extent->serial,
        .contents = maar_checksum(request->source, (size_t)extent->length),
    };
    request->head.checksum = head_checksum(&request->head);
}

void maar_copy_fill(const struct maar_store_request* request, const struct maar_piece* piece,
                    uint8_t* buffer)
{
    if (piece->head != 0) {
        memcpy(buffer, &request->head, sizeof request->head);
    }
    memcpy(buffer + piece->head, (const uint8_t*)request->source + piece->copied, piece->bytes);
    memset(buffer + piece->head + piece->bytes, 0, piece->size - piece->head - piece->bytes);
}

void maar_copy_take(struct maar_store_request* request, const struct maar_piece* piece,
                    const uint8_t* buffer)
{
    if (piece->head != 0) {
        memcpy(&request->head, buffer, sizeof request->head);
    }
    memcpy((uint8_t*)request->target + piece->copied, buffer + piece->head, piece->bytes);
}

bool maar_copy_is_right(const struct maar_store_request* request)
{
    const struct maar_extent_head* head = &request->head;
    const struct maar_extent* extent = &request->extent;
    return head->magic == EXTENT_MAGIC && head->checksum == head_checksum(head) &&
           head->offset == extent->offset && head->length == extent->length &&
           head->identity == extent->identity && head->serial == extent->serial &&
           head->contents == maar_checksum(request->target, (size_t)extent->length);
}

bool maar_copy_transfer(const struct maar_store* store, const struct maar_store_request* request,
                        const struct maar_piece* piece, uint8_t* buffer)
{
    const PFN_maarFileTransfer transfer =
        request->source != NULL ? store->file.pfnWrite : store->file.pfnRead;
    return transfer(store->file.pUserData, request->extent.offset + piece->offset, piece->size,
                    buffer) == VK_SUCCESS;
}
