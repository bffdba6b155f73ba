/* tree.h - a configuration as config.c builds it and values.c reads it. */
#ifndef EVL_CONFIG_TREE_H
#define EVL_CONFIG_TREE_H
#include "base/map.h"
#include "config/config.h"
#include "config/lexer.h"

enum { EVL_CONFIG_KEY_MAX = 255 };

/* A value is one piece of the text, or several: "a=[x=1]" and later "a=[y=2]" are one section. */
typedef struct evl_config_piece {
    evl_span span; /* without quotes */
    struct evl_config_piece *next;
} evl_config_piece;

typedef struct evl_config_entry {
    const char *key; /* as written */
    int line;
    bool is_quoted, is_expanding;
    evl_config_piece *first, *last;
    const char *expanded; /* the text without variables, once it was asked for */
} evl_config_entry;

/* Belongs to one thread: entries remember what they were expanded to. */
struct evl_config {
    const evl_config *parent;
    evl_arena *arena;
    evl_config_entry *entries;
    size_t n, capacity;
    evl_map *index; /* from keys in lower case */
};

EVL_MUST_USE EvalStatus evl_config_new(evl_context *, evl_arena *, const evl_config *parent,
                                       evl_config **);
/* Adds the records of a checked text; brackets around all of it are taken off. */
EVL_MUST_USE EvalStatus evl_config_add(evl_context *, evl_config *, evl_span text);

/* The entry here or in a parent; *scope is where it was found. NULL: none, or its value is
** "default", which hides what the parents say. */
evl_config_entry *evl_config_find(const evl_config *, const char *key, size_t n_key,
                                  const evl_config **scope);

/* The entry's value with $variables$ replaced. */
EVL_MUST_USE EvalStatus evl_config_expand(evl_context *, const evl_config *scope,
                                          evl_config_entry *, const char **value);
#endif
