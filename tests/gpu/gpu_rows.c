/*
 * Rows in a process each; see gpu_rows.h. The parent opens no device: it starts children, copies
 * what they print, and kills them at the time limit.
 */
#include "gpu_rows.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 16, DEVICE_LIMIT_S = 30, DEATH_LIMIT_MS = 2000 };

/* How a child ended. */
struct row_end {
    int code;       /* its exit code; -1: none */
    int signal;     /* that ended it; 0: none */
    bool too_long;  /* the time limit ended it */
    bool immortal;  /* not even that */
    bool in_a_line; /* the last line has no end */
};

/* Starts this program again; the end of its output to read from, or -1. */
static int start_child(int argc, char** argv, const char* row, pid_t* child)
{
    char* arguments[MOST_ARGUMENTS + 3];
    char text[32];
    int ends[2];
    int count = 0;
    for (; count < argc && count < MOST_ARGUMENTS; ++count) {
        arguments[count] = argv[count];
    }
    (void)snprintf(text, sizeof text, "%s", row);
    arguments[count++] = "--row";
    arguments[count++] = text;
    arguments[count] = NULL;
    if (pipe(ends) != 0) {
        return -1;
    }
    (void)fflush(NULL);
    *child = fork();
    if (*child == 0) {
        /* A parent that a limit of its own ended leaves no child. */
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)execv("/proc/self/exe", arguments);
        _exit(GPU_EXIT_USAGE);
    }
    (void)close(ends[1]);
    if (*child < 0) {
        (void)close(ends[0]);
        return -1;
    }
    return ends[0];
}

/* Copies the child's output until its end or the limit; whether the limit came. */
static bool copy_output(int from, double deadline, struct row_end* end)
{
    char bytes[4096];
    for (;;) {
        const double left = deadline - gpu_now();
        struct pollfd wait = {.fd = from, .events = POLLIN};
        if (left <= 0.0) {
            return true;
        }
        if (poll(&wait, 1, (int)(1000.0 * left) + 1) <= 0) {
            continue;
        }
        const ssize_t count = read(from, bytes, sizeof bytes);
        if (count <= 0) {
            return false;
        }
        (void)fwrite(bytes, 1, (size_t)count, stdout);
        (void)fflush(stdout);
        end->in_a_line = bytes[count - 1] != '\n';
    }
}

/* A process in an uninterruptible call of a driver does not even die: it is left behind. */
static void wait_for_child(pid_t child, double deadline, struct row_end* end)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    int status = 0;
    pid_t found = waitpid(child, &status, WNOHANG);
    while (found == 0 && gpu_now() < deadline) {
        (void)nanosleep(&pause, NULL);
        found = waitpid(child, &status, WNOHANG);
    }
    if (found == 0) {
        end->too_long = true;
        (void)kill(child, SIGKILL);
        for (uint32_t i = 0; found == 0 && i < DEATH_LIMIT_MS / 5; ++i) {
            (void)nanosleep(&pause, NULL);
            found = waitpid(child, &status, WNOHANG);
        }
    }
    end->immortal = found == 0;
    if (found == child && WIFEXITED(status)) {
        end->code = WEXITSTATUS(status);
    } else if (found == child && WIFSIGNALED(status)) {
        end->signal = WTERMSIG(status);
    }
}

static struct row_end run_child(int argc, char** argv, const char* row, uint32_t limit_s)
{
    struct row_end end = {.code = -1};
    pid_t child = -1;
    const double deadline = gpu_now() + limit_s;
    const int output = start_child(argc, argv, row, &child);
    if (output < 0) {
        return end;
    }
    if (copy_output(output, deadline, &end)) {
        end.too_long = true;
        (void)kill(child, SIGKILL);
    }
    wait_for_child(child, end.too_long ? gpu_now() : deadline, &end);
    (void)close(output);
    return end;
}

static void describe_end(const struct row_end* end, const char* row, uint32_t limit_s)
{
    printf(end->in_a_line ? " " : "| row %s: ", row);
    if (end->too_long) {
        printf("**ended by the limit of %u s%s**", limit_s,
               end->immortal ? "; its process does not die" : "");
    } else if (end->signal != 0) {
        printf("**ended by signal %d (%s)**", end->signal, strsignal(end->signal));
    } else if (end->code < 0) {
        printf("**no process could be started**");
    } else {
        printf("**ended with exit code %d**", end->code);
    }
    printf(" |\n");
    (void)fflush(stdout);
}

/* Rows whose process failed. */
static uint32_t run_group(int argc, char** argv, const struct gpu_row_group* group, uint32_t number)
{
    uint32_t failures = 0;
    printf("\n%s", group->head);
    for (uint32_t i = 0; i < group->row_count; ++i) {
        char row[32];
        (void)snprintf(row, sizeof row, "%u.%u", number, i);
        const struct row_end end = run_child(argc, argv, row, group->limit_s);
        if (end.code == GPU_EXIT_NO_ROW) {
            break;
        }
        if (end.code != GPU_EXIT_OK) {
            ++failures;
            describe_end(&end, row, group->limit_s);
        }
    }
    return failures;
}

static int run_row(int argc, char** argv, const char* row, uint32_t needs, const char* title,
                   const struct gpu_row_group* groups, uint32_t group_count)
{
    static struct gpu_case gpu;
    char* rest = NULL;
    const unsigned long group = strtoul(row, &rest, 10);
    const unsigned long index = *rest == '.' ? strtoul(rest + 1, &rest, 10) : 0;
    const bool is_device = strcmp(row, "device") == 0;
    if (!is_device && (*rest != '\0' || group >= group_count || index >= groups[group].row_count)) {
        (void)fprintf(stderr, "%s: no row %s\n", argv[0], row);
        return GPU_EXIT_USAGE;
    }
    int code = gpu_open(&gpu, argc, argv, needs, title);
    if (code == GPU_EXIT_OK && !is_device) {
        code = groups[group].run(&gpu, (uint32_t)index);
    }
    const int closed = gpu_close(&gpu);
    return code == GPU_EXIT_OK ? closed : code;
}

int gpu_run_groups(int argc, char** argv, uint32_t needs, const char* title,
                   const struct gpu_row_group* groups, uint32_t group_count)
{
    uint32_t failures = 0;
    for (int i = 1; i + 1 < argc; ++i) {
        if (strcmp(argv[i], "--row") == 0) {
            return run_row(argc, argv, argv[i + 1], needs, title, groups, group_count);
        }
    }
    printf("## %s\n", title);
    const struct row_end device = run_child(argc, argv, "device", DEVICE_LIMIT_S);
    if (device.code == GPU_EXIT_SKIPPED || device.code == GPU_EXIT_USAGE) {
        return device.code;
    }
    if (device.code != GPU_EXIT_OK) {
        describe_end(&device, "device", DEVICE_LIMIT_S);
        return GPU_EXIT_FAILED;
    }
    for (uint32_t i = 0; i < group_count; ++i) {
        failures += run_group(argc, argv, &groups[i], i);
    }
    printf("\n");
    return failures == 0 ? GPU_EXIT_OK : GPU_EXIT_FAILED;
}
