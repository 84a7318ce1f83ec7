/*
 * The names of the peers that speak VulkanMemoryAllocator's interface. Their files are compiled
 * twice: with that library, and with maar::vma in its place (MAAR_BENCH_DROP_IN).
 */
#ifndef MAAR_BENCH_VMA_NAME_H
#define MAAR_BENCH_VMA_NAME_H

#ifdef MAAR_BENCH_DROP_IN
#define VMA_NAME(rest) "maar-vma" rest
#define VMA_RIVAL(name) name
#define VMA_ON_REQUEST true
#else
#define VMA_NAME(rest) "vma" rest
#define VMA_RIVAL(name) NULL
#define VMA_ON_REQUEST false
#endif

#endif
