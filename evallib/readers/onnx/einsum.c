/* An Einsum becomes several that the operator knows how to do fast: first each operand gets
** rid of letters that are its own and summed, or that it has twice; then two operands at a
** time become one, whose letters are those that others still need. Of the last two the
** second has the output's last letter, so that they are a product of matrices. */
#include "ops/einsum.h"
#include "readers/onnx/onnx.h"
#include <string.h>

typedef struct rewriting {
    evl_onnx_putter put;
    evl_equation e;
    evl_value *in[EVL_EINSUM_TERMS];
} rewriting;

static char *write_term(char *to, const evl_einsum_term *t)
{
    for (size_t i = 0; i < t->n; i++) {
        uint8_t label = t->label[i];
        if (label == EVL_EINSUM_REST)
            for (int dot = 0; dot < 3; dot++)
                *to++ = '.';
        else
            *to++ = (char)(label < 26 ? 'A' + label : 'a' + label - 26);
    }
    return to;
}

/* The text of an equation of one or two operands. */
static const char *write_equation(const rewriting *r, const evl_einsum_term *a,
                                  const evl_einsum_term *b, const evl_einsum_term *out)
{
    char *text = evl_arena_take(r->put.o->arena, 3 * (EVL_EINSUM_AXES + 2) + 4 * 3), *to = text;
    if (!text)
        return NULL;
    to = write_term(to, a);
    if (b) {
        *to++ = ',';
        to = write_term(to, b);
    }
    *to++ = '-';
    *to++ = '>';
    *write_term(to, out) = '\0';
    return text;
}

/* Whether the output or an operand other than those two has it. */
static bool is_needed(const rewriting *r, uint8_t label, size_t a, size_t b)
{
    bool needed = evl_einsum_has(&r->e.out, label);
    for (size_t i = 0; i < r->e.n_in && !needed; i++)
        needed = i != a && i != b && evl_einsum_has(&r->e.in[i], label);
    return needed;
}

/* Appends what of the labels is needed and not there yet; false: there are too many. */
static bool keep(const rewriting *r, const evl_einsum_term *from, size_t a, size_t b,
                 evl_einsum_term *to)
{
    for (size_t i = 0; i < from->n; i++) {
        if (!is_needed(r, from->label[i], a, b) || evl_einsum_has(to, from->label[i]))
            continue;
        if (to->n == EVL_EINSUM_AXES)
            return false;
        to->label[to->n++] = from->label[i];
    }
    return true;
}

static bool shares(const evl_einsum_term *a, const evl_einsum_term *b)
{
    for (size_t i = 0; i < a->n; i++)
        if (evl_einsum_has(b, a->label[i]))
            return true;
    return false;
}

static void put_einsum(rewriting *r, size_t a, size_t b, const evl_einsum_term *out)
{
    bool is_pair = b != a;
    evl_value *in[2] = { r->in[a], r->in[b] };
    const char *text = write_equation(r, &r->e.in[a], is_pair ? &r->e.in[b] : NULL, out);
    if (!text && r->put.status == EVAL_OK)
        r->put.status = evl_no_memory(r->put.o->ctx);
    evl_attribute equation = evl_attribute_text("equation", text ? text : "");
    r->in[a] = evl_onnx_put(&r->put, "Einsum", in, is_pair ? 2 : 1, &equation, 1);
    r->e.in[a] = *out;
}

/* What an operand alone can do before it meets others. */
static void reduce(rewriting *r, size_t i)
{
    evl_einsum_term kept = { 0 };
    if (keep(r, &r->e.in[i], i, i, &kept) && kept.n < r->e.in[i].n)
        put_einsum(r, i, i, &kept);
}

/* The first operand and one that shares a letter with it, if there is one, become one. */
static bool join(rewriting *r)
{
    evl_einsum_term kept = { 0 };
    size_t other = 1;
    while (other < r->e.n_in && !shares(&r->e.in[0], &r->e.in[other]))
        other++;
    other = other < r->e.n_in ? other : 1;
    if (!keep(r, &r->e.in[0], 0, other, &kept) || !keep(r, &r->e.in[other], 0, other, &kept))
        return false;
    put_einsum(r, 0, other, &kept);
    for (size_t i = other; i + 1 < r->e.n_in; i++) {
        r->e.in[i] = r->e.in[i + 1];
        r->in[i] = r->in[i + 1];
    }
    r->e.n_in--;
    return true;
}

static void swap_operands(rewriting *r)
{
    evl_einsum_term term = r->e.in[0];
    evl_value *v = r->in[0];
    r->e.in[0] = r->e.in[1];
    r->e.in[1] = term;
    r->in[0] = r->in[1];
    r->in[1] = v;
}

/* The letters of one operand in another order are a transposition. */
static bool is_permutation(const evl_equation *e)
{
    const evl_einsum_term *in = &e->in[0], *out = &e->out;
    bool same = e->n_in == 1 && in->n == out->n && in->n <= EVAL_MAX_RANK &&
                !evl_einsum_has(in, EVL_EINSUM_REST);
    for (size_t i = 0; i < in->n && same; i++)
        same = evl_einsum_has(out, in->label[i]) && !memchr(in->label, in->label[i], i);
    return same;
}

static EvalStatus to_transpose(const rewriting *r, evl_onnx_draft *d, size_t equation)
{
    const evl_einsum_term *in = &r->e.in[0], *out = &r->e.out;
    int64_t *perm = evl_arena_take_many(r->put.o->arena, out->n + 1, sizeof *perm);
    if (!perm)
        return evl_no_memory(r->put.o->ctx);
    for (size_t i = 0; i < out->n; i++)
        perm[i] = (const uint8_t *)memchr(in->label, out->label[i], in->n) - in->label;
    d->op = "Transpose";
    d->attributes[equation] = evl_attribute_ints("perm", perm, out->n);
    return r->put.status;
}

/* The draft stands for what is left: one or two operands. */
static EvalStatus finish(rewriting *r, evl_onnx_draft *d, size_t equation)
{
    const evl_equation *e = &r->e;
    size_t n = e->n_in;
    if (is_permutation(e))
        return to_transpose(r, d, equation);
    if (n == 2 && e->out.n && !evl_einsum_has(&e->in[1], e->out.label[e->out.n - 1]))
        swap_operands(r);
    const char *text = write_equation(r, &e->in[0], n == 2 ? &e->in[1] : NULL, &e->out);
    if (!text)
        return evl_no_memory(r->put.o->ctx);
    d->attributes[equation] = evl_attribute_text("equation", text);
    d->n_inputs = n;
    for (size_t i = 0; i < n; i++)
        d->inputs[i] = r->in[i];
    return r->put.status;
}

static size_t equation_of(const evl_onnx_draft *d)
{
    for (size_t i = 0; i < d->n_attributes; i++)
        if (strcmp(d->attributes[i].name, "equation") == 0 &&
            d->attributes[i].kind == EVL_ATTRIBUTE_TEXT)
            return i;
    return SIZE_MAX;
}

/* What is no equation is left to the operator, which says what is wrong. */
EvalStatus evl_onnx_einsum(evl_onnx *o, const evl_onnx_scope *scope, evl_onnx_draft *d)
{
    rewriting r = { .put = { o, scope, d, EVAL_OK } };
    size_t equation = equation_of(d);
    if (equation == SIZE_MAX || evl_equation_read(d->attributes[equation].u.text.text, &r.e) ||
        r.e.n_in != d->n_inputs)
        return EVAL_OK;
    for (size_t i = 0; i < d->n_inputs; i++) {
        r.in[i] = d->inputs[i];
        if (!r.in[i])
            return EVAL_OK;
    }
    for (size_t i = 0; r.e.n_in > 1 && i < r.e.n_in; i++)
        reduce(&r, i);
    while (r.e.n_in > 2)
        if (!join(&r))
            return EVAL_OK;
    return finish(&r, d, equation);
}
