// Hand-written PTX: what each form of syntax becomes.
#include "ptx.h"

START_TEST(test_function_has_params_registers_and_instructions)
{
    struct module *m = load(".visible .entry k(.param .u64 a, .param .u32 n)\n"
                            "{ .reg .b32 %r<70>; .reg .b64 %rd<3>;\n"
                            "ld.param.u32 %r69, [n];\n"
                            "ld.param.u64 %rd1, [a];\n"
                            "add.s32 %r1, %r69, -5; ret; }");
    const struct ptx_func *k = module_find_func(m, "k");
    ck_assert(k->is_entry);
    ck_assert_uint_eq(k->nparams, 2);
    ck_assert_uint_eq(k->params[1].offset, 8);
    ck_assert_uint_eq(k->param_bytes, 12);
    ck_assert_uint_eq(k->ninsts, 4);
    // Only registers that are used get an index.
    ck_assert_uint_eq(k->nregs, 3);
    ck_assert_str_eq(k->regs[0].name, "%r69");
    ck_assert_int_eq(k->regs[1].type, PTX_B64);
    ck_assert_str_eq(k->insts[2].opcode, "add.s32");
    ck_assert_int_eq(k->insts[2].operands[2].bits, -5);
    ck_assert_int_eq(k->insts[0].operands[1].mem_base, OPERAND_PARAM);
    ck_assert_uint_eq(k->insts[0].operands[1].index, 1);
    module_free(m);
}
END_TEST

static const struct {
    const char *text;
    enum operand_kind kind;
    int64_t bits;
} literals[] = {
    {"0", OPERAND_INT, 0},
    {"-1", OPERAND_INT, -1},
    {"0xFFU", OPERAND_INT, 255},
    {"0b101", OPERAND_INT, 5},
    {"017", OPERAND_INT, 15},
    {"~7", OPERAND_INT, -8},
    {"18446744073709551615", OPERAND_INT, -1},
    {"-9223372036854775808", OPERAND_INT, INT64_MIN},
    {"0f3F800000", OPERAND_F32, 0x3f800000},
    {"-0f3F800000", OPERAND_F32, 0xbf800000},
    {"0d3FF0000000000000", OPERAND_F64, 0x3ff0000000000000},
    {"1.5", OPERAND_F64, 0x3ff8000000000000},
    {"-2e0", OPERAND_F64, INT64_MIN | 0x4000000000000000},
};

START_TEST(test_reads_literal)
{
    char text[256];
    snprintf(text, sizeof text,
             ".entry k() { .reg .b64 a; mov.b64 a, %s; ret; }",
             literals[_i].text);
    struct module *m = load(text);
    const struct operand *o = &inst_of(m, "k", 0)->operands[1];
    ck_assert_int_eq(o->kind, literals[_i].kind);
    ck_assert_int_eq(o->bits, literals[_i].bits);
    module_free(m);
}
END_TEST

START_TEST(test_operand_forms)
{
    struct module *m = load(
        ".global .align 4 .b8 table[16];\n"
        ".entry k() { .reg .pred p<4>; .reg .b32 r<9>; .reg .b64 d<2>;\n"
        "@!p1 setp.lt.s32 p2|p3, r1, r2;\n"
        "ld.global.v4.b32 {r1, r2, _, r4}, [table+12];\n"
        "and.pred p1, p2, !p3;\n"
        "mov.u32 r1, %tid.x;\n"
        "ld.b32 r2, [d1+-8];\n"
        "mov.b64 d0, table+4;\n"
        "tex.2d.v4.f32.f32 {r1, r2, r3, r4}, [table, {r5, r6}];\n"
        "ret; }");
    const struct ptx_func *k = module_find_func(m, "k");
    const struct ptx_inst *i = k->insts;
    ck_assert_str_eq(k->regs[i->guard].name, "p1");
    ck_assert(i->guard_negated);
    ck_assert(i->operands[0].has_second);
    ck_assert_str_eq(k->regs[i->operands[0].reg2].name, "p3");

    const struct operand *vector = &i[1].operands[0];
    ck_assert_int_eq(vector->kind, OPERAND_VECTOR);
    ck_assert_uint_eq(vector->count, 4);
    ck_assert_int_eq(k->operand_pool[vector->index + 2].kind, OPERAND_SINK);
    ck_assert_int_eq(i[1].operands[1].mem_base, OPERAND_SYMBOL);
    ck_assert_int_eq(i[1].operands[1].bits, 12);

    ck_assert(i[2].operands[2].negated);
    ck_assert_int_eq(i[3].operands[1].kind, OPERAND_SPECIAL);
    ck_assert_str_eq(i[3].operands[1].text, "%tid.x");
    ck_assert_int_eq(i[4].operands[1].bits, -8);
    ck_assert_int_eq(i[5].operands[1].kind, OPERAND_SYMBOL);
    ck_assert_int_eq(i[5].operands[1].bits, 4);

    const struct operand *texture = &i[6].operands[1];
    ck_assert_int_eq(texture->mem_base, OPERAND_SYMBOL);
    ck_assert_uint_eq(texture->count, 1);
    ck_assert_int_eq(k->operand_pool[texture->reg2].kind, OPERAND_VECTOR);
    module_free(m);
}
END_TEST

START_TEST(test_inner_scope_hides_registers_and_labels)
{
    struct module *m = load(".entry k() { .reg .b32 %r<5>; .reg .pred p;\n"
                            "mov.u32 %r3, 1;\n"
                            "{ .reg .b64 %r<5>; @p bra L; mov.u64 %r3, 2;\n"
                            "L: }\n"
                            "{ @p bra L; mov.u32 %r3, 3; L: }\n"
                            "mov.u32 %r3, 4; bra L; mov.u32 %r3, 5; L: ret; }");
    const struct ptx_func *k = module_find_func(m, "k");
    const struct ptx_inst *i = k->insts;
    ck_assert_uint_eq(i[0].operands[0].reg, i[4].operands[0].reg);
    ck_assert_uint_eq(i[0].operands[0].reg, i[5].operands[0].reg);
    ck_assert_int_eq(k->regs[i[2].operands[0].reg].type, PTX_B64);
    ck_assert_uint_eq(i[1].operands[0].index, 3);
    ck_assert_uint_eq(i[3].operands[0].index, 5);
    ck_assert_uint_eq(i[6].operands[0].index, 8);
    module_free(m);
}
END_TEST

START_TEST(test_call_sequence)
{
    struct module *m = load(
        ".func (.param .b32 out) f(.param .b32 in)\n"
        "{ .reg .b32 r; ld.param.b32 r, [in]; st.param.b32 [out+0], r; ret; }\n"
        ".entry k() { .reg .b32 r<3>; .reg .b64 d;\n"
        "{ .param .b32 a; .param .align 8 .b8 b[24]; .param .b32 res;\n"
        "st.param.b32 [a+0], r1;\n"
        "call.uni (res), f, (a);\n"
        "ld.param.b32 r2, [res+0]; }\n"
        "{ .param .b32 a; .param .b32 res;\n"
        "proto : .callprototype (.param .b32 _) _ (.param .b32 _);\n"
        "call (res), d, (a), proto; }\n"
        "ret; }");
    const struct ptx_func *f = module_find_func(m, "f");
    const struct ptx_func *k = module_find_func(m, "k");
    ck_assert_uint_eq(f->nresults, 1);
    ck_assert_uint_eq(f->nparams, 2);
    const struct ptx_inst *call = &k->insts[1];
    ck_assert_int_eq(call->operands[0].kind, OPERAND_LIST);
    const struct operand *res = &k->operand_pool[call->operands[0].index];
    ck_assert_int_eq(res->kind, OPERAND_PARAM);
    ck_assert_uint_eq(res->index, 2);
    ck_assert_ptr_eq(&m->funcs[call->operands[1].index], f);
    ck_assert_int_eq(k->insts[3].operands[3].kind, OPERAND_TABLE);
    // A call's parameters are given back when its block ends.
    ck_assert_uint_eq(k->call_params[1].offset, 8);
    ck_assert_uint_eq(k->call_params[2].offset, 32);
    ck_assert_uint_eq(k->call_params[3].offset, 0);
    ck_assert_uint_eq(k->call_param_bytes, 36);
    module_free(m);
}
END_TEST

START_TEST(test_unknown_directives_are_passed_over)
{
    struct module *m = load(".pragma \"whatever\";\n"
                            ".section .debug_str { $L: .b8 1,2 { } .b32 x }\n"
                            ".novelty 3, (4,\n5)\n"
                            ".other thing { .with [ a ] }\n"
                            ".entry k() .surprise 4\n.maxntid 128, 2\n"
                            ".minnctapersm 3\n"
                            "{ .pragma \"nounroll\"; .strange 1\n ret; }");
    const struct ptx_func *k = module_find_func(m, "k");
    ck_assert_uint_eq(k->maxntid[0], 128);
    ck_assert_uint_eq(k->maxntid[1], 2);
    ck_assert_uint_eq(k->maxntid[2], 1);
    ck_assert_uint_eq(k->minnctapersm, 3);
    ck_assert_uint_eq(k->ninsts, 1);
    module_free(m);
}
END_TEST

START_TEST(test_initial_values)
{
    struct module *m = load(
        ".func f() { ret; }\n"
        ".const .align 4 .b8 bytes[6] = {0, 255, -1};\n"
        ".global .f32 one = 0f3F800000;\n"
        ".global .f32 half = 0.5;\n"
        ".global .u16 grid[2][2] = {{1, 2}, {3, 4}};\n"
        ".global .b8 text[] = {104, 105, 0};\n"
        ".global .align 8 .u64 p[3] = {generic(text), grid+4, f};\n"
        ".global .align 8 .b8 packed[8] = {0xFF(p), 0xFF00(p)};\n"
        ".global .attribute(.managed) .u32 man;\n");
    const struct ptx_var *v = module_find_var(m, "bytes");
    ck_assert_int_eq(v->space, SPACE_CONST);
    ck_assert_mem_eq(v->init, "\0\xff\xff\0\0\0", 6);
    ck_assert_mem_eq(module_find_var(m, "one")->init, "\0\0\x80\x3f", 4);
    ck_assert_mem_eq(module_find_var(m, "half")->init, "\0\0\0\x3f", 4);
    ck_assert_mem_eq(module_find_var(m, "grid")->init, "\1\0\2\0\3\0\4\0", 8);
    ck_assert_uint_eq(module_find_var(m, "text")->nbytes, 3);

    v = module_find_var(m, "p");
    ck_assert_uint_eq(v->nfixups, 3);
    ck_assert(v->fixups[0].generic && !v->fixups[0].is_func);
    ck_assert_str_eq(m->vars[v->fixups[0].index].name, "text");
    ck_assert_int_eq(v->fixups[1].addend, 4);
    ck_assert(v->fixups[2].is_func);
    v = module_find_var(m, "packed");
    ck_assert_uint_eq(v->fixups[1].shift, 8);
    ck_assert_uint_eq(v->fixups[1].nbytes, 1);
    ck_assert_uint_eq(v->fixups[1].offset, 1);
    ck_assert(module_find_var(m, "man")->is_managed);
    module_free(m);
}
END_TEST

START_TEST(test_positions_with_inlining)
{
    struct module *m = load(".entry k() {\n"
                            ".loc 1 17 3\nret;\n"
                            ".loc 2 5 1, function_name $L, inlined_at 1 17 3\n"
                            "ret;\n"
                            ".loc 1 0 3\nret; }\n"
                            ".file 1 \"a \\\"b\\\".cu\"\n"
                            ".file 2 \"b.h\", 123, 45\n");
    const struct ptx_loc *loc = &m->locs[inst_of(m, "k", 1)->loc];
    ck_assert_str_eq(m->files[loc->file], "b.h");
    ck_assert_uint_eq(loc->line, 5);
    const struct ptx_loc *caller = &m->locs[loc->inlined_at];
    ck_assert_str_eq(m->files[caller->file], "a \"b\".cu");
    ck_assert_uint_eq(caller->line, 17);
    ck_assert_uint_eq(caller->inlined_at, 0);
    // Line 0 stays with the line before.
    ck_assert_uint_eq(inst_of(m, "k", 2)->loc, inst_of(m, "k", 1)->loc);
    module_free(m);
}
END_TEST

START_TEST(test_bare_word_is_left_to_the_instruction)
{
    struct module *m = load(".entry k() { novelty.u32 row, [4]; ret; }");
    const struct operand *o = inst_of(m, "k", 0)->operands;
    ck_assert_int_eq(o[0].kind, OPERAND_NAME);
    ck_assert_str_eq(o[0].text, "row");
    ck_assert_int_eq(o[1].mem_base, OPERAND_INT);
    module_free(m);
}
END_TEST

static const struct {
    const char *text, *message;
} errors[] = {
    {".entry k() { .reg .b32 %r<2>;\n mov.u32 %r2, 1; }",
     "PTX line 5: register '%r2' is not declared\n"
     "     5 |  mov.u32 %r2, 1; }\n"
     "       |          ^"},
    {".entry k() { bra L; }", "label 'L' is not there"},
    {".entry k() { ret; ", "the function's body does not end"},
    {".entry k() { .reg .b32 r, r; }", "'r' is declared twice"},
    {".entry k() { @%p bra L; }", "'%p' is no predicate"},
    {".global .align 3 .b8 x;", "an alignment is a power of two"},
    {".global .b8 x[2] = {1,2,3};", "more values than the variable holds"},
    {".global .b8 x[99999999999999999999];", "does not fit 64 bits"},
    {".global .b64 x[1000000000000];", "too large"},
    {".func f() { ret; } .func f() { ret; }", "defined twice"},
    {".entry k() { mov.f32 x, 0f3F8; }", "8 hex digits"},
    {".global .u64 p = nowhere;", "'nowhere' is not declared"},
    {".pragma \"open", "the string does not end"},
    {"hello", "a directive was expected"},
    {".entry k() { ld.b32 x, [y]; }", "'y' is not declared"},
};

START_TEST(test_error_names_line_and_token)
{
    char text[512], message[MODULE_MESSAGE];
    struct module *m;
    snprintf(text, sizeof text, PTX_HEADER "%s", errors[_i].text);
    enum module_status status = try_load(text, &m, message);
    ck_assert_int_eq(status, MODULE_BAD_PTX);
    ck_assert_ptr_null(m);
    ck_assert_msg(strstr(message, errors[_i].message) != NULL, "%s", message);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("module/parse");
    TCase *t = tcase_create("syntax");
    tcase_add_test(t, test_function_has_params_registers_and_instructions);
    tcase_add_loop_test(t, test_reads_literal, 0,
                        sizeof literals / sizeof *literals);
    tcase_add_test(t, test_operand_forms);
    tcase_add_test(t, test_inner_scope_hides_registers_and_labels);
    tcase_add_test(t, test_call_sequence);
    tcase_add_test(t, test_unknown_directives_are_passed_over);
    tcase_add_test(t, test_initial_values);
    tcase_add_test(t, test_positions_with_inlining);
    tcase_add_test(t, test_bare_word_is_left_to_the_instruction);
    tcase_add_loop_test(t, test_error_names_line_and_token, 0,
                        sizeof errors / sizeof *errors);
    suite_add_tcase(s, t);
    return s;
}

TEST_MAIN(suite)
