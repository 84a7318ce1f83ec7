/*
 * A library that uses Maar inside.
 */
#ifndef ENGINE_H
#define ENGINE_H

/* Returns how many of the two halves of a space do not overlap: 2. */
int engine_use(void);

#endif
