/* Says which library this is, and what a model takes and gives.
**
**     embed MODEL */
#include <evallib/eval.h>
#include <stdio.h>

static EvalStatus print_group(IEvaluateModelF *model, const char *what, EvalNodeGroup group)
{
    EvalDimension nodes[16];
    size_t n = sizeof nodes / sizeof *nodes;
    EvalStatus status = model->vtbl->GetNodeDimensions(model, group, nodes, &n);
    if (status == EVAL_OK)
        for (size_t i = 0; i < n; i++)
            printf("%s %s: %zu elements a sample\n", what, nodes[i].name, nodes[i].size);
    return status;
}

int main(int argc, char **argv)
{
    char description[4096];
    IEvaluateModelF *model;
    const EvalInfo *info = EvalLibraryInfo();
    printf("evallib %s, %s, kernels for %s\n", info->version, info->build, info->kernels);
    if (argc != 2)
        return argc > 2;
    int length = snprintf(description, sizeof description, "modelPath=\"%s\"", argv[1]);
    GetEvalF(&model);
    if (!model || length < 0 || (size_t)length >= sizeof description)
        return 1;
    EvalStatus status = model->vtbl->CreateNetwork(model, description);
    if (status == EVAL_OK)
        status = print_group(model, "input", EVAL_NODE_INPUT);
    if (status == EVAL_OK)
        status = print_group(model, "output", EVAL_NODE_OUTPUT);
    if (status != EVAL_OK)
        fprintf(stderr, "%s\n", model->vtbl->LastError(model));
    model->vtbl->Destroy(model);
    return status != EVAL_OK;
}
