/* A recurrent network, whole and step by step: its state is carried from call to call
** until ResetState, so both ways give the same numbers.
**
**     sequence samples/sequence.dnn
**
** The network tells the parity of the bits it has seen; sequence.py makes it. */
#include <evallib/eval.h>
#include <stdio.h>
#include <string.h>

enum { N_BITS = 12 };
static const float bits[N_BITS] = { 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 0 };

/* Evaluates bits first .. first + n - 1 as the sequence's next part. */
static EvalStatus evaluate(IEvaluateModelF *model, size_t first, size_t n, float *parity)
{
    EvalInputF in = { "bit", bits + first, n };
    EvalOutputF out = { "parity", parity + first, n, 0 };
    return model->vtbl->Evaluate(model, &in, 1, &out, 1);
}

static EvalStatus evaluate_by_steps(IEvaluateModelF *model, float *parity)
{
    EvalStatus status = model->vtbl->ResetState(model);
    for (size_t t = 0; t < N_BITS && status == EVAL_OK; t++)
        status = evaluate(model, t, 1, parity);
    return status;
}

static void print_row(const char *name, const float *values)
{
    printf("%-22s", name);
    for (int t = 0; t < N_BITS; t++)
        printf(" %.3f", values[t]);
    printf("\n");
}

static EvalStatus run(IEvaluateModelF *model, const char *description)
{
    float whole[N_BITS], steps[N_BITS], carried[N_BITS];
    EvalStatus status = model->vtbl->CreateNetwork(model, description);
    if (status == EVAL_OK)
        status = evaluate(model, 0, N_BITS, whole);
    if (status == EVAL_OK)
        status = evaluate_by_steps(model, steps);
    if (status == EVAL_OK) /* no ResetState: the sequence goes on where it ended */
        status = evaluate(model, 0, N_BITS, carried);
    if (status != EVAL_OK)
        return status;
    print_row("bits", bits);
    print_row("parity, one call", whole);
    print_row("parity, step by step", steps);
    print_row("parity, going on", carried);
    printf("%s\n", memcmp(whole, steps, sizeof whole) == 0 ? "the same numbers" : "other numbers");
    return EVAL_OK;
}

int main(int argc, char **argv)
{
    char description[4096];
    IEvaluateModelF *model;
    if (argc != 2 || strlen(argv[1]) > sizeof description - 32) {
        fprintf(stderr, "usage: %s MODEL\n", argv[0]);
        return 2;
    }
    snprintf(description, sizeof description, "modelPath=\"%s\"", argv[1]);
    GetEvalF(&model);
    if (!model)
        return 1;
    EvalStatus status = run(model, description);
    if (status != EVAL_OK)
        fprintf(stderr, "%s\n", model->vtbl->LastError(model));
    model->vtbl->Destroy(model);
    return status != EVAL_OK;
}
