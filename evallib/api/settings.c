/* One table says which keys there are, of what kind, and where their value goes. */
#include "api/settings.h"
#include "base/text.h"
#include <string.h>

typedef enum key_kind { KEY_INT, KEY_SIZE, KEY_BOOL, KEY_TEXT, KEY_LIST, KEY_ACCURACY, KEY_KERNELS,
                        KEY_DEVICE, KEY_NDL, KEY_IGNORED, KEY_BUILDER } key_kind;

typedef struct key {
    const char *name;
    key_kind kind;
    size_t offset;
    int64_t least, most;
} key;

static const key keys[] = {
    { "modelPath", KEY_TEXT, offsetof(evl_settings, model_path), 0, 0 },
    { "outputNodeNames", KEY_LIST, offsetof(evl_settings, outputs), 0, 0 },
    { "plugins", KEY_LIST, offsetof(evl_settings, plugins), 0, 0 },
    { "pluginPath", KEY_LIST, offsetof(evl_settings, plugin_folders), 0, 0 },
    { "numCPUThreads", KEY_INT, offsetof(evl_settings, threads), -1024, 1024 },
    { "spinMicroseconds", KEY_INT, offsetof(evl_settings, spin_us), 0, 1000000 },
    { "planCacheSize", KEY_INT, offsetof(evl_settings, plans), 1, 100000 },
    { "mapFile", KEY_BOOL, offsetof(evl_settings, may_map), 0, 0 },
    { "saveSimplified", KEY_BOOL, offsetof(evl_settings, saves_simplified), 0, 0 },
    { "strict", KEY_BOOL, offsetof(evl_settings, is_strict), 0, 0 },
    { "accuracy", KEY_ACCURACY, offsetof(evl_settings, accuracy), 0, 0 },
    { "kernels", KEY_KERNELS, offsetof(evl_settings, kernels), 0, 0 },
    { "blas", KEY_TEXT, offsetof(evl_settings, blas), 0, 0 },
    { "maxMemory", KEY_INT, offsetof(evl_settings, most_memory), 0, INT64_MAX },
    { "maxTensorBytes", KEY_SIZE, offsetof(evl_settings, limits.max_tensor_bytes), 1, INT64_MAX },
    { "maxNodes", KEY_SIZE, offsetof(evl_settings, limits.max_nodes), 1, INT64_MAX },
    { "maxDepth", KEY_SIZE, offsetof(evl_settings, limits.max_depth), 1, 256 },
    { "maxTrips", KEY_SIZE, offsetof(evl_settings, limits.max_trips), 1, INT64_MAX },
    { "deviceId", KEY_DEVICE, 0, 0, 0 },
    /* CNTK's keys that mean nothing for a processor that shares nothing */
    { "traceLevel", KEY_IGNORED, 0, 0, 0 },
    { "excludedDevices", KEY_IGNORED, 0, 0, 0 },
    { "lockGPU", KEY_IGNORED, 0, 0, 0 },
    { "shareNodeValueMatrices", KEY_IGNORED, 0, 0, 0 },
    { "minibatchSize", KEY_IGNORED, 0, 0, 0 },
    { "rightSplice", KEY_IGNORED, 0, 0, 0 },
    { "evaluator", KEY_IGNORED, 0, 0, 0 },
    { "precision", KEY_IGNORED, 0, 0, 0 },
    /* which section of a description is meant, and its macros */
    { "run", KEY_IGNORED, 0, 0, 0 },
    { "load", KEY_IGNORED, 0, 0, 0 },
    { "ndlMacros", KEY_IGNORED, 0, 0, 0 },
    { "createNetwork", KEY_BUILDER, 0, 0, 0 },
    { "SimpleNetworkBuilder", KEY_BUILDER, 0, 0, 0 },
    { "NDLNetworkBuilder", KEY_NDL, 0, 0, 0 },
    { "BrainScriptNetworkBuilder", KEY_BUILDER, 0, 0, 0 },
    { "ExperimentalNetworkBuilder", KEY_BUILDER, 0, 0, 0 },
};

enum { N_KEYS = sizeof keys / sizeof keys[0] };

static EvalStatus read_int(evl_context *ctx, const evl_config *config, const key *k, int64_t *value)
{
    EvalStatus st = evl_config_int(ctx, config, k->name, value);
    if (st == EVAL_OK && (*value < k->least || *value > k->most))
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "%s=%lld is not in %lld .. %lld", k->name,
                        (long long)*value, (long long)k->least, (long long)k->most);
    return st;
}

static EvalStatus read_size(evl_context *ctx, const evl_config *config, const key *k, size_t *value)
{
    int64_t number = *value > INT64_MAX ? INT64_MAX : (int64_t)*value;
    EvalStatus st = read_int(ctx, config, k, &number);
    if (st == EVAL_OK)
        *value = (size_t)number;
    return st;
}

/* Only the processor is there: any other wish is noted, and not fulfilled. */
static EvalStatus read_device(evl_context *ctx, const evl_config *config)
{
    const char *device = "-1";
    EvalStatus st = evl_config_text(ctx, config, "deviceId", &device);
    if (st == EVAL_OK && strcmp(device, "-1") != 0 && strcmp(device, "cpu") != 0 &&
        strcmp(device, "CPU") != 0 && strcmp(device, "auto") != 0)
        evl_note(ctx, EVAL_LOG_WARNING, "deviceId=%s: the processor is used", device);
    return st;
}

/* Words of which one may be chosen, as they stand in the enumerations. */
typedef struct choice {
    const char *words[4]; /* to the first NULL */
    const char *expected;
} choice;

static const choice accuracies = { { "exact", "normal", "fast" }, "exact, normal or fast" };
static const choice kernel_sets = { { "base", "avx2", "avx512", "auto" },
                                    "base, avx2, avx512 or auto" };

static EvalStatus read_choice(evl_context *ctx, const evl_config *config, const key *k,
                              const choice *c, int64_t *chosen)
{
    const char *text = c->words[*chosen];
    EvalStatus st = evl_config_text(ctx, config, k->name, &text);
    if (st != EVAL_OK)
        return st;
    for (int64_t i = 0; i < 4 && c->words[i]; i++)
        if (strcmp(text, c->words[i]) == 0) {
            *chosen = i;
            return EVAL_OK;
        }
    return evl_fail(ctx, EVAL_ERR_ARGUMENT, "%s=%s, expected %s", k->name, text, c->expected);
}

static EvalStatus read_list(evl_context *ctx, const evl_config *config, const key *k,
                            evl_texts *list)
{
    return evl_config_list(ctx, config, k->name, &list->items, &list->n);
}

static bool is_same(const char *a, const char *b)
{
    return evl_text_equal_no_case(a, strlen(a), b, strlen(b));
}

/* What may stand beside the name of a model. */
static bool is_option(const char *name)
{
    for (size_t i = 0; i < N_KEYS; i++)
        if (is_same(name, keys[i].name))
            return keys[i].kind == KEY_IGNORED || keys[i].kind == KEY_DEVICE;
    return false;
}

/* The model that a description only names: by its path, or as BrainScript loads it. *path stays NULL
** when there is anything else in it. */
static EvalStatus find_named(evl_context *ctx, const evl_config *section, int depth,
                             const char **path)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < evl_config_count(section) && st == EVAL_OK; i++) {
        int line;
        const char *name = evl_config_key(section, i, &line);
        evl_config *inner;
        evl_texts loaded = { 0 };
        if (is_same(name, "modelPath") || is_same(name, "pathName")) {
            st = evl_config_text(ctx, section, name, path);
        } else if (is_same(name, "BS.Network.Load")) {
            st = evl_config_list(ctx, section, name, &loaded.items, &loaded.n);
            *path = st == EVAL_OK && loaded.n == 1 ? loaded.items[0] : NULL;
        } else if (is_same(name, "new ComputationNetworkFromFile") && depth > 0) {
            st = evl_config_section(ctx, section, name, &inner);
            st = st == EVAL_OK && inner ? find_named(ctx, inner, depth - 1, path) : st;
        } else if (!is_option(name)) {
            *path = NULL;
            return EVAL_OK;
        }
    }
    return st;
}

static EvalStatus read_builder(evl_context *ctx, const evl_config *config, const key *k,
                               const char **model_path)
{
    evl_config *section;
    const char *path = NULL;
    if (!evl_config_has(config, k->name))
        return EVAL_OK;
    EvalStatus st = evl_config_section(ctx, config, k->name, &section);
    if (st == EVAL_OK && section)
        st = find_named(ctx, section, 1, &path);
    if (st != EVAL_OK || path) {
        *model_path = path ? path : *model_path;
        return st;
    }
    return evl_fail(ctx, EVAL_ERR_UNSUPPORTED,
                    "%s makes a network that training is still to fill; save the trained one to a "
                    "file and give its modelPath (of descriptions, NDLNetworkBuilder is offered)",
                    k->name);
}

static EvalStatus read_key(evl_context *ctx, const evl_config *config, const key *k,
                           evl_settings *s)
{
    void *to = (char *)s + k->offset;
    switch (k->kind) {
    case KEY_INT: return read_int(ctx, config, k, to);
    case KEY_SIZE: return read_size(ctx, config, k, to);
    case KEY_BOOL: return evl_config_bool(ctx, config, k->name, to);
    case KEY_TEXT: return evl_config_text(ctx, config, k->name, to);
    case KEY_LIST: return read_list(ctx, config, k, to);
    case KEY_ACCURACY: return read_choice(ctx, config, k, &accuracies, to);
    case KEY_KERNELS: return read_choice(ctx, config, k, &kernel_sets, to);
    case KEY_DEVICE: return read_device(ctx, config);
    case KEY_NDL:
        s->description = evl_config_has(config, k->name) ? config : NULL;
        return EVAL_OK;
    case KEY_BUILDER: return read_builder(ctx, config, k, &s->model_path);
    default: return EVAL_OK;
    }
}

static bool is_known_key(const char *name)
{
    for (size_t i = 0; i < N_KEYS; i++)
        if (is_same(name, keys[i].name))
            return true;
    return false;
}

static EvalStatus check_unknown(evl_context *ctx, const evl_config *config, bool is_strict)
{
    for (size_t i = 0; i < evl_config_count(config); i++) {
        int line;
        const char *name = evl_config_key(config, i, &line);
        if (is_known_key(name))
            continue;
        if (is_strict)
            return evl_fail(ctx, EVAL_ERR_ARGUMENT, "line %d: no setting is called '%s'", line, name);
        evl_note(ctx, EVAL_LOG_WARNING, "line %d: no setting is called '%s'", line, name);
    }
    return EVAL_OK;
}

EvalStatus evl_settings_read(evl_context *ctx, const evl_config *config, evl_settings *s)
{
    *s = (evl_settings){ .threads = 1, .spin_us = 20, .plans = 8, .may_map = true,
                         .blas = "auto", .accuracy = 1, .kernels = EVL_KERNELS_AUTO,
                         .limits = evl_default_limits };
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < N_KEYS && st == EVAL_OK; i++)
        st = read_key(ctx, config, &keys[i], s);
    return st == EVAL_OK ? check_unknown(ctx, config, s->is_strict) : st;
}
