/*
 * Maar as the consumers have it: installed headers, or the amalgamation's two.
 */
#ifndef CONSUMER_MAAR_H
#define CONSUMER_MAAR_H

#ifdef CONSUMER_AMALGAMATED
#include "maar.h"
#include "maar_simulated.h"
#else
#include <maar/maar.h>
#include <maar/simulated.h>
#endif

#endif
