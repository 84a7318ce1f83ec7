/*
 * The arguments of `maar plan` and what its files hold: sizes and numbers against a second opinion,
 * or the whole command, with a table of resources, and, separated by bytes of value 1, passes and
 * edges. It must end with a code that its help names, and what it writes must be a table that it
 * takes.
 */
#define _GNU_SOURCE 1 /* memfd_create */

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/frame_graph.h"
#include "tests/fuzz/fuzz_input.h"
#include "tools/tool_commands.h"
#include "tools/tool_text.h"

enum { COMMAND_WORDS = 16, COMMAND_FILES = 3, COMMAND_TEXT = 40 };

/* ---- sizes and numbers ---- */

/* Digits, read one by one; false when there are none or they do not fit. */
static bool read_digits(const char** text, uint64_t* number)
{
    bool any = false;
    *number = 0;
    for (; **text >= '0' && **text <= '9'; ++*text) {
        const uint64_t digit = (uint64_t)(**text - '0');
        if (*number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        *number = *number * 10 + digit;
        any = true;
    }
    return any;
}

static void try_numbers(struct fuzz_input* input)
{
    static const char units[] = "KMGT";
    char text[COMMAND_TEXT];
    uint64_t expected = 0;
    uint64_t size = 0;
    uint32_t number = 0;
    const char* rest = fuzz_text(input, text, sizeof text);
    const bool digits = read_digits(&rest, &expected);
    const bool is_number = digits && *rest == '\0' && expected <= UINT32_MAX;
    fuzz_require(tool_parse_number(text, &number) == is_number);
    fuzz_require(!is_number || number == expected);
    const char* const unit = *rest != '\0' ? strchr(units, *rest) : NULL;
    const unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    const bool known = *rest == '\0' || strcmp(rest, "B") == 0 ||
                       (unit != NULL && (rest[1] == '\0' || strcmp(rest + 1, "iB") == 0));
    const bool is_size = digits && known && expected <= UINT64_MAX >> shift;
    fuzz_require(tool_parse_size(text, &size) == is_size);
    fuzz_require(!is_size || size == expected << shift);
}

/* ---- the command ---- */

static int write_file(const void* text, size_t size, char* path, size_t room)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    fuzz_require(fd >= 0 && write(fd, text, size) == (ssize_t)size);
    (void)snprintf(path, room, "/proc/self/fd/%d", fd);
    return fd;
}

static void require_taken(const char* path)
{
    struct support_error error = {.text = ""};
    struct support_frame_graph graph;
    char* text = NULL;
    size_t size = 0;
    fuzz_require(support_read_file(path, (size_t)1 << 24, &text, &size, &error));
    const struct support_frame_text table = {"written.csv", text, size};
    const struct support_frame_text none = {.data = NULL};
    const bool good = support_frame_graph_parse(&table, &none, &none, &graph, &error);
    if (!good && strstr(error.text, "uses") == NULL) {
        (void)fprintf(stderr, "not so: it is taken: %s\n", error.text);
        abort();
    }
    support_frame_graph_release(&graph);
    free(text);
}

struct command_line {
    char* words[COMMAND_WORDS * 2];
    char texts[COMMAND_WORDS][COMMAND_TEXT];
    int count;
};

static void add_word(struct command_line* line, const char* word)
{
    line->words[line->count++] = (char*)(uintptr_t)word;
}

static void draw_options(struct fuzz_input* input, struct command_line* line)
{
    static const char* const flags[] = {"--greedy", "--keep-edges", "--json"};
    static const char* const options[] = {"--capacity", "--time-limit", "--granularity",
                                          "--node-limit"};
    for (uint32_t i = 0; i < COMMAND_WORDS / 2 && fuzz_byte(input) % 4 != 0; ++i) {
        const uint8_t way = fuzz_byte(input);
        if (way < 90) {
            add_word(line, flags[way % 3]);
        } else if (way < 230) {
            add_word(line, options[way % 4]);
            add_word(line, fuzz_text(input, line->texts[i], COMMAND_TEXT));
        } else {
            add_word(line, fuzz_text(input, line->texts[i], COMMAND_TEXT));
        }
    }
}

/* What the command prints is of no interest here. */
static int run_silently(int count, char** words)
{
    static FILE* nowhere;
    FILE* const out = stdout;
    FILE* const err = stderr;
    nowhere = nowhere != NULL ? nowhere : fopen("/dev/null", "w");
    fuzz_require(nowhere != NULL);
    stdout = nowhere;
    stderr = nowhere;
    optind = 0; /* begins anew */
    const int code = tool_command_plan(count, words);
    stdout = out;
    stderr = err;
    return code;
}

static void try_command(struct fuzz_input* input)
{
    static struct command_line line;
    char paths[COMMAND_FILES][32];
    char output[48];
    int fds[COMMAND_FILES];
    line.count = 0;
    add_word(&line, "plan");
    draw_options(input, &line);
    for (uint32_t i = 0; i < COMMAND_FILES; ++i) {
        const uint8_t* const end = memchr(input->at, 1, input->left);
        const size_t size = end != NULL ? (size_t)(end - input->at) : input->left;
        fds[i] = write_file(input->at, size, paths[i], sizeof paths[i]);
        input->at += size + (end != NULL ? 1 : 0);
        input->left -= size + (end != NULL ? 1 : 0);
    }
    const bool several = lseek(fds[1], 0, SEEK_END) > 0;
    (void)snprintf(output, sizeof output, "/tmp/maar-fuzz-%ld.csv", (long)getpid());
    add_word(&line, paths[0]);
    if (several) {
        add_word(&line, "--passes");
        add_word(&line, paths[1]);
        add_word(&line, "--edges");
        add_word(&line, paths[2]);
    }
    /* The last one counts: no input is searched for long. */
    add_word(&line, "--node-limit");
    add_word(&line, "50");
    add_word(&line, "--output");
    add_word(&line, output);
    line.words[line.count] = NULL;
    const int code = run_silently(line.count, line.words);
    fuzz_require(code >= TOOL_EXIT_OK && code <= TOOL_EXIT_USAGE);
    if (code == TOOL_EXIT_OK && !several && access(output, R_OK) == 0) {
        require_taken(output);
    }
    (void)unlink(output);
    for (uint32_t i = 0; i < COMMAND_FILES; ++i) {
        (void)close(fds[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    struct fuzz_input input = {data, size};
    if (fuzz_byte(&input) % 4 == 0) {
        try_numbers(&input);
    } else {
        try_command(&input);
    }
    return 0;
}
