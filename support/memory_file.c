/*
 * Text in memory: POSIX has a stream for it, and elsewhere a temporary file is read back.
 */
#ifndef _WIN32
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#endif
#include "support/memory_file.h"

#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
bool support_memory_file_open(struct support_memory_file* out)
{
    memset(out, 0, sizeof *out);
    out->file = tmpfile();
    return out->file != NULL;
}

bool support_memory_file_close(struct support_memory_file* out)
{
    const long size = ferror(out->file) == 0 ? ftell(out->file) : -1;
    out->text = size >= 0 ? calloc(1, (size_t)size + 1) : NULL;
    if (out->text != NULL) {
        rewind(out->file);
        out->size = fread(out->text, 1, (size_t)size, out->file);
    }
    const bool good = out->text != NULL && out->size == (size_t)size;
    (void)fclose(out->file);
    if (!good) {
        free(out->text);
        out->text = NULL;
        out->size = 0;
    }
    return good;
}
#else
bool support_memory_file_open(struct support_memory_file* out)
{
    memset(out, 0, sizeof *out);
    out->file = open_memstream(&out->text, &out->size);
    return out->file != NULL;
}

bool support_memory_file_close(struct support_memory_file* out)
{
    const bool good = ferror(out->file) == 0;
    if (fclose(out->file) == 0 && good) {
        return true;
    }
    free(out->text);
    out->text = NULL;
    out->size = 0;
    return false;
}
#endif
