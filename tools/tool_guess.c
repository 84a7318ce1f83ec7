/*
 * Nearest names; see tool_guess.h.
 *
 * A name is near if at most a third of its characters have to change, or if it contains what was
 * typed as a whole: many names begin with a vendor or with the same word.
 */
#include "tool_guess.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The cost of a name that contains the typed one, in changes, and the fewest characters for it. */
#define CONTAINED_COST 2u
#define CONTAINED_LENGTH 3u

/* The most changes. */
#define MAX_CHANGES 3u

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static size_t length_of(const char* text)
{
    const size_t length = strlen(text);
    return length < TOOL_GUESS_LENGTH ? length : TOOL_GUESS_LENGTH;
}

static uint8_t least(uint8_t a, unsigned b)
{
    return a < b ? a : (uint8_t)b;
}

size_t tool_guess_distance(const char* a, const char* b)
{
    /* Row i of the table holds the distances of the first i characters of `a`. */
    uint8_t rows[3][TOOL_GUESS_LENGTH + 1];
    const size_t height = length_of(a);
    const size_t width = length_of(b);
    for (size_t j = 0; j <= width; ++j) {
        rows[0][j] = (uint8_t)j;
    }
    for (size_t i = 1; i <= height; ++i) {
        uint8_t* const row = rows[i % 3];
        const uint8_t* const above = rows[(i - 1) % 3];
        row[0] = (uint8_t)i;
        for (size_t j = 1; j <= width; ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = least(same ? above[j - 1] : (uint8_t)(above[j - 1] + 1), above[j] + 1u);
            row[j] = least(row[j], row[j - 1] + 1u);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1])) {
                row[j] = least(row[j], rows[(i - 2) % 3][j - 2] + 1u);
            }
        }
    }
    return rows[height % 3][width];
}

/* Returns whether a name contains a text, in any case. */
static bool contains(const char* name, const char* text)
{
    const size_t length = strlen(text);
    for (; strlen(name) >= length; ++name) {
        size_t i = 0;
        while (i < length && lower(name[i]) == lower(text[i])) {
            ++i;
        }
        if (i == length) {
            return true;
        }
    }
    return false;
}

void tool_guess_offer(struct tool_guess* guess, const char* name)
{
    const size_t length = length_of(guess->typed);
    size_t most = (length + 1) / 3;
    most = most < 1 ? 1 : most > MAX_CHANGES ? MAX_CHANGES : most;
    size_t cost = tool_guess_distance(guess->typed, name);
    bool near = length > 1 && cost <= most;
    if (!near && length >= CONTAINED_LENGTH && contains(name, guess->typed)) {
        cost = CONTAINED_COST;
        near = true;
    }
    if (near && strlen(name) < sizeof(guess->best) &&
        (guess->best[0] == '\0' || cost < guess->cost)) {
        snprintf(guess->best, sizeof(guess->best), "%s", name);
        guess->cost = cost;
    }
}

const char* tool_guess_text(const struct tool_guess* guess, const char* prefix, char* buffer,
                            size_t size)
{
    buffer[0] = '\0';
    if (guess->best[0] != '\0') {
        snprintf(buffer, size, "; did you mean %s%s?", prefix, guess->best);
    }
    return buffer;
}
