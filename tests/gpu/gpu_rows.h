/*
 * Checks whose rows run in a process each, so that a fault or an endless wait spoils no other row.
 *
 * A program of rows starts itself again for every row, with --row GROUP.INDEX, under a time limit.
 * Whatever a row prints, a part of a line too, is in the report; the program adds how it ended.
 */
#ifndef MAAR_TESTS_GPU_GPU_ROWS_H
#define MAAR_TESTS_GPU_GPU_ROWS_H

#include "gpu_case.h"

struct gpu_row_group {
    const char* head;   /* printed before the rows: a sentence, the table's head */
    uint32_t row_count; /* fewer, if a row ends with GPU_EXIT_NO_ROW */
    uint32_t limit_s;   /* of a row */
    /* Prints one line, or several. Counts no failure for what a driver may refuse. Returns
     * GPU_EXIT_OK, or GPU_EXIT_NO_ROW without a word. */
    int (*run)(struct gpu_case* gpu, uint32_t index);
};

/* The whole of a main function. needs: of enum gpu_need. */
int gpu_run_groups(int argc, char** argv, uint32_t needs, const char* title,
                   const struct gpu_row_group* groups, uint32_t group_count);

#endif
