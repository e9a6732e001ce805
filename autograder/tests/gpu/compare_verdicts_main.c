// compare-verdicts GPU-FOLDER VIRTUAL-FOLDER: a Markdown table of what every
// submission earned on the two targets.
//
// Both folders hold one JSON result of `grade lab` a submission, under the
// same names. Only tests that ran on both targets are compared. Exit status: 0
// when all verdicts agree, 1 when one differs, 2 when nothing could be read.
#include <dirent.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_result(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 5 && strcmp(entry->d_name + n - 5, ".json") == 0;
}

static json_t *load(const char *folder, const char *file)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, file) >=
        (int)sizeof path)
        return NULL;
    return json_load_file(path, 0, NULL);
}

static const char *text_of(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static json_t *find_test(json_t *result, const char *name)
{
    size_t i;
    json_t *test;
    json_array_foreach(json_object_get(result, "tests"), i, test)
        if (strcmp(text_of(test, "name"), name) == 0)
            return test;
    return NULL;
}

// Whether the test ran to a verdict there.
static bool has_verdict(json_t *test)
{
    const char *status = text_of(test, "status");
    return strcmp(status, "passed") == 0 || strcmp(status, "failed") == 0 ||
           strcmp(status, "partial") == 0;
}

// Speed is measured on one side and modelled on the other: there the verdict
// is whether points were earned, not how many.
static bool agree(json_t *a, json_t *b)
{
    if (strcmp(text_of(a, "kind"), "speed") == 0) {
        bool a_failed = strcmp(text_of(a, "status"), "failed") == 0;
        bool b_failed = strcmp(text_of(b, "status"), "failed") == 0;
        return a_failed == b_failed;
    }
    return strcmp(text_of(a, "status"), text_of(b, "status")) == 0;
}

static void print_ratios(json_t *gpu, json_t *virtual)
{
    size_t i;
    json_t *test;
    json_array_foreach(json_object_get(gpu, "tests"), i, test) {
        json_t *other = find_test(virtual, text_of(test, "name"));
        json_t *measured = json_object_get(test, "ratio");
        json_t *modelled = json_object_get(other, "ratio");
        if (json_is_number(measured) && json_is_number(modelled))
            printf("%s %.2f / %.2f; ", text_of(test, "name"),
                   json_number_value(measured), json_number_value(modelled));
    }
}

// One row of the table; returns the number of tests that disagree.
static unsigned compare(const char *file, json_t *gpu, json_t *virtual)
{
    unsigned different = 0, compared = 0;
    char names[1024] = "";
    size_t i;
    json_t *test;
    json_array_foreach(json_object_get(gpu, "tests"), i, test) {
        json_t *other = find_test(virtual, text_of(test, "name"));
        if (!has_verdict(test) || !has_verdict(other))
            continue;
        compared++;
        if (agree(test, other))
            continue;
        different++;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, " %s (%s / %s)",
                 text_of(test, "name"), text_of(test, "status"),
                 text_of(other, "status"));
    }
    printf("| %.*s | %.1f | %.1f | %u | %s | ", (int)strlen(file) - 5, file,
           json_number_value(json_object_get(gpu, "score")),
           json_number_value(json_object_get(virtual, "score")), compared,
           different ? names : "all");
    print_ratios(gpu, virtual);
    printf("|\n");
    return different;
}

int main(int argc, char **argv)
{
    struct dirent **files;
    int n = argc == 3 ? scandir(argv[1], &files, is_result, alphasort) : -1;
    if (n <= 0) {
        fprintf(stderr, n < 0 ? "usage: compare-verdicts GPU-FOLDER "
                                "VIRTUAL-FOLDER\n"
                              : "compare-verdicts: %s holds no results\n",
                argc == 3 ? argv[1] : "");
        return 2;
    }
    unsigned different = 0, missing = 0;
    printf("| submission | score, GPU | score, virtual | tests on both | "
           "agree | ratios, measured / modelled |\n|---|---|---|---|---|---|\n");
    for (int i = 0; i < n; i++) {
        json_t *gpu = load(argv[1], files[i]->d_name);
        json_t *virtual = load(argv[2], files[i]->d_name);
        if (gpu && virtual) {
            different += compare(files[i]->d_name, gpu, virtual);
        } else {
            missing++;
            printf("| %s | | | 0 | one result is missing | |\n",
                   files[i]->d_name);
        }
        json_decref(gpu);
        json_decref(virtual);
        free(files[i]);
    }
    free(files);
    printf("\n%d submissions, %u verdicts differ, %u results missing\n", n,
           different, missing);
    return different || missing;
}
