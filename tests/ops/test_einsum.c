/* Einsum of one and two operands against a loop over all letters. */
#include "ops/einsum.h"
#include "ops/op_case.h"
#include <stdlib.h>

enum { LETTERS = 8, MOST = 1 << 15 };
static const int64_t sizes[LETTERS] = { 2, 3, 37, 5, 1, 4, 0, 40 }; /* of a to h */

typedef struct term {
    const char *letters;
    size_t n;
    int64_t dim[EVAL_MAX_RANK];
} term;

static term term_of(const char *text, size_t n)
{
    term t = { .letters = text, .n = n };
    for (size_t i = 0; i < n; i++)
        t.dim[i] = sizes[text[i] - 'a'];
    return t;
}

static size_t at(const term *t, const int64_t *index)
{
    size_t place = 0;
    for (size_t i = 0; i < t->n; i++)
        place = place * (size_t)t->dim[i] + (size_t)index[t->letters[i] - 'a'];
    return place;
}

static size_t count(const term *t)
{
    size_t n = 1;
    for (size_t i = 0; i < t->n; i++)
        n *= (size_t)t->dim[i];
    return n;
}

static bool is_used(const term *terms, char letter)
{
    for (int i = 0; i < 3; i++)
        for (size_t j = 0; j < terms[i].n; j++)
            if (terms[i].letters[j] == letter)
                return true;
    return false;
}

/* Every combination of letters adds its product. */
static void sum_all(const term *terms, const double *a, const double *b, double *y, int letter,
                    int64_t *index)
{
    if (letter == LETTERS) {
        y[at(&terms[2], index)] += a[at(&terms[0], index)] * (b ? b[at(&terms[1], index)] : 1);
        return;
    }
    int64_t n = is_used(terms, (char)('a' + letter)) ? sizes[letter] : 1;
    for (index[letter] = 0; index[letter] < n; index[letter]++)
        sum_all(terms, a, b, y, letter + 1, index);
}

static void check_equation(const char *text)
{
    const char *comma = strchr(text, ','), *arrow = strstr(text, "->");
    static double a[MOST], b[MOST], y[MOST];
    int64_t index[LETTERS];
    uint64_t seed = 3;
    term terms[3] = { term_of(text, (size_t)((comma ? comma : arrow) - text)),
                      comma ? term_of(comma + 1, (size_t)(arrow - comma - 1)) : (term){ 0 },
                      term_of(arrow + 2, strlen(arrow + 2)) };
    memset(y, 0, sizeof y);
    for (size_t i = 0; i < MOST; i++) {
        a[i] = floor(evl_test_random(&seed, -4, 5));
        b[i] = floor(evl_test_random(&seed, -4, 5));
    }
    assert_true(count(&terms[0]) <= MOST && count(&terms[1]) <= MOST && count(&terms[2]) <= MOST);
    sum_all(terms, a, comma ? b : NULL, y, 0, index);
    op_case c = { .op = "Einsum", .attributes = { evl_attribute_text("equation", text) },
                  .in = { evl_test_reals(a, terms[0].n, terms[0].dim) },
                  .out = { evl_test_reals(y, terms[2].n, terms[2].dim) } };
    if (comma)
        c.in[1] = evl_test_reals(b, terms[1].n, terms[1].dim);
    check_case(&c);
}

static void letters_say_what_is_summed(void **state)
{
    static const char *const equations[] = {
        "abc,acd->abd", "abhc,bhdc->abhd", "ac,cd->ad", "ca,cd->ad", "ad,cd->ac", "acd,dcb->ab",
        "acd,cdb->ab", "ac,b->abc", "ac,ac->ac", "ac,ac->a", "ac,c->", "cd,cd->", "c,c->", "aa->a",
        "aca->c", "dcd->d", "acd->dca", "acd->", "acd->c", "h,ah->a", "e,ea->ea", "ae,ec->ac",
        "ga,ab->gb", "ag,gb->ab", "g->", "ag->a", "abdf,abhf->abdh", "abdh,abhf->abdf",
        "badf,afhb->bhad", "aac,ccb->ab", "ach,ad->hcd"
    };
    (void)state;
    for (size_t i = 0; i < sizeof equations / sizeof equations[0]; i++)
        check_equation(equations[i]);
}

static void integers_wrap_in_their_type(void **state)
{
    const int8_t a[] = { 100, 2, 3, 4 }, b[] = { 2, 3 }, y[] = { (int8_t)206, 18 }, trace = 104;
    const op_case cases[] = {
        { .op = "Einsum", .attributes = { evl_attribute_text("equation", "ij, j") },
          .in = { matrix(EVAL_INT8, a, 2, 2), vector(EVAL_INT8, b, 2) },
          .out = { vector(EVAL_INT8, y, 2) } },
        { .op = "Einsum", .attributes = { evl_attribute_text("equation", "ii") },
          .in = { matrix(EVAL_INT8, a, 2, 2) }, .out = { scalar(EVAL_INT8, &trace) } },
    };
    (void)state;
    check_cases(cases, 2);
}

static void an_ellipsis_is_all_other_axes(void **state)
{
    const double a[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, b[] = { 1, 10 }, y[] = { 21, 43, 65, 87 },
                 sums[] = { 6, 8, 10, 12 };
    const int64_t cube[] = { 2, 2, 2 };
    const op_case cases[] = {
        { .op = "Einsum", .attributes = { evl_attribute_text("equation", "...j,j") },
          .in = { evl_test_reals(a, 3, cube), reals(b, 2) },
          .out = { matrix(EVAL_FLOAT64, y, 2, 2) } },
        { .op = "Einsum", .attributes = { evl_attribute_text("equation", "i...->...") },
          .in = { evl_test_reals(a, 3, cube) }, .out = { matrix(EVAL_FLOAT64, sums, 2, 2) } },
    };
    (void)state;
    check_cases(cases, 2);
}

static void what_is_no_equation_is_refused(void **state)
{
    static const char *const texts[] = { "i1->i", "i->j", "i->ii", "i-i", "i->i->", "......->",
                                         "i,j,k", "ij->i", "abcdefghijklmnopqrst->", "i->i,i" };
    const double x[] = { 1, 2 };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        bool is_shape = i == 7;
        op_case c = { .op = "Einsum", .attributes = { evl_attribute_text("equation", texts[i]) },
                      .in = { reals(x, 2) }, .out = { reals(x, 2) },
                      .status = is_shape ? EVAL_ERR_SHAPE : EVAL_ERR_FORMAT };
        check_case(&c);
    }
}

static void sizes_must_agree(void **state)
{
    const double x[6] = { 0 };
    const op_case c = { .op = "Einsum", .attributes = { evl_attribute_text("equation", "ij,jk->ik") },
                        .in = { matrix(EVAL_FLOAT64, x, 2, 3), matrix(EVAL_FLOAT64, x, 2, 3) },
                        .out = { matrix(EVAL_FLOAT64, x, 2, 3) }, .status = EVAL_ERR_SHAPE };
    (void)state;
    check_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_say_what_is_summed),
        cmocka_unit_test(integers_wrap_in_their_type),
        cmocka_unit_test(an_ellipsis_is_all_other_axes),
        cmocka_unit_test(what_is_no_equation_is_refused),
        cmocka_unit_test(sizes_must_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
