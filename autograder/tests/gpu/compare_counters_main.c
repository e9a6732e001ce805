// compare-counters NCU.csv VIRTUAL.json: a Markdown table of what Nsight
// Compute counted and what the virtual GPU counted, launch by launch.
//
// NCU.csv is what `ncu --csv` prints (other lines are passed over), VIRTUAL.json
// what `vgpu-run --counters` writes. Launches are paired by their order.
// Exit status: 0 when every metric that both have is equal, 1 otherwise.
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 32, MAX_LINE = 1 << 14 };

static void die(const char *what, const char *path)
{
    fprintf(stderr, "compare-counters: %s: %s\n", path, what);
    exit(2);
}

// Splits one CSV line of quoted fields in place; returns their number.
static int split_csv(char *line, char **fields)
{
    int n = 0;
    char *at = line;
    while (*at == '"' && n < MAX_FIELDS) {
        char *to = ++at;
        fields[n++] = to;
        while (*at && !(at[0] == '"' && at[1] != '"')) {
            at += at[0] == '"';
            *to++ = *at++;
        }
        if (*at)
            at++;
        *to = '\0';
        if (*at == ',')
            at++;
    }
    return n;
}

static int find_field(char **fields, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(fields[i], name) == 0)
            return i;
    return -1;
}

// ncu groups thousands: "1,185".
static double grouped_number(const char *text)
{
    char digits[64];
    size_t n = 0;
    for (; *text && n + 1 < sizeof digits; text++)
        if (*text != ',')
            digits[n++] = *text;
    digits[n] = '\0';
    return strtod(digits, NULL);
}

struct tally {
    unsigned compared, equal;
};

// One row of ncu's table beside the launch it belongs to.
static void compare_row(json_t *launches, const char *id, const char *kernel,
                        const char *metric, double measured,
                        struct tally *tally)
{
    json_t *launch = json_array_get(launches, strtoul(id, NULL, 10));
    json_t *value =
        json_object_get(json_object_get(launch, "metrics"), metric);
    if (!json_is_number(value))
        return;
    double counted = json_number_value(value);
    bool equal = counted == measured;
    tally->compared++;
    tally->equal += equal;
    printf("| %s | `%s` | %.0f | %.0f | %s |\n", kernel, metric, measured,
           counted, equal ? "equal" : "**differs**");
}

static struct tally compare_file(FILE *ncu, json_t *launches)
{
    static char line[MAX_LINE];
    char *fields[MAX_FIELDS];
    int id = -1, kernel = -1, metric = -1, value = -1;
    struct tally tally = {0, 0};
    while (fgets(line, sizeof line, ncu)) {
        int n = split_csv(line, fields);
        if (find_field(fields, n, "Metric Name") >= 0) {
            id = find_field(fields, n, "ID");
            kernel = find_field(fields, n, "Kernel Name");
            metric = find_field(fields, n, "Metric Name");
            value = find_field(fields, n, "Metric Value");
        } else if (value >= 0 && n > value && id >= 0 && kernel >= 0) {
            compare_row(launches, fields[id], fields[kernel], fields[metric],
                        grouped_number(fields[value]), &tally);
        }
    }
    return tally;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: compare-counters NCU.csv VIRTUAL.json\n");
        return 2;
    }
    FILE *ncu = fopen(argv[1], "r");
    if (!ncu)
        die(strerror(errno), argv[1]);
    json_error_t error;
    json_t *root = json_load_file(argv[2], 0, &error);
    json_t *launches = json_object_get(root, "launches");
    if (!json_is_array(launches))
        die(root ? "no array \"launches\"" : error.text, argv[2]);

    printf("| kernel | metric | hardware | virtual | |\n|---|---|---|---|---|\n");
    struct tally tally = compare_file(ncu, launches);
    printf("\n%u of %u equal\n", tally.equal, tally.compared);
    json_decref(root);
    fclose(ncu);
    if (tally.compared == 0)
        die("no metric in common", argv[1]);
    return tally.equal != tally.compared;
}
