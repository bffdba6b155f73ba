/* show.h - what the two programs share: a digit read, evaluated, drawn and named. */
#ifndef SAMPLES_SHOW_H
#define SAMPLES_SHOW_H
#include <evallib/eval.h>

/* Evaluates a plain PGM image of 28 x 28 and prints what there is to see. Gives the
** program's exit status. The model may be the CNTK file or the ONNX file: both have
** the input "features" and the output "ol.z". */
int show_digit(IEvaluateModelF *model, const char *model_path, const char *image_path);
#endif
