#include "show.h"
#include <stdio.h>

enum { SIDE = 28, N_PIXELS = SIDE * SIDE, N_DIGITS = 10 };

static int read_image(const char *path, float pixels[N_PIXELS])
{
    FILE *file = fopen(path, "r");
    int width = 0, height = 0, maximum = 0, n = 0;
    if (file && fscanf(file, "P2 %d %d %d", &width, &height, &maximum) == 3 && width == SIDE &&
        height == SIDE && maximum == 255)
        while (n < N_PIXELS && fscanf(file, "%f", &pixels[n]) == 1 && pixels[n] >= 0 && pixels[n] <= 255)
            n++;
    if (file)
        fclose(file);
    return n == N_PIXELS;
}

/* Two characters a pixel, since they are higher than wide; the darker the more ink. */
static void draw(const float pixels[N_PIXELS])
{
    static const char ink[] = " .:+*#@";
    for (int row = 0; row < SIDE; row++) {
        for (int column = 0; column < SIDE; column++) {
            char dot = ink[(int)(pixels[row * SIDE + column] * 6 / 255)];
            printf("%c%c", dot, dot);
        }
        putchar('\n');
    }
}

static void print_scores(const float scores[N_DIGITS])
{
    int best = 0;
    for (int digit = 0; digit < N_DIGITS; digit++) {
        printf("  %d: %10.5f\n", digit, scores[digit]);
        if (scores[digit] > scores[best])
            best = digit;
    }
    printf("The digit is %d\n", best);
}

int show_digit(IEvaluateModelF *model, const char *model_path, const char *image_path)
{
    float pixels[N_PIXELS], scores[N_DIGITS];
    EvalInputF in = { "features", pixels, N_PIXELS };
    EvalOutputF out = { "ol.z", scores, N_DIGITS, 0 };
    char description[4096];
    int n = snprintf(description, sizeof description, "modelPath=\"%s\"", model_path);
    if (n < 0 || (size_t)n >= sizeof description || !read_image(image_path, pixels)) {
        fprintf(stderr, "%s: not a plain PGM image of 28 x 28\n", image_path);
        return 1;
    }
    if (model->vtbl->CreateNetwork(model, description) != EVAL_OK ||
        model->vtbl->Evaluate(model, &in, 1, &out, 1) != EVAL_OK) {
        fprintf(stderr, "%s\n", model->vtbl->LastError(model));
        return 1;
    }
    draw(pixels);
    print_scores(scores);
    return 0;
}
