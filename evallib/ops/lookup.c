#include "ops/lookup.h"
#include <stdlib.h>
#include <string.h>

static int compare(const evl_lookup_key *a, const evl_lookup_key *b)
{
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    size_t n = a->text.size < b->text.size ? a->text.size : b->text.size;
    int order = n ? memcmp(a->text.text, b->text.text, n) : 0;
    return order ? order : (a->text.size > b->text.size) - (a->text.size < b->text.size);
}

static int by_key(const void *left, const void *right)
{
    const evl_lookup_key *a = left, *b = right;
    int order = compare(a, b);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static bool make(evl_arena *arena, const int64_t *ints, const EvalString *texts, size_t n,
                 evl_lookup *to)
{
    evl_lookup_key *keys = evl_arena_take_many(arena, n + 1, sizeof *keys);
    if (!keys)
        return false;
    for (size_t i = 0; i < n; i++)
        keys[i] = (evl_lookup_key){ ints ? ints[i] : 0, texts ? texts[i] : (EvalString){ 0 }, i };
    if (n)
        qsort(keys, n, sizeof *keys, by_key);
    *to = (evl_lookup){ .n = n, .sorted = keys };
    return true;
}

bool evl_lookup_ints(evl_arena *arena, const int64_t *ints, size_t n, evl_lookup *to)
{
    return make(arena, ints, NULL, n, to);
}

bool evl_lookup_texts(evl_arena *arena, const EvalString *texts, size_t n, evl_lookup *to)
{
    return make(arena, NULL, texts, n, to);
}

int64_t evl_lookup_number(double x)
{
    int64_t bits;
    if (x != x)
        return INT64_MIN;
    x += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static size_t find(const evl_lookup *l, const evl_lookup_key *wanted)
{
    size_t low = 0, high = l->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&l->sorted[middle], wanted) < l->last_counts)
            low = middle + 1;
        else
            high = middle;
    }
    size_t at = l->last_counts ? low - 1 : low; /* SIZE_MAX: all are larger */
    return at < l->n && compare(&l->sorted[at], wanted) == 0 ? l->sorted[at].index : l->n;
}

size_t evl_lookup_int(const evl_lookup *l, int64_t i)
{
    return find(l, &(evl_lookup_key){ .number = i });
}

size_t evl_lookup_text(const evl_lookup *l, EvalString text)
{
    return find(l, &(evl_lookup_key){ .text = text });
}
