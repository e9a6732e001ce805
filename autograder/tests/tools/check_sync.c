// Generated blocks of Markdown: found, made, left alone where they must be.
#include "../test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/tools.h"

static char folder[64];

static void put(const char *path, const char *text)
{
    ck_assert_int_ge(text_write(path, text), 0);
}

static void in_a_folder(void)
{
    strcpy(folder, "/tmp/check_sync.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    put("a.cu", "#include <x.h>\n"
                "\n"
                "#define TWICE(x) \\\n"
                "    ((x) + (x))\n"
                "// Adds \"one }\".\n"
                "// Twice.\n"
                "__global__ void add(int *p)\n"
                "{\n"
                "#pragma unroll\n"
                "    for (;;) { p[0] = '}'; /* } */ }\n"
                "}\n"
                "\n"
                "struct pair {\n"
                "    int a, b;\n"
                "};\n"
                "static int g = add(3);\n"
                "extern \"C\" {\n"
                "int last(void) { return add(1); }\n"
                "}\n");
    put("r.csv", "name,\"the, value\",n\r\n\"a|b\",\"say \"\"hi\"\"\",1\nc,,2\n");
}

static void away(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(chdir("/tmp"), 0);
    ck_assert_int_eq(system(command), 0);
}

// blocks_sync of text gives `expected`, and so does doing it once more.
static void expect_sync(const char *text, const char *expected)
{
    char message[TOOL_MESSAGE] = "";
    struct buf once = {0}, twice = {0};
    ck_assert_msg(blocks_sync("t.md", text, true, &once, message) == 0, "%s",
                  message);
    ck_assert_str_eq(once.data, expected);
    ck_assert_int_eq(blocks_sync("t.md", once.data, true, &twice, message), 0);
    ck_assert_str_eq(twice.data, expected);
    buf_free(&once);
    buf_free(&twice);
}

START_TEST(test_function_comes_with_its_comment)
{
    expect_sync("Before\n<!-- code a.cu add -->\nold\n<!-- end -->\nAfter",
                "Before\n<!-- code a.cu add -->\n"
                "```cpp\n"
                "// Adds \"one }\".\n"
                "// Twice.\n"
                "__global__ void add(int *p)\n"
                "{\n"
                "#pragma unroll\n"
                "    for (;;) { p[0] = '}'; /* } */ }\n"
                "}\n"
                "```\n"
                "<!-- end -->\nAfter");
}
END_TEST

START_TEST(test_struct_macro_and_linkage_are_found)
{
    expect_sync("<!-- code a.cu pair TWICE last -->\n<!-- end -->\n",
                "<!-- code a.cu pair TWICE last -->\n"
                "```cpp\n"
                "struct pair {\n    int a, b;\n};\n"
                "\n"
                "#define TWICE(x) \\\n    ((x) + (x))\n"
                "\n"
                "int last(void) { return add(1); }\n"
                "```\n"
                "<!-- end -->\n");
}
END_TEST

START_TEST(test_table_keeps_awkward_cells)
{
    expect_sync("<!-- table r.csv -->\n<!-- end -->\n",
                "<!-- table r.csv -->\n"
                "| name | the, value | n |\n"
                "|---|---|---|\n"
                "| a\\|b | say \"hi\" | 1 |\n"
                "| c |  | 2 |\n"
                "<!-- end -->\n");
    expect_sync("<!-- table r.csv n name -->\n<!-- end -->\n",
                "<!-- table r.csv n name -->\n"
                "| n | name |\n|---|---|\n| 1 | a\\|b |\n| 2 | c |\n"
                "<!-- end -->\n");
}
END_TEST

START_TEST(test_points_come_from_the_lab)
{
    ck_assert_int_eq(system("mkdir -p labs/07-x"), 0);
    put("labs/07-x/lab.yaml",
        "tests:\n"
        "  - {name: adds, kind: value, task: 1, points: 10.5, what: adds}\n"
        "  - {name: big, kind: speed, task: 2, points: 3, what: is big,\n"
        "     targets: [gpu]}\n");
    expect_sync("<!-- points 07-x -->\n<!-- end -->\n",
                "<!-- points 07-x -->\n"
                "| test | task | kind | points | the submission |\n"
                "|---|---|---|---|---|\n"
                "| `adds` | 1 | value | 10.5 | adds |\n"
                "| `big` | 2 | speed | 3 | is big (with a GPU only) |\n"
                "<!-- end -->\n");
}
END_TEST

START_TEST(test_transcript_shows_command_and_output)
{
    expect_sync("<!-- run echo a; echo '```' -->\n```\nold\n<!-- end -->\n```\n"
                "<!-- end -->\n",
                "<!-- run echo a; echo '```' -->\n"
                "````console\n$ echo a; echo '```'\na\n```\n````\n"
                "<!-- end -->\n");
    expect_sync("<!-- run 3 printf 'x  \\ny'; exit 3 -->\n<!-- end -->\n",
                "<!-- run 3 printf 'x  \\ny'; exit 3 -->\n"
                "```console\n$ printf 'x  \\ny'; exit 3\nx\ny\n```\n"
                "<!-- end -->\n");
}
END_TEST

START_TEST(test_fences_and_other_comments_are_left_alone)
{
    const char *text = "```markdown\n<!-- code a.cu none -->\n<!-- end -->\n```\n"
                       "<!-- a note -->\n<!-- codex a.cu -->\n";
    expect_sync(text, text);
}
END_TEST

static const struct {
    const char *text, *message;
} bad[] = {
    {"x\n<!-- code a.cu nothing -->\n<!-- end -->\n",
     "t.md:2: a.cu defines no `nothing`"},
    {"<!-- code a.cu g -->\n<!-- end -->\n", "t.md:1: a.cu defines no `g`"},
    {"<!-- code none.cu f -->\n<!-- end -->\n", "t.md:1: none.cu: No such file"},
    {"<!-- code ../a.cu f -->\n<!-- end -->\n",
     "t.md:1: ../a.cu is not inside the repository"},
    {"<!-- code /etc/passwd * -->\n<!-- end -->\n",
     "t.md:1: /etc/passwd is not inside the repository"},
    {"<!-- code a.cu -->\n<!-- end -->\n", "t.md:1: code needs the name"},
    {"<!-- code a.cu add -->\n", "t.md:1: no <!-- end --> for this block"},
    {"<!-- code a.cu add -->\n<!-- run true -->\n<!-- end -->\n",
     "t.md:1: no <!-- end --> for this block"},
    {"\n<!-- end -->\n", "t.md:2: <!-- end --> without its beginning"},
    {"<!-- table r.csv size -->\n<!-- end -->\n", "t.md:1: no column `size`"},
    {"<!-- points ../x -->\n<!-- end -->\n", "t.md:1: `../x` is not the name"},
    {"<!-- points 09-x -->\n<!-- end -->\n",
     "t.md:1: labs/09-x/lab.yaml: No such file"},
    {"<!-- run false -->\n<!-- end -->\n",
     "t.md:1: `false` ended with status 1, not 0"},
    {"<!-- run 1 true -->\n<!-- end -->\n",
     "t.md:1: `true` ended with status 0, not 1"},
};

START_TEST(test_says_which_block_is_wrong)
{
    struct buf out = {0};
    char message[TOOL_MESSAGE];
    ck_assert_int_eq(blocks_sync("t.md", bad[_i].text, true, &out, message), -1);
    ck_assert_msg(strncmp(message, bad[_i].message,
                          strlen(bad[_i].message)) == 0,
                  "said: %s", message);
    buf_free(&out);
}
END_TEST

START_TEST(test_transcripts_can_be_left_as_they_are)
{
    struct buf out = {0};
    char message[TOOL_MESSAGE];
    const char *text = "<!-- run false -->\nkept\n<!-- end -->\n";
    ck_assert_int_eq(blocks_sync("t.md", text, false, &out, message), 0);
    ck_assert_str_eq(out.data, text);
    buf_free(&out);
}
END_TEST

static Suite *sync_suite(void)
{
    Suite *s = suite_create("sync");
    TCase *t = tcase_create("blocks");
    tcase_add_checked_fixture(t, in_a_folder, away);
    tcase_add_test(t, test_function_comes_with_its_comment);
    tcase_add_test(t, test_struct_macro_and_linkage_are_found);
    tcase_add_test(t, test_table_keeps_awkward_cells);
    tcase_add_test(t, test_points_come_from_the_lab);
    tcase_add_test(t, test_transcript_shows_command_and_output);
    tcase_add_test(t, test_fences_and_other_comments_are_left_alone);
    tcase_add_loop_test(t, test_says_which_block_is_wrong, 0,
                        sizeof bad / sizeof *bad);
    tcase_add_test(t, test_transcripts_can_be_left_as_they_are);
    suite_add_tcase(s, t);
    return s;
}

TEST_MAIN(sync_suite)
