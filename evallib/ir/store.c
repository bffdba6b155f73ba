/* Blocks in a list per bucket; each is made under the lock, so it is made once. */
#include "ir/store.h"
#include <string.h>

enum { N_BUCKETS = 256, MOST_LISTS = 2 };

/* Its key's kind is a copy behind it: a plan that asks for it may end before the model does. */
typedef struct block {
    evl_store_key key;
    struct block *next;
    void *data;
    char kind[];
} block;

struct evl_store {
    evl_memory *memory;
    evl_mutex *lock;
    block *buckets[N_BUCKETS];
    const evl_file *files[MOST_LISTS];
    size_t n_files[MOST_LISTS];
};

evl_store *evl_store_new(evl_memory *memory)
{
    evl_store *store = evl_allocate_zeroed(memory, sizeof *store);
    if (!store)
        return NULL;
    store->memory = memory;
    store->lock = evl_mutex_new(memory);
    if (!store->lock) {
        evl_release(memory, store);
        return NULL;
    }
    return store;
}

void evl_store_free(evl_store *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < N_BUCKETS; i++)
        for (block *b = store->buckets[i], *next; b; b = next) {
            next = b->next;
            evl_release(store->memory, b->data);
            evl_release(store->memory, b);
        }
    evl_mutex_free(store->lock);
    evl_release(store->memory, store);
}

void evl_store_files(evl_store *store, const evl_file *files, size_t n)
{
    for (size_t i = 0; i < MOST_LISTS; i++)
        if (!store->files[i]) {
            store->files[i] = files;
            store->n_files[i] = n;
            return;
        }
}

void evl_store_forget(evl_store *store, const void *data, size_t bytes)
{
    for (size_t i = 0; i < MOST_LISTS; i++)
        for (size_t j = 0; j < store->n_files[i]; j++)
            evl_file_forget(&store->files[i][j], data, bytes);
}

static size_t bucket_of(const evl_store_key *key)
{
    uint64_t h = (uint64_t)(uintptr_t)key->source * 0x9e3779b97f4a7c15u + key->variant;
    return (size_t)(h >> 32) % N_BUCKETS;
}

static bool is_key(const evl_store_key *a, const evl_store_key *b)
{
    return a->source == b->source && a->variant == b->variant && strcmp(a->kind, b->kind) == 0;
}

static EvalStatus make_block(evl_context *ctx, evl_store *store, const evl_store_key *key,
                             size_t bytes, EvalStatus (*make)(evl_context *, void *, void *),
                             void *arg, const void **data)
{
    size_t kind_size = strlen(key->kind) + 1;
    block *b = evl_allocate_zeroed(store->memory, sizeof *b + kind_size);
    EvalStatus st = EVAL_ERR_MEMORY;
    if (!b || !(b->data = evl_allocate(store->memory, bytes))) {
        evl_no_memory(ctx);
        goto failed;
    }
    evl_expect_fill(b->data, bytes);
    st = make(ctx, b->data, arg);
    if (st != EVAL_OK)
        goto failed;
    b->key = *key;
    b->key.kind = memcpy(b->kind, key->kind, kind_size);
    b->next = store->buckets[bucket_of(key)];
    store->buckets[bucket_of(key)] = b;
    *data = b->data;
    return EVAL_OK;
failed:
    if (b)
        evl_release(store->memory, b->data);
    evl_release(store->memory, b);
    return st;
}

static const block *find(const evl_store *store, const evl_store_key *key)
{
    const block *b = store->buckets[bucket_of(key)];
    while (b && !is_key(&b->key, key))
        b = b->next;
    return b;
}

const void *evl_store_find(evl_store *store, const evl_store_key *key)
{
    evl_mutex_lock(store->lock);
    const block *b = find(store, key);
    evl_mutex_unlock(store->lock);
    return b ? b->data : NULL;
}

EvalStatus evl_store_get(evl_context *ctx, evl_store *store, const evl_store_key *key, size_t bytes,
                         EvalStatus (*make)(evl_context *, void *, void *), void *arg,
                         const void **data)
{
    EvalStatus st = EVAL_OK;
    evl_mutex_lock(store->lock);
    const block *b = find(store, key);
    if (b)
        *data = b->data;
    else
        st = make_block(ctx, store, key, bytes, make, arg, data);
    evl_mutex_unlock(store->lock);
    return st;
}
