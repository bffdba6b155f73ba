/* cntk2.c - the reader of CNTK v2 model files: a protocol buffer, the dictionary that
** describes a function; in files of more than 2 GB with a head before it and the values
** of arrays behind it. */
#include "readers/cntk2/network.h"
#include "readers/readers.h"
#include <string.h>

static const char head[] = "ktnc";
enum { HEAD = 4 + 4 }; /* and the size of the dictionary */

/* A dictionary: field 1, its version, and field 2, its entries, which begin with a key. */
static bool is_dictionary(evl_bytes at)
{
    size_t n_entries = 0;
    while (evl_bytes_left(&at) > 0) {
        evl_bytes start = at;
        uint32_t number;
        unsigned wire;
        bool is_cut, is_good = evl_pb_peek(&at, &number, &wire, &is_cut);
        if (!(number == 1 && wire == EVL_PB_WIRE_VARINT) &&
            !(number == 2 && wire == EVL_PB_WIRE_BYTES))
            return false;
        if (!is_good)
            return is_cut && n_entries > 0;
        /* In three bytes of an entry one is the key's tag: version and lengths are short. */
        size_t n = at.at - start.at;
        n_entries += number == 2 && memchr(start.data + start.at, 0x0a, n < 8 ? n : 8) != NULL;
    }
    return n_entries > 0;
}

static bool claims(const evl_bytes *file)
{
    return (file->size >= 4 && memcmp(file->data, head, 4) == 0) || is_dictionary(*file);
}

/* The dictionary's bytes; what follows is the cursor's. */
static evl_bytes open_file(evl_cntk2_cursor *c, const evl_source *source)
{
    evl_bytes file = evl_bytes_of(source->data, source->size);
    uint32_t n = 0;
    if (file.size < 4 || memcmp(file.data, head, 4) != 0)
        return file;
    c->is_large = true;
    evl_bytes_skip(&file, 4);
    evl_bytes message = file;
    if (evl_bytes_u32(&file, &n))
        message = file;
    if (!evl_bytes_skip(&file, n) || n == 0)
        evl_cntk2_fail(c, EVAL_ERR_FORMAT, "CNTK v2: the dictionary is cut short, at byte %zu",
                       file.at);
    message.size = file.at;
    c->arrays = file;
    return message;
}

/* What a dictionary is that is no function. */
static const struct {
    const char *key, *is;
} others[] = {
    { "Learners", "a checkpoint of a trainer, and no model" },
    { "learnig_rate_schedule", "the state of a learner, and no model" },
    { "sample_count", "the state of a learner, and no model" },
    { "smoothed_gradients", "the state of a learner, and no model" },
};

static EvalStatus refuse(evl_cntk2_cursor *c, const evl_cntk2_dictionary *d)
{
    const char *is = "a dictionary, and no model: it has no type 'CompositeFunction'";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        evl_cntk2_dictionary at = *d;
        evl_cntk2_value v;
        evl_bytes key;
        while (evl_cntk2_next(c, &at, &key, &v))
            if (key.data && evl_pb_size(key) == strlen(others[i].key) &&
                memcmp(evl_pb_text(key), others[i].key, evl_pb_size(key)) == 0)
                is = others[i].is;
    }
    if (c->status != EVAL_OK)
        return c->status;
    return evl_fail(c->ctx, EVAL_ERR_FORMAT, "CNTK v2: this is %s", is);
}

static EvalStatus read_model(evl_context *ctx, const evl_source *source, evl_graph *graph,
                             evl_external *external)
{
    (void)external; /* a file of this format is complete */
    evl_cntk2_network net = { .c = { .ctx = ctx, .arena = graph->arena } };
    evl_cntk_model model = { .format = "CNTK v2", .has_free_dims = true };
    evl_cntk2_dictionary d = evl_cntk2_dictionary_of(&net.c, open_file(&net.c, source));
    const char *type = evl_cntk2_text(&net.c, &d, "type");
    if (net.c.status == EVAL_OK && strcmp(type, "CompositeFunction") != 0)
        return refuse(&net.c, &d);
    model.version = (uint64_t)evl_cntk2_size(&net.c, &d, "version", 1);
    evl_cntk2_read_network(&net, &d);
    if (net.c.status == EVAL_OK)
        evl_cntk2_make_model(&net, &model);
    return net.c.status == EVAL_OK ? evl_cntk_build(ctx, &model, graph) : net.c.status;
}

const evl_reader evl_reader_cntk2 = { "CNTK v2", claims, read_model };
