/*
 * Guesses which of several names somebody meant who typed another one. Safe from any thread.
 */
#ifndef MAAR_TOOL_GUESS_H
#define MAAR_TOOL_GUESS_H

#include <stddef.h>

/* Longer names are compared by their beginnings. */
#define TOOL_GUESS_LENGTH 96u

/* The nearest name so far. All zero but for `typed` at the beginning. */
struct tool_guess {
    const char* typed;
    char best[TOOL_GUESS_LENGTH + 1]; /* empty: none is near */
    size_t cost;                      /* of the best */
};

/* Returns the fewest insertions, deletions, replacements and swaps of neighbours that make one name
 * of another. Ignores the case of ASCII letters. */
size_t tool_guess_distance(const char* a, const char* b);

/* Offers a name, or each name of a list that ends in NULL. The first of equally near names stays.
 */
void tool_guess_offer(struct tool_guess* guess, const char* name);

/* Writes "; did you mean NAME?", with a prefix before the name, or an empty text. Returns
 * `buffer`. */
const char* tool_guess_text(const struct tool_guess* guess, const char* prefix, char* buffer,
                            size_t size);

#endif
