/*
 * Descriptors that came from somewhere, out of memory of exactly their size and through a socket in
 * pieces with any number of file descriptors. What is accepted must be what would be written, a
 * rejection must leave nothing behind, and a hostile import must leave the handle with its owner.
 *
 * The first byte says what is done with the others.
 */
#define _POSIX_C_SOURCE 200809L

#include "tests/fuzz/fuzz_input.h"
#include "tests/unit/interop/descriptor_samples.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

enum mode {
    MODE_WRITTEN = 0x1, /* begins as a descriptor does */
    MODE_SEALED = 0x2,  /* its checksum is right */
    MODE_OWN = 0x4,     /* of this device */
    MODE_SOCKET = 0x8,
    MODE_IMPORT = 0x10
};

/* At once, more than there is room for; all in flight count against the limit of the user. */
enum { FUZZ_FDS = 200, FUZZ_PIECES = 12 };

/* One for all inputs: opening one takes longer than all that is done with it. */
static struct {
    struct rig rig;
    bool open;
    MaarSharingInfo info;
    VkBuffer buffer;
    MaarAllocation memory;
    int null_fd;
} world;

static void open_world(void)
{
    static const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    const struct rig_setup setup = {.sharing = rig_sharing_everything()};
    const VkBufferCreateInfo info = rig_buffer_info(65536);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pNext = &export;
    rig_start(&world.rig, &setup);
    world.info.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO;
    fuzz_require(maarGetSharingInfo(world.rig.allocator, &world.info) == VK_SUCCESS);
    fuzz_require(maarCreateBuffer(world.rig.allocator, &info, &how, &world.buffer, &world.memory) ==
                 VK_SUCCESS);
    /* What is kept of the first export is no leak. */
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    fuzz_require(maarExportMemory(world.rig.allocator, world.memory,
                                  VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
                                  &exported) == VK_SUCCESS);
    maarDestroyExternalHandle(world.rig.allocator, exported.handle);
    world.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    fuzz_require(world.null_fd >= 0);
    world.open = true;
}

static uint32_t open_fds(void)
{
    uint32_t count = 0;
    DIR* folder = opendir("/proc/self/fd");
    fuzz_require(folder != NULL);
    while (readdir(folder) != NULL) {
        count += 1;
    }
    (void)closedir(folder);
    return count;
}

/* Makes the bytes what the mode says, as far as there are so many. */
static void dress(uint8_t* bytes, size_t size, uint8_t mode)
{
    static const uint8_t head[] = {'M', 'A', 'A', 'R', 'D', 'E', 'S', 'C', 1, 0, 0, 0};
    if (size < MAAR_DESCRIPTOR_SIZE) {
        return;
    }
    if ((mode & MODE_WRITTEN) != 0) {
        memcpy(bytes, head, sizeof head);
    }
    if ((mode & MODE_OWN) != 0) {
        memcpy(bytes + WIRE_DEVICE_UUID, world.info.deviceUUID, VK_UUID_SIZE);
        memcpy(bytes + WIRE_DRIVER_UUID, world.info.driverUUID, VK_UUID_SIZE);
    }
    if ((mode & MODE_SEALED) != 0) {
        descriptor_seal(bytes);
    }
}

static void require_sound(const MaarDescriptor* read, const uint8_t* bytes)
{
    uint8_t again[MAAR_DESCRIPTOR_SIZE];
    fuzz_require(maarWriteDescriptor(world.rig.allocator, read, again) == VK_SUCCESS);
    fuzz_require(memcmp(again, bytes, sizeof again) == 0);
    fuzz_require(memchr(read->name, 0, sizeof read->name) != NULL);
    fuzz_require(read->kind == MAAR_DESCRIPTOR_KIND_TIMELINE ||
                 (read->size != 0 && read->offset < read->blockSize &&
                  read->size <= read->blockSize - read->offset));
}

/* A real handle with a descriptor that says what the fuzzer likes. */
static void try_import(const MaarDescriptor* read)
{
    MaarAllocator allocator = world.rig.allocator;
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    const char* broken = NULL;
    fuzz_require(maarExportMemory(allocator, world.memory,
                                  VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
                                  &exported) == VK_SUCCESS);
    const int fd = maarPeekFd(exported.handle);
    const VkResult result =
        maarImportDescribedBuffer(allocator, read, exported.handle, &buffer, &memory);
    fuzz_require((result == VK_SUCCESS) == (buffer != VK_NULL_HANDLE));
    fuzz_require((result == VK_SUCCESS) == (memory != VK_NULL_HANDLE));
    fuzz_require(maarPeekFd(exported.handle) == (result == VK_SUCCESS ? -1 : fd));
    fuzz_require(result == VK_SUCCESS || fcntl(fd, F_GETFD) != -1);
    fuzz_require(maarCheckAllocator(allocator, &broken) == VK_SUCCESS && broken == NULL);
    maarDestroyBuffer(allocator, buffer, memory);
    maarDestroyExternalHandle(allocator, exported.handle);
}

static void send_piece(int end, const uint8_t* bytes, size_t size, uint32_t fd_count)
{
    union {
        char bytes[CMSG_SPACE(FUZZ_FDS * sizeof(int))];
        struct cmsghdr alignment;
    } control;
    struct iovec part = {.iov_base = (void*)(uintptr_t)bytes, .iov_len = size};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    memset(&control, 0, sizeof control);
    if (fd_count != 0) {
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
        struct cmsghdr* beside = CMSG_FIRSTHDR(&header);
        beside->cmsg_level = SOL_SOCKET;
        beside->cmsg_type = SCM_RIGHTS;
        beside->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
        for (uint32_t i = 0; i < fd_count; ++i) {
            memcpy(CMSG_DATA(beside) + i * sizeof(int), &world.null_fd, sizeof(int));
        }
    }
    fuzz_require(sendmsg(end, &header, MSG_NOSIGNAL) == (ssize_t)size);
}

/* All at once: whatever of it is a message is there before it is asked for. */
static void try_socket(struct fuzz_input input, const uint8_t* bytes, size_t size)
{
    int ends[2];
    fuzz_require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    size_t sent = 0;
    for (uint32_t i = 0; sent < size; ++i) {
        const bool last = i + 1 == FUZZ_PIECES || fuzz_is_dry(&input);
        const size_t piece = last ? size - sent : 1 + (size_t)fuzz_below(&input, size - sent);
        const uint8_t dice = fuzz_byte(&input);
        const uint32_t fds = dice < 128 ? (i == 0 ? 1 : 0) : (uint32_t)fuzz_below(&input, FUZZ_FDS);
        send_piece(ends[0], bytes + sent, piece, fds);
        sent += piece;
    }
    (void)shutdown(ends[0], SHUT_WR);
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < 40 && result != VK_ERROR_INITIALIZATION_FAILED; ++i) {
        MaarDescriptor read = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
        MaarExternalHandle handle = VK_NULL_HANDLE;
        result = maarReceiveHandle(world.rig.allocator, ends[1], UINT64_MAX, &read, &handle);
        fuzz_require((result == VK_SUCCESS) == (handle != VK_NULL_HANDLE));
        fuzz_require(result != VK_TIMEOUT && result != VK_ERROR_VALIDATION_FAILED_EXT);
        maarDestroyExternalHandle(world.rig.allocator, handle);
    }
    fuzz_require(result == VK_ERROR_INITIALIZATION_FAILED);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (!world.open) {
        open_world();
    }
    struct fuzz_input input = {data, size};
    const uint8_t mode = fuzz_byte(&input);
    const uint32_t fds = open_fds();
    uint8_t* bytes = malloc(input.left != 0 ? input.left : 1);
    fuzz_require(bytes != NULL);
    if (input.left != 0) {
        memcpy(bytes, input.at, input.left);
    }
    dress(bytes, input.left, mode);
    MaarDescriptor read = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    const VkResult result = maarReadDescriptor(world.rig.allocator, input.left, bytes, &read);
    if (result == VK_SUCCESS) {
        require_sound(&read, bytes);
        if ((mode & MODE_IMPORT) != 0) {
            try_import(&read);
        }
    } else {
        fuzz_require(result == VK_ERROR_INVALID_EXTERNAL_HANDLE ||
                     result == VK_ERROR_FORMAT_NOT_SUPPORTED);
        fuzz_require(read.kind == 0);
    }
    if ((mode & MODE_SOCKET) != 0 && input.left < (size_t)40 * MAAR_DESCRIPTOR_SIZE) {
        const struct fuzz_input pieces = {data + (size > MAAR_DESCRIPTOR_SIZE ? 200 : 0),
                                          size > MAAR_DESCRIPTOR_SIZE ? size - 200 : size};
        try_socket(pieces, bytes, input.left);
    }
    free(bytes);
    fuzz_require(open_fds() == fds);
    return 0;
}
