/*
 * Runs a fuzz target over files and folders of files, without libFuzzer: every compiler can.
 */
#define _POSIX_C_SOURCE 200809L

#include "tests/fuzz/fuzz_input.h"

#include <dirent.h>

/* A copy of exactly its size, so that a sanitizer sees a read beyond the end. */
static bool replay_file(const char* path)
{
    FILE* file = fopen(path, "rb");
    uint8_t* data = NULL;
    bool good = file != NULL && fseek(file, 0, SEEK_END) == 0;
    const long size = good ? ftell(file) : -1;
    good = size >= 0 && fseek(file, 0, SEEK_SET) == 0;
    if (good) {
        data = malloc(size != 0 ? (size_t)size : 1);
        good = data != NULL && fread(data, 1, (size_t)size, file) == (size_t)size;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    if (good) {
        (void)LLVMFuzzerTestOneInput(data, (size_t)size);
    } else {
        (void)fprintf(stderr, "%s cannot be read\n", path);
    }
    free(data);
    return good;
}

/* Returns how many files were run, or -1. */
static int replay_folder(DIR* folder, const char* path)
{
    int count = 0;
    for (const struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char file[4096];
        if (entry->d_name[0] == '.') {
            continue;
        }
        const int length = snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        (void)fprintf(stderr, "%s\n", entry->d_name);
        if (length < 0 || (size_t)length >= sizeof(file) || !replay_file(file)) {
            return -1;
        }
        count += 1;
    }
    return count;
}

int main(int argc, char** argv)
{
    int total = 0;
    /* cmocka's assertions stop the program too, rather than leave it. */
#if defined(_WIN32)
    (void)_putenv("CMOCKA_TEST_ABORT=1");
#else
    (void)setenv("CMOCKA_TEST_ABORT", "1", 1);
#endif
    for (int i = 1; i < argc; ++i) {
        DIR* folder = opendir(argv[i]);
        int count = 0;
        if (folder != NULL) {
            count = replay_folder(folder, argv[i]);
            (void)closedir(folder);
        } else {
            count = replay_file(argv[i]) ? 1 : -1;
        }
        if (count < 0) {
            return 1;
        }
        total += count;
    }
    (void)printf("%d inputs\n", total);
    return total == 0 ? 1 : 0;
}
