/* matrix.c - dense matrices stay in the file; sparse ones are spread out. */
#include "readers/cntk1/cursor.h"
#include <string.h>

static EvalStatus broken(evl_cntk1_cursor *c, const char *what)
{
    return evl_fail(c->ctx, EVAL_ERR_FORMAT, "CNTK v1: matrix before byte %zu: %s", c->from.at,
                    what);
}

static EvalType element_type(evl_cntk1_cursor *c, uint64_t size)
{
    switch (size) {
    case 2: return EVAL_FLOAT16;
    case 4: return EVAL_FLOAT32;
    case 8: return EVAL_FLOAT64;
    default:
        evl_cntk1_stop(c, broken(c, "its elements are not of 2, 4 or 8 bytes"));
        return EVAL_UNDEFINED;
    }
}

/* rows * cols elements' bytes; false when that does not fit. */
static bool size_of(uint64_t rows, uint64_t cols, size_t each, size_t *n_bytes)
{
    size_t n;
    return rows <= SIZE_MAX && cols <= SIZE_MAX &&
           evl_size_multiply((size_t)rows, (size_t)cols, &n) && evl_size_multiply(n, each, n_bytes);
}

/* On a big-endian machine the elements are turned round into a copy. */
static const void *native(evl_cntk1_cursor *c, const void *data, size_t n_bytes, size_t each)
{
    if (evl_is_little_endian() || n_bytes == 0)
        return data;
    uint8_t *copy = evl_arena_take(c->arena, n_bytes);
    if (!copy) {
        evl_cntk1_stop(c, evl_no_memory(c->ctx));
        return NULL;
    }
    for (size_t i = 0; i < n_bytes; i++)
        copy[i] = ((const uint8_t *)data)[i - i % each + (each - 1 - i % each)];
    return copy;
}

static void read_dense(evl_cntk1_cursor *c, evl_cntk_matrix *m)
{
    size_t each = evl_type_size(m->type), n_bytes;
    m->rows = evl_cntk1_u64(c);
    m->cols = evl_cntk1_u64(c);
    if (c->status != EVAL_OK)
        return;
    if (!size_of(m->rows, m->cols, each, &n_bytes) ||
        !evl_bytes_take(&c->from, 1, n_bytes, &m->data)) {
        evl_cntk1_stop(c, broken(c, "it has more elements than the file has room for; is the file complete?"));
        return;
    }
    m->data = n_bytes > 0 ? native(c, m->data, n_bytes, each) : NULL;
}

/* A compressed matrix: values, the place of each within its line, where lines start. A
** line is a column (CSC) or a row (CSR). */
typedef struct lines {
    size_t n, length, n_values, each;
    const uint8_t *values, *places, *starts;
    size_t line_step, place_step; /* in elements of the dense matrix */
} lines;

static bool spread(const lines *from, uint8_t *to)
{
    for (size_t line = 0; line < from->n; line++) {
        uint64_t i = evl_load_u64(from->starts + 8 * line);
        uint64_t end = evl_load_u64(from->starts + 8 * (line + 1));
        if (i > end || end > from->n_values)
            return false;
        for (; i < end; i++) {
            uint64_t place = evl_load_u64(from->places + 8 * i);
            if (place >= from->length)
                return false;
            memcpy(to + (line * from->line_step + (size_t)place * from->place_step) * from->each,
                   from->values + i * from->each, from->each);
        }
    }
    return true;
}

static bool take(evl_cntk1_cursor *c, size_t n, size_t each, const uint8_t **start)
{
    const void *at = NULL;
    bool is_there = evl_bytes_take(&c->from, n, each, &at);
    *start = at;
    return is_there;
}

static bool take_lines(evl_cntk1_cursor *c, const evl_cntk_matrix *m, bool by_row, lines *l)
{
    l->n = (size_t)(by_row ? m->rows : m->cols);
    l->length = (size_t)(by_row ? m->cols : m->rows);
    l->line_step = by_row ? 1 : (size_t)m->rows;
    l->place_step = by_row ? (size_t)m->rows : 1;
    return take(c, l->n_values, l->each, &l->values) && take(c, l->n_values, 8, &l->places) &&
           l->n < SIZE_MAX && take(c, l->n + 1, 8, &l->starts);
}

enum { CSC = 6, CSR = 7 };

/* A few bytes must not ask for all memory. */
enum { MOST_SPREAD = 1024 }; /* dense bytes for each byte of the file */

static bool is_too_large(const evl_cntk1_cursor *c, const evl_cntk_matrix *m, size_t *n_bytes)
{
    return !size_of(m->rows, m->cols, evl_type_size(m->type), n_bytes) ||
           *n_bytes > c->ctx->limits->max_tensor_bytes || *n_bytes / MOST_SPREAD > c->from.size;
}

static void read_sparse(evl_cntk1_cursor *c, int32_t format, evl_cntk_matrix *m)
{
    uint64_t n_values = evl_cntk1_u64(c);
    m->cols = evl_cntk1_u64(c);
    m->rows = evl_cntk1_u64(c);
    lines l = { .n_values = (size_t)n_values, .each = evl_type_size(m->type) };
    size_t n_bytes = 0;
    if (c->status != EVAL_OK)
        return;
    if (is_too_large(c, m, &n_bytes)) {
        evl_cntk1_stop(c, broken(c, "it has more elements than a tensor may have"));
        return;
    }
    if ((format != CSC && format != CSR) ||
        (n_values > 0 && !take_lines(c, m, format == CSR, &l))) {
        evl_cntk1_stop(c, broken(c, "its sparse form is unknown or cut short"));
        return;
    }
    uint8_t *dense = n_bytes > 0 ? evl_arena_take(c->arena, n_bytes) : NULL;
    m->data = dense;
    if (n_bytes > 0 && !dense)
        evl_cntk1_stop(c, evl_no_memory(c->ctx));
    else if (n_values > 0 && !spread(&l, dense))
        evl_cntk1_stop(c, broken(c, "an element lies outside it"));
    else
        m->data = native(c, m->data, n_bytes, l.each);
}

evl_cntk_matrix evl_cntk1_read_matrix(evl_cntk1_cursor *c)
{
    evl_cntk_matrix m = { 0 };
    uint8_t kind = evl_cntk1_u8(c);
    evl_cntk1_marker(c, "BMAT");
    m.type = element_type(c, evl_cntk1_u64(c));
    evl_cntk1_text(c); /* its name; usually "unnamed" */
    int32_t format = evl_cntk1_i32(c);
    if (c->status != EVAL_OK)
        return m;
    if (kind == 'd')
        read_dense(c, &m);
    else if (kind == 's')
        read_sparse(c, format, &m);
    else
        evl_cntk1_stop(c, broken(c, "it is neither dense nor sparse"));
    evl_cntk1_marker(c, "EMAT");
    return m;
}
