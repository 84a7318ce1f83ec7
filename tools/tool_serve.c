/*
 * A web server for metrics, by libmicrohttpd; see tool_metrics.h. The server's one thread alone
 * touches the captures while it runs: it reads what is new at each request.
 */
#if defined(MAAR_TOOL_MICROHTTPD)
#include <microhttpd.h>
#endif

#include "tool_metrics.h"
#include "tool_text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

bool tool_serve_read(const char* text, char address[64], uint16_t* port)
{
    const char* const colon = strrchr(text, ':');
    const char* const number = colon != NULL ? colon + 1 : text;
    uint64_t value = 0;
    (void)snprintf(address, 64, "127.0.0.1");
    if (colon != NULL) {
        const bool has_brackets = text[0] == '[' && colon > text + 1 && colon[-1] == ']';
        const char* const begin = has_brackets ? text + 1 : text;
        const size_t size = (size_t)(colon - begin) - (has_brackets ? 1u : 0u);
        unsigned char bytes[16];
        (void)snprintf(address, 64, "%.*s", (int)(size < 63 ? size : 63), begin);
        if (strcmp(address, "localhost") == 0) {
            (void)snprintf(address, 64, "127.0.0.1");
        }
        if (inet_pton(has_brackets ? AF_INET6 : AF_INET, address, bytes) != 1) {
            tool_complain("--serve %s: expected a numeric address, such as 127.0.0.1:9101 or "
                          "[::1]:9101",
                          text);
            return false;
        }
    }
    const enum tool_number outcome = tool_read_number(number, UINT16_MAX, &value);
    if (outcome != TOOL_NUMBER_GOOD) {
        tool_complain_number("--serve", text, outcome, "[ADDRESS:]PORT, such as 9101", UINT16_MAX);
        return false;
    }
    *port = (uint16_t)value;
    return true;
}

#if !defined(MAAR_TOOL_MICROHTTPD)

bool tool_serve_is_built(void)
{
    return false;
}

int tool_serve(struct tool_follow_set* set, const char* address, uint16_t port)
{
    (void)set;
    (void)address;
    (void)port;
    return TOOL_EXIT_FAILED;
}

#else

enum { SERVE_TIMEOUT_S = 10, SERVE_CONNECTIONS = 32 };

bool tool_serve_is_built(void)
{
    return true;
}

static enum MHD_Result answer_text(struct MHD_Connection* connection, unsigned status,
                                   const char* text)
{
    struct MHD_Response* const response = MHD_create_response_from_buffer(
        strlen(text), (void*)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
    if (response == NULL) {
        return MHD_NO;
    }
    (void)MHD_add_response_header(response, "Content-Type", "text/plain; charset=utf-8");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) {
        (void)MHD_add_response_header(response, "Allow", "GET, HEAD");
    }
    const enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result answer_metrics(struct MHD_Connection* connection,
                                      struct tool_follow_set* set)
{
    const enum tool_metrics_format format =
        tool_metrics_choose(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept"));
    size_t size = 0;
    tool_follow_set_update(set);
    char* const text = tool_metrics_write(set, format, &size);
    struct MHD_Response* const response =
        text != NULL ? MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE) : NULL;
    if (response == NULL) {
        free(text);
        return answer_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
    }
    (void)MHD_add_response_header(response, "Content-Type", tool_metrics_content_type(format));
    const enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result answer(void* context, struct MHD_Connection* connection, const char* url,
                              const char* method, const char* version, const char* upload,
                              size_t* upload_size, void** request)
{
    (void)version;
    (void)upload;
    (void)request;
    *upload_size = 0;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET and HEAD alone\n");
    }
    if (strcmp(url, "/metrics") == 0) {
        return answer_metrics(connection, context);
    }
    return strcmp(url, "/") == 0
               ? answer_text(connection, MHD_HTTP_OK, "maar export: the metrics are at /metrics\n")
               : answer_text(connection, MHD_HTTP_NOT_FOUND, "no such page; /metrics has them\n");
}

static struct MHD_Daemon* start(struct tool_follow_set* set, const char* address, uint16_t port)
{
    struct sockaddr_in plain = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 long_one = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    const bool is_long = strchr(address, ':') != NULL;
    const struct sockaddr* const where =
        is_long ? (const struct sockaddr*)&long_one : (const struct sockaddr*)&plain;
    if (inet_pton(is_long ? AF_INET6 : AF_INET, address,
                  is_long ? (void*)&long_one.sin6_addr : (void*)&plain.sin_addr) != 1) {
        return NULL;
    }
    return MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | (is_long ? MHD_USE_IPv6 : 0u), port, NULL, NULL, answer,
        set, MHD_OPTION_SOCK_ADDR, where, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SERVE_TIMEOUT_S,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)SERVE_CONNECTIONS, MHD_OPTION_END);
}

int tool_serve(struct tool_follow_set* set, const char* address, uint16_t port)
{
    sigset_t signals;
    int number = 0;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    /* Before the server's thread begins, so that this thread gets them. */
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    errno = 0;
    struct MHD_Daemon* const daemon = start(set, address, port);
    if (daemon == NULL) {
        tool_complain("--serve: %s port %u cannot be listened at: %s", address, port,
                      errno != 0 ? strerror(errno) : "the server does not start");
        return TOOL_EXIT_FAILED;
    }
    const union MHD_DaemonInfo* const info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    const bool is_long = strchr(address, ':') != NULL;
    printf("serving http://%s%s%s:%u/metrics\n", is_long ? "[" : "", address, is_long ? "]" : "",
           info != NULL ? info->port : port);
    (void)fflush(stdout);
    (void)sigwait(&signals, &number);
    MHD_stop_daemon(daemon);
    return TOOL_EXIT_OK;
}

#endif
