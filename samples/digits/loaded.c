/* A program that only opens the library when it runs, with nothing of it at link time.
**
**     loaded libevallib.so samples/digits/digits.onnx samples/digits/images/7.pgm */
#include "show.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef void get_eval(IEvaluateModelF **);

/* A function's address comes from dlsym as an object pointer, which ISO C does not
** convert; its bytes are the same. */
static get_eval *find_get_eval(void *library)
{
    void *address = dlsym(library, "GetEvalF");
    get_eval *function = NULL;
    if (address)
        memcpy(&function, &address, sizeof function);
    return function;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s LIBRARY MODEL IMAGE\n", argv[0]);
        return 2;
    }
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    get_eval *get = library ? find_get_eval(library) : NULL;
    IEvaluateModelF *model = NULL;
    if (get)
        get(&model);
    if (!model) {
        fprintf(stderr, "%s\n", get ? "no memory" : dlerror());
        return 1;
    }
    int status = show_digit(model, argv[2], argv[3]);
    model->vtbl->Destroy(model);
    dlclose(library);
    return status;
}
