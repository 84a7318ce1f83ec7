/*
 * A clock that never goes back. Safe from any thread.
 */
#ifndef MAAR_SUPPORT_SECONDS_H
#define MAAR_SUPPORT_SECONDS_H

/* Returns the seconds since a moment that stays fixed during the run of the program. */
double support_seconds_now(void);

#endif
