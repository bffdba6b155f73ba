#include <evallib/eval.h>
#include <stdio.h>
static float pixels[784], scores[10]; /* an image, 28 rows of 28, 0 .. 255 */
int main(void)
{
    EvalInputF in = { "features", pixels, 784 };
    EvalOutputF out = { "ol.z", scores, 10, 0 };
    IEvaluateModelF *model;
    GetEvalF(&model);
    if (!model || model->vtbl->CreateNetwork(model, "modelPath=\"samples/digits/digits.onnx\"") ||
        model->vtbl->Evaluate(model, &in, 1, &out, 1))
        return puts(model ? model->vtbl->LastError(model) : "no memory"), 1;
    for (int i = 0; i < 10; i++) printf("%d: %g\n", i, scores[i]);
    model->vtbl->Destroy(model);
}
