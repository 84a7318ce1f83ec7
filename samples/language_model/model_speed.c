/*
 * Plays uses in virtual time; see model_speed.h.
 */
#include "model_speed.h"

#include "model_checks.h"
#include "model_virtual.h"

#include <string.h>

/* Speeds that are as good as equal: where hardly a layer can stay, all ways restore everything. */
#define TIE 0.02

static bool measure_run(const struct model_run_info* info, const char* name,
                        struct model_result* result, double* tokens_per_second)
{
    const struct model_shape* const shape = &info->weights->shape;
    const uint32_t tokens = shape->positions - shape->prompt - 1;
    const bool done = model_run(info, result) && model_checks_manager(result, name);
    *tokens_per_second = done ? tokens * 1e9 / (double)result->nanoseconds : 0.0;
    return done;
}

static bool has_one_memory(const struct sample_device* device)
{
    VkPhysicalDeviceMemoryProperties memory;
    bool is_local = true;
    vkGetPhysicalDeviceMemoryProperties(device->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
        is_local = is_local && (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
    }
    return is_local;
}

bool model_speed_measure(const struct sample_device* device, const struct model_weights* weights,
                         enum model_mistake mistake, struct model_speed* speed)
{
    static const char* const names[MODEL_WAY_COUNT] = {"hinted", "unhinted", "LRU"};
    const struct model_shape* const shape = &weights->shape;
    const uint32_t tokens = shape->positions - shape->prompt - 1;
    const uint64_t size = model_size(shape);
    struct model_run_info info = {.device = device,
                                  .weights = weights,
                                  .way = MODEL_WAY_UNHINTED,
                                  .budget = 2 * size,
                                  .mistake = mistake};
    struct model_result result;
    memset(speed, 0, sizeof(*speed));
    speed->is_unified = has_one_memory(device);
    bool done =
        model_virtual_start(device) && measure_run(&info, "with room", &result, &speed->roomy);
    model_result_destroy(&result);
    for (uint32_t i = 0; done && i < MODEL_SPEED_POINTS; ++i) {
        struct model_speed_point* const point = &speed->points[i];
        point->percent = MODEL_SPEED_FIRST + i * MODEL_SPEED_STEP;
        info.budget = size * point->percent / 100;
        for (uint32_t way = 0; done && way < MODEL_WAY_COUNT; ++way) {
            info.way = (enum model_way)way;
            done = measure_run(&info, names[way], &result, &point->tokens_per_second[way]);
            point->restored[way] = (double)result.restored / tokens / (double)size;
            model_result_destroy(&result);
        }
    }
    return done;
}

bool model_speed_check(const struct model_speed* speed)
{
    for (uint32_t i = 0; i < MODEL_SPEED_POINTS; ++i) {
        const struct model_speed_point* const point = &speed->points[i];
        const double hinted = point->tokens_per_second[MODEL_WAY_HINTED];
        const double lru = point->tokens_per_second[MODEL_WAY_LRU];
        if ((hinted < lru * (1.0 - TIE) && !speed->is_unified) ||
            hinted > speed->roomy * (1.0 + TIE)) {
            sample_complain("%u %%: %.3f tokens a second, LRU %.3f, with room %.3f", point->percent,
                            hinted, lru, speed->roomy);
            return false;
        }
    }
    return true;
}
