/* cursor.c - numbers, texts, markers, shapes. */
#include "readers/cntk1/cursor.h"
#include "base/text.h"
#include <string.h>

void evl_cntk1_stop(evl_cntk1_cursor *c, EvalStatus st)
{
    if (c->status == EVAL_OK)
        c->status = st;
}

static void cut(evl_cntk1_cursor *c, const char *what)
{
    if (c->status == EVAL_OK)
        c->status = evl_fail(c->ctx, EVAL_ERR_FORMAT,
                             "CNTK v1: the file ends within %s that begins at byte %zu; is it "
                             "complete?",
                             what, c->from.at);
}

/* So many bytes, after a failure zeros. */
static const uint8_t *take(evl_cntk1_cursor *c, size_t n, const char *what)
{
    static const uint8_t zeros[sizeof(uint64_t)];
    const void *at;
    if (c->status == EVAL_OK && evl_bytes_take(&c->from, n, 1, &at))
        return at;
    cut(c, what);
    return zeros;
}

uint8_t evl_cntk1_u8(evl_cntk1_cursor *c)
{
    return *take(c, 1, "a byte");
}

uint32_t evl_cntk1_u32(evl_cntk1_cursor *c)
{
    return evl_load_u32(take(c, 4, "a 32-bit number"));
}

uint64_t evl_cntk1_u64(evl_cntk1_cursor *c)
{
    return evl_load_u64(take(c, 8, "a 64-bit number"));
}

int32_t evl_cntk1_i32(evl_cntk1_cursor *c)
{
    uint32_t bits = evl_cntk1_u32(c);
    int32_t v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

double evl_cntk1_f32(evl_cntk1_cursor *c)
{
    return evl_load_f32(take(c, 4, "a float"));
}

double evl_cntk1_f64(evl_cntk1_cursor *c)
{
    return evl_load_f64(take(c, 8, "a double"));
}

double evl_cntk1_real(evl_cntk1_cursor *c)
{
    if (c->real == EVAL_FLOAT64)
        return evl_cntk1_f64(c);
    if (c->real == EVAL_FLOAT32)
        return evl_cntk1_f32(c);
    return evl_float_from_f16(evl_load_u16(take(c, 2, "a half")));
}

const char *evl_cntk1_text(evl_cntk1_cursor *c)
{
    const uint8_t *at = c->from.data + c->from.at;
    size_t most = evl_bytes_left(&c->from) / 2, n = 0;
    if (c->status != EVAL_OK)
        return "";
    while (n < most && evl_load_u16(at + 2 * n) != 0)
        n++;
    if (n == most) {
        cut(c, "a text");
        return "";
    }
    if (n > c->ctx->limits->max_text) {
        c->status = evl_fail(c->ctx, EVAL_ERR_LIMIT,
                             "CNTK v1: the text at byte %zu has %zu characters, the limit is %zu",
                             c->from.at, n, c->ctx->limits->max_text);
        return "";
    }
    char *text = evl_utf8_from_utf16(c->arena, at, n);
    c->from.at += 2 * (n + 1);
    if (!text)
        c->status = evl_no_memory(c->ctx);
    return text ? text : "";
}

void evl_cntk1_skip_bytes_text(evl_cntk1_cursor *c)
{
    while (c->status == EVAL_OK && evl_cntk1_u8(c) != 0)
        ;
}

static bool is_here(const evl_cntk1_cursor *c, const char *word, size_t n)
{
    const uint8_t *at = c->from.data + c->from.at;
    if (evl_bytes_left(&c->from) / 2 < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (evl_load_u16(at + 2 * i) != (unsigned char)word[i])
            return false;
    return true;
}

bool evl_cntk1_is_marker(evl_cntk1_cursor *c, const char *word)
{
    size_t n = strlen(word) + 1;
    bool is = c->status == EVAL_OK && is_here(c, word, n);
    if (is)
        c->from.at += 2 * n;
    return is;
}

void evl_cntk1_marker(evl_cntk1_cursor *c, const char *word)
{
    if (c->status == EVAL_OK && !evl_cntk1_is_marker(c, word))
        c->status =
            evl_fail(c->ctx, EVAL_ERR_FORMAT,
                     "CNTK v1: the marker %s is missing at byte %zu; the file is damaged or "
                     "cut short",
                     word, c->from.at);
}

size_t evl_cntk1_count(evl_cntk1_cursor *c, size_t each)
{
    size_t at = c->from.at;
    uint64_t n = evl_cntk1_u64(c);
    if (c->status == EVAL_OK && n > evl_bytes_left(&c->from) / each) {
        c->status =
            evl_fail(c->ctx, EVAL_ERR_FORMAT,
                     "CNTK v1: the count %llu at byte %zu is more than the file has room for",
                     (unsigned long long)n, at);
        return 0;
    }
    return (size_t)n;
}

evl_cntk_list evl_cntk1_list_of(evl_cntk1_cursor *c, size_t n)
{
    evl_cntk_list list = { 0, NULL };
    if (c->status != EVAL_OK || n == 0)
        return list;
    list.at = evl_arena_take_many(c->arena, n, sizeof *list.at);
    if (!list.at)
        c->status = evl_no_memory(c->ctx);
    else
        list.n = n;
    return list;
}

static size_t rank(evl_cntk1_cursor *c, uint64_t n)
{
    if (n <= EVL_CNTK_MAX_RANK)
        return (size_t)n;
    if (c->status == EVAL_OK)
        c->status = evl_fail(c->ctx, EVAL_ERR_FORMAT,
                             "CNTK v1: %llu dimensions before byte %zu, at most %d are possible",
                             (unsigned long long)n, c->from.at, (int)EVL_CNTK_MAX_RANK);
    return 0;
}

evl_cntk_list evl_cntk1_shape(evl_cntk1_cursor *c)
{
    evl_cntk_list shape = evl_cntk1_list_of(c, rank(c, evl_cntk1_u32(c)));
    for (size_t i = 0; i < shape.n; i++)
        shape.at[i] = evl_cntk1_u32(c);
    return shape;
}

/* Three 64-bit numbers W, H, C in place of a shape: what was read as a rank and a first
** dimension of 0 was W. */
static evl_cntk_list oldest_shape(evl_cntk1_cursor *c, uint32_t width)
{
    evl_cntk_list shape = evl_cntk1_list_of(c, 3);
    uint64_t height = evl_cntk1_u64(c), channels = evl_cntk1_u64(c);
    if (height > UINT32_MAX || channels > UINT32_MAX)
        evl_cntk1_stop(c, evl_fail(c->ctx, EVAL_ERR_FORMAT,
                                   "CNTK v1: absurd image dimensions before byte %zu", c->from.at));
    if (shape.n != 3)
        return shape;
    shape.at[0] = (int64_t)channels;
    shape.at[1] = width;
    shape.at[2] = (int64_t)height;
    return shape;
}

evl_cntk_list evl_cntk1_input_shape(evl_cntk1_cursor *c)
{
    uint32_t n = evl_cntk1_u32(c);
    uint32_t first = n > 0 ? evl_cntk1_u32(c) : 0;
    if (n > 0 && first == 0)
        return oldest_shape(c, n);
    evl_cntk_list shape = evl_cntk1_list_of(c, rank(c, n));
    for (size_t i = 0; i < shape.n; i++)
        shape.at[i] = i == 0 ? first : evl_cntk1_u32(c);
    return shape;
}

evl_cntk_list evl_cntk1_flags(evl_cntk1_cursor *c)
{
    evl_cntk_list flags = evl_cntk1_list_of(c, rank(c, evl_cntk1_u64(c)));
    for (size_t i = 0; i < flags.n; i++)
        flags.at[i] = evl_cntk1_u8(c) != 0;
    return flags;
}
