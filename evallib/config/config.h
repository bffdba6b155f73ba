/* config.h - CNTK's configuration text: what Init and CreateNetwork are given.
**
**     deviceId=-1
**     modelPath="models/digits.dnn"
**     outputNodeNames=z:ol.z
**
** Records are separated by newline, ',' or ';'; values nest in brackets; keys have
** no case; $name$ is replaced at look-up; a backslash is an ordinary character.
** The text may go away after parsing: everything lives in the arena. */
#ifndef EVL_CONFIG_CONFIG_H
#define EVL_CONFIG_CONFIG_H
#include "base/arena.h"
#include "base/context.h"

typedef struct evl_config evl_config;

/* EVAL_ERR_ARGUMENT with the line for bad syntax. `parent` (NULL: none) is searched
** for what is not found here: settings of Init under those of CreateNetwork. */
EVL_MUST_USE EvalStatus evl_config_parse(evl_context *, evl_arena *, const char *text,
                                         const evl_config *parent, evl_config **);

bool evl_config_has(const evl_config *, const char *key);

/* Values with $variables$ replaced and quotes removed; *value stays as it was when
** the key is not there (or is "default"). EVAL_ERR_ARGUMENT: no such variable, or a
** value of another kind; the text names the key and its line. */
EVL_MUST_USE EvalStatus evl_config_text(evl_context *, const evl_config *, const char *key,
                                        const char **value);
EVL_MUST_USE EvalStatus evl_config_int(evl_context *, const evl_config *, const char *key,
                                       int64_t *value);
EVL_MUST_USE EvalStatus evl_config_number(evl_context *, const evl_config *, const char *key,
                                          double *value);
EVL_MUST_USE EvalStatus evl_config_bool(evl_context *, const evl_config *, const char *key,
                                        bool *value);
/* "a:b:c" with item*count repeated; *n = 0 when the key is not there. */
EVL_MUST_USE EvalStatus evl_config_list(evl_context *, const evl_config *, const char *key,
                                        const char ***items, size_t *n);
/* A section "key=[...]"; NULL when there is none. Its parent is the section around it. */
EVL_MUST_USE EvalStatus evl_config_section(evl_context *, const evl_config *, const char *key,
                                           evl_config **section);

/* The keys as written, in order, without the parent's. */
size_t evl_config_count(const evl_config *);
const char *evl_config_key(const evl_config *, size_t index, int *line);
#endif
