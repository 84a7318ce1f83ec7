/*
 * The loader; see texture_loader.h. Its tiles form a ring: [taken, filled) are filled, [filled,
 * given) are not.
 */
#include "texture_loader.h"

#include "texture_landscape.h"

#include <pthread.h>
#include <stdlib.h>

struct texture_loader {
    uint32_t texture, skip, capacity;
    pthread_t thread;
    pthread_mutex_t lock; /* guards all fields below */
    pthread_cond_t given_or_stopped;
    bool stopped;
    uint64_t taken, filled, given;
    MaarTileUpload uploads[];
};

static void fill(const struct texture_loader* loader, const MaarTileUpload* upload)
{
    const struct texture_box box = {.level = upload->mipLevel,
                                    .x = (uint32_t)upload->offset.x,
                                    .y = (uint32_t)upload->offset.y,
                                    .width = upload->extent.width,
                                    .height = upload->extent.height};
    texture_landscape_fill(loader->texture, &box, upload->pData, (size_t)upload->rowPitch);
}

static void* load_tiles(void* user_data)
{
    struct texture_loader* const loader = user_data;
    pthread_mutex_lock(&loader->lock);
    while (!loader->stopped) {
        if (loader->filled == loader->given) {
            pthread_cond_wait(&loader->given_or_stopped, &loader->lock);
            continue;
        }
        const uint64_t number = loader->filled;
        const MaarTileUpload upload = loader->uploads[number % loader->capacity];
        pthread_mutex_unlock(&loader->lock);
        if (loader->skip == 0 || number % loader->skip != 0) {
            fill(loader, &upload);
        }
        pthread_mutex_lock(&loader->lock);
        ++loader->filled;
    }
    pthread_mutex_unlock(&loader->lock);
    return NULL;
}

struct texture_loader* texture_loader_start(uint32_t texture, uint32_t capacity, uint32_t skip)
{
    struct texture_loader* const loader =
        calloc(1, sizeof(*loader) + capacity * sizeof(loader->uploads[0]));
    if (loader == NULL) {
        return NULL;
    }
    loader->texture = texture;
    loader->capacity = capacity;
    loader->skip = skip;
    pthread_mutex_init(&loader->lock, NULL);
    pthread_cond_init(&loader->given_or_stopped, NULL);
    if (pthread_create(&loader->thread, NULL, load_tiles, loader) != 0) {
        pthread_cond_destroy(&loader->given_or_stopped);
        pthread_mutex_destroy(&loader->lock);
        free(loader);
        return NULL;
    }
    return loader;
}

void texture_loader_give(struct texture_loader* loader, uint32_t count,
                         const MaarTileUpload* uploads)
{
    pthread_mutex_lock(&loader->lock);
    for (uint32_t i = 0; i < count; ++i) {
        loader->uploads[loader->given++ % loader->capacity] = uploads[i];
    }
    pthread_cond_signal(&loader->given_or_stopped);
    pthread_mutex_unlock(&loader->lock);
}

uint32_t texture_loader_take(struct texture_loader* loader, uint32_t capacity,
                             MaarTileUpload* uploads)
{
    uint32_t count = 0;
    pthread_mutex_lock(&loader->lock);
    while (count < capacity && loader->taken < loader->filled) {
        uploads[count++] = loader->uploads[loader->taken++ % loader->capacity];
    }
    pthread_mutex_unlock(&loader->lock);
    return count;
}

void texture_loader_stop(struct texture_loader* loader)
{
    if (loader == NULL) {
        return;
    }
    pthread_mutex_lock(&loader->lock);
    loader->stopped = true;
    pthread_cond_signal(&loader->given_or_stopped);
    pthread_mutex_unlock(&loader->lock);
    pthread_join(loader->thread, NULL);
    pthread_cond_destroy(&loader->given_or_stopped);
    pthread_mutex_destroy(&loader->lock);
    free(loader);
}
