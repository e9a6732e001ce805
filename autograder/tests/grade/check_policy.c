// Forbidden libraries, in objects that may be hostile.
#include "../test.h"

#include <stdio.h>
#include <string.h>

#include "grade/grade.h"
#include "tools/text.h"

#define OBJECT "build/tests/grade/small_lab.so" // any object with imports
#define MADE   "build/tests/grade/changed.so"
#define LIST   "build/tests/grade/dependencies"

static char message[GRADE_MESSAGE];

static const char *check(const char *forbidden, const char *object)
{
    char *names[] = {(char *)forbidden};
    struct manifest m = {.policy = {.forbid_libraries = names,
                                    .forbid_libraries_count = 1}};
    policy_check(&m, LIST, object, message);
    return message;
}

static void setup(void)
{
    text_write(LIST, "x.o: x.cu \\\n    /usr/include/stdio.h \\\n"
                     "    /opt/cuda/include/cublas_v2.h \\\n"
                     "    /opt/cuda/include/cub/block.cuh\n");
}

START_TEST(test_nothing_forbidden_is_used)
{
    ck_assert_str_eq(check("nccl", OBJECT), "");
}
END_TEST

START_TEST(test_header_is_seen)
{
    ck_assert_str_eq(check("cublas", OBJECT), "includes cublas_v2.h, but this "
                                              "lab is to be done without cublas");
    // a part of a name is no beginning of one
    ck_assert_str_eq(check("las_v2", OBJECT), "");
    ck_assert_str_eq(check("block", OBJECT),
                     "includes block.cuh, but this lab is to be done without block");
}
END_TEST

START_TEST(test_undefined_symbol_is_seen)
{
    ck_assert_str_eq(check("lab_call", OBJECT), "uses lab_call, but this lab is "
                                                "to be done without lab_call");
    ck_assert_str_eq(check("lab_tests", OBJECT), ""); // defined, not needed
}
END_TEST

START_TEST(test_needed_library_is_seen)
{
    check("jansson", "build/tests/grade/check_policy"); // which links it
    ck_assert_ptr_nonnull(strstr(message, "uses libjansson.so"));
}
END_TEST

START_TEST(test_no_object_is_no_crash)
{
    ck_assert_str_eq(check("nccl", "build/none.so"), "");
    ck_assert_str_eq(check("nccl", "build"), "");
}
END_TEST

static size_t read_object(char **bytes)
{
    FILE *f = fopen(OBJECT, "rb");
    ck_assert_ptr_nonnull(f);
    *bytes = malloc(1 << 20);
    size_t n = fread(*bytes, 1, 1 << 20, f);
    fclose(f);
    return n;
}

static void write_object(const char *bytes, size_t n)
{
    FILE *f = fopen(MADE, "wb");
    fwrite(bytes, 1, n, f);
    fclose(f);
}

// No cut and no changed byte may crash the judge.
START_TEST(test_damaged_objects)
{
    char *bytes;
    size_t n = read_object(&bytes);
    for (size_t cut = 0; cut < n; cut += n / 97 + 1) {
        write_object(bytes, cut);
        check("lab_call", MADE);
    }
    for (size_t i = 0; i < 64; i++) { // the header
        char was = bytes[i];
        bytes[i] = (char)0xff;
        write_object(bytes, n);
        check("lab_call", MADE);
        bytes[i] = was;
    }
    for (size_t i = n - 64 * 20; i < n; i += 3) { // section headers
        char was = bytes[i];
        bytes[i] = (char)0x7f;
        write_object(bytes, n);
        check("lab_call", MADE);
        bytes[i] = was;
    }
    free(bytes);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("policy");
    TCase *t = tcase_create("libraries");
    tcase_add_checked_fixture(t, setup, NULL);
    tcase_add_test(t, test_nothing_forbidden_is_used);
    tcase_add_test(t, test_header_is_seen);
    tcase_add_test(t, test_undefined_symbol_is_seen);
    tcase_add_test(t, test_needed_library_is_seen);
    tcase_add_test(t, test_no_object_is_no_crash);
    tcase_add_test(t, test_damaged_objects);
    suite_add_tcase(s, t);
    return s;
}
TEST_MAIN(suite)
