/* payload_rest.c - what a table of fields cannot say: counts, and the oldest versions. */
#include "readers/cntk1/payload.h"

void evl_cntk1_rest_of_input(evl_cntk1_cursor *c, evl_cntk_fields *f)
{
    uint32_t n_axes = c->version >= 8 ? evl_cntk1_u32(c) : 0;
    if (n_axes > 1 && c->status == EVAL_OK)
        evl_cntk1_stop(c, evl_fail(c->ctx, EVAL_ERR_FORMAT,
                                   "%u dynamic axes, at most one is possible", (unsigned)n_axes));
    if (n_axes == 1)
        f->word = evl_cntk1_text(c); /* the axis; "" is the usual one */
    if (c->version >= 10)
        evl_cntk1_f32(c); /* learning rate */
}

void evl_cntk1_rest_of_parameter(evl_cntk1_cursor *c, evl_cntk_fields *f)
{
    if (c->version >= 3)
        return;
    evl_cntk1_u8(c); /* whether training changes it */
    uint64_t rows = evl_cntk1_u64(c), cols = evl_cntk1_u64(c);
    bool is_2d = rows != 0;
    evl_cntk_list own = { 0, NULL };
    if (!is_2d)
        own = evl_cntk1_input_shape(c);
    f->shape = evl_cntk1_list_of(c, is_2d ? 2 : own.n + (cols > 1));
    for (size_t i = 0; i < f->shape.n; i++)
        f->shape.at[i] = i < own.n ? own.at[i] : (int64_t)(is_2d && i == 0 ? rows : cols);
    f->matrix = evl_cntk1_read_matrix(c);
}

void evl_cntk1_rest_of_batch_normalization(evl_cntk1_cursor *c, evl_cntk_fields *f)
{
    if (c->version >= 6)
        return;
    int32_t written = evl_cntk1_i32(c);
    evl_cntk1_i32(c); /* the oldest version that reads it */
    evl_cntk1_u8(c);
    f->is_spatial = evl_cntk1_u8(c) != 0;
    evl_cntk1_f64(c);
    if (written >= 0x10002) {
        f->layout = evl_cntk1_i32(c);
        evl_cntk1_u64(c);
    }
    if (written >= 0x10003) {
        f->epsilon = evl_cntk1_f64(c);
        evl_cntk1_u8(c);
    }
}

static evl_cntk_list pair(evl_cntk1_cursor *c, uint64_t a, uint64_t b)
{
    evl_cntk_list list = evl_cntk1_list_of(c, 2);
    if (list.n == 2) {
        list.at[0] = (int64_t)a;
        list.at[1] = (int64_t)b;
    }
    return list;
}

static evl_cntk_list single(evl_cntk1_cursor *c, uint64_t a)
{
    evl_cntk_list list = evl_cntk1_list_of(c, 1);
    if (list.n == 1)
        list.at[0] = (int64_t)a;
    return list;
}

void evl_cntk1_rest_of_convolution(evl_cntk1_cursor *c, evl_cntk_fields *f)
{
    if (c->version >= 5)
        return;
    uint64_t width = evl_cntk1_u64(c), height = evl_cntk1_u64(c);
    uint64_t across = evl_cntk1_u64(c), down = evl_cntk1_u64(c);
    f->kernel = pair(c, width, height);
    f->stride = pair(c, across, down);
    f->map_count = single(c, evl_cntk1_u32(c));
    f->layout = evl_cntk1_u32(c);
    uint64_t is_padded = evl_cntk1_u8(c) != 0;
    f->auto_pad = pair(c, is_padded, is_padded);
    evl_cntk1_u64(c);
}

void evl_cntk1_rest_of_pooling(evl_cntk1_cursor *c, evl_cntk_fields *f)
{
    uint64_t width = evl_cntk1_u32(c);
    f->layout = evl_cntk1_u32(c);
    uint64_t height = evl_cntk1_u64(c);
    uint64_t across = evl_cntk1_u64(c), down = evl_cntk1_u64(c);
    f->kernel = pair(c, width, height);
    f->stride = pair(c, across, down);
}

/* Offsets; a number beyond all images stands for one that is still to be found. */
void evl_cntk1_rest_of_crop(evl_cntk1_cursor *c, evl_cntk_fields *f)
{
    double across = evl_cntk1_f64(c), down = evl_cntk1_f64(c);
    if (across >= 0 && across < 1e9 && down >= 0 && down < 1e9)
        f->begins = pair(c, (uint64_t)across, (uint64_t)down);
}

/* A generator's seed and place. In version 16 the seed was a C long: 4 bytes from Windows,
** 8 from Linux; what follows tells which. */
void evl_cntk1_rest_of_dropout(evl_cntk1_cursor *c, evl_cntk_fields *f)
{
    static const char *const follow[] = { "float", "double", "half", "ENodeList" };
    (void)f;
    if (c->version < 16)
        return;
    evl_cntk1_cursor after = *c;
    evl_bytes_skip(&after.from, 4 + 8);
    for (size_t i = 0; c->version == 16 && i < sizeof follow / sizeof *follow; i++)
        if (evl_cntk1_is_marker(&after, follow[i])) {
            evl_cntk1_u32(c);
            evl_cntk1_u64(c);
            return;
        }
    evl_cntk1_u64(c);
    evl_cntk1_u64(c);
}

void evl_cntk1_rest_of_random_sample(evl_cntk1_cursor *c, evl_cntk_fields *f)
{
    f->is_repeated = evl_cntk1_u8(c) != 0;
    f->size = (int64_t)evl_cntk1_u64(c);
    evl_cntk1_rest_of_dropout(c, f);
}

void evl_cntk1_rest_of_delay(evl_cntk1_cursor *c, evl_cntk_fields *f)
{
    if (c->version <= 3 && f->rows > 0)
        f->shape = single(c, (uint64_t)f->rows);
}

/* How many axes a node names: an int32 since some version, else one. */
static size_t axis_count(evl_cntk1_cursor *c, uint64_t since)
{
    int32_t n = c->version >= since ? evl_cntk1_i32(c) : 1;
    if (n >= 0 && n <= EVL_CNTK_MAX_RANK)
        return (size_t)n;
    evl_cntk1_stop(c, evl_fail(c->ctx, EVAL_ERR_FORMAT, "%d axes, at most %d are possible", (int)n,
                               (int)EVL_CNTK_MAX_RANK));
    return 0;
}

void evl_cntk1_rest_of_slice(evl_cntk1_cursor *c, evl_cntk_fields *f)
{
    size_t n = axis_count(c, 22);
    f->axes = evl_cntk1_list_of(c, n);
    f->begins = evl_cntk1_list_of(c, n);
    f->ends = evl_cntk1_list_of(c, n);
    f->steps = evl_cntk1_list_of(c, n);
    for (size_t i = 0; i < n && c->status == EVAL_OK; i++) {
        uint64_t begin = evl_cntk1_u64(c), height = evl_cntk1_u64(c);
        f->begins.at[i] = (int64_t)begin;
        f->ends.at[i] = (int64_t)(begin + height);
        f->axes.at[i] = c->version >= 3 ? evl_cntk1_i32(c) : 1;
        f->steps.at[i] = c->version >= 27 ? evl_cntk1_i32(c) : 1;
    }
}

void evl_cntk1_rest_of_reduce(evl_cntk1_cursor *c, evl_cntk_fields *f)
{
    f->axes = evl_cntk1_list_of(c, axis_count(c, 27));
    for (size_t i = 0; i < f->axes.n; i++)
        f->axes.at[i] = evl_cntk1_i32(c);
    f->word = evl_cntk1_text(c);
    f->keeps_axes = c->version >= 24 ? evl_cntk1_u8(c) != 0 : 1;
}

void evl_cntk1_rest_of_transpose(evl_cntk1_cursor *c, evl_cntk_fields *f)
{
    int32_t first = c->version >= 3 ? evl_cntk1_i32(c) : 1;
    int32_t second = c->version >= 3 ? evl_cntk1_i32(c) : 2;
    f->axes = pair(c, (uint64_t)first, (uint64_t)second);
    if (c->version < 25 || first != 0 || second != 0)
        return;
    size_t n = evl_cntk1_count(c, 8);
    if (n > EVL_CNTK_MAX_RANK)
        evl_cntk1_stop(c, evl_fail(c->ctx, EVAL_ERR_FORMAT, "a permutation of %zu axes", n));
    f->permutation = evl_cntk1_list_of(c, n);
    for (size_t i = 0; i < f->permutation.n; i++)
        f->permutation.at[i] = (int64_t)evl_cntk1_u64(c);
}

void evl_cntk1_rest_of_edit_distance(evl_cntk1_cursor *c, evl_cntk_fields *f)
{
    f->ignored = evl_cntk1_list_of(c, evl_cntk1_count(c, 8));
    for (size_t i = 0; i < f->ignored.n; i++)
        f->ignored.at[i] = (int64_t)evl_cntk1_u64(c);
}

/* A mode, unless the four bytes are no mode: then they belong to what follows. */
void evl_cntk1_rest_of_noise_contrastive(evl_cntk1_cursor *c, evl_cntk_fields *f)
{
    (void)f;
    size_t at = c->from.at;
    if (evl_cntk1_u32(c) > 2)
        c->from.at = at;
}
