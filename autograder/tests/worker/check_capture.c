// Output of any length is kept as head and tail, and made fit to print.
#include <string.h>

#include "tests/test.h"
#include "worker/capture.h"

static struct capture capture;

START_TEST(test_keeps_short_output_whole)
{
    memset(&capture, 0, sizeof capture);
    capture_add(&capture, "one ", 4);
    capture_add(&capture, "two", 3);
    char *text = capture_text(&capture);
    ck_assert_str_eq(text, "one two");
    free(text);
}
END_TEST

START_TEST(test_keeps_head_and_tail_of_a_flood)
{
    static char block[100000];
    memset(&capture, 0, sizeof capture);
    memset(block, 'x', sizeof block);
    capture_add(&capture, "begin", 5);
    for (int i = 0; i < 100; i++)
        capture_add(&capture, block, sizeof block - i);
    capture_add(&capture, "end", 3);
    char *text = capture_text(&capture);
    ck_assert_uint_le(strlen(text), CAPTURE_HEAD + CAPTURE_TAIL + 80);
    ck_assert(strncmp(text, "beginxxx", 8) == 0);
    ck_assert_str_eq(text + strlen(text) - 5, "xxend");
    ck_assert_ptr_nonnull(strstr(text, "bytes left out"));
    ck_assert_uint_eq(capture.nbytes, 5 + 100 * sizeof block - 4950 + 3);
    free(text);
}
END_TEST

START_TEST(test_tail_is_in_order_when_it_wraps)
{
    memset(&capture, 0, sizeof capture);
    for (unsigned i = 0; i < CAPTURE_HEAD + 3 * CAPTURE_TAIL / 2; i++) {
        char c = (char)('a' + i % 23);
        capture_add(&capture, &c, 1);
    }
    char *text = capture_text(&capture);
    size_t n = strlen(text), total = capture.nbytes;
    for (unsigned back = 1; back <= CAPTURE_TAIL; back++)
        ck_assert_int_eq(text[n - back], 'a' + (total - back) % 23);
    free(text);
}
END_TEST

static const struct {
    const char *in, *out;
} texts[] = {
    {"plain\n\ttext", "plain\n\ttext"},
    {"\033[2Jgone", "?[2Jgone"},
    {"\xff\xfe", "??"},
    {"Gr\xc3\xbc\xc3\x9f"
     "e \xea\xb0\x80",
     "Gr\xc3\xbc\xc3\x9f"
     "e \xea\xb0\x80"},
    {"\xc0\xaf", "??"},                 // overlong
    {"\xed\xa0\x80", "???"},            // a surrogate
    {"\xf4\x90\x80\x80", "????"},       // past U+10FFFF
    {"\xc2\x9b" "2J", "?2J"},           // C1 control
    {"\xe2\x80\xae" "drow", "?drow"},   // right-to-left override
    {"cut \xe2\x82", "cut ??"},
};

START_TEST(test_makes_text_printable)
{
    char out[64];
    printable(texts[_i].in, strlen(texts[_i].in), out, sizeof out);
    ck_assert_str_eq(out, texts[_i].out);
}
END_TEST

START_TEST(test_never_cuts_a_character)
{
    char out[6];
    printable("abc\xe2\x82\xac", 6, out, sizeof out);
    ck_assert_str_eq(out, "abc");
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("capture");
    TCase *t = tcase_create("capture");
    tcase_add_test(t, test_keeps_short_output_whole);
    tcase_add_test(t, test_keeps_head_and_tail_of_a_flood);
    tcase_add_test(t, test_tail_is_in_order_when_it_wraps);
    tcase_add_loop_test(t, test_makes_text_printable, 0,
                        sizeof texts / sizeof *texts);
    tcase_add_test(t, test_never_cuts_a_character);
    suite_add_tcase(s, t);
    return s;
}
TEST_MAIN(suite)
