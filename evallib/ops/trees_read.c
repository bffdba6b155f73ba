/* Trees as files say them: TreeEnsembleClassifier and -Regressor name nodes by tree and
** number; TreeEnsemble 5 has them in lists. Whatever does not fit together is refused with
** the attribute and the index. */
#include "ops/trees.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 48, NO_NODE = -1 };

typedef struct reading {
    evl_context *ctx;
    evl_arena *arena;
    const evl_node *node;
    evl_tree_nodes *to;
} reading;

/* A list of numbers: an attribute of floats, or a tensor. */
typedef struct reals {
    size_t n;
    const double *plain;
    const evl_tensor *tensor;
} reals;

static double number_at(const reals *list, size_t i)
{
    return list->plain ? list->plain[i] : evl_tensor_f64(list->tensor, i);
}

static EvalStatus check_length(const reading *r, const char *name, size_t n, size_t expected)
{
    if (n == expected)
        return EVAL_OK;
    return evl_fail(r->ctx, EVAL_ERR_FORMAT, "attribute %s has %zu items, expected %zu", name, n,
                    expected);
}

/* `expected` SIZE_MAX: any number. */
static EvalStatus ints_of(const reading *r, const char *name, size_t expected, const int64_t **list,
                          size_t *n)
{
    size_t count;
    *list = evl_node_ints(r->node, name, &count);
    if (n)
        *n = count;
    if (!*list && expected != 0)
        return evl_fail(r->ctx, EVAL_ERR_FORMAT, "attribute %s is missing, or no list of integers",
                        name);
    return expected == SIZE_MAX ? EVAL_OK : check_length(r, name, count, expected);
}

/* `name`, or `name`_as_tensor. Nothing: n is 0. */
static reals numbers_of(const evl_node *node, const char *name)
{
    char with[NAME];
    reals list = { 0 };
    list.plain = evl_node_numbers(node, name, &list.n);
    (void)snprintf(with, sizeof with, "%s_as_tensor", name);
    const evl_attribute *a = evl_node_attribute(node, name);
    if (!a)
        a = evl_node_attribute(node, with);
    if (!list.plain && a && a->kind == EVL_ATTRIBUTE_TENSOR &&
        evl_type_is_float(a->u.tensor->type)) {
        list.tensor = a->u.tensor;
        list.n = evl_shape_count(&a->u.tensor->shape);
    }
    return list;
}

static EvalStatus needed_numbers(const reading *r, const char *name, size_t expected, reals *list)
{
    *list = numbers_of(r->node, name);
    if (list->n == 0 && expected)
        return evl_fail(r->ctx, EVAL_ERR_FORMAT, "attribute %s is missing, or no list of numbers",
                        name);
    return expected == SIZE_MAX ? EVAL_OK : check_length(r, name, list->n, expected);
}

static EvalStatus out_of_range(const reading *r, const char *name, size_t i, int64_t value,
                               size_t n)
{
    return evl_fail(r->ctx, EVAL_ERR_FORMAT, "attribute %s: item %zu is %lld, expected 0 to %lld",
                    name, i, (long long)value, (long long)n - 1);
}

/* An index below n. */
static EvalStatus index_of(const reading *r, const char *name, size_t i, int64_t value, size_t n,
                           uint32_t *index)
{
    if (value < 0 || (uint64_t)value >= n)
        return out_of_range(r, name, i, value, n);
    *index = (uint32_t)value;
    return EVAL_OK;
}

static EvalStatus take(reading *r, size_t n, size_t n_weights)
{
    evl_tree_nodes *t = r->to;
    if (n >= UINT32_MAX / 4 || n_weights >= UINT32_MAX)
        return evl_fail(r->ctx, EVAL_ERR_LIMIT, "%zu nodes of trees are too many", n);
    t->n = n;
    t->mode = evl_arena_take_many(r->arena, n, sizeof *t->mode);
    t->nan_yes = evl_arena_take_many(r->arena, n, sizeof *t->nan_yes);
    t->feature = evl_arena_take_many(r->arena, n, sizeof *t->feature);
    t->yes = evl_arena_take_many(r->arena, n, sizeof *t->yes);
    t->no = evl_arena_take_many(r->arena, n, sizeof *t->no);
    t->value = evl_arena_take_many(r->arena, n, sizeof *t->value);
    t->root = evl_arena_take_many(r->arena, n, sizeof *t->root);
    t->member = evl_arena_take_many(r->arena, n + 1, sizeof *t->member);
    t->weight = evl_arena_take_many(r->arena, n + 1, sizeof *t->weight);
    t->target = evl_arena_take_many(r->arena, n_weights + 1, sizeof *t->target);
    t->weights = evl_arena_take_many(r->arena, n_weights + 1, sizeof *t->weights);
    bool ok = t->mode && t->nan_yes && t->feature && t->yes && t->no && t->value && t->root &&
              t->member && t->weight && t->target && t->weights;
    return ok ? EVAL_OK : evl_no_memory(r->ctx);
}

static EvalStatus read_missing(const reading *r, size_t n)
{
    const char *name = "nodes_missing_value_tracks_true";
    const int64_t *tracks;
    size_t n_tracks;
    if (!evl_node_ints(r->node, name, &n_tracks) || n_tracks == 0)
        return EVAL_OK;
    EvalStatus st = ints_of(r, name, n, &tracks, NULL);
    for (size_t i = 0; st == EVAL_OK && i < n; i++)
        r->to->nan_yes[i] = tracks[i] != 0;
    return st;
}

static EvalStatus read_features(const reading *r, size_t n)
{
    const int64_t *features;
    EvalStatus st = ints_of(r, "nodes_featureids", n, &features, NULL);
    for (size_t i = 0; st == EVAL_OK && i < n; i++)
        if (r->to->mode[i] != EVL_TREE_LEAF)
            st = index_of(r, "nodes_featureids", i, features[i], INT32_MAX, &r->to->feature[i]);
    return st;
}

/* --- before opset 5: nodes have a tree and a number --- */

typedef struct key {
    int64_t tree, number;
    uint32_t index;
} key;

static int by_key(const void *left, const void *right)
{
    const key *a = left, *b = right;
    if (a->tree != b->tree)
        return a->tree < b->tree ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Trees are mostly numbered without gaps: then a node is as far from key number `near` as
** their numbers say. */
static int64_t find(const key *keys, size_t n, size_t near, int64_t tree, int64_t number)
{
    key wanted = { tree, number, 0 };
    size_t guess = near + (size_t)((uint64_t)number - (uint64_t)keys[near].number);
    const key *found = guess < n && by_key(&wanted, &keys[guess]) == 0
                           ? &keys[guess]
                           : bsearch(&wanted, keys, n, sizeof *keys, by_key);
    return found ? found - keys : NO_NODE;
}

/* Number of the first key that is not above the one before it; n: there is none. */
static size_t first_out_of_order(const key *keys, size_t n)
{
    size_t i = 1;
    while (i < n && by_key(&keys[i - 1], &keys[i]) < 0)
        i++;
    return i;
}

static EvalStatus read_keys(const reading *r, key **keys, size_t *n)
{
    const int64_t *trees, *numbers;
    EvalStatus st = ints_of(r, "nodes_treeids", SIZE_MAX, &trees, n);
    if (st == EVAL_OK)
        st = ints_of(r, "nodes_nodeids", *n, &numbers, NULL);
    if (st != EVAL_OK)
        return st;
    if (*n == 0)
        return evl_fail(r->ctx, EVAL_ERR_FORMAT, "attribute nodes_treeids is empty");
    *keys = evl_arena_take_many(r->arena, *n, sizeof **keys);
    if (!*keys)
        return evl_no_memory(r->ctx);
    for (size_t i = 0; i < *n; i++)
        (*keys)[i] = (key){ trees[i], numbers[i], (uint32_t)i };
    if (first_out_of_order(*keys, *n) == *n)
        return EVAL_OK;
    qsort(*keys, *n, sizeof **keys, by_key);
    const key *twice = *keys + first_out_of_order(*keys, *n);
    if (twice < *keys + *n)
        return evl_fail(r->ctx, EVAL_ERR_FORMAT,
                        "attribute nodes_nodeids: tree %lld has two nodes %lld",
                        (long long)twice->tree, (long long)twice->number);
    return EVAL_OK;
}

static const char *const mode_names[] = { "BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                                          "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF" };

static EvalStatus read_mode_names(const reading *r, size_t n)
{
    const evl_attribute *a = evl_node_attribute(r->node, "nodes_modes");
    if (!a || a->kind != EVL_ATTRIBUTE_TEXTS)
        return evl_fail(r->ctx, EVAL_ERR_FORMAT,
                        "attribute nodes_modes is missing, or no list of texts");
    EvalStatus st = check_length(r, "nodes_modes", a->n, n);
    for (size_t i = 0; st == EVAL_OK && i < n; i++) {
        size_t mode = 0;
        while (mode < EVL_N_TREE_MODES && strcmp(mode_names[mode], a->u.texts[i].text) != 0)
            mode++;
        if (mode == EVL_N_TREE_MODES || mode == EVL_TREE_MEMBER)
            return evl_fail(r->ctx, EVAL_ERR_FORMAT,
                            "attribute nodes_modes: item %zu is '%s', expected BRANCH_LEQ, _LT, "
                            "_GTE, _GT, _EQ, _NEQ or LEAF",
                            i, a->u.texts[i].text);
        r->to->mode[i] = (uint8_t)mode;
    }
    return st;
}

static EvalStatus read_values(const reading *r, size_t n)
{
    reals values;
    EvalStatus st = needed_numbers(r, "nodes_values", n, &values);
    for (size_t i = 0; st == EVAL_OK && i < n; i++)
        r->to->value[i] = number_at(&values, i);
    return st;
}

static EvalStatus read_kids(const reading *r, const key *keys, size_t n, const char *name,
                            uint32_t *kids)
{
    const int64_t *numbers, *trees;
    size_t n_trees;
    EvalStatus st = ints_of(r, name, n, &numbers, NULL);
    if (st == EVAL_OK)
        st = ints_of(r, "nodes_treeids", n, &trees, &n_trees);
    for (size_t i = 0; st == EVAL_OK && i < n; i++) {
        if (r->to->mode[i] == EVL_TREE_LEAF)
            continue;
        int64_t kid = find(keys, n, i, trees[i], numbers[i]);
        if (kid == NO_NODE)
            return evl_fail(r->ctx, EVAL_ERR_FORMAT,
                            "attribute %s: item %zu is %lld, which tree %lld has no node of", name,
                            i, (long long)numbers[i], (long long)trees[i]);
        kids[i] = keys[kid].index;
    }
    return st;
}

/* The root of a tree is its node that follows no other. */
static EvalStatus find_roots(const reading *r, const key *keys, size_t n)
{
    evl_tree_nodes *t = r->to;
    bool *is_kid = evl_arena_take_many(r->arena, n, sizeof *is_kid);
    if (!is_kid)
        return evl_no_memory(r->ctx);
    for (size_t i = 0; i < n; i++)
        if (t->mode[i] != EVL_TREE_LEAF)
            is_kid[t->yes[i]] = is_kid[t->no[i]] = true;
    for (size_t i = 0, next; i < n; i = next) {
        size_t n_roots = 0;
        for (next = i; next < n && keys[next].tree == keys[i].tree; next++)
            if (!is_kid[keys[next].index]) {
                t->root[t->n_trees] = keys[next].index;
                n_roots++;
            }
        if (n_roots != 1)
            return evl_fail(r->ctx, EVAL_ERR_FORMAT, "tree %lld has %zu roots, expected 1%s",
                            (long long)keys[i].tree, n_roots,
                            n_roots == 0 ? ": its nodes follow each other in a circle" : "");
        t->n_trees++;
    }
    return EVAL_OK;
}

typedef struct votes {
    const int64_t *trees, *numbers, *targets;
    reals weights;
    size_t n;
} votes;

static EvalStatus read_votes(const reading *r, const char *leaves, votes *v)
{
    char name[4][NAME];
    static const char *const ends[] = { "treeids", "nodeids", "ids", "weights" };
    for (int i = 0; i < 4; i++)
        (void)snprintf(name[i], NAME, "%s_%s", leaves, ends[i]);
    EvalStatus st = ints_of(r, name[0], SIZE_MAX, &v->trees, &v->n);
    if (st == EVAL_OK)
        st = ints_of(r, name[1], v->n, &v->numbers, NULL);
    if (st == EVAL_OK)
        st = ints_of(r, name[2], v->n, &v->targets, NULL);
    return st == EVAL_OK ? needed_numbers(r, name[3], v->n, &v->weights) : st;
}

/* Weights sorted by their leaf; those of one leaf stay in the file's order. */
static EvalStatus place_votes(const reading *r, const char *leaves, const votes *v, const key *keys,
                              size_t n_targets)
{
    evl_tree_nodes *t = r->to;
    char name[NAME];
    uint32_t *leaf = evl_arena_take_many(r->arena, v->n + 1, sizeof *leaf), target;
    size_t *at = evl_arena_take_many(r->arena, t->n + 1, sizeof *at);
    if (!leaf || !at)
        return evl_no_memory(r->ctx);
    (void)snprintf(name, sizeof name, "%s_ids", leaves);
    int64_t found = 0;
    for (size_t i = 0; i < v->n; i++) {
        found = find(keys, t->n, (size_t)found, v->trees[i], v->numbers[i]);
        if (found == NO_NODE)
            return evl_fail(
                r->ctx, EVAL_ERR_FORMAT,
                "attribute %s_nodeids: item %zu is %lld, which tree %lld has no node of", leaves, i,
                (long long)v->numbers[i], (long long)v->trees[i]);
        EvalStatus st = index_of(r, name, i, v->targets[i], n_targets, &target);
        if (st != EVAL_OK)
            return st;
        leaf[i] = keys[found].index;
        t->weight[leaf[i] + 1]++;
    }
    for (size_t i = 0; i < t->n; i++)
        at[i + 1] = t->weight[i + 1] += t->weight[i];
    for (size_t i = 0; i < v->n; i++) {
        size_t to = at[leaf[i]]++;
        t->target[to] = (uint32_t)v->targets[i];
        t->weights[to] = number_at(&v->weights, i);
    }
    return EVAL_OK;
}

EvalStatus evl_trees_read(evl_context *ctx, evl_arena *arena, const evl_node *node,
                          const char *leaves, size_t n_targets, evl_tree_nodes *to)
{
    reading r = { ctx, arena, node, to };
    key *keys = NULL;
    votes v = { 0 };
    size_t n;
    *to = (evl_tree_nodes){ .yes_name = "nodes_truenodeids", .no_name = "nodes_falsenodeids" };
    EvalStatus st = read_keys(&r, &keys, &n);
    if (st == EVAL_OK)
        st = read_votes(&r, leaves, &v);
    if (st == EVAL_OK)
        st = take(&r, n, v.n);
    if (st == EVAL_OK)
        st = read_mode_names(&r, n);
    if (st == EVAL_OK)
        st = read_features(&r, n);
    if (st == EVAL_OK)
        st = read_values(&r, n);
    if (st == EVAL_OK)
        st = read_missing(&r, n);
    if (st == EVAL_OK)
        st = read_kids(&r, keys, n, to->yes_name, to->yes);
    if (st == EVAL_OK)
        st = read_kids(&r, keys, n, to->no_name, to->no);
    if (st == EVAL_OK)
        st = find_roots(&r, keys, n);
    return st == EVAL_OK ? place_votes(&r, leaves, &v, keys, n_targets) : st;
}

/* --- opset 5: interior nodes, then leaves; a node is told from a leaf where it is named --- */

static EvalStatus read_mode_numbers(const reading *r, size_t n, size_t *n_sets)
{
    const evl_attribute *a = evl_node_attribute(r->node, "nodes_modes");
    *n_sets = 0;
    if (!a || a->kind != EVL_ATTRIBUTE_TENSOR || !evl_type_is_integer(a->u.tensor->type))
        return evl_fail(r->ctx, EVAL_ERR_FORMAT,
                        "attribute nodes_modes is missing, or no tensor of integers");
    EvalStatus st = check_length(r, "nodes_modes", evl_shape_count(&a->u.tensor->shape), n);
    for (size_t i = 0; st == EVAL_OK && i < n; i++) {
        int64_t mode = evl_tensor_i64(a->u.tensor, i);
        if (mode < 0 || mode > EVL_TREE_MEMBER)
            return out_of_range(r, "nodes_modes", i, mode, EVL_TREE_MEMBER + 1);
        r->to->mode[i] = (uint8_t)mode;
        *n_sets += mode == EVL_TREE_MEMBER;
    }
    return st;
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static bool is_end(const reals *values, size_t i)
{
    return isnan(number_at(values, i));
}

/* Sets end by NaN (the last may do without), in the order of the nodes that ask for them; here
** they are sorted. */
static EvalStatus read_members(const reading *r, size_t n, size_t n_sets)
{
    evl_tree_nodes *t = r->to;
    reals values = numbers_of(r->node, "membership_values");
    size_t at = 0, n_ends = values.n && !is_end(&values, values.n - 1);
    for (size_t i = 0; i < values.n; i++)
        n_ends += is_end(&values, i);
    if (n_ends != n_sets)
        return evl_fail(
            r->ctx, EVAL_ERR_FORMAT,
            "attribute membership_values has %zu sets, each ended by NaN, expected %zu, "
            "one for each BRANCH_MEMBER of nodes_modes",
            n_ends, n_sets);
    t->members = evl_arena_take_many(r->arena, values.n + 1, sizeof *t->members);
    if (!t->members)
        return evl_no_memory(r->ctx);
    size_t filled = 0;
    for (size_t i = 0; i < t->n; i++) {
        t->member[i] = filled;
        if (i >= n || t->mode[i] != EVL_TREE_MEMBER)
            continue;
        while (at < values.n && !is_end(&values, at))
            t->members[filled++] = number_at(&values, at++);
        at++;
        qsort(t->members + t->member[i], filled - t->member[i], sizeof *t->members, by_size);
    }
    t->member[t->n] = filled;
    return EVAL_OK;
}

static EvalStatus read_branch(const reading *r, size_t n, size_t n_leaves, const char *ids_name,
                              const char *leafs_name, uint32_t *kids)
{
    const int64_t *ids, *leafs;
    uint32_t kid = 0;
    EvalStatus st = ints_of(r, ids_name, n, &ids, NULL);
    if (st == EVAL_OK)
        st = ints_of(r, leafs_name, n, &leafs, NULL);
    for (size_t i = 0; st == EVAL_OK && i < n; i++) {
        st = index_of(r, ids_name, i, ids[i], leafs[i] ? n_leaves : n, &kid);
        kids[i] = leafs[i] ? (uint32_t)n + kid : kid;
    }
    return st;
}

static EvalStatus read_leaves(const reading *r, size_t n, size_t n_leaves, size_t n_targets)
{
    evl_tree_nodes *t = r->to;
    const int64_t *targets;
    reals weights;
    EvalStatus st = ints_of(r, "leaf_targetids", n_leaves, &targets, NULL);
    if (st == EVAL_OK)
        st = needed_numbers(r, "leaf_weights", n_leaves, &weights);
    for (size_t i = 0; st == EVAL_OK && i < n_leaves; i++) {
        st = index_of(r, "leaf_targetids", i, targets[i], n_targets, &t->target[i]);
        t->mode[n + i] = EVL_TREE_LEAF;
        t->weights[i] = number_at(&weights, i);
        t->weight[n + i + 1] = i + 1;
    }
    return st;
}

static EvalStatus read_roots(const reading *r, size_t n)
{
    const int64_t *roots;
    size_t n_trees;
    evl_tree_nodes *t = r->to;
    EvalStatus st = ints_of(r, "tree_roots", SIZE_MAX, &roots, &n_trees);
    if (st != EVAL_OK)
        return st;
    t->root = evl_arena_take_many(r->arena, n_trees + 1, sizeof *t->root);
    if (!t->root)
        return evl_no_memory(r->ctx);
    for (t->n_trees = 0; st == EVAL_OK && t->n_trees < n_trees; t->n_trees++)
        st = index_of(r, "tree_roots", t->n_trees, roots[t->n_trees], n, &t->root[t->n_trees]);
    return st;
}

EvalStatus evl_trees_read_5(evl_context *ctx, evl_arena *arena, const evl_node *node,
                            size_t n_targets, evl_tree_nodes *to)
{
    reading r = { ctx, arena, node, to };
    const int64_t *list;
    size_t n, n_leaves, n_sets;
    reals splits;
    *to = (evl_tree_nodes){ .is_shared_leaf = true,
                            .yes_name = "nodes_truenodeids",
                            .no_name = "nodes_falsenodeids" };
    EvalStatus st = ints_of(&r, "nodes_featureids", SIZE_MAX, &list, &n);
    if (st == EVAL_OK)
        st = ints_of(&r, "leaf_targetids", SIZE_MAX, &list, &n_leaves);
    if (st == EVAL_OK)
        st = take(&r, n + n_leaves, n_leaves);
    if (st == EVAL_OK)
        st = read_mode_numbers(&r, n, &n_sets);
    if (st == EVAL_OK)
        st = read_features(&r, n);
    if (st == EVAL_OK)
        st = needed_numbers(&r, "nodes_splits", n, &splits);
    for (size_t i = 0; st == EVAL_OK && i < n; i++)
        to->value[i] = number_at(&splits, i);
    if (st == EVAL_OK)
        st = read_missing(&r, n);
    if (st == EVAL_OK)
        st = read_members(&r, n, n_sets);
    if (st == EVAL_OK)
        st = read_branch(&r, n, n_leaves, to->yes_name, "nodes_trueleafs", to->yes);
    if (st == EVAL_OK)
        st = read_branch(&r, n, n_leaves, to->no_name, "nodes_falseleafs", to->no);
    if (st == EVAL_OK)
        st = read_leaves(&r, n, n_leaves, n_targets);
    return st == EVAL_OK ? read_roots(&r, n) : st;
}
