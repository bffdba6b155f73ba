/* TfIdfVectorizer: how often each of a list of n-grams stands in a row of tokens, the tokens of
** one some places apart. */
#include "ops/lookup.h"
#include "ops/ml.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <stdlib.h>
#include <string.h>

typedef enum weighing { TF, IDF, TFIDF } weighing;

/* An n-gram of the pool: its tokens by number, what it counts for. */
typedef struct gram {
    const size_t *tokens;
    size_t n, index;
    double weight;
} gram;

typedef struct vectorizer {
    const evl_ml_kit *ml;
    evl_lookup tokens;
    gram *grams; /* sorted: by length, then by tokens */
    size_t n_grams, width;
    size_t shortest, longest, most_skipped;
    weighing weighing;
} vectorizer;

static int by_tokens(const void *left, const void *right)
{
    const gram *a = left, *b = right;
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (size_t i = 0; i < a->n; i++)
        if (a->tokens[i] != b->tokens[i])
            return a->tokens[i] < b->tokens[i] ? -1 : 1;
    return 0;
}

static EvalStatus infer(evl_infer *x)
{
    size_t n;
    int64_t width = 0;
    const int64_t *indexes = evl_node_ints(x->use.node, "ngram_indexes", &n);
    const evl_shape *in = &x->use.in[0]->shape;
    EvalStatus st = evl_infer_rank(x, 0, 0, 2);
    if (st == EVAL_OK)
        st = evl_infer_takes(x, 0, EVL_TAKES_INTEGERS | EVL_TAKES_TEXTS);
    if (st == EVAL_OK && n == 0)
        st = evl_fail(x->ctx, EVAL_ERR_FORMAT, "attribute ngram_indexes is missing or empty");
    if (st != EVAL_OK)
        return st;
    for (size_t i = 0; i < n; i++) {
        if (indexes[i] < 0 || indexes[i] >= INT32_MAX)
            return evl_fail(x->ctx, EVAL_ERR_FORMAT,
                            "attribute ngram_indexes: item %zu is %lld, expected 0 or more", i,
                            (long long)indexes[i]);
        width = indexes[i] >= width ? indexes[i] + 1 : width;
    }
    x->out[0].type = EVAL_FLOAT32;
    if (in->rank == 2)
        x->out[0].shape = evl_shape_of(2, (int64_t[]){ in->dim[0], width });
    else if (in->rank >= 0)
        x->out[0].shape = evl_shape_of(1, &width);
    return st;
}

static EvalStatus read_lengths(evl_prepare *p, vectorizer *v)
{
    static const char *const modes[] = { "TF", "IDF", "TFIDF" };
    size_t mode;
    int64_t shortest = evl_node_int(p->use.node, "min_gram_length", 1);
    int64_t longest = evl_node_int(p->use.node, "max_gram_length", 1);
    int64_t skipped = evl_node_int(p->use.node, "max_skip_count", 0);
    if (shortest < 1 || longest < shortest || longest > INT32_MAX || skipped < 0 ||
        skipped > INT32_MAX)
        return evl_fail(
            p->ctx, EVAL_ERR_FORMAT,
            "min_gram_length %lld, max_gram_length %lld, max_skip_count %lld: expected 1 or "
            "more, no less than that, 0 or more",
            (long long)shortest, (long long)longest, (long long)skipped);
    EvalStatus st = evl_ml_choice(p->ctx, p->use.node, "mode", modes, 3, &mode);
    v->shortest = (size_t)shortest;
    v->longest = (size_t)longest;
    v->most_skipped = (size_t)skipped;
    if (st == EVAL_OK)
        v->weighing = (weighing)mode;
    return st;
}

/* The pool's tokens by number: equal ones have the number of the first. */
static EvalStatus number_tokens(evl_prepare *p, vectorizer *v, const size_t **tokens, size_t *n)
{
    evl_ml_labels pool = evl_ml_labels_of(p->use.node, "pool_int64s", "pool_strings");
    size_t *numbers = evl_arena_take_many(p->arena, pool.n + 1, sizeof *numbers);
    if ((pool.texts != NULL) != (p->use.in[0]->type == EVAL_STRING))
        return evl_fail(p->ctx, EVAL_ERR_TYPE, "the pool holds %s, and the tokens are %s",
                        pool.texts ? "strings" : "integers", evl_type_name(p->use.in[0]->type));
    bool ok = numbers && (pool.texts ? evl_lookup_texts(p->arena, pool.texts, pool.n, &v->tokens)
                                     : evl_lookup_ints(p->arena, pool.ints, pool.n, &v->tokens));
    if (!ok)
        return evl_no_memory(p->ctx);
    for (size_t i = 0; i < pool.n; i++)
        numbers[i] = pool.texts ? evl_lookup_text(&v->tokens, pool.texts[i])
                                : evl_lookup_int(&v->tokens, pool.ints[i]);
    *tokens = numbers;
    *n = pool.n;
    return EVAL_OK;
}

/* Where the pool's n-grams of each length begin, checked; grams are all that it holds. */
static EvalStatus count_grams(evl_prepare *p, size_t n_tokens, const int64_t *starts,
                              size_t n_starts, size_t *n_grams)
{
    *n_grams = 0;
    for (size_t i = 0; i < n_starts; i++) {
        int64_t end = i + 1 < n_starts ? starts[i + 1] : (int64_t)n_tokens;
        if (starts[i] < 0 || end < starts[i] || end > (int64_t)n_tokens ||
            (size_t)(end - starts[i]) % (i + 1) != 0)
            return evl_fail(p->ctx, EVAL_ERR_FORMAT,
                            "attribute ngram_counts: %zu-grams from %lld to %lld in a pool of %zu",
                            i + 1, (long long)starts[i], (long long)end, n_tokens);
        *n_grams += (size_t)(end - starts[i]) / (i + 1);
    }
    return EVAL_OK;
}

static EvalStatus read_grams(evl_prepare *p, vectorizer *v, const size_t *tokens, size_t n_tokens)
{
    size_t n_starts, n_indexes, n_weights, at = 0;
    const int64_t *starts = evl_node_ints(p->use.node, "ngram_counts", &n_starts);
    const int64_t *indexes = evl_node_ints(p->use.node, "ngram_indexes", &n_indexes);
    const double *weights = evl_node_numbers(p->use.node, "weights", &n_weights);
    EvalStatus st = count_grams(p, n_tokens, starts, n_starts, &v->n_grams);
    if (st != EVAL_OK)
        return st;
    if (v->n_grams != n_indexes)
        return evl_ml_wrong_count(p->ctx, "ngram_indexes", n_indexes, v->n_grams);
    if (n_weights && n_weights != n_indexes)
        return evl_ml_wrong_count(p->ctx, "weights", n_weights, n_indexes);
    v->grams = evl_arena_take_many(p->arena, v->n_grams + 1, sizeof *v->grams);
    if (!v->grams)
        return evl_no_memory(p->ctx);
    for (size_t i = 0; i < n_starts; i++) {
        size_t end = i + 1 < n_starts ? (size_t)starts[i + 1] : n_tokens;
        for (size_t t = (size_t)starts[i]; t < end; t += i + 1, at++)
            v->grams[at] =
                (gram){ tokens + t, i + 1, (size_t)indexes[at], n_weights ? weights[at] : 1 };
    }
    qsort(v->grams, v->n_grams, sizeof *v->grams, by_tokens);
    return EVAL_OK;
}

static EvalStatus prepare(evl_prepare *p)
{
    vectorizer *v = evl_arena_take(p->arena, sizeof *v);
    const size_t *tokens = NULL;
    size_t n = 0, all = evl_shape_count(&p->use.in[0]->shape);
    if (!v)
        return evl_no_memory(p->ctx);
    const evl_shape *out = &p->out[0]->shape;
    v->ml = evl_ml_kit_of(p->machine);
    v->width = (size_t)out->dim[out->rank - 1];
    EvalStatus st = read_lengths(p, v);
    if (st == EVAL_OK)
        st = number_tokens(p, v, &tokens, &n);
    if (st == EVAL_OK)
        st = read_grams(p, v, tokens, n);
    p->state = v;
    p->scratch_bytes = (2 * all + 1) * sizeof(size_t); /* no gram is longer than a row */
    return st;
}

static void count_gram(const vectorizer *v, const size_t *tokens, size_t n, void *y, size_t row)
{
    gram wanted = { .tokens = tokens, .n = n };
    const gram *found = bsearch(&wanted, v->grams, v->n_grams, sizeof wanted, by_tokens);
    if (!found)
        return;
    size_t at = row * v->width + found->index;
    double weight = v->weighing == TF ? 1 : found->weight;
    v->ml->set(y, at, v->weighing == IDF ? weight : v->ml->at(y, at) + weight);
}

/* Tokens of one gram are the same number of places apart; one token has nothing to skip. */
static void count_row(const vectorizer *v, const size_t *tokens, size_t n, size_t *room, void *y,
                      size_t row)
{
    for (size_t length = v->shortest; length <= v->longest && length <= n; length++)
        for (size_t step = 1; step <= (length == 1 ? 1 : v->most_skipped + 1); step++) {
            if (length > 1 && step > (n - 1) / (length - 1))
                break;
            for (size_t from = 0; from + (length - 1) * step < n; from++) {
                for (size_t i = 0; i < length; i++)
                    room[i] = tokens[from + i * step];
                count_gram(v, room, length, y, row);
            }
        }
}

static EvalStatus run(const evl_call *call)
{
    const vectorizer *v = call->state;
    const evl_tensor *x = call->in[0];
    void *y = call->out[0]->data;
    size_t all = evl_shape_count(&x->shape),
           n_rows = x->shape.rank == 2 ? (size_t)x->shape.dim[0] : 1;
    size_t *tokens = call->scratch, n = n_rows ? all / n_rows : 0;
    for (size_t i = 0; i < all; i++)
        tokens[i] = x->type == EVAL_STRING
                        ? evl_lookup_text(&v->tokens, ((const EvalString *)x->data)[i])
                        : evl_lookup_int(&v->tokens, evl_tensor_i64(x, i));
    if (n_rows)
        memset(y, 0, n_rows * v->width * v->ml->bytes);
    for (size_t row = 0; row < n_rows; row++)
        count_row(v, tokens + row * n, n, tokens + all, y, row);
    return EVAL_OK;
}

static const evl_impl impl = { prepare, run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
static const evl_op op_tfidf = { "TfIdfVectorizer", NULL,  1,     1, 1, 1, 0, 0, infer,
                                 { NULL, NULL },    &impl, &impl, 0 };

const evl_op *const evl_ops_tfidf[] = { &op_tfidf, NULL };
