// What is printed and written: golden text, and files read back.
#include "../test.h"

#include <jansson.h>
#include <string.h>

#include "fixture.h"
#include "tools/text.h"

static char *printed(const struct grading *g, bool plain)
{
    return fixture_print(report, g, plain);
}

// The starter: both main tests fail at their holes, the rest waits.
static struct grading *starter(void)
{
    struct grading *g = fixture_grading();
    struct submission *s = (struct submission *)g->submission;
    s->marks[0] = (struct mark){.task = 1, .line = 12, .hole = true};
    s->marks[1] = (struct mark){.task = 2, .line = 30, .hole = true};
    s->nmarks = 2;
    for (unsigned i = 0; i < g->manifest->tests_count; i++) {
        g->records[i].status = TEST_SKIPPED;
        g->records[i].waits = true;
    }
    fixture_fail(g, "doubles", "b[0] is -nan, expected 3");
    fixture_fail(g, "adds_one", "got == 0");
    fixture_record(g, "on_gpus")->waits = false;
    score(g);
    return g;
}

static const char starter_text[] =
    "Lab 99-small: A small lab\n"
    "  graded     labs/99-small\n"
    "  target     virtual (as asked)\n"
    "  GPU        modelled for NVIDIA H200\n"
    "  isolation  namespaces\n"
    "\n"
    "→ Next: task 1, Double it\n"
    "  edit   labs/99-small/small.cu:12, where TASK_NOT_DONE(1) stands\n"
    "  read   chapters/99-small.md, \"Twice as much\"\n"
    "  hint   make hint LAB=99\n"
    "  Its first test is doubles; 5 more wait for it.\n"
    "\n";

START_TEST(test_starter_is_the_start_of_a_road)
{
    char *text = printed(starter(), false);
    ck_assert_str_eq(strndup(text, strlen(starter_text)), starter_text);
    ck_assert_ptr_nonnull(strstr(text, "\nScore: 0/100\n"));
    ck_assert_ptr_nonnull(strstr(text, "│ ○ doubles 512 elements"));
    ck_assert_ptr_null(strstr(text, "✗"));
    ck_assert_ptr_null(strstr(text, "Failed"));
    free(text);
}
END_TEST

static const char boxed[] =
    "┌────────────────────────────────────────────────────────────┬─────────────┐\n"
    "│ Task 1: Double it                                          │             │\n"
    "│ ✗ doubles 512 elements                               value │        0/20 │\n"
    "│ ✓ doubles none                                       value │         5/5 │\n"
    "│ ✓ doubles 2 GiB                                      value │         5/5 │\n"
    "│ ✓ stays inside                                       check │       10/10 │\n"
    "│ ✓ uses sectors                                     counter │       10/10 │\n"
    "│ ◐ is fast                                            speed │        5/20 │\n"
    "├────────────────────────────────────────────────────────────┼─────────────┤\n"
    "│ Task 2: Add one                                            │             │\n"
    "│ ✓ adds one                                           value │       10/10 │\n"
    "│ ✓ tells errors                                       value │         5/5 │\n"
    "│ ? is missing                                         value │         0/5 │\n"
    "│ - needs a GPU                                        value │           - │\n"
    "└────────────────────────────────────────────────────────────┴─────────────┘\n";

// One failure, one partial, one test without a record, one ruled out.
static struct grading *mixed(void)
{
    struct grading *g = fixture_grading();
    struct record *r = fixture_record(g, "doubles");
    fixture_fail(g, "doubles", "b[256] is -nan, expected 1.5");
    snprintf(r->given, sizeof r->given, "n = 512");
    snprintf(r->pattern, sizeof r->pattern,
             "every element from index 256 on: never written");
    snprintf(r->file, sizeof r->file, "small.cu");
    r->line = 17;
    r = fixture_record(g, "is_fast");
    r->status = TEST_PARTIAL;
    r->share = 0.25;
    r->has_ratio = r->modelled = true;
    r->ratio = 0.625;
    r->lo = 0.5;
    r->hi = NAN;
    snprintf(r->message, sizeof r->message, "<slow> & \"late\"");
    fixture_record(g, "nobody_wrote_it")->status = TEST_NOT_GRADED;
    fixture_record(g, "on_gpus")->status = TEST_SKIPPED;
    score(g);
    return g;
}

START_TEST(test_table_of_points)
{
    char *text = fixture_print(report_points, mixed(), false);
    ck_assert_int_eq(strncmp(text, boxed, strlen(boxed)), 0);
    free(text);
}
END_TEST

static const char failure[] =
    "✗ Failed: doubles\n"
    "  the submission doubles 512 elements\n"
    "    n = 512\n"
    "    b[256] is -nan, expected 1.5\n"
    "    wrong: every element from index 256 on: never written\n"
    "  edit   labs/99-small/small.cu:17\n"
    "  read   chapters/99-small.md, \"Twice as much\"\n"
    "  hint   make hint LAB=99\n"
    "\n"
    "Also, in short:\n"
    "  is_fast: <slow> & \"late\"\n"
    "\n";

START_TEST(test_one_failure_in_full)
{
    char *text = printed(mixed(), false);
    ck_assert_ptr_nonnull(strstr(text, failure));
    ck_assert_ptr_nonnull(strstr(text, "\nScore: 55.56/100\n"));
    ck_assert_ptr_nonnull(strstr(text, "10 points cannot be judged here"));
    ck_assert_ptr_nonnull(strstr(text, "5 points could not be measured"));
    free(text);
}
END_TEST

START_TEST(test_plain_has_words_and_no_boxes)
{
    char *text = printed(mixed(), true);
    for (const char *p = text; *p; p++)
        ck_assert_int_gt(*p, 0); // ASCII alone
    ck_assert_ptr_nonnull(strstr(text, "\nFAILED: doubles 512 elements, value, "
                                       "0/20 points\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nNOT HERE: needs a GPU, value, no "
                                       "points here\n"));
    free(text);
}
END_TEST

START_TEST(test_not_graded_is_no_zero)
{
    struct grading *g = fixture_grading();
    g->status = NOT_GRADED;
    g->records = NULL;
    snprintf(g->reason, sizeof g->reason, "the disk is full");
    char *text = printed(g, false);
    ck_assert_ptr_nonnull(strstr(text, "not the submission's fault"));
    ck_assert_ptr_nonnull(strstr(text, "the disk is full"));
    ck_assert_ptr_null(strstr(text, "Score"));
    free(text);
}
END_TEST

START_TEST(test_compiler_is_quoted)
{
    struct grading *g = fixture_grading();
    g->status = COMPILE_ERROR;
    g->records = NULL;
    g->compiler = "small.cu:3: error: expected a \";\"\n";
    char *text = printed(g, false);
    ck_assert_ptr_nonnull(strstr(text, "\n  small.cu:3: error: expected a"));
    ck_assert_ptr_nonnull(strstr(text, "Score: 0/100"));
    free(text);
}
END_TEST

START_TEST(test_no_colour_into_a_file)
{
    FILE *f = fopen("/dev/null", "w");
    ck_assert(!style_for(f, false, false).colour);
    fclose(f);
    struct style colour = {.colour = true}, none = {.colour = false};
    ck_assert_str_eq(paint(&colour, RED), "\033[31m");
    ck_assert_str_eq(paint(&none, RED), "");
}
END_TEST

// ---- files ------------------------------------------------------------------------

START_TEST(test_json_reads_back)
{
    json_error_t error;
    ck_assert_int_eq(json_write("build/tests/grade/result.json", mixed()), 0);
    json_t *j = json_load_file("build/tests/grade/result.json",
                               JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(j != NULL, "%s", error.text);
    ck_assert_str_eq(json_string_value(json_object_get(j, "lab")), "99-small");
    ck_assert_str_eq(json_string_value(json_object_get(j, "target")), "virtual");
    ck_assert_str_eq(json_string_value(json_object_get(j, "gpu")), "H200");
    ck_assert(json_is_true(json_object_get(j, "modelled")));
    ck_assert_str_eq(json_string_value(json_object_get(j, "status")), "graded");
    ck_assert_double_eq_tol(json_number_value(json_object_get(j, "score")),
                            55.5555556, 1e-6);
    json_t *tests = json_object_get(j, "tests");
    ck_assert_uint_eq(json_array_size(tests), 10);
    json_t *fast = json_array_get(tests, 5), *missing = json_array_get(tests, 8);
    ck_assert_str_eq(json_string_value(json_object_get(fast, "status")), "partial");
    ck_assert_double_eq(json_number_value(json_object_get(fast, "ratio")), 0.625);
    ck_assert(json_is_null(json_array_get(json_object_get(fast, "interval"), 1)));
    ck_assert_str_eq(json_string_value(json_object_get(fast, "message")),
                     "<slow> & \"late\"");
    ck_assert_str_eq(json_string_value(json_object_get(missing, "status")),
                     "not_measured");
    json_decref(j);
}
END_TEST

START_TEST(test_json_without_records)
{
    json_error_t error;
    struct grading *g = fixture_grading();
    g->status = NOT_GRADED;
    g->records = NULL;
    snprintf(g->reason, sizeof g->reason, "no device");
    ck_assert_int_eq(json_write("build/tests/grade/none.json", g), 0);
    json_t *j = json_load_file("build/tests/grade/none.json", 0, &error);
    ck_assert_ptr_nonnull(j);
    ck_assert_str_eq(json_string_value(json_object_get(j, "reason")), "no device");
    ck_assert_uint_eq(json_array_size(json_object_get(j, "tests")), 0);
    json_decref(j);
}
END_TEST

START_TEST(test_nothing_is_left_where_it_cannot_be_written)
{
    ck_assert_int_eq(json_write("build/no/such/folder.json", mixed()), -1);
    ck_assert_int_eq(junit_write("build/no/such/folder.xml", mixed()), -1);
}
END_TEST

START_TEST(test_junit_escapes_and_counts)
{
    struct grading *g = mixed();
    struct record *r = fixture_record(g, "doubles");
    snprintf(r->message, sizeof r->message, "a\x01\x1b[31m\xff<b>&\"c\"\xed\xa0\x80");
    ck_assert_int_eq(junit_write("build/tests/grade/result.xml", g), 0);
    char *xml = text_read("build/tests/grade/result.xml");
    ck_assert_ptr_nonnull(xml);
    ck_assert_ptr_nonnull(strstr(xml, "<testsuites tests=\"10\" failures=\"2\" "
                                      "errors=\"1\" skipped=\"1\" time=\"0.000\">"));
    ck_assert_ptr_nonnull(strstr(xml, "message=\"a??[31m?&lt;b&gt;&amp;&quot;c"
                                      "&quot;???\""));
    for (const char *p = xml; *p; p++)
        ck_assert(*p == '\n' || (unsigned char)*p >= 0x20);
    // An XML parser of its own has the last word, where there is one.
    if (!system("command -v xmllint >/dev/null 2>&1"))
        ck_assert_int_eq(system("xmllint --noout build/tests/grade/result.xml"), 0);
    free(xml);
}
END_TEST

static const struct {
    const char *text, *clean;
} texts[] = {
    {"plain", "plain"},       {"\033[2J", "?[2J"},     {"a\tb\nc", "a b c"},
    {"\xc3\xa9", "\xc3\xa9"}, {"\xc3", "?"},           {"\xc0\x80", "??"},
    {"\xf4\x90\x80\x80", "????"}, {"\xc2\x9b" "31m", "??31m"},
    {"\xef\xbf\xbf", "???"},  {"\xf0\x9f\x99\x82", "\xf0\x9f\x99\x82"},
};

START_TEST(test_text_is_cleaned)
{
    char out[64];
    text_clean(out, sizeof out, texts[_i].text, true);
    ck_assert_str_eq(out, texts[_i].clean);
}
END_TEST

START_TEST(test_text_is_cut_between_characters)
{
    char out[4];
    text_clean(out, sizeof out, "ab\xc3\xa9", true);
    ck_assert_str_eq(out, "ab");
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("report");
    TCase *t = tcase_create("screen");
    tcase_add_test(t, test_starter_is_the_start_of_a_road);
    tcase_add_test(t, test_table_of_points);
    tcase_add_test(t, test_one_failure_in_full);
    tcase_add_test(t, test_plain_has_words_and_no_boxes);
    tcase_add_test(t, test_not_graded_is_no_zero);
    tcase_add_test(t, test_compiler_is_quoted);
    tcase_add_test(t, test_no_colour_into_a_file);
    suite_add_tcase(s, t);
    TCase *f = tcase_create("files");
    tcase_add_test(f, test_json_reads_back);
    tcase_add_test(f, test_json_without_records);
    tcase_add_test(f, test_nothing_is_left_where_it_cannot_be_written);
    tcase_add_test(f, test_junit_escapes_and_counts);
    tcase_add_loop_test(f, test_text_is_cleaned, 0, sizeof texts / sizeof texts[0]);
    tcase_add_test(f, test_text_is_cut_between_characters);
    suite_add_tcase(s, f);
    return s;
}
TEST_MAIN(suite)
