/*
 * Times the writing and reading of descriptors, and of messages with a file descriptor through a
 * pair of sockets. The contestants are Maar, and sendmsg and recvmsg alone with 256 unchecked
 * bytes. Each received file descriptor is closed.
 */
#include "bench/sharing_calls.h"

#include "maar/objects.h"
#include "maar/process.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CODINGS = 10000, MESSAGES = 1000, SENT_FROM = 0, SENT_TO = 1 };

#define MESSAGE_WAIT_NS 10000000000u

struct message_bench {
    MaarAllocator allocator;
    int sockets[2];
    MaarDescriptor descriptor;
    MaarExternalHandle handle;
    unsigned char bytes[MAAR_DESCRIPTOR_SIZE];
};

union descriptor_control {
    struct cmsghdr header;
    unsigned char room[CMSG_SPACE(sizeof(int))];
};

static void describe_buffer(struct message_bench* bench, const struct sharing_devices* devices)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = SHARING_TYPE,
    };
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pNext = &export,
        .memoryTypeBits = 1u << devices->type_index,
    };
    const VkBufferCreateInfo info = sharing_buffer_info(65536);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    bench_expect(maarCreateBuffer(bench->allocator, &info, &how, &buffer, &allocation),
                 "maarCreateBuffer");
    bench->descriptor.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR;
    bench_expect(maarDescribeMemory(bench->allocator, allocation, SHARING_TYPE, &info,
                                    &bench->descriptor, &bench->handle),
                 "maarDescribeMemory");
    memcpy(bench->descriptor.name, "positions", sizeof("positions"));
    maarDestroyBuffer(bench->allocator, buffer,
                      allocation); /* the exported handle keeps the bytes alive */
}

static void write_descriptor(struct message_bench* bench)
{
    bench_expect(maarWriteDescriptor(bench->allocator, &bench->descriptor, bench->bytes),
                 "maarWriteDescriptor");
}

static void read_descriptor(struct message_bench* bench)
{
    MaarDescriptor read = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    bench_expect(maarReadDescriptor(bench->allocator, sizeof(bench->bytes), bench->bytes, &read),
                 "maarReadDescriptor");
    if (read.size != bench->descriptor.size) {
        bench_die(BENCH_EXIT_FAILED, "maar: the read descriptor differs from the written one");
    }
}

static void pass_by_maar(struct message_bench* bench)
{
    MaarDescriptor told = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    MaarExternalHandle received = VK_NULL_HANDLE;
    bench_expect(maarSendHandle(bench->allocator, bench->sockets[SENT_FROM], &bench->descriptor,
                                bench->handle),
                 "maarSendHandle");
    bench_expect(maarReceiveHandle(bench->allocator, bench->sockets[SENT_TO], MESSAGE_WAIT_NS,
                                   &told, &received),
                 "maarReceiveHandle");
    if (told.size != bench->descriptor.size || maarPeekFd(received) < 0) {
        bench_die(BENCH_EXIT_FAILED, "maar: the received message differs from the sent one");
    }
    maarDestroyExternalHandle(bench->allocator, received);
}

static void pass_by_system(struct message_bench* bench)
{
    unsigned char came[MAAR_DESCRIPTOR_SIZE];
    struct iovec out = {.iov_base = bench->bytes, .iov_len = sizeof(bench->bytes)};
    struct iovec in = {.iov_base = came, .iov_len = sizeof(came)};
    union descriptor_control control;
    memset(&control, 0, sizeof(control));
    struct msghdr message = {
        .msg_iov = &out,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof(control),
    };
    struct cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    int fd = maarPeekFd(bench->handle);
    memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    const ssize_t sent = sendmsg(bench->sockets[SENT_FROM], &message, MSG_NOSIGNAL);
    message.msg_iov = &in;
    const ssize_t received = recvmsg(bench->sockets[SENT_TO], &message, MSG_CMSG_CLOEXEC);
    header = CMSG_FIRSTHDR(&message);
    if (sent != MAAR_DESCRIPTOR_SIZE || received != MAAR_DESCRIPTOR_SIZE || header == NULL ||
        memcmp(came, bench->bytes, sizeof(came)) != 0) {
        bench_die(BENCH_EXIT_FAILED, "system: the received message differs from the sent one");
    }
    memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    close(fd);
}

static void time_calls(struct message_bench* bench, void (*call)(struct message_bench*),
                       uint32_t count, double* cpu, double* wall)
{
    const double start = bench_wall_ns();
    const double before = bench_thread_ns();
    for (uint32_t i = 0; i < count; ++i) {
        call(bench);
    }
    *cpu = (bench_thread_ns() - before) / count;
    *wall = (bench_wall_ns() - start) / count;
}

void sharing_time_messages(const struct sharing_devices* devices, uint32_t runs,
                           struct sharing_times times[SHARING_MESSAGE_PEERS])
{
    static const struct {
        const char* workload;
        const char* peer;
        void (*call)(struct message_bench*);
        uint32_t count;
    } ways[SHARING_MESSAGE_PEERS] = {
        {"write", "maar", write_descriptor, CODINGS},
        {"read", "maar", read_descriptor, CODINGS},
        {"message", "maar", pass_by_maar, MESSAGES},
        {"message", "system", pass_by_system, MESSAGES},
    };
    struct message_bench bench = {
        .allocator = sharing_make_maar(devices, SHARING_EXPORTER),
    };
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, bench.sockets) != 0) {
        bench_die(BENCH_EXIT_FAILED, "a pair of sockets cannot be created");
    }
    describe_buffer(&bench, devices);
    write_descriptor(&bench);
    for (uint32_t way = 0; way < SHARING_MESSAGE_PEERS; ++way) {
        times[way].workload = ways[way].workload;
        times[way].peer = ways[way].peer;
        times[way].self_check = "passed";
    }
    for (uint32_t run = 0; run < runs; ++run) {
        for (uint32_t way = 0; way < SHARING_MESSAGE_PEERS; ++way) {
            time_calls(&bench, ways[way].call, ways[way].count, &times[way].cpu[run],
                       &times[way].wall[run]);
        }
    }
    maarDestroyExternalHandle(bench.allocator, bench.handle);
    maarDestroyAllocator(bench.allocator);
    close(bench.sockets[SENT_FROM]);
    close(bench.sockets[SENT_TO]);
}
