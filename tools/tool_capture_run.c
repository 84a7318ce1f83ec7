/*
 * Runs the captured program: its environment, its processes, its signals.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* SI_KERNEL, prctl */
#endif

#include "tool_capture.h"

#include "tool_data.h"
#include "tool_text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#define LAYER_NAME "VK_LAYER_MAAR_capture"
#define LAYER_MANIFEST "VkLayer_MAAR_capture.json"

/* Where the manifest is, seen from the folder of the command: in the build tree, and installed. */
static const char* const layer_places[] = {"../layer", MAAR_TOOL_LAYER_FROM_PROGRAM};

bool tool_capture_find_layer(char* folder, size_t size)
{
    char program[TOOL_CAPTURE_PATH_SIZE];
    char joined[2 * TOOL_CAPTURE_PATH_SIZE];
    char resolved[PATH_MAX];
    if (!tool_data_program_folder(program, sizeof(program))) {
        tool_complain("the folder of this program is not known");
        return false;
    }
    for (size_t i = 0; i < sizeof(layer_places) / sizeof(layer_places[0]); ++i) {
        snprintf(joined, sizeof(joined), "%s/%s/%s", program, layer_places[i], LAYER_MANIFEST);
        if (realpath(joined, resolved) != NULL && strlen(resolved) < size) {
            *strrchr(resolved, '/') = '\0';
            snprintf(folder, size, "%s", resolved);
            return true;
        }
    }
    tool_complain("the layer is not installed: no %s in %s/%s", LAYER_MANIFEST, program,
                  MAAR_TOOL_LAYER_FROM_PROGRAM);
    return false;
}

/* Appends an item to a list in the environment, unless it is there. */
static bool append_to_list(const char* name, const char* item)
{
    const char* const old = getenv(name);
    if (old == NULL || old[0] == '\0') {
        return setenv(name, item, 1) == 0;
    }
    const size_t length = strlen(item);
    for (const char* at = old; *at != '\0';) {
        const size_t part = strcspn(at, ":");
        if (part == length && strncmp(at, item, length) == 0) {
            return true;
        }
        at += part + (at[part] == ':' ? 1 : 0);
    }
    const size_t size = strlen(old) + length + 2;
    char* const joined = malloc(size);
    bool set = false;
    if (joined != NULL) {
        snprintf(joined, size, "%s:%s", old, item);
        set = setenv(name, joined, 1) == 0;
    }
    free(joined);
    return set;
}

bool tool_capture_set_environment(const struct tool_capture* settings)
{
    char folder[TOOL_CAPTURE_PATH_SIZE];
    char limit[32];
    if (!tool_capture_find_layer(folder, sizeof(folder))) {
        return false;
    }
    snprintf(limit, sizeof(limit), "%" PRIu64, settings->limit);
    /* The layer is named as an explicit one, which every loader finds by VK_ADD_LAYER_PATH, and
     * switched on as an implicit one, for sandboxes that have it installed. A loader takes a
     * layer's name only once. */
    bool set = append_to_list("VK_ADD_LAYER_PATH", folder) &&
               append_to_list("VK_INSTANCE_LAYERS", LAYER_NAME) &&
               setenv("MAAR_CAPTURE", "1", 1) == 0 &&
               setenv("MAAR_CAPTURE_FILE", settings->path, 1) == 0 &&
               unsetenv("MAAR_CAPTURE_DISABLE") == 0;
    set = set && (settings->limit == 0 ? unsetenv("MAAR_CAPTURE_LIMIT")
                                       : setenv("MAAR_CAPTURE_LIMIT", limit, 1)) == 0;
    set = set && (settings->driver_memory ? setenv("MAAR_CAPTURE_DRIVER_MEMORY", "1", 1)
                                          : unsetenv("MAAR_CAPTURE_DRIVER_MEMORY")) == 0;
    set = set && (settings->uses ? setenv("MAAR_CAPTURE_USES", "1", 1)
                                 : unsetenv("MAAR_CAPTURE_USES")) == 0;
    set = set && (settings->log[0] == '\0' || setenv("MAAR_CAPTURE_LOG", settings->log, 1) == 0);
    if (!set) {
        tool_complain("the environment cannot be set: %s", strerror(errno));
    }
    return set;
}

/* The program's process, for the signal handler. */
static volatile sig_atomic_t program_process;
/* Set when a signal asks to end, after the program has ended. */
static volatile sig_atomic_t is_impatient;

static const int passed_signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                     SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};

static void pass_signal(int number, siginfo_t* info, void* context)
{
    const int error = errno;
    (void)context;
    if (program_process > 0) {
        /* The terminal sends its signals to the program, too. */
        if (info == NULL || info->si_code <= 0) {
            kill((pid_t)program_process, number);
        }
    } else if (number != SIGCONT && number != SIGWINCH) {
        is_impatient = 1;
    }
    errno = error;
}

static void pass_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = pass_signal;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(passed_signals) / sizeof(passed_signals[0]); ++i) {
        struct sigaction old;
        /* What the user ignores (nohup) stays ignored. */
        if (sigaction(passed_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
            sigaction(passed_signals[i], &action, NULL);
        }
    }
}

/* In the child: becomes the program, or writes the error to the pipe. */
static void become(char** program, int pipe_end, const sigset_t* mask)
{
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(program[0], program);
    const int error = errno;
    const ssize_t written = write(pipe_end, &error, sizeof(error));
    _exit(written == (ssize_t)sizeof(error) ? 127 : 126);
}

/* Returns the errno with which the program could not be started, or 0. */
static int read_error(int pipe_end)
{
    int error = 0;
    ssize_t got = 0;
    do {
        got = read(pipe_end, &error, sizeof(error));
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(error) ? error : 0;
}

/* Waits for all processes. Returns the status of the program. */
static int wait_for_all(pid_t program)
{
    int result = 0;
    for (;;) {
        int status = 0;
        const pid_t ended = waitpid(-1, &status, 0);
        if (ended == program) {
            result = status;
            program_process = 0;
        } else if (ended < 0 && errno != EINTR) {
            return result; /* none is left */
        } else if (is_impatient) {
            tool_complain("does not wait for processes that are still running");
            return result;
        }
    }
}

int tool_capture_run(char** program)
{
    int ends[2];
    sigset_t mask;
    sigset_t all;
    if (pipe(ends) != 0 || fcntl(ends[1], F_SETFD, FD_CLOEXEC) != 0) {
        tool_complain("%s: %s", program[0], strerror(errno));
        return 126;
    }
#if defined(__linux__)
    /* Processes whose parent has ended become children of this one, so it can wait for them. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
    fflush(stdout);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        become(program, ends[1], &mask);
    }
    program_process = child;
    pass_signals();
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(ends[1]);
    if (child < 0) {
        tool_complain("%s: %s", program[0], strerror(errno));
        close(ends[0]);
        return 126;
    }
    const int error = read_error(ends[0]);
    close(ends[0]);
    const int status = wait_for_all(child);
    if (error != 0) {
        tool_complain("%s: %s", program[0], strerror(error));
        return error == ENOENT ? 127 : 126;
    }
    if (WIFSIGNALED(status)) {
        tool_complain("%s was killed by signal %d (%s)", program[0], WTERMSIG(status),
                      strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0) {
        tool_complain("%s ended with exit status %d", program[0], WEXITSTATUS(status));
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
