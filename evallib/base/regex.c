/* Matching: a program whose threads advance together over the text (Thompson 1968), so that
** each character costs at most one visit of each step. */
#include "base/regex.h"
#include "base/characters.h"
#include "base/regex_part.h"

enum { MOST_STEPS = 1 << 15 };
static const uint32_t NO_CHARACTER = UINT32_MAX;

typedef enum step_kind { STEP_SET, STEP_PLACE, STEP_SPLIT, STEP_JUMP, STEP_END } step_kind;

typedef struct step {
    step_kind kind;
    uint32_t to, other; /* SPLIT: both; JUMP: to */
    evl_regex_place place;
    evl_regex_set set;
} step;

struct evl_regex {
    const step *steps;
    size_t n;
};

typedef struct builder {
    evl_context *ctx;
    evl_arena *arena;
    step *steps;
    size_t n, capacity;
} builder;

static EvalStatus emit(builder *b, const evl_regex_part *part);

static EvalStatus add(builder *b, step s)
{
    if (b->n >= MOST_STEPS)
        return evl_fail(b->ctx, EVAL_ERR_LIMIT, "the pattern comes to more than %d steps",
                        MOST_STEPS);
    step *grown = evl_arena_grow(b->arena, b->steps, b->n, &b->capacity, sizeof *grown);
    if (!grown)
        return evl_no_memory(b->ctx);
    b->steps = grown;
    b->steps[b->n++] = s;
    return EVAL_OK;
}

/* One of the parts: a split before each but the last, a jump behind it. The jumps are chained
** by `to` until their end is known. */
static EvalStatus emit_one(builder *b, const evl_regex_part *part)
{
    uint32_t jumps = UINT32_MAX;
    EvalStatus st = EVAL_OK;
    for (const evl_regex_part *p = part->first; p && st == EVAL_OK; p = p->next) {
        size_t split = b->n;
        if (p->next)
            st = add(b, (step){ .kind = STEP_SPLIT, .to = (uint32_t)split + 1 });
        if (st == EVAL_OK)
            st = emit(b, p);
        if (st == EVAL_OK && p->next) {
            st = add(b, (step){ .kind = STEP_JUMP, .to = jumps });
            jumps = (uint32_t)b->n - 1;
            b->steps[split].other = (uint32_t)b->n;
        }
    }
    while (st == EVAL_OK && jumps != UINT32_MAX) {
        uint32_t next = b->steps[jumps].to;
        b->steps[jumps].to = (uint32_t)b->n;
        jumps = next;
    }
    return st;
}

/* The part as often as it must be, then as often as it may be, each time passed by or not. */
static EvalStatus emit_repeat(builder *b, const evl_regex_part *part)
{
    EvalStatus st = EVAL_OK;
    for (int i = 0; i < part->least && st == EVAL_OK; i++) {
        size_t before = b->n;
        st = emit(b, part->first);
        if (b->n == before) /* nothing, however often */
            break;
    }
    size_t start = b->n;
    int optional = part->most == EVL_REGEX_NO_END ? 1 : part->most - part->least;
    for (int i = 0; i < optional && st == EVAL_OK; i++) {
        size_t split = b->n;
        st = add(b, (step){ .kind = STEP_SPLIT, .to = (uint32_t)split + 1 });
        if (st == EVAL_OK)
            st = emit(b, part->first);
        if (st == EVAL_OK && part->most == EVL_REGEX_NO_END)
            st = add(b, (step){ .kind = STEP_JUMP, .to = (uint32_t)start });
        if (st == EVAL_OK)
            b->steps[split].other = (uint32_t)b->n;
    }
    return st;
}

static EvalStatus emit(builder *b, const evl_regex_part *part)
{
    EvalStatus st = EVAL_OK;
    switch (part->kind) {
    case EVL_REGEX_SET: return add(b, (step){ .kind = STEP_SET, .set = part->set });
    case EVL_REGEX_PLACE: return add(b, (step){ .kind = STEP_PLACE, .place = part->place });
    case EVL_REGEX_ONE: return emit_one(b, part);
    case EVL_REGEX_REPEAT: return emit_repeat(b, part);
    default: break;
    }
    for (const evl_regex_part *p = part->first; p && st == EVAL_OK; p = p->next)
        st = emit(b, p);
    return st;
}

EvalStatus evl_regex_new(evl_context *ctx, evl_arena *arena, const char *pattern, size_t n,
                         const evl_regex **regex)
{
    builder b = { .ctx = ctx, .arena = arena };
    evl_regex_part *part = NULL;
    EvalStatus st = evl_regex_parse(ctx, arena, pattern, n, &part);
    if (st == EVAL_OK)
        st = emit(&b, part);
    if (st == EVAL_OK)
        st = add(&b, (step){ .kind = STEP_END });
    if (st != EVAL_OK)
        return st;
    evl_regex *made = evl_arena_take(arena, sizeof *made);
    if (!made)
        return evl_no_memory(ctx);
    *made = (evl_regex){ b.steps, b.n };
    *regex = made;
    return EVAL_OK;
}

/* --- the walk --- */

/* Steps where threads wait, and when each was last reached. */
typedef struct walk {
    const evl_regex *regex;
    uint32_t *now, *next, *stack, *seen;
    uint32_t before, after; /* characters around the place */
    uint32_t round;
} walk;

size_t evl_regex_room(const evl_regex *regex)
{
    return 4 * regex->n * sizeof(uint32_t);
}

static bool is_word(uint32_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool holds(const walk *w, evl_regex_place place)
{
    bool is_edge = is_word(w->before) != is_word(w->after);
    switch (place) {
    case EVL_REGEX_TEXT_START: return w->before == NO_CHARACTER;
    case EVL_REGEX_TEXT_END: return w->after == NO_CHARACTER;
    case EVL_REGEX_LINE_START: return w->before == NO_CHARACTER || w->before == '\n';
    case EVL_REGEX_LINE_END: return w->after == NO_CHARACTER || w->after == '\n';
    case EVL_REGEX_WORD_EDGE: return is_edge;
    default: return !is_edge;
    }
}

static bool is_among(const evl_regex_set *set, uint32_t c)
{
    for (size_t i = 0; i < set->n; i++)
        if (c >= set->ranges[i].low && c <= set->ranges[i].high)
            return true;
    return false;
}

static bool takes(const evl_regex_set *set, uint32_t c)
{
    bool is_in = is_among(set, c) || (set->any_case && (is_among(set, evl_character_lower(c)) ||
                                                        is_among(set, evl_character_upper(c))));
    return is_in != set->is_negated;
}

static void push(walk *w, size_t *n_stack, uint32_t at)
{
    if (w->seen[at] != w->round) {
        w->seen[at] = w->round;
        w->stack[(*n_stack)++] = at;
    }
}

/* All steps that can be reached from one without a character; each waits once. */
static size_t reach(walk *w, uint32_t from, size_t n)
{
    size_t n_stack = 0;
    push(w, &n_stack, from);
    while (n_stack) {
        uint32_t at = w->stack[--n_stack];
        const step *s = &w->regex->steps[at];
        if (s->kind == STEP_SET || s->kind == STEP_END)
            w->next[n++] = at;
        else if (s->kind != STEP_PLACE)
            push(w, &n_stack, s->to);
        else if (holds(w, s->place))
            push(w, &n_stack, at + 1);
        if (s->kind == STEP_SPLIT)
            push(w, &n_stack, s->other);
    }
    return n;
}

bool evl_regex_matches(const evl_regex *regex, const char *text, size_t n, void *room)
{
    uint32_t *memory = room, *other;
    size_t size = 0, n_now, n_next, ahead = 0;
    walk w = { regex,
               memory,
               memory + regex->n,
               memory + 2 * regex->n,
               memory + 3 * regex->n,
               NO_CHARACTER,
               n ? evl_character(text, n, &size) : NO_CHARACTER,
               1 };
    for (size_t i = 0; i < regex->n; i++)
        w.seen[i] = 0;
    n_next = reach(&w, 0, 0);
    for (size_t at = 0; at < n && n_next; at += ahead) {
        other = w.now, w.now = w.next, w.next = other;
        n_now = n_next, n_next = 0;
        ahead = size;
        w.before = w.after;
        w.after =
            at + ahead < n ? evl_character(text + at + ahead, n - at - ahead, &size) : NO_CHARACTER;
        w.round++;
        for (size_t i = 0; i < n_now; i++) {
            const step *s = &regex->steps[w.now[i]];
            if (s->kind == STEP_SET && takes(&s->set, w.before))
                n_next = reach(&w, w.now[i] + 1, n_next);
        }
    }
    for (size_t i = 0; i < n_next; i++)
        if (regex->steps[w.next[i]].kind == STEP_END)
            return true;
    return false;
}
