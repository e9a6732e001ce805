// Runs every golden of this folder, in both builds of the handlers, and asks
// for one for each row of the opcode table.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../exec/support/kernel.h"
#include "golden.h"
#include "tests/test.h"
#include "vgpu/exec/control.h"

#define FOLDER "autograder/tests/ptx"
enum { MAX_GOLDENS = 200 };
static char *goldens[MAX_GOLDENS];
static int ngoldens;

static void find_goldens(void)
{
    struct dirent **entries;
    int n = scandir(FOLDER, &entries, NULL, alphasort);
    for (int k = 0; k < n; k++) {
        size_t length = strlen(entries[k]->d_name);
        if (length > 4 && ngoldens < MAX_GOLDENS &&
            strcmp(entries[k]->d_name + length - 4, ".ptx") == 0) {
            char path[512];
            snprintf(path, sizeof path, FOLDER "/%s", entries[k]->d_name);
            goldens[ngoldens++] = strdup(path);
        }
        free(entries[k]);
    }
    if (n >= 0)
        free(entries);
}

static void run_golden(const char *path, bool use_avx2)
{
    struct golden g;
    ck_assert_msg(golden_read(path, &g), "%s is no golden", path);
    code_use_avx2 = use_avx2;
    struct kernel *k = kernel_load(g.ptx, "test");
    for (unsigned n = 0; n < g.nin; n++)
        for (unsigned t = 0; t < g.threads; t++)
            kernel_in(k)[n * g.threads + t] = golden_word(&g.in[n], t);
    enum launch_status status = kernel_run(k, 1, g.threads);
    ck_assert_msg(status == LAUNCH_OK, "%s: %s (PTX line of %s)", path,
                  k->report.fault.message, k->report.fault.kernel);
    for (unsigned n = 0; n < g.nexpect; n++) {
        for (unsigned t = 0; t < g.threads; t++) {
            uint32_t got = kernel_out(k)[n * g.threads + t];
            uint32_t want = golden_word(&g.expect[n], t);
            ck_assert_msg(got == want, "%s: %s, thread %u: %#x, not %#x", path,
                          g.expect[n].label, t, got, want);
        }
    }
    kernel_free(k);
    golden_free(&g);
}

START_TEST(test_golden_computes_what_it_says)
{
    run_golden(goldens[_i], true);
}
END_TEST

START_TEST(test_golden_without_avx2)
{
    run_golden(goldens[_i], false);
}
END_TEST

START_TEST(test_every_opcode_row_has_a_golden)
{
    unsigned nrows, missing = 0;
    const struct opcode_row *rows = opcode_rows(&nrows);
    bool *seen = calloc(nrows, 1);
    for (int n = 0; n < ngoldens; n++) {
        struct golden g;
        ck_assert(golden_read(goldens[n], &g));
        struct kernel *k = kernel_load(g.ptx, "test");
        for (uint32_t f = 0; f < k->module->nfuncs; f++) {
            const struct function *fn = &k->code->functions[f];
            for (uint32_t i = 0; i < fn->ninsts; i++)
                if (fn->insts[i].id < k->module->ninsts)
                    seen[fn->insts[i].op] = true;
        }
        kernel_free(k);
        golden_free(&g);
    }
    for (unsigned r = 0; r < nrows; r++) {
        if (!seen[r])
            fprintf(stderr, "no golden has %s\n", rows[r].name);
        missing += !seen[r];
    }
    free(seen);
    ck_assert_uint_eq(missing, 0);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("ptx/goldens");
    TCase *c = tcase_create("goldens");
    find_goldens();
    tcase_add_loop_test(c, test_golden_computes_what_it_says, 0, ngoldens);
    tcase_add_loop_test(c, test_golden_without_avx2, 0, ngoldens);
    tcase_add_test(c, test_every_opcode_row_has_a_golden);
    suite_add_tcase(s, c);
    return s;
}

TEST_MAIN(suite)
