// The stand-in library takes the place of the real one by name alone.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../test.h"

#define OURS "build/vgpu/lib/libcudart.so.13"

static const char names_of[] =
    "nm -D --defined-only %s | sed -n 's/^[0-9a-f]* [TWi] //p' | sort";

START_TEST(test_exports_what_the_real_library_exports)
{
    const char *cuda = getenv("CUDA_HOME");
    char real[512], command[2048], ours[512];
    snprintf(real, sizeof real, "%s/lib64/libcudart.so.13",
             cuda ? cuda : "/usr/local/cuda");
    snprintf(command, sizeof command, names_of, real);
    snprintf(ours, sizeof ours, names_of, OURS);
    strcat(command, " >build/tests/runtime/real.names && ");
    strcat(command, ours);
    strcat(command, " | diff build/tests/runtime/real.names - >&2");
    ck_assert_int_eq(system(command), 0);
    FILE *f = popen("wc -l <build/tests/runtime/real.names", "r");
    int n = 0;
    ck_assert_int_eq(fscanf(f, "%d", &n), 1);
    pclose(f);
    ck_assert_int_gt(n, 400);
}
END_TEST

// Runs a call with stderr in a file; returns what it wrote.
static int call_quietly(int (*call)(void), char *said, size_t n)
{
    char path[] = "build/tests/runtime/said.XXXXXX";
    int fd = mkstemp(path), kept = dup(2);
    ck_assert_int_ge(fd, 0);
    dup2(fd, 2);
    int result = call();
    call();
    dup2(kept, 2);
    ssize_t got = pread(fd, said, n - 1, 0);
    said[got > 0 ? got : 0] = 0;
    close(fd);
    close(kept);
    unlink(path);
    return result;
}

START_TEST(test_missing_call_names_itself_once)
{
    void *library = dlopen(OURS, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    int (*missing)(void) = (int (*)(void))dlsym(library, "cudaGLSetGLDevice");
    ck_assert_ptr_nonnull(missing);
    char said[256];
    ck_assert_int_eq(call_quietly(missing, said, sizeof said), 801);
    ck_assert_str_eq(said, "vgpu: the virtual GPU has no cudaGLSetGLDevice()\n");
}
END_TEST

START_TEST(test_without_server_there_is_no_device)
{
    unsetenv("VGPU_FD");
    void *library = dlopen(OURS, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    int (*count)(int *) = (int (*)(int *))dlsym(library, "cudaGetDeviceCount");
    int n = 7;
    ck_assert_int_eq(count(&n), 100);
    ck_assert_int_eq(n, 0);
}
END_TEST

static Suite *exports_suite(void)
{
    Suite *suite = suite_create("exports");
    TCase *exports = tcase_create("names");
    tcase_add_test(exports, test_exports_what_the_real_library_exports);
    tcase_add_test(exports, test_missing_call_names_itself_once);
    tcase_add_test(exports, test_without_server_there_is_no_device);
    suite_add_tcase(suite, exports);
    return suite;
}

TEST_MAIN(exports_suite)
