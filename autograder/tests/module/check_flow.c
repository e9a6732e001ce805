// Where the paths of branches meet. Bodies are written one instruction a
// word; `nop` stands for any.
#include "ptx.h"

#define KERNEL(body)                                                           \
    ".entry k() { .reg .pred p<3>; .reg .b32 r<3>; " body " }"
#define NOP "mov.u32 r1, 0; "

enum { NO_BRANCH = 0, AT_END = -1 };

// meet[i]: where the paths of branch i, in the order written, meet.
static const struct {
    const char *name, *text;
    int meet[6];
} graphs[] = {
    {"if", KERNEL("@p1 bra E; " NOP "E: ret;"), {2}},
    {"if and else",
     KERNEL("@p1 bra F; " NOP "bra E; F: " NOP "E: " NOP "ret;"),
     {4, 4}},
    {"loop", KERNEL("L: " NOP "@p1 bra L; ret;"), {2}},
    {"loop with break",
     KERNEL("L: @p1 bra E; " NOP "@p2 bra L; E: ret;"),
     {3, 3}},
    {"early return", KERNEL("@p1 bra E; " NOP NOP "E: ret;"), {3}},
    {"return in one arm", KERNEL("@p1 bra E; ret; E: " NOP "ret;"), {AT_END}},
    {"guarded return in one arm",
     KERNEL("@p1 bra E; @p2 ret; E: " NOP "ret;"), {AT_END}},
    {"nested if",
     KERNEL("@p1 bra E; @p2 bra F; " NOP "F: " NOP "E: ret;"),
     {4, 3}},
    {"switch",
     KERNEL("T: .branchtargets A, B, C; @p1 bra D; brx.idx r1, T;"
            "A: " NOP "bra E; B: " NOP "bra E; C: " NOP "D: " NOP
            "E: ret;"),
     {8, 8, 8, 8}},
    {"endless loop in one arm", KERNEL("@p1 bra E; L: bra L; E: ret;"),
     {2, AT_END}},
    {"two entries into a loop",
     KERNEL("@p1 bra B; A: " NOP "B: " NOP "@p2 bra A; ret;"),
     {2, 4}},
    {"trap in one arm", KERNEL("@p1 bra E; trap; E: ret;"), {AT_END}},
    {"to the end", KERNEL("@p1 bra E; " NOP "E:"), {2}},
    {"unconditional", KERNEL("bra E; E: ret;"), {1}},
};

START_TEST(test_paths_meet)
{
    struct module *m = load(graphs[_i].text);
    const struct ptx_func *k = module_find_func(m, "k");
    unsigned branch = 0;
    for (uint32_t i = 0; i < k->ninsts; i++) {
        const struct ptx_inst *inst = &k->insts[i];
        if (strncmp(inst->opcode, "br", 2))
            continue;
        int want = graphs[_i].meet[branch++];
        ck_assert_int_ne(want, NO_BRANCH);
        uint32_t meet = want == AT_END ? k->ninsts : (uint32_t)want;
        ck_assert_msg(inst->reconverge == meet, "%s: branch %u meets at %u",
                      graphs[_i].name, branch, inst->reconverge);
    }
    ck_assert_int_eq(graphs[_i].meet[branch], NO_BRANCH);
    module_free(m);
}
END_TEST

// ---- against the definition ---------------------------------------------------

enum { NODES = 12 };

// Whether the function ends when started at `from` and never passing `avoid`.
static bool ends_without(const int next[NODES][2], int from, int avoid)
{
    bool seen[NODES] = {false};
    int todo[NODES], n = 0;
    if (from == avoid)
        return false;
    todo[n++] = from;
    seen[from] = true;
    while (n) {
        int at = todo[--n];
        for (int i = 0; i < 2; i++) {
            int to = next[at][i];
            if (to == NODES)
                return true;
            if (to != avoid && !seen[to]) {
                seen[to] = true;
                todo[n++] = to;
            }
        }
    }
    return false;
}

// Nodes that every way from `node` to the end passes; the nearest is the one
// that all the others lie behind.
static int nearest_post_dominator(const int next[NODES][2], int node)
{
    int best = NODES;
    if (!ends_without(next, node, -1))
        return NODES;
    for (int other = 0; other < NODES; other++) {
        if (other == node || ends_without(next, node, other))
            continue;
        if (best == NODES || !ends_without(next, other, best))
            best = other;
    }
    return best;
}

// Node n of a random graph is instruction n: a switch over two targets.
START_TEST(test_random_graphs_as_by_definition)
{
    unsigned seed = 17 + (unsigned)_i;
    int next[NODES][2];
    char text[4096], *at = text;
    at += sprintf(at, ".entry k() { .reg .b32 r; ");
    for (int i = 0; i < NODES; i++) {
        for (int j = 0; j < 2; j++)
            next[i][j] = rand_r(&seed) % (NODES + 1);
        at += sprintf(at, "T%d: .branchtargets L%d, L%d; L%d: brx.idx r, T%d; ",
                      i, next[i][0], next[i][1], i, i);
    }
    sprintf(at, "L%d: ret; }", NODES);
    struct module *m = load(text);
    const struct ptx_func *k = module_find_func(m, "k");
    for (int i = 0; i < NODES; i++) {
        // NODES is the `ret`, which every way that ends passes.
        uint32_t want = (uint32_t)nearest_post_dominator(next, i);
        if (!ends_without(next, i, -1))
            want = k->ninsts;
        ck_assert_uint_eq(k->insts[i].reconverge, want);
    }
    module_free(m);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("module/flow");
    TCase *t = tcase_create("post-dominators");
    tcase_add_loop_test(t, test_paths_meet, 0,
                        sizeof graphs / sizeof *graphs);
    tcase_add_loop_test(t, test_random_graphs_as_by_definition, 0, 200);
    suite_add_tcase(s, t);
    return s;
}

TEST_MAIN(suite)
