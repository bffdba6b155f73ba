/* fuse.c - a pass as a plug-in: x * Sigmoid(x) becomes one node, the Swish of swish.c.
**
**     cc -std=c11 -O2 -shared -fPIC -I ../../include fuse.c -o fuse.so
**
** It runs when a network is planned, after constants were folded and before the library's own
** fusions; load swish.so with it, which computes what it puts there. */
#include "evallib/plugin.h"
#include <string.h>

/* The node of that operator which computes the value; -1: another does, or none. */
static int64_t made_by(EvalCall *call, EvalValue value, const char *op)
{
    EvalValueView v;
    EvalNode node;
    v.size = sizeof v;
    node.size = sizeof node;
    if (!call->host->Value(call, value, &v) || v.producer < 0 ||
        !call->host->Node(call, (size_t)v.producer, &node) || *node.domain || strcmp(node.op, op) != 0)
        return -1;
    return v.producer;
}

/* y = x * Sigmoid(x), either way round. Nobody may need the Sigmoid: it stays when somebody
** does, and goes by itself when not. */
static EvalStatus fuse(EvalCall *call, size_t mul)
{
    const EvalHost *host = call->host;
    EvalValue y = host->NodeOutput(call, mul, 0);
    for (size_t i = 0; i < 2; i++) {
        EvalValue x = host->NodeInput(call, mul, 1 - i);
        int64_t sigmoid = made_by(call, host->NodeInput(call, mul, i), "Sigmoid");
        if (sigmoid >= 0 && host->NodeInput(call, (size_t)sigmoid, 0) == x)
            return host->PutNode(call, "my.domain", "Swish", 1, "fused", &x, 1, &y, 1, 0, 0);
    }
    return EVAL_OK;
}

static EvalStatus run(EvalCall *call)
{
    size_t n = call->host->Nodes(call);
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < n && st == EVAL_OK; i++) {
        EvalNode node;
        node.size = sizeof node;
        if (call->host->Node(call, i, &node) && !*node.domain && strcmp(node.op, "Mul") == 0)
            st = fuse(call, i);
    }
    return st;
}

static const EvalPass pass = { sizeof pass, "fuse swish", run };
static const EvalPass *const passes[] = { &pass };
static const EvalPlugin plugin = { sizeof plugin, EVAL_PLUGIN_ABI, 0, sizeof(EvalHost), "fuse", "1.0",
                                   0, 0, 0, 0, 0, 0, 0, 0, 0, passes, 1 };

const EvalPlugin *EvalPluginEntry(void)
{
    return &plugin;
}
