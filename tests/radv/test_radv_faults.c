/*
 * AMD's real driver over a no-op kernel that refuses, shrinks and lies on demand: Maar, through its
 * public functions, must answer correctly, change nothing when it fails, and give everything back.
 *
 * Each case runs in a child process with a time limit. Arguments name the cases to run; without
 * any, all run.
 */
#include <stdio.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/radv/radv_case.h"

enum { EXIT_SKIPPED = 77 };

/* Seconds that a case may take, more than ten times what the slowest needs. */
#if defined(__SANITIZE_ADDRESS__)
enum { CASE_LIMIT_S = 300 };
#else
enum { CASE_LIMIT_S = 60 };
#endif

static bool was_skipped;

void radv_skip(const char* reason)
{
    print_message("skipped: %s\n", reason);
    was_skipped = true;
    skip();
}

static int run_here(const struct radv_case* which)
{
    const struct CMUnitTest tests[] = {{which->name, which->run, NULL, NULL, NULL}};
    (void)alarm(CASE_LIMIT_S);
    if (cmocka_run_group_tests_name(which->name, tests, NULL, NULL) != 0) {
        return 1;
    }
    return was_skipped ? EXIT_SKIPPED : 0;
}

/* Passes on what the child writes to stderr, but for what driver and no-op kernel say of each
 * failure, until nobody is left to write. */
static void pass_errors_on(int end)
{
    static const char* const noise[] = {"radv/amdgpu:", "DRM_IOCTL_", "amdgpu: The CS has been"};
    char line[1024];
    FILE* stream = fdopen(end, "r");
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL) {
        bool is_noise = false;
        for (size_t i = 0; i < sizeof noise / sizeof noise[0]; ++i) {
            is_noise = is_noise || strncmp(line, noise[i], strlen(noise[i])) == 0;
        }
        if (!is_noise) {
            (void)fputs(line, stderr);
        }
    }
    if (stream != NULL) {
        (void)fclose(stream);
    }
}

/* 0, EXIT_SKIPPED, or 1 having said what happened. */
static int run_in_child(const struct radv_case* which)
{
    int ends[2];
    (void)fflush(NULL);
    if (pipe(ends) != 0) {
        perror("pipe");
        return 1;
    }
    const pid_t child = fork();
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        exit(run_here(which));
    }
    (void)close(ends[1]);
    pass_errors_on(ends[0]);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("fork");
        return 1;
    }
    if (WIFSIGNALED(status)) {
        printf("%s: died of signal %d (14: its time was over)\n", which->name, WTERMSIG(status));
        return 1;
    }
    const int code = WEXITSTATUS(status);
    if (code != 0 && code != EXIT_SKIPPED) {
        printf("%s: failed, exit code %d\n", which->name, code);
        return 1;
    }
    return code;
}

static bool is_wanted(const char* name, int count, char** names)
{
    for (int i = 1; i < count; ++i) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return count < 2;
}

int main(int count, char** names)
{
    const struct radv_case* const groups[] = {radv_call_cases, radv_heap_cases,  radv_budget_cases,
                                              radv_lost_cases, radv_mixed_cases, radv_odd_cases};
    int passed = 0;
    int skipped = 0;
    int failed = 0;
    if (!radv_find_faults()) {
        printf("skipped: the preload that makes faults is not there\n");
        return EXIT_SKIPPED;
    }
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; ++i) {
        for (const struct radv_case* at = groups[i]; at->name != NULL; ++at) {
            if (is_wanted(at->name, count, names)) {
                const int code = run_in_child(at);
                passed += code == 0;
                skipped += code == EXIT_SKIPPED;
                failed += code == 1;
            }
        }
    }
    printf("%d passed, %d skipped, %d failed\n", passed, skipped, failed);
    if (failed > 0 || passed + skipped == 0) {
        return 1;
    }
    return passed > 0 ? 0 : EXIT_SKIPPED;
}
