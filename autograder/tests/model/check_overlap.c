#include "../test.h"
#include "vgpu/model/overlap.h"

#include <stdio.h>
#include <string.h>

#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n" \
             ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n" \
             ".reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .f32 %f<40>;\n" \
             ".reg .b64 %rd<20>;\n" \
             "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\n"
#define TAIL "ret;\n}\n"

// What one pass through a body costs.
struct body {
    const char *what, *text;
    unsigned rounds;   // loads that begin one
    unsigned cycles;
};

static const struct body BODIES[] = {
    {"nothing", "", 0, 1},
    {"two loads, then a sum",
     "ld.global.f32 %f1, [%rd1];\nld.global.f32 %f2, [%rd1+4];\n"
     "add.f32 %f3, %f1, %f2;\nst.global.f32 [%rd1+8], %f3;\n", 1, 7},
    {"a sum between loads of one block",
     "ld.global.f32 %f1, [%rd1];\nadd.f32 %f3, %f1, %f1;\n"
     "ld.global.f32 %f2, [%rd1+4];\nadd.f32 %f4, %f3, %f2;\n", 1, 9},
    {"a load by a loaded address",
     "ld.global.u64 %rd2, [%rd1];\nld.global.f32 %f2, [%rd2];\n", 2, 3},
    {"three links of a chain",
     "ld.global.u64 %rd2, [%rd1];\nadd.s64 %rd3, %rd2, 8;\n"
     "ld.global.u64 %rd4, [%rd3];\nld.global.u64 %rd5, [%rd4];\n", 3, 6},
    {"a load behind a store of what was loaded",
     "ld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd1+8], %f1;\n"
     "ld.global.f32 %f2, [%rd1+4];\nst.global.f32 [%rd1+12], %f2;\n", 2, 5},
    {"the same, but the load is of constant memory",
     "ld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd1+8], %f1;\n"
     "ld.global.nc.f32 %f2, [%rd1+4];\nst.global.f32 [%rd1+12], %f2;\n", 1, 5},
    {"loads under guards of their own",
     "setp.gt.u32 %p1, %r1, 1;\n@%p1 bra $A;\nld.global.f32 %f1, [%rd1];\n"
     "$A:\nsetp.gt.u32 %p2, %r1, 2;\n@%p2 bra $B;\n"
     "ld.global.f32 %f2, [%rd1+4];\n$B:\nadd.f32 %f3, %f1, %f2;\n"
     "st.global.f32 [%rd1], %f3;\n", 1, 11},
    {"a load in a branch that a loaded value decides",
     "ld.global.u32 %r2, [%rd1];\nsetp.gt.u32 %p1, %r2, 1;\n@%p1 bra $A;\n"
     "ld.global.f32 %f1, [%rd1+4];\n$A:\n", 2, 6},
    {"a load after a block that used another",
     "ld.global.f32 %f1, [%rd1];\nadd.f32 %f3, %f1, %f1;\n"
     "setp.gt.u32 %p1, %r1, 1;\n@%p1 bra $A;\nld.global.f32 %f2, [%rd1+4];\n"
     "$A:\n", 2, 7},
    {"vectors",
     "ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];\n"
     "ld.global.v2.f32 {%f5,%f6}, [%rd1+16];\nadd.f32 %f7, %f4, %f6;\n", 1, 6},
    {"arithmetic in a chain",
     "mul.f32 %f1, %f2, %f3;\nadd.f32 %f1, %f1, %f1;\nadd.f32 %f1, %f1, %f1;\n",
     0, 12},
    {"arithmetic side by side",
     "mul.f32 %f1, %f2, %f3;\nmul.f32 %f4, %f2, %f3;\nmul.f32 %f5, %f2, %f3;\n",
     0, 6},
    {"shared memory is no round",
     "ld.shared.f32 %f1, [%r1];\nadd.f32 %f2, %f1, %f1;\n", 0, 27},
    {"an atomic with a result",
     "atom.global.add.u32 %r2, [%rd1], 1;\nadd.u32 %r3, %r2, 1;\n", 1, 5},
};

static struct module *load(const char *text)
{
    char message[MODULE_MESSAGE];
    const void *images[] = {text};
    size_t nbytes = strlen(text);
    struct module *m;
    ck_assert_msg(module_load(images, &nbytes, 1, 90, false, &m, message) ==
                      MODULE_OK, "%s", message);
    return m;
}

START_TEST(test_one_pass)
{
    const struct body *b = &BODIES[_i];
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s", HEAD, b->text, TAIL);
    struct module *m = load(text);
    const struct ptx_func *f = module_find_func(m, "k");
    struct overlap *o = overlap_new(f);
    unsigned rounds = 0, cycles = 0;
    for (uint32_t i = 0; i < f->ninsts; i++) {
        rounds += overlap_starts_round(o, i);
        cycles += overlap_cycles(o, i);
    }
    ck_assert_msg(rounds == b->rounds, "%s: %u rounds", b->what, rounds);
    ck_assert_msg(cycles == b->cycles, "%s: %u cycles", b->what, cycles);
    overlap_free(o);
    module_free(m);
}
END_TEST

static const char LOOP[] = HEAD
    "mov.u32 %r2, 0;\n$L:\nld.global.f32 %f1, [%rd1];\n"
    "add.f32 %f2, %f2, %f1;\nadd.s64 %rd1, %rd1, 4;\nadd.s32 %r2, %r2, 1;\n"
    "setp.lt.u32 %p1, %r2, %r1;\n@%p1 bra $L;\nld.global.f32 %f3, [%rd1];\n"
    "st.global.f32 [%rd1], %f3;\n" TAIL;

START_TEST(test_a_loop_has_a_round_an_iteration)
{
    struct module *m = load(LOOP);
    const struct ptx_func *f = module_find_func(m, "k");
    struct overlap *o = overlap_new(f);
    uint64_t count[64] = {0};
    ck_assert_uint_lt(m->ninsts, 64);
    enum { WARPS = 8, ITERATIONS = 10 };
    bool in_loop = false;
    for (uint32_t i = 0; i < f->ninsts; i++) {
        if (strncmp(f->insts[i].opcode, "ld.global", 9) == 0)
            in_loop = !in_loop; // from the first load to the last
        count[f->insts[i].id] = WARPS * (in_loop ? ITERATIONS : 1);
    }
    struct launch_work w = {.blocks = 4, .threads_per_block = 64,
                            .global_load_bytes = WARPS * (ITERATIONS + 1) * 128};
    overlap_apply(o, f, count, &w);
    overlap_finish(&w);
    ck_assert_double_eq_tol(w.critical_path_loads, ITERATIONS + 1, 1e-9);
    ck_assert_double_eq_tol(w.bytes_in_flight_per_warp, 128, 1e-9);
    ck_assert_double_gt(w.serial_cycles, ITERATIONS * 8);
    ck_assert_double_lt(w.serial_cycles, ITERATIONS * 20);
    overlap_free(o);
    module_free(m);
}
END_TEST

START_TEST(test_damaged_functions_are_safe)
{
    struct operand pool = {.kind = OPERAND_REG, .reg = 5};
    struct ptx_inst insts[] = {
        {.opcode = "ld.global.v4.f32", .guard = PTX_NO_GUARD, .noperands = 2,
         .operands = {{.kind = OPERAND_VECTOR, .index = 7, .count = 1000},
                      {.kind = OPERAND_MEMORY, .mem_base = OPERAND_REG,
                       .reg = UINT32_MAX}}},
        {.opcode = "bra", .guard = 77, .noperands = 1,
         .operands = {{.kind = OPERAND_LABEL, .index = UINT32_MAX}}},
        {.opcode = "bra", .guard = PTX_NO_GUARD, .noperands = 0},
        {.opcode = "", .guard = PTX_NO_GUARD, .noperands = 255},
    };
    struct ptx_func f = {.insts = insts, .ninsts = 4, .nregs = 1,
                         .operand_pool = &pool, .npool = 1};
    struct overlap *o = overlap_new(&f);
    ck_assert(overlap_starts_round(o, 0));
    ck_assert(!overlap_starts_round(o, 4));
    ck_assert_uint_eq(overlap_cycles(o, 4), 0);
    overlap_free(o);
    struct launch_work none = {0};
    overlap_finish(&none);
    ck_assert_double_eq(none.critical_path_loads, 0);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("overlap");
    TCase *t = tcase_create("overlap");
    tcase_add_loop_test(t, test_one_pass, 0, sizeof BODIES / sizeof *BODIES);
    tcase_add_test(t, test_a_loop_has_a_round_an_iteration);
    tcase_add_test(t, test_damaged_functions_are_safe);
    suite_add_tcase(s, t);
    return s;
}

TEST_MAIN(suite)
