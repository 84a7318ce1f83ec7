/*
 * Sends and receives descriptors and handles through sockets. A message consists of
 * MAAR_DESCRIPTOR_SIZE bytes and one handle of the operating system. Every field of a received
 * message is checked. A faulty message is read to its end too, so that the next message is read
 * from its first byte.
 */

#include "core/lock_rank.h"
#include "core/port_socket.h"
#include "core/port_time.h"
#include "core/report.h"
#include "interop/process/describe.h"
#include "interop/process/descriptor.h"
#include "interop/share/external_handle.h"

enum { SYSTEM_TEXT = 96 };

/* Checks that this system can send handles through sockets, and that the socket is of the right
 * kind. */
static VkResult check_socket(MaarAllocator allocator, const char* call, int socket)
{
    const char* what = NULL;
    if (!MAAR_PORT_HAS_FDS) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_SOCKET_FAILED, call,
                    "only POSIX systems can send handles through sockets");
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    if (socket < 0) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_SOCKET_FAILED, call, "socketFd is negative");
    }
    if (!maar_socket_is_usable(socket, &what)) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_SOCKET_FAILED, call,
                    "socketFd %d is %s; a connected UNIX stream socket is needed", socket, what);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return VK_SUCCESS;
}

static VkResult report_socket_failure(MaarAllocator allocator, const char* call, int error)
{
    char text[SYSTEM_TEXT];
    maar_socket_describe(error, text, sizeof text);
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_SOCKET_FAILED, call,
                "socketFd fails: %s", text);
    return VK_ERROR_INITIALIZATION_FAILED;
}

VKAPI_ATTR VkResult VKAPI_CALL maarSendHandle(MaarAllocator allocator, int socketFd,
                                              const MaarDescriptor* pDescriptor,
                                              MaarExternalHandle handle)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (handle == VK_NULL_HANDLE) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_HANDLE, __func__,
                           "handle is VK_NULL_HANDLE");
    }
    result = maar_descriptor_check(allocator, __func__, pDescriptor);
    if (result == VK_SUCCESS) {
        result = check_socket(allocator, __func__, socketFd);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    maar_descriptor_encode(pDescriptor, bytes);
    struct maar_socket_message message = {
        .bytes = bytes,
        .size = sizeof bytes,
        .handle = maar_external_handle_peek(handle),
    };
    if (message.handle == MAAR_PORT_NO_HANDLE) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_HANDLE_EMPTY, __func__,
                    "handle is empty: it was taken before");
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    maar_lock_rank_expect_none();
    switch (maar_socket_send(socketFd, &message)) {
    case MAAR_SOCKET_DONE:
        return VK_SUCCESS;
    case MAAR_SOCKET_TIMED_OUT:
        return VK_TIMEOUT;
    default:
        return report_socket_failure(allocator, __func__, message.error);
    }
}

/* Checks the number of handles that came with a whole message. */
static VkResult check_count(MaarAllocator allocator, const char* call,
                            const struct maar_socket_message* message)
{
    if (message->handle_count == 1 && !message->lost_some) {
        return VK_SUCCESS;
    }
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR, call,
                "the message came with %s%u file descriptors instead of one",
                message->lost_some ? "more than " : "", (unsigned)message->handle_count);
    return VK_ERROR_INVALID_EXTERNAL_HANDLE;
}

/* Translates the outcome of waiting for a message into a VkResult. */
static VkResult judge_arrival(MaarAllocator allocator, const char* call,
                              enum maar_socket_outcome outcome,
                              const struct maar_socket_message* message)
{
    switch (outcome) {
    case MAAR_SOCKET_DONE:
        return check_count(allocator, call, message);
    case MAAR_SOCKET_TIMED_OUT:
        return VK_TIMEOUT;
    case MAAR_SOCKET_CLOSED:
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_SOCKET_FAILED, call,
                    "socketFd was closed by the other side");
        return VK_ERROR_INITIALIZATION_FAILED;
    case MAAR_SOCKET_CUT:
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR,
                    call,
                    "the message is truncated: %s of %s arrived, and what follows on "
                    "socketFd cannot be read",
                    maar_show_bytes(message->moved).text, maar_show_bytes(message->size).text);
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    case MAAR_SOCKET_FULL:
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_TOO_MANY_HANDLES, NULL,
                    message->moved == 0
                        ? "%s: the process has no free file descriptor to receive one"
                        : "%s: the process had no free file descriptor for the one that arrived",
                    call);
        return VK_ERROR_TOO_MANY_OBJECTS;
    default:
        return report_socket_failure(allocator, call, message->error);
    }
}

/* Receives and checks a message. On success, the caller owns its handle. */
static VkResult receive_message(MaarAllocator allocator, const char* call, int socket,
                                uint64_t timeout_ns, MaarDescriptor* descriptor,
                                maar_port_handle* handle)
{
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    struct maar_socket_message message = {.bytes = bytes, .size = sizeof bytes};
    MaarDescriptor read = {.sType = descriptor->sType, .pNext = descriptor->pNext};
    maar_lock_rank_expect_none();
    const enum maar_socket_outcome outcome =
        maar_socket_receive(socket, maar_deadline_ns(timeout_ns), &message);
    VkResult result = judge_arrival(allocator, call, outcome, &message);
    if (result == VK_SUCCESS) {
        result = maar_descriptor_read(allocator, call, sizeof bytes, bytes, &read);
    }
    if (result == VK_SUCCESS) {
        result = maar_descriptor_require_device(allocator, call, &read);
    }
    if (result != VK_SUCCESS) {
        maar_port_handle_close(message.handle);
        return result;
    }
    *descriptor = read;
    *handle = message.handle;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarReceiveHandle(MaarAllocator allocator, int socketFd,
                                                 uint64_t timeout_ns, MaarDescriptor* pDescriptor,
                                                 MaarExternalHandle* pHandle)
{
    if (pHandle != NULL) {
        *pHandle = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pHandle == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pHandle is NULL");
    }
    result = maar_check_structure(allocator, __func__, "pDescriptor", pDescriptor,
                                  MAAR_STRUCTURE_TYPE_DESCRIPTOR);
    if (result == VK_SUCCESS) {
        result = check_socket(allocator, __func__, socketFd);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    /* Makes the owner of the handle first, so that no message is lost if host memory runs out. */
    MaarExternalHandle made = VK_NULL_HANDLE;
    result = maar_external_handle_create(allocator, MAAR_PORT_NO_HANDLE, &made);
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_port_handle handle = MAAR_PORT_NO_HANDLE;
    result = receive_message(allocator, __func__, socketFd, timeout_ns, pDescriptor, &handle);
    if (result != VK_SUCCESS) {
        maar_external_handle_destroy(made);
        return result;
    }
    maar_atomic64_store(&made->value, (uint64_t)handle);
    *pHandle = made;
    return VK_SUCCESS;
}
