/*
 * Reservations for the cases of paging: see growth_reservation.h.
 */
#include "growth_reservation.h"

#include "growth_steps.h"

MaarReservation growth_create_reservation(struct growth* growth, uint32_t page_count)
{
    const VkBufferCreateInfo buffer = growth_buffer(GROWTH_PAGE * page_count);
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = MAAR_RESERVATION_CREATE_ALIASED_BIT | MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT,
        .pBufferInfo = &buffer,
    };
    MaarReservation reservation = VK_NULL_HANDLE;
    GROWTH_EXPECT(maarCreateReservation(growth->allocator, &info, &reservation));
    return reservation;
}

void growth_commit(struct growth* growth, MaarReservation reservation, uint32_t page,
                   uint32_t count)
{
    const MaarPageRange range = {GROWTH_PAGE * page, GROWTH_PAGE * count};
    GROWTH_EXPECT(maarCommitPages(growth->allocator, reservation, 1, &range));
}

void growth_decommit(struct growth* growth, MaarReservation reservation, uint32_t page,
                     uint32_t count)
{
    const MaarPageRange range = {GROWTH_PAGE * page, GROWTH_PAGE * count};
    GROWTH_EXPECT(maarDecommitPages(growth->allocator, reservation, 1, &range));
}

MaarSparseImage growth_create_sparse_image(struct growth* growth, uint32_t width, uint32_t height,
                                           uint32_t layers)
{
    VkImageCreateInfo texture = growth_image(GROWTH_TILE, 1, layers);
    texture.extent = (VkExtent3D){width * GROWTH_TILE, height * GROWTH_TILE, 1};
    for (uint32_t rest = GROWTH_TILE * (width > height ? width : height); rest > 1; rest /= 2) {
        ++texture.mipLevels;
    }
    const MaarSparseImageCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO,
        .pImageInfo = &texture,
    };
    MaarSparseImage image = VK_NULL_HANDLE;
    GROWTH_EXPECT(maarCreateSparseImage(growth->allocator, &info, &image));
    return image;
}
