/* A program that links the library.
**
**     linked samples/digits/digits.dnn samples/digits/images/7.pgm */
#include "show.h"
#include <stdio.h>

int main(int argc, char **argv)
{
    IEvaluateModelF *model;
    if (argc != 3) {
        fprintf(stderr, "usage: %s MODEL IMAGE\n", argv[0]);
        return 2;
    }
    GetEvalF(&model);
    if (!model) {
        fprintf(stderr, "no memory\n");
        return 1;
    }
    int status = show_digit(model, argv[1], argv[2]);
    model->vtbl->Destroy(model);
    return status;
}
