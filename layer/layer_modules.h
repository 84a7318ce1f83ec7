/*
 * The program and the libraries from which the layer's functions are called.
 */
#ifndef MAAR_LAYER_MODULES_H
#define MAAR_LAYER_MODULES_H

#include <stddef.h>
#include <stdint.h>

/* Records the module of an address, unless it is recorded. */
void maar_layer_record_module(uint64_t address);

/* Forgets which modules are recorded: a new file begins. No other thread uses the module. */
void maar_layer_forget_modules(void);

/* Finds the file name of the program. Returns "" when the system does not say. */
const char* maar_layer_program_path(char* out, size_t size);

#endif
