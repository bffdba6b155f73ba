/* driver.c - runs a fuzz target over the files of its corpus, as a plain test: each file whole,
** cut short, and with bytes changed from a fixed seed. libFuzzer brings its own main instead. */
#include "fuzz/fuzz.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = 1 << 20, CUTS = 200, CHANGES = 300, LONGEST_PATH = 4096 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A block of just that size, so that a sanitizer sees the first byte read behind it. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void run_variants(uint8_t *data, size_t size)
{
    uint64_t state = 0x9e3779b97f4a7c15u ^ size;
    size_t cuts = size < CUTS ? size : CUTS;
    run(data, size);
    for (size_t i = 0; i < cuts; i++)
        run(data, i * size / cuts);
    for (int i = 0; size && i < CHANGES; i++) {
        size_t at = next_random(&state) % size;
        uint8_t kept = data[at];
        data[at] = i % 2 ? (uint8_t)(kept ^ 1u << i / 2 % 8) : (uint8_t)next_random(&state);
        run(data, size);
        data[at] = kept;
    }
}

/* 1: it was run; 0: it is no file or too large. */
static int run_file(const char *path)
{
    static uint8_t data[LARGEST_FILE];
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    size_t size = fread(data, 1, sizeof data, file);
    int is_good = !ferror(file) && size < sizeof data;
    fclose(file);
    if (is_good)
        run_variants(data, size);
    return is_good;
}

static int run_folder(const char *folder)
{
    char path[LONGEST_PATH];
    int n = 0;
    DIR *entries = opendir(folder);
    if (!entries)
        return 0;
    for (struct dirent *e; (e = readdir(entries));)
        if (e->d_name[0] != '.' &&
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < (int)sizeof path)
            n += run_file(path);
    closedir(entries);
    return n;
}

/* Arguments are files or folders of files. No file at all is a failure. */
int main(int argc, char **argv)
{
    int n = 0;
    for (int i = 1; i < argc; i++) {
        int found = run_folder(argv[i]);
        n += found ? found : run_file(argv[i]);
    }
    printf("%d files\n", n);
    return n ? 0 : 1;
}
