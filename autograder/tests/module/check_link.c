// Several sources of one program, and where shared variables stand.
#include <time.h>

#include "ptx.h"

static enum module_status load_two(const char *a, const char *b,
                                   struct module **m, char *message)
{
    char *texts[2];
    ck_assert_int_ge(asprintf(&texts[0], "%s%s", PTX_HEADER, a), 0);
    ck_assert_int_ge(asprintf(&texts[1], "%s%s", PTX_HEADER, b), 0);
    const void *images[] = {texts[0], texts[1]};
    size_t nbytes[] = {strlen(texts[0]), strlen(texts[1])};
    enum module_status status =
        module_load(images, nbytes, 2, 90, true, m, message);
    free(texts[0]);
    free(texts[1]);
    return status;
}

static void *read_file(const char *path, size_t *nbytes)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s is not there", path);
    fseek(file, 0, SEEK_END);
    *nbytes = (size_t)ftell(file);
    rewind(file);
    void *bytes = malloc(*nbytes);
    ck_assert_uint_eq(fread(bytes, 1, *nbytes, file), *nbytes);
    fclose(file);
    return bytes;
}

START_TEST(test_links_two_sources_of_nvcc)
{
    size_t nbytes[2];
    const void *images[] = {
        read_file("build/tests/module/one.fatbin", &nbytes[0]),
        read_file("build/tests/module/two.fatbin", &nbytes[1])};
    char message[MODULE_MESSAGE];
    struct module *m;
    ck_assert_msg(module_load(images, nbytes, 2, 90, true, &m, message) ==
                      MODULE_OK,
                  "%s", message);
    const struct ptx_func *k = module_find_func(m, "_Z6kernelPii");
    const struct ptx_func *twice = module_find_func(m, "_Z5twicei");
    ck_assert(!twice->is_extern);
    ck_assert_uint_eq(k->shared_bytes, 4 * (128 + 8));
    ck_assert(!module_find_var(m, "other_counter")->is_extern);
    bool calls = false;
    for (uint32_t i = 0; i < k->ninsts; i++)
        for (unsigned j = 0; j < k->insts[i].noperands; j++) {
            const struct operand *o = &k->insts[i].operands[j];
            if (o->kind == OPERAND_FUNC)
                calls |= &m->funcs[o->index] == twice;
        }
    ck_assert(calls);
    module_free(m);
    free((void *)images[0]);
    free((void *)images[1]);
}
END_TEST

START_TEST(test_plain_names_stay_apart)
{
    char message[MODULE_MESSAGE];
    struct module *m;
    ck_assert_int_eq(
        load_two(".global .u32 x = 1; .func f() { ret; }\n"
                 ".entry a() { .reg .b64 r; mov.b64 r, x; call f; ret; }",
                 ".global .u32 x = 2; .func f() { ret; ret; }\n"
                 ".entry b() { .reg .b64 r; mov.b64 r, x; call f; ret; }",
                 &m, message),
        MODULE_OK);
    const struct ptx_inst *a = inst_of(m, "a", 0), *b = inst_of(m, "b", 0);
    ck_assert_mem_eq(m->vars[a->operands[1].index].init, "\1", 1);
    ck_assert_mem_eq(m->vars[b->operands[1].index].init, "\2", 1);
    ck_assert_uint_eq(m->funcs[a[1].operands[0].index].ninsts, 1);
    ck_assert_uint_eq(m->funcs[b[1].operands[0].index].ninsts, 2);
    module_free(m);
}
END_TEST

// What two sources say of x or f, and whether the program links.
static const struct {
    const char *a, *b;
    enum module_status status;
    unsigned first_byte; // of x
} pairs[] = {
    {".extern .global .u32 x;", ".visible .global .u32 x = 3;", MODULE_OK, 3},
    {".visible .global .u32 x = 4;", ".extern .global .u32 x;", MODULE_OK, 4},
    {".weak .global .u32 x = 5;", ".visible .global .u32 x = 6;", MODULE_OK,
     6},
    {".visible .global .u32 x = 7;", ".weak .global .u32 x = 8;", MODULE_OK,
     7},
    {".weak .global .u32 x = 1;", ".weak .global .u32 x = 2;", MODULE_OK, 1},
    {".visible .global .u32 x = 1;", ".visible .global .u32 x = 2;",
     MODULE_BAD_PTX, 0},
    {".extern .global .u32 x;", ".visible .const .u32 x = 2;", MODULE_BAD_PTX,
     0},
    {".visible .func x() { ret; }", ".extern .global .u32 x;", MODULE_BAD_PTX,
     0},
    {".visible .func f() { ret; }", ".visible .func f() { ret; }",
     MODULE_BAD_PTX, 0},
    {".weak .func f() { ret; } .weak .global .u32 x = 9;",
     ".weak .func f() { ret; }", MODULE_OK, 9},
};

START_TEST(test_linkage)
{
    char message[MODULE_MESSAGE];
    struct module *m;
    enum module_status status =
        load_two(pairs[_i].a, pairs[_i].b, &m, message);
    ck_assert_msg(status == pairs[_i].status, "%d %s", status, message);
    if (status != MODULE_OK) {
        ck_assert_ptr_nonnull(strstr(message, "source 2, PTX line 4: "));
        return;
    }
    const struct ptx_var *x = module_find_var(m, "x");
    ck_assert(!x->is_extern);
    ck_assert_uint_eq(*(const unsigned char *)x->init, pairs[_i].first_byte);
    module_free(m);
}
END_TEST

START_TEST(test_alias_is_its_target)
{
    struct module *m = load(".visible .func real() { ret; }\n"
                            ".visible .func other();\n"
                            ".alias other, real;\n"
                            ".entry k() { call other; ret; }");
    const struct ptx_func *real = module_find_func(m, "real");
    ck_assert_ptr_eq(&m->funcs[inst_of(m, "k", 0)->operands[0].index], real);
    ck_assert_ptr_eq(module_find_func(m, "other")->insts, real->insts);
    module_free(m);
}
END_TEST

START_TEST(test_alias_of_itself_is_an_error)
{
    char message[MODULE_MESSAGE];
    struct module *m;
    ck_assert_int_eq(try_load(PTX_HEADER ".visible .func a();\n"
                                         ".visible .func b();\n"
                                         ".alias a, b; .alias b, a;",
                              &m, message),
                     MODULE_BAD_PTX);
}
END_TEST

START_TEST(test_entries_do_not_pay_for_each_other)
{
    struct module *m = load(
        ".shared .align 8 .b8 both[8];\n"
        ".extern .shared .align 32 .b8 dynamic[];\n"
        ".func f() { .shared .b8 inner[4]; .reg .b32 r;\n"
        "mov.u32 r, inner; ret; }\n"
        ".entry a() { .shared .b8 x[100]; .reg .b32 r;\n"
        "mov.u32 r, x; mov.u32 r, both; mov.u32 r, dynamic; ret; }\n"
        ".entry b() { .shared .align 4 .b8 y[20]; .reg .b32 r;\n"
        "ld.shared.b32 r, [y+4]; mov.u32 r, both; call f; ret; }\n"
        ".entry c() { ret; }");
    ck_assert_uint_eq(module_find_func(m, "a")->shared_bytes, 108);
    ck_assert_uint_eq(module_find_func(m, "b")->shared_bytes, 32);
    ck_assert_uint_eq(module_find_func(m, "c")->shared_bytes, 0);
    ck_assert_uint_eq(module_find_var(m, "both")->offset, 0);
    ck_assert_uint_eq(module_find_var(m, "x")->offset, 8);
    ck_assert_uint_eq(m->extern_shared_align, 32);
    module_free(m);
}
END_TEST

START_TEST(test_call_by_pointer_reaches_shared_memory)
{
    struct module *m = load(
        ".func f() { .shared .b8 inner[4]; .reg .b32 r;\n"
        "mov.u32 r, inner; ret; }\n"
        ".global .u64 table[1] = {f};\n"
        ".entry k() { .reg .b64 d; p: .callprototype _ ();\n"
        "call d, p; ret; }");
    ck_assert_uint_eq(module_find_func(m, "k")->shared_bytes, 4);
    module_free(m);
}
END_TEST

// ---- speed: a budget that a quadratic loader would miss by far ---------------

static double load_ms(const char *text)
{
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    module_free(load(text));
    clock_gettime(CLOCK_MONOTONIC, &to);
    return (double)(to.tv_sec - from.tv_sec) * 1e3 +
           (double)(to.tv_nsec - from.tv_nsec) / 1e6;
}

START_TEST(test_a_megabyte_takes_milliseconds)
{
    size_t capacity = 1 << 20, n = 0;
    char *text = malloc(capacity + 256);
    n += (size_t)sprintf(text, ".entry k() { .reg .pred p; "
                               ".reg .f32 %%f<40000>;\n");
    for (unsigned i = 0; n < capacity; i++)
        n += (size_t)sprintf(text + n,
                             "L%u: fma.rn.f32 %%f%u, %%f%u, %%f%u, "
                             "0f3F800000;\n@p bra L%u;\n",
                             i, i + 2, i + 1, i, i > 100 ? i - 100 : 0);
    sprintf(text + n, "ret; }");
    double best = 1e9;
    for (unsigned i = 0; i < 3; i++) {
        double ms = load_ms(text);
        best = ms < best ? ms : best;
    }
    // 30 ms on an idle core; room for a busy one and for sanitizers.
    ck_assert_double_lt(best, 500);
    printf("1 MB of PTX: %.1f ms\n", best);
    free(text);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("module/link");
    TCase *t = tcase_create("link");
    tcase_add_test(t, test_links_two_sources_of_nvcc);
    tcase_add_test(t, test_plain_names_stay_apart);
    tcase_add_loop_test(t, test_linkage, 0, sizeof pairs / sizeof *pairs);
    tcase_add_test(t, test_alias_is_its_target);
    tcase_add_test(t, test_alias_of_itself_is_an_error);
    tcase_add_test(t, test_entries_do_not_pay_for_each_other);
    tcase_add_test(t, test_call_by_pointer_reaches_shared_memory);
    tcase_add_test(t, test_a_megabyte_takes_milliseconds);
    suite_add_tcase(s, t);
    return s;
}

TEST_MAIN(suite)
