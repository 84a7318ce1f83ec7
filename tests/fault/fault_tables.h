/*
 * Tables of steps, of which every point fails in turn, and what came of it. For one thread.
 *
 * MAAR_FAULT_TABLE=FILE writes the table of points as CSV. MAAR_FAULT_CODES=N tries the first N
 * codes of each driver call alone, for builds that are slow.
 */
#ifndef MAAR_TESTS_FAULT_FAULT_TABLES_H
#define MAAR_TESTS_FAULT_FAULT_TABLES_H

#include "tests/fault/fault_answers.h"
#include "tests/fault/fault_inject.h"

/* Every point of every step fails: of host memory, of the driver, and of descriptors where a step
 * takes those. */
void fault_run_tables(const struct fault_table* const* tables, size_t count);
/* Each of these was answered; skips the case where only some codes are tried. */
void fault_expect_listed(const struct fault_answer* list, size_t count);
/* The teardown of a case that runs tables: says where it failed, if it did. */
int fault_report_where(void** state);
/* Prints what came of it, a line for each function; fails where a step lacks a reason for calling
 * nothing that can fail, or has one for nothing, or where too little failed. */
void fault_expect_points(uint64_t least_failures);
/* Whether a function has had a step, and how many have. */
bool fault_is_tallied(const char* function);
uint32_t fault_tallied(void);

#endif
