/* context.c - the text of a failure, put together without ever failing itself.
**
** A text grows from evl_error.first into memory; where there is none, or past
** MAX_TEXT, it is cut between two characters. */
#include "base/context.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Lists name things from the file: a hostile one must not turn into megabytes of text. */
enum { MAX_TEXT = 1 << 20 };

const evl_limits evl_default_limits = {
    .max_nodes = 1 << 20,
    .max_tensor_bytes = SIZE_MAX >> 24, /* 2^40 on 64 bits */
    .max_depth = 64,
    .max_text = 1 << 24,
    .max_trips = 1 << 24,
};

static void error_init(evl_error *error, evl_memory *memory)
{
    error->status = EVAL_OK;
    error->text = error->first;
    error->n = 0;
    error->capacity = sizeof error->first;
    error->memory = memory;
    error->first[0] = '\0';
}

static void error_end(evl_error *error)
{
    if (error->text != error->first)
        evl_release(error->memory, error->text);
    error_init(error, error->memory);
}

void evl_context_init(evl_context *ctx, evl_memory *memory, const evl_limits *limits)
{
    ctx->memory = memory;
    ctx->limits = limits;
    ctx->log = (evl_log){ NULL, NULL };
    ctx->trips = 0;
    ctx->file = NULL;
    error_init(&ctx->error, memory);
}

void evl_context_end(evl_context *ctx)
{
    error_end(&ctx->error);
}

/* Room for n more bytes and the final '\0'; false leaves the text as it was. */
static bool reserve(evl_error *error, size_t n)
{
    size_t needed = error->n + n + 1, capacity = error->capacity;
    if (needed <= capacity)
        return true;
    if (n > MAX_TEXT || needed > MAX_TEXT)
        return false;
    while (capacity < needed)
        capacity *= 2;
    char *text = evl_allocate(error->memory, capacity);
    if (!text)
        return false;
    memcpy(text, error->text, error->n + 1);
    if (error->text != error->first)
        evl_release(error->memory, error->text);
    error->text = text;
    error->capacity = capacity;
    return true;
}

/* False: the text was cut. */
EVL_PRINTF(2, 0)
static bool append(evl_error *error, const char *format, va_list values)
{
    va_list again;
    va_copy(again, values);
    size_t room = error->capacity - error->n;
    int wanted = vsnprintf(error->text + error->n, room, format, values);
    bool fits = wanted >= 0 && (size_t)wanted < room;
    if (!fits && wanted >= 0 && reserve(error, (size_t)wanted)) {
        room = error->capacity - error->n;
        fits = vsnprintf(error->text + error->n, room, format, again) == wanted;
    }
    va_end(again);
    size_t end = error->n + (fits ? (size_t)wanted : wanted < 0 ? 0 : room - 1);
    error->n = fits ? end : evl_utf8_cut(error->text, end);
    error->text[error->n] = '\0';
    return fits;
}

EVL_PRINTF(2, 3)
static void append_text(evl_error *error, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    append(error, format, values);
    va_end(values);
}

static void begin(evl_error *error, const char *file)
{
    error->n = 0;
    error->text[0] = '\0';
    if (file)
        append_text(error, "%s: ", file);
}

EvalStatus evl_fail(evl_context *ctx, EvalStatus status, const char *format, ...)
{
    va_list values;
    begin(&ctx->error, ctx->file);
    va_start(values, format);
    append(&ctx->error, format, values);
    va_end(values);
    ctx->error.status = status;
    return status;
}

void evl_fail_more(evl_context *ctx, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    append(&ctx->error, format, values);
    va_end(values);
}

static void reverse(char *text, size_t from, size_t to)
{
    for (; from + 1 < to; from++) {
        char c = text[from];
        text[from] = text[--to];
        text[to] = c;
    }
}

static size_t prefix_length(const evl_context *ctx)
{
    size_t n = ctx->file ? strlen(ctx->file) : 0;
    bool is_there = n && n + 2 <= ctx->error.n && memcmp(ctx->error.text, ctx->file, n) == 0 &&
                    memcmp(ctx->error.text + n, ": ", 2) == 0;
    return is_there ? n + 2 : 0;
}

/* The place is appended and then the two parts change sides, which needs no further memory. */
void evl_fail_at(evl_context *ctx, const char *format, ...)
{
    evl_error *error = &ctx->error;
    size_t from = prefix_length(ctx), middle = error->n;
    va_list values;
    va_start(values, format);
    bool fits = append(error, format, values);
    va_end(values);
    if (!fits) {
        error->n = middle;
        error->text[middle] = '\0';
        return;
    }
    reverse(error->text, from, middle);
    reverse(error->text, middle, error->n);
    reverse(error->text, from, error->n);
}

EvalStatus evl_no_memory(evl_context *ctx)
{
    size_t cap = atomic_load(&ctx->memory->cap);
    EvalStatus st = evl_fail(ctx, EVAL_ERR_MEMORY, "not enough memory: %zu bytes are held already",
                             atomic_load(&ctx->memory->bytes));
    if (cap)
        evl_fail_more(ctx, ", and the setting maxMemory allows %zu", cap);
    return st;
}

void evl_note(const evl_context *ctx, EvalLogLevel level, const char *format, ...)
{
    if (!ctx->log.write)
        return;
    evl_error note;
    va_list values;
    error_init(&note, ctx->memory);
    begin(&note, ctx->file);
    va_start(values, format);
    append(&note, format, values);
    va_end(values);
    ctx->log.write(ctx->log.user, level, note.text);
    error_end(&note);
}
