/*
 * The features that Maar can use beside the core ones, and how a recommendation names them: in
 * structures of its own, or in a chain of the program.
 */
#ifndef MAAR_BACKENDS_VULKAN_RECOMMEND_FEATURES_H
#define MAAR_BACKENDS_VULKAN_RECOMMEND_FEATURES_H

#include <stdbool.h>

#include "maar/allocator.h"

enum { MAAR_RECOMMENDED_FEATURES = 6 };

struct maar_recommended_feature {
    const char* extension;        /* that brings the feature */
    uint32_t core_version;        /* that includes the extension; 0: none */
    VkStructureType type;         /* of the feature's own structure */
    size_t own;                   /* offset of that structure in MaarDeviceRecommendation, bytes */
    VkStructureType version_type; /* with core_version: of the structure of that version */
    size_t version_flag;          /* with core_version: offset of the feature in it, bytes */
    bool needs_previous;          /* the extension depends on the one of the row before */
};

extern const struct maar_recommended_feature maar_recommended_features[MAAR_RECOMMENDED_FEATURES];

/* Links the recommendation's own structures of those features that are `available`, to ask the
 * driver about them. */
void maar_recommend_link_own(MaarDeviceRecommendation* out,
                             const bool available[MAAR_RECOMMENDED_FEATURES]);

/* Returns whether Vulkan allows core features in one place only, and the program has both. */
bool maar_recommend_chain_is_ambiguous(const MaarFeatureChainInfo* chain);

/* Takes the recommendation's own structures, which an earlier call has linked, out of the program's
 * chain. */
void maar_recommend_unlink_own(const MaarDeviceRecommendation* out, MaarFeatureChainInfo* chain);

/* Sets what the recommendation's own structures say in the program's chain, and links those of them
 * whose features have no place there. */
void maar_recommend_merge(MaarDeviceRecommendation* out,
                          const bool available[MAAR_RECOMMENDED_FEATURES],
                          MaarFeatureChainInfo* chain);

#endif
