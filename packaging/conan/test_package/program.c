/* Plans three resources, of which the first and the last may share bytes. Needs no Vulkan device.
 */
#include <maar/maar.h>

#include <stdio.h>

int main(void)
{
    const MaarPlanResource resources[3] = {
        {.size = 4096, .alignment = 256, .firstPass = 0, .lastPass = 1},
        {.size = 8192, .alignment = 256, .firstPass = 1, .lastPass = 2},
        {.size = 4096, .alignment = 256, .firstPass = 2, .lastPass = 3},
    };
    const MaarPlanCreateInfo create_info = {
        .sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
        .resourceCount = 3,
        .pResources = resources,
    };
    MaarPlanInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    MaarPlan plan;
    if (maarGetVersion() != MAAR_VERSION || maarCreatePlan(&create_info, &plan) != VK_SUCCESS) {
        return 1;
    }
    const VkResult result = maarGetPlanInfo(plan, &info);
    maarDestroyPlan(plan);
    printf("%llu bytes\n", (unsigned long long)info.peakSize);
    return result == VK_SUCCESS && info.peakSize == 12288 ? 0 : 1;
}
