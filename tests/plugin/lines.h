/* lines.h - networks as lines of text, read by a plug-in of the tests' own:
**
**     lines                                    the first line
**     in x -1 3                                an input and its sizes; "bytes x -1": of bytes
**     constant k 2 = 0.5 1                     a constant, its sizes, its numbers
**     node first my.domain Swish 1 x > y beta=2      name, domain, operator, version, operands
**     out y
**
** Domain and operands that are left out are written as -. Numbers with a point are numbers,
** others integers; what begins with a letter is a text. */
#ifndef EVL_TESTS_PLUGIN_LINES_H
#define EVL_TESTS_PLUGIN_LINES_H
#include "api/fixture.h"
#include "evallib/plugin.h"
#include <stdlib.h>

enum { LINES_MOST = 16 };

typedef struct words {
    char *word[64];
    size_t n;
} words;

static inline words split(char *line)
{
    words w = { .n = 0 };
    for (char *p = line; *p;) {
        while (*p == ' ')
            *p++ = '\0';
        if (*p)
            w.word[w.n++] = p;
        while (*p && *p != ' ')
            p++;
    }
    return w;
}

static inline const char *named(const char *word)
{
    return strcmp(word, "-") == 0 ? "" : word;
}

static inline size_t take_dims(const words *w, size_t i, EvalTensor *t)
{
    while (i < w->n && strcmp(w->word[i], "=") != 0)
        t->dims[t->rank++] = strtoll(w->word[i++], NULL, 10);
    return i + 1;
}

static inline EvalStatus read_constant(EvalCall *call, const words *w)
{
    double numbers[64];
    EvalTensor t = { .name = w->word[1], .type = EVAL_FLOAT64, .data = numbers };
    for (size_t i = take_dims(w, 2, &t); i < w->n; i++, t.bytes += sizeof *numbers)
        numbers[t.bytes / sizeof *numbers] = strtod(w->word[i], NULL);
    return call->host->AddConstant(call, &t);
}

static inline EvalStatus read_node(EvalCall *call, const words *w)
{
    const char *in[LINES_MOST], *out[LINES_MOST];
    EvalAttribute attributes[LINES_MOST];
    union {
        int64_t i;
        double number;
        EvalString text;
    } values[LINES_MOST];
    size_t n_in = 0, n_out = 0, n = 0, i = 5;
    for (; i < w->n && strcmp(w->word[i], ">") != 0; i++)
        in[n_in++] = named(w->word[i]);
    for (i++; i < w->n; i++) {
        char *value = strchr(w->word[i], '=');
        if (!value) {
            out[n_out++] = named(w->word[i]);
            continue;
        }
        *value++ = '\0';
        EvalAttributeKind kind = strchr(value, '.') ? EVAL_ATTRIBUTE_NUMBER : EVAL_ATTRIBUTE_INT;
        if (*value >= 'A')
            kind = EVAL_ATTRIBUTE_TEXT;
        if (kind == EVAL_ATTRIBUTE_TEXT)
            values[n].text = (EvalString){ value, strlen(value) };
        else if (kind == EVAL_ATTRIBUTE_NUMBER)
            values[n].number = strtod(value, NULL);
        else
            values[n].i = strtoll(value, NULL, 10);
        attributes[n] = (EvalAttribute){ w->word[i], kind, 0, 1, &values[n] };
        n++;
    }
    return call->host->AddNode(call, named(w->word[2]), w->word[3], (int32_t)atoi(w->word[4]),
                               named(w->word[1]), in, n_in, out, n_out, attributes, n);
}

static inline EvalStatus read_line(EvalCall *call, char *line)
{
    words w = split(line);
    if (w.n == 0 || strcmp(w.word[0], "lines") == 0)
        return EVAL_OK;
    bool is_bytes = strcmp(w.word[0], "bytes") == 0;
    if (is_bytes || strcmp(w.word[0], "in") == 0) {
        EvalTensor t = { .name = w.word[1], .type = is_bytes ? EVAL_UINT8 : EVAL_FLOAT32 };
        (void)take_dims(&w, 2, &t);
        return call->host->AddInput(call, &t, NULL);
    }
    if (strcmp(w.word[0], "constant") == 0)
        return read_constant(call, &w);
    if (strcmp(w.word[0], "node") == 0)
        return read_node(call, &w);
    return call->host->AddOutput(call, w.word[1]);
}

static inline int claims_lines(const void *data, size_t bytes)
{
    return bytes > 6 && memcmp(data, "lines\n", 6) == 0;
}

static inline EvalStatus read_lines(EvalCall *call, const void *data, size_t bytes)
{
    EvalStatus st = EVAL_OK;
    char *text = call->host->Allocate(call, bytes + 1);
    assert_non_null(text);
    memcpy(text, data, bytes);
    for (char *line = text, *end; st == EVAL_OK && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        st = read_line(call, line);
    }
    return st;
}

static const EvalReader lines_reader = { sizeof lines_reader, "lines", claims_lines, read_lines };
static const EvalReader *const lines_readers[] = { &lines_reader };
static const EvalPlugin lines = { .size = sizeof lines, .abi = EVAL_PLUGIN_ABI, .name = "lines",
                                  .readers = lines_readers, .nReaders = 1 };

static inline const PUBLIC(EvalPlugins) *plugins(model *m)
{
    const void *table;
    assert_int_equal(m->vtbl->GetInterface(m, "plugins", 1, &table), EVAL_OK);
    return table;
}

/* An object with that plug-in on that network; its status, whose text is LastError. */
static inline model *load_lines(const EvalPlugin *mine, const char *text, EvalStatus *status)
{
    model *m = make();
    assert_int_equal(plugins(m)->LoadStatic(m, &lines), EVAL_OK);
    if (mine)
        assert_int_equal(plugins(m)->LoadStatic(m, mine), EVAL_OK);
    EvalStatus st = control(m)->LoadMemory(m, text, strlen(text), NULL);
    if (status)
        *status = st;
    else if (st != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
    return m;
}

/* x, n numbers in one row or in rows of `columns`; y, as many as there are. */
static inline EvalStatus run_lines(model *m, const real *x, size_t n, int64_t columns, real *y, size_t *n_y)
{
    EvalTensor in = { .name = "x", .type = REAL_TYPE, .rank = columns ? 2 : 1, .bytes = n * sizeof *x };
    union {
        const real *given;
        void *data;
    } address = { x };
    in.data = address.data;
    in.dims[0] = columns ? (int64_t)n / columns : (int64_t)n;
    in.dims[1] = columns;
    EvalTensor out = { .name = "y", .type = REAL_TYPE, .data = y, .bytes = *n_y * sizeof *y };
    EvalStatus st = m->vtbl->Run(m, &in, 1, &out, 1, NULL);
    *n_y = out.bytes / sizeof *y;
    return st;
}
#endif
