// make gpus and make doctor, with a management library of our own: it tells
// of two cards, the second one prohibited, old and without sensors.
#include "shell.h"

// Compiles the stand-in with -DDRIVER and has build/bin/gpus load it.
#define WITH_NVML(driver)                                                      \
    "T=$(mktemp -d); trap 'rm -rf $T' EXIT; cc -shared -fPIC " driver          \
    " -o $T/libnvidia-ml.so.1 autograder/tests/setup/fake_nvml.c && "          \
    "export LD_LIBRARY_PATH=$T && "

START_TEST(test_shows_each_gpu)
{
    ck_assert_int_eq(shell(WITH_NVML("") "build/bin/gpus"), 0);
    ck_assert_said("GPU 0  NVIDIA Test One");
    ck_assert_said("capability 9.0  41 °C  7 % busy  1.0 of 4.0 GiB used");
    ck_assert_said("GPU 1  NVIDIA Test Two");
    ck_assert_said("Driver 580.95.05 runs CUDA up to 13.0");
    ck_assert_said("nvidia-smi --query-gpu");
}
END_TEST

START_TEST(test_leaves_out_what_a_card_does_not_tell)
{
    shell(WITH_NVML("") "build/bin/gpus | grep 'GPU 1'");
    ck_assert_said("capability 6.1");
    ck_assert_not_said("busy");
    ck_assert_not_said("GiB");
}
END_TEST

START_TEST(test_a_dead_driver_is_told)
{
    ck_assert_int_eq(shell(WITH_NVML("-DDEAD") "build/bin/gpus"), 0);
    ck_assert_said("Driver Not Loaded");
    ck_assert_said("virtual GPU");
    ck_assert_said("\n  h200       NVIDIA H200                   capability 9.0  132");
}
END_TEST

START_TEST(test_an_unknown_option_is_refused)
{
    ck_assert_int_ne(shell("build/bin/gpus --wach"), 0);
    ck_assert_int_ne(shell("build/bin/gpus --watch=soon"), 0);
    ck_assert_said("number of seconds");
}
END_TEST

START_TEST(test_doctor_names_fault_and_cure)
{
    int status = shell(WITH_NVML("") "autograder/setup/doctor.sh");
    ck_assert_int_eq(status, 1);
    ck_assert_said("ok     GPU 0");
    ck_assert_said("capability 6.1; CUDA 13 needs 7.5");
    ck_assert_said("TARGET=virtual");
}
END_TEST

START_TEST(test_doctor_knows_an_old_driver)
{
    int status = shell(WITH_NVML("-DOLD") "autograder/setup/doctor.sh");
    ck_assert_int_eq(status, 1);
    ck_assert_said("driver 535.1 is too old for CUDA 13");
    ck_assert_said("-> install driver 580 or later");
}
END_TEST

START_TEST(test_doctor_knows_a_prohibited_card)
{
    int status = shell(WITH_NVML("-DPROHIBITED") "autograder/setup/doctor.sh");
    ck_assert_int_eq(status, 1);
    ck_assert_said("nvidia-smi -i 0 -c DEFAULT");
}
END_TEST

static Suite *gpus_suite(void)
{
    Suite *suite = suite_create("gpus");
    TCase *tcase = tcase_create("gpus");
    tcase_add_test(tcase, test_shows_each_gpu);
    tcase_add_test(tcase, test_leaves_out_what_a_card_does_not_tell);
    tcase_add_test(tcase, test_a_dead_driver_is_told);
    tcase_add_test(tcase, test_an_unknown_option_is_refused);
    tcase_add_test(tcase, test_doctor_names_fault_and_cure);
    tcase_add_test(tcase, test_doctor_knows_an_old_driver);
    tcase_add_test(tcase, test_doctor_knows_a_prohibited_card);
    suite_add_tcase(suite, tcase);
    return suite;
}

TEST_MAIN(gpus_suite)
