/** @file
 * maar/maar.h: the whole of Maar's interface. maar/capture_file.h, maar/simulated.h and maar/volk.h
 * are apart.
 */
#ifndef MAAR_MAAR_H
#define MAAR_MAAR_H

#include "maar/allocator.h"
#include "maar/base.h"
#include "maar/buffer_cache.h"
#include "maar/capture.h"
#include "maar/checkpoint.h"
#include "maar/cuda.h"
#include "maar/hip.h"
#include "maar/message.h"
#include "maar/move.h"
#include "maar/objects.h"
#include "maar/ordered.h"
#include "maar/paging.h"
#include "maar/plan.h"
#include "maar/process.h"
#include "maar/range.h"
#include "maar/residency.h"
#include "maar/residency_policy.h"
#include "maar/share.h"
#include "maar/stores.h"
#include "maar/tile_cache.h"
#include "maar/touch.h"
#include "maar/transient.h"

#endif
