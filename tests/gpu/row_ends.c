/*
 * Rows that end in every way there is, for the test of gpu_rows.c: in order, with a failure, by a
 * fault in the middle of a line, by the time limit, with an exit code, and where no row is left.
 */
#include "gpu_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int end_somehow(struct gpu_case* gpu, uint32_t index)
{
    switch (index) {
    case 0:
        printf("| in order | right |\n");
        break;
    case 1:
        printf("| failing |");
        gpu_fail(gpu, "it does not hold");
        printf("|\n");
        break;
    case 2:
        printf("| half a line, then ");
        abort();
    case 3:
        printf("| endless | ");
        for (;;) {
            (void)pause();
        }
    case 4:
        _exit(3);
    case 5:
        printf("| the last one | right |\n");
        break;
    default:
        return GPU_EXIT_NO_ROW;
    }
    return GPU_EXIT_OK;
}

int main(int argc, char** argv)
{
    static const struct gpu_row_group groups[] = {
        {.head = "| row | end |\n| --- | --- |\n",
         .row_count = 100,
         .limit_s = 5,
         .run = end_somehow},
    };
    return gpu_run_groups(argc, argv, GPU_NEEDS_NOTHING, "Ends of rows", groups, 1);
}
