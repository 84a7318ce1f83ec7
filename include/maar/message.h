/** @file
 * maar/message.h: what Maar reports, and how a program receives it.
 *
 * Each message has a stable identifier. docs/messages.md lists every identifier with its cause and
 * its cure. The wording of a message may change from one release to the next; its identifier does
 * not.
 */
#ifndef MAAR_MESSAGE_H
#define MAAR_MESSAGE_H

#include "maar/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How serious a message is. */
typedef enum MaarMessageSeverity {
    /** The caller broke a rule of this API; the call failed. */
    MAAR_MESSAGE_SEVERITY_ERROR = 0,
    /** The call succeeded otherwise than the caller asked: with another memory type, or over a
     * budget. Or the call failed although nothing is wrong with the request: there is no memory, or
     * the driver does not map it. */
    MAAR_MESSAGE_SEVERITY_WARNING = 1,
    /** Worth knowing. An allocation failure that the program itself provoked, by the within-budget
     * flag or by the limits of a pool, is reported with this severity too. */
    MAAR_MESSAGE_SEVERITY_INFO = 2,
    /** An invariant of Maar is broken; every later call on the object that noticed it fails. */
    MAAR_MESSAGE_SEVERITY_FATAL = 3,
    /** Reserves the enumeration's size. */
    MAAR_MESSAGE_SEVERITY_MAX_ENUM = 0x7FFFFFFF
} MaarMessageSeverity;

/** What a message is about. An identifier keeps its number and its meaning for ever; later versions
 * add identifiers. */
typedef enum MaarMessageId {
    /** A pointer that must point to something is NULL. */
    MAAR_MESSAGE_ID_NULL_ARGUMENT = 100,
    /** A handle that must name an object is VK_NULL_HANDLE. */
    MAAR_MESSAGE_ID_NULL_HANDLE = 101,
    /** A structure's sType is not the one that the call takes, or is 0 in a chain. */
    MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE = 102,
    /** A flags field has bits that this version does not define. */
    MAAR_MESSAGE_ID_UNKNOWN_FLAGS = 103,
    /** A value is not one of its enumeration. */
    MAAR_MESSAGE_ID_INVALID_ENUM = 104,
    /** A flags field that must have a bit, such as a usage, has none. */
    MAAR_MESSAGE_ID_EMPTY_FLAGS = 105,
    /** A size or a count that must be above 0 is 0. */
    MAAR_MESSAGE_ID_ZERO_SIZE = 106,
    /** A number, or a range of bytes, lies outside what the call or the object allows. */
    MAAR_MESSAGE_ID_OUT_OF_RANGE = 107,
    /** An alignment, or an offset that must be a multiple of one, is wrong. */
    MAAR_MESSAGE_ID_INVALID_ALIGNMENT = 108,
    /** Two arguments, or two fields, contradict each other. */
    MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS = 109,
    /** A handle is not one of this allocator's. */
    MAAR_MESSAGE_ID_FOREIGN_HANDLE = 110,
    /** A handle names an object that was freed or destroyed before. */
    MAAR_MESSAGE_ID_STALE_HANDLE = 111,
    /** Another thread freed the object during the call. */
    MAAR_MESSAGE_ID_FREED_CONCURRENTLY = 112,
    /** The call needs a feature or an extension that the device does not have, or that
     * MaarAllocatorCreateInfo does not list. */
    MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED = 113,
    /** The program frees memory that an object of Maar's, or a movable object, owns. */
    MAAR_MESSAGE_ID_ALLOCATION_IS_OWNED = 114,
    /** An object was never freed or destroyed when its owner was. */
    MAAR_MESSAGE_ID_LEAK = 200,
    /** Frees were still pending when their owner was destroyed. */
    MAAR_MESSAGE_ID_PENDING_AT_DESTROY = 201,
    /** A Vulkan function that the allocator or the call needs cannot be found. */
    MAAR_MESSAGE_ID_MISSING_ENTRY_POINT = 202,
    /** An enabled feature is not used, since something else that it needs is missing. */
    MAAR_MESSAGE_ID_FEATURE_UNUSED = 203,
    /** A pool cannot serve the request: its memory type, kind, handle types or page use do not
     * fit. */
    MAAR_MESSAGE_ID_POOL_MISMATCH = 204,
    /** No memory type serves the request. */
    MAAR_MESSAGE_ID_NO_MEMORY_TYPE = 205,
    /** The memory of an allocation cannot be mapped. */
    MAAR_MESSAGE_ID_NOT_MAPPABLE = 206,
    /** An allocation is not mapped, or not as often as it is unmapped. */
    MAAR_MESSAGE_ID_NOT_MAPPED = 207,
    /** An allocation is mapped 65,535 times already. */
    MAAR_MESSAGE_ID_MAPPED_TOO_OFTEN = 208,
    /** The driver did not map a block. */
    MAAR_MESSAGE_ID_MAP_FAILED = 209,
    /** A call takes dedicated allocations, and this one shares its block with others. */
    MAAR_MESSAGE_ID_NOT_DEDICATED = 210,
    /** The Vulkan version of the program or of the device is below 1.0. */
    MAAR_MESSAGE_ID_VERSION_TOO_LOW = 211,
    /** Something has written behind the end of an allocation, into its margin. */
    MAAR_MESSAGE_ID_MARGIN_OVERWRITTEN = 212,
    /** The driver has no memory of the type that a request must come from. */
    MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY = 250,
    /** An allocation lies in another memory type than the preferred one. */
    MAAR_MESSAGE_ID_FALLBACK_TYPE = 251,
    /** A heap's budget was exceeded. */
    MAAR_MESSAGE_ID_OVER_BUDGET = 252,
    /** A request may not exceed a heap's budget, and does not fit into it. */
    MAAR_MESSAGE_ID_BUDGET_REACHED = 253,
    /** A request does not fit below the limit that the program has set for a heap. */
    MAAR_MESSAGE_ID_HEAP_LIMIT_REACHED = 254,
    /** A request is larger than the heap that it must come from. */
    MAAR_MESSAGE_ID_TOO_LARGE_FOR_HEAP = 255,
    /** A request is larger than the device allocates in one piece. */
    MAAR_MESSAGE_ID_TOO_LARGE_FOR_DEVICE = 256,
    /** The device has as many memory objects as it allows. */
    MAAR_MESSAGE_ID_TOO_MANY_ALLOCATIONS = 257,
    /** A pool has no room for a request, and may have no more blocks. */
    MAAR_MESSAGE_ID_POOL_FULL = 258,
    /** A request is larger than the blocks of its pool. */
    MAAR_MESSAGE_ID_TOO_LARGE_FOR_POOL = 259,
    /** More device memory objects exist than the device allows, as the program has asked. */
    MAAR_MESSAGE_ID_ALLOCATION_COUNT_EXCEEDED = 260,
    /** The driver has refused a device memory object, and Maar enforces the number that exist. */
    MAAR_MESSAGE_ID_ALLOCATION_COUNT_LEARNED = 261,
    /** A point cannot be waited for on this device, or has not passed. */
    MAAR_MESSAGE_ID_POINT_NOT_USABLE = 300,
    /** The host timeline was to go back. */
    MAAR_MESSAGE_ID_HOST_TIMELINE_DECREASED = 301,
    /** The driver did not create a buffer or an image. */
    MAAR_MESSAGE_ID_OBJECT_NOT_CREATED = 400,
    /** An object cannot be bound to an allocation: size, offset, memory type or kind do not fit. */
    MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT = 401,
    /** An object needs memory of its own, or an allocation is dedicated to another object. */
    MAAR_MESSAGE_ID_DEDICATED_REQUIRED = 402,
    /** A sparse object was given to a call that takes objects without pages. */
    MAAR_MESSAGE_ID_SPARSE_NOT_SUPPORTED = 403,
    /** A disjoint image was given to a call for images in one piece, or the reverse. */
    MAAR_MESSAGE_ID_DISJOINT_IMAGE = 404,
    /** An image layout is not allowed where it is given. */
    MAAR_MESSAGE_ID_INVALID_LAYOUT = 405,
    /** An allocation cannot move, or Maar cannot copy its bytes. */
    MAAR_MESSAGE_ID_CANNOT_MOVE = 406,
    /** Pages were committed or given back, and the binds were not submitted. */
    MAAR_MESSAGE_ID_PAGES_NOT_SUBMITTED = 500,
    /** There are no pages for a request. */
    MAAR_MESSAGE_ID_NO_PAGES = 501,
    /** A submission of binds was not executed in time. */
    MAAR_MESSAGE_ID_BINDS_NOT_EXECUTED = 502,
    /** The address space of sparse objects is used up. */
    MAAR_MESSAGE_ID_ADDRESS_SPACE_EXHAUSTED = 503,
    /** The device, or the memory, does not allow pages. */
    MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED = 504,
    /** A buffer is larger than the device allows. */
    MAAR_MESSAGE_ID_BUFFER_TOO_LARGE = 505,
    /** A call would change a reservation that belongs to a growable array. */
    MAAR_MESSAGE_ID_ARRAY_OWNS_RESERVATION = 506,
    /** An array has no room for the requested elements. */
    MAAR_MESSAGE_ID_ARRAY_FULL = 507,
    /** The allocator has no queue for the work of a call. */
    MAAR_MESSAGE_ID_NO_QUEUE = 508,
    /** Pages cannot be shared with another range. */
    MAAR_MESSAGE_ID_PAGES_NOT_SHAREABLE = 509,
    /** A call would change an image that belongs to a tile cache, or give it a second one. */
    MAAR_MESSAGE_ID_TILE_CACHE_OWNS_IMAGE = 520,
    /** A tile cache cannot stream an image. */
    MAAR_MESSAGE_ID_IMAGE_NOT_STREAMABLE = 521,
    /** The budget of a tile cache is less than its pinned tiles take. */
    MAAR_MESSAGE_ID_TILE_BUDGET_TOO_SMALL = 522,
    /** An upload is over, recorded already, or named twice. */
    MAAR_MESSAGE_ID_STALE_UPLOAD = 523,
    /** Uploads of one tile cache wait on too many timelines. */
    MAAR_MESSAGE_ID_TOO_MANY_TIMELINES = 524,
    /** A call would change a reservation that belongs to a buffer cache, or give it a second one.
     */
    MAAR_MESSAGE_ID_BUFFER_CACHE_OWNS_RESERVATION = 530,
    /** A buffer cache cannot use a reservation. */
    MAAR_MESSAGE_ID_RESERVATION_NOT_CACHEABLE = 531,
    /** The items of a use do not fit into the budget or the staging memory of a buffer cache. */
    MAAR_MESSAGE_ID_ITEMS_TOO_LARGE = 532,
    /** A number names no item of a buffer cache. */
    MAAR_MESSAGE_ID_UNKNOWN_ITEM = 533,
    /** An item that is in use, locked or being uploaded is removed. */
    MAAR_MESSAGE_ID_ITEM_IN_USE = 534,
    /** Items of a buffer cache share a page. */
    MAAR_MESSAGE_ID_ITEMS_OVERLAP = 535,
    /** An item is unlocked more often than it was locked. */
    MAAR_MESSAGE_ID_ITEM_NOT_LOCKED = 536,
    /** A number names no use of a buffer cache that has begun and not ended. */
    MAAR_MESSAGE_ID_STALE_USE = 537,
    /** The frame that a plan was asked for breaks a rule. */
    MAAR_MESSAGE_ID_INVALID_PLAN_INPUT = 600,
    /** The graph of a transient heap breaks a rule. */
    MAAR_MESSAGE_ID_INVALID_GRAPH = 601,
    /** A pass reads a transient that no pass has written. */
    MAAR_MESSAGE_ID_UNDEFINED_CONTENTS = 602,
    /** The transients of a frame need more memory in one piece than the device allocates. */
    MAAR_MESSAGE_ID_TRANSIENTS_TOO_LARGE = 603,
    /** A program asks for the barriers of frames whose numbers do not rise. */
    MAAR_MESSAGE_ID_FRAME_NUMBER_NOT_RISING = 604,
    /** Memory or a semaphore cannot be exported as a handle type. */
    MAAR_MESSAGE_ID_NOT_EXPORTABLE = 700,
    /** A handle cannot be imported. */
    MAAR_MESSAGE_ID_NOT_IMPORTABLE = 701,
    /** A handle was taken or imported before. */
    MAAR_MESSAGE_ID_HANDLE_EMPTY = 702,
    /** Somebody closed the descriptor that a handle holds. */
    MAAR_MESSAGE_ID_HANDLE_CLOSED = 703,
    /** A descriptor, or the message that it came in, is damaged or does not fit. */
    MAAR_MESSAGE_ID_INVALID_DESCRIPTOR = 704,
    /** Two sides that share something are different devices or drivers. */
    MAAR_MESSAGE_ID_OTHER_DEVICE = 705,
    /** A socket cannot carry handles. */
    MAAR_MESSAGE_ID_SOCKET_FAILED = 706,
    /** A handoff was begun and could not be completed. */
    MAAR_MESSAGE_ID_HANDOFF_INCOMPLETE = 707,
    /** The process has no file descriptor or handle left. */
    MAAR_MESSAGE_ID_TOO_MANY_HANDLES = 708,
    /** The device works on a copy of the host's memory. */
    MAAR_MESSAGE_ID_HOST_MEMORY_COPIED = 709,
    /** The values of a handoff's timeline do not rise, or a value is waited for twice. */
    MAAR_MESSAGE_ID_HANDOFF_VALUE = 710,
    /** The calling thread has waited long for a signal of Vulkan, and goes on waiting. */
    MAAR_MESSAGE_ID_HANDOFF_WAITS_LONG = 711,
    /** The library of CUDA or HIP is missing or too old. */
    MAAR_MESSAGE_ID_PEER_MISSING = 800,
    /** A call of CUDA or HIP failed. */
    MAAR_MESSAGE_ID_PEER_CALL_FAILED = 801,
    /** No device of CUDA or HIP is the allocator's device. */
    MAAR_MESSAGE_ID_PEER_DEVICE_MISMATCH = 802,
    /** CUDA, HIP or the device does not support what was asked. */
    MAAR_MESSAGE_ID_PEER_NOT_SUPPORTED = 803,
    /** Something that was made of an object is alive. */
    MAAR_MESSAGE_ID_PEER_IN_USE = 804,
    /** The file of a capture cannot be created. */
    MAAR_MESSAGE_ID_CAPTURE_FAILED = 850,
    /** A capture is begun during another one, or ended where there is none. */
    MAAR_MESSAGE_ID_CAPTURE_ORDER = 851,
    /** The residents of a use do not fit into the budget. */
    MAAR_MESSAGE_ID_TOO_MUCH_IN_USE = 870,
    /** The contents of a resident cannot be read from their last copy. */
    MAAR_MESSAGE_ID_CONTENTS_LOST = 871,
    /** A use has neither ended nor been cancelled. */
    MAAR_MESSAGE_ID_USE_NOT_ENDED = 872,
    /** A resident is unlocked more often than it was locked. */
    MAAR_MESSAGE_ID_NOT_LOCKED = 873,
    /** Uses that have declared to read a resident have written to it. */
    MAAR_MESSAGE_ID_READ_BUT_WRITTEN = 875,
    /** A file store cannot be written to. */
    MAAR_MESSAGE_ID_STORE_WRITE_FAILED = 874,
    /** A policy of the program's own has chosen a resident that cannot make room. */
    MAAR_MESSAGE_ID_POLICY_ANSWER = 876,
    /** An invariant of Maar is broken. This is a defect of Maar, or the program wrote to its
     * memory. */
    MAAR_MESSAGE_ID_BROKEN_INVARIANT = 900,
    /** Reserves the enumeration's size. */
    MAAR_MESSAGE_ID_MAX_ENUM = 0x7FFFFFFF
} MaarMessageId;

/** One message. Maar fills it in; a program reads it during the callback only. */
typedef struct MaarMessage {
    /** MAAR_STRUCTURE_TYPE_MESSAGE */
    MaarStructureType sType;
    /** NULL, or structures of later versions. */
    const void* pNext;
    /** How serious the message is. */
    MaarMessageSeverity severity;
    /** What the message is about. */
    MaarMessageId id;
    /** The identifier as text, such as "NULL_ARGUMENT": the name of the enumerator without
     * MAAR_MESSAGE_ID_. It lives as long as the library is loaded. */
    const char* pIdName;
    /** The public function that reports, or NULL where no call is to blame. */
    const char* pFunction;
    /** One English sentence in UTF-8, which begins with pFunction where that is not NULL. It lives
     * until the callback returns. */
    const char* pText;
} MaarMessage;

/**
 * Receives a message. Any thread that is inside a call of Maar may call it, with no lock held. It
 * must not call back into the same allocator.
 *
 * @param pUserData  the pointer given at creation
 * @param pMessage   the message; valid until the callback returns
 */
typedef void(VKAPI_PTR* PFN_maarMessage)(void* pUserData, const MaarMessage* pMessage);

#ifdef __cplusplus
}
#endif

#endif
