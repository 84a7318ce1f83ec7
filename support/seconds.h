/*
 * A clock that never goes back. Safe from any thread.
 */
#ifndef MAAR_SUPPORT_SECONDS_H
#define MAAR_SUPPORT_SECONDS_H

/* Seconds since a moment that stays the same while the program runs. */
double support_seconds_now(void);

#endif
