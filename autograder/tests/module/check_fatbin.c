// What nvcc makes, whole and damaged.
#include "ptx.h"

enum { CAPABILITY = 90 };

struct blob {
    unsigned char *bytes;
    size_t nbytes;
};

static struct blob read_fixture(const char *name)
{
    char path[256];
    struct blob blob = {0};
    snprintf(path, sizeof path, "build/tests/module/%s.fatbin", name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s is not there", path);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    blob.nbytes = (size_t)ftell(file);
    rewind(file);
    blob.bytes = malloc(blob.nbytes);
    ck_assert_uint_eq(fread(blob.bytes, 1, blob.nbytes, file), blob.nbytes);
    fclose(file);
    return blob;
}

static enum module_status load_blob(const struct blob *blob,
                                    unsigned capability, struct module **m,
                                    char *message)
{
    const void *images[] = {blob->bytes};
    return module_load(images, &blob->nbytes, 1, capability, true, m, message);
}

static const char *const fixtures[] = {"none", "speed", "default", "size"};

START_TEST(test_unpacks_compression)
{
    char message[MODULE_MESSAGE];
    struct module *m;
    struct blob blob = read_fixture(fixtures[_i]);
    ck_assert_int_eq(load_blob(&blob, CAPABILITY, &m, message), MODULE_OK);
    ck_assert_uint_eq(m->capability, CAPABILITY);
    const struct ptx_func *k = module_find_func(m, "_Z6kernelPii");
    ck_assert_ptr_nonnull(k);
    ck_assert_uint_eq(k->maxntid[0], 128);
    // 128 ints here, 8 in the function it calls; the dynamic array is apart.
    ck_assert_uint_eq(k->shared_bytes, 4 * (128 + 8));
    ck_assert_uint_eq(m->extern_shared_align, 16);
    ck_assert_int_gt(k->cubin_regs, 8);
    ck_assert_int_lt(k->cubin_regs, 64);
    const char *file = m->files[m->locs[k->insts[0].loc].file];
    ck_assert_ptr_nonnull(strstr(file, "one.cu"));
    ck_assert_uint_gt(m->locs[k->insts[0].loc].line, 20);
    module_free(m);
    free(blob.bytes);
}
END_TEST

// The fixture has PTX for 75 and 90, machine code for 90.
static const struct {
    unsigned device, chosen;
    bool has_registers;
} devices[] = {{100, 90, false}, {90, 90, true}, {89, 75, false},
               {75, 75, false}};

START_TEST(test_takes_highest_ptx_not_above_device)
{
    char message[MODULE_MESSAGE];
    struct module *m;
    struct blob blob = read_fixture("default");
    ck_assert_int_eq(load_blob(&blob, devices[_i].device, &m, message),
                     MODULE_OK);
    ck_assert_uint_eq(m->capability, devices[_i].chosen);
    const struct ptx_func *k = module_find_func(m, "_Z6kernelPii");
    ck_assert_int_eq(k->cubin_regs >= 0, devices[_i].has_registers);
    module_free(m);
    free(blob.bytes);
}
END_TEST

START_TEST(test_older_device_has_no_image)
{
    char message[MODULE_MESSAGE];
    struct module *m;
    struct blob blob = read_fixture("default");
    ck_assert_int_eq(load_blob(&blob, 70, &m, message), MODULE_NO_IMAGE);
    ck_assert_ptr_null(m);
    ck_assert_ptr_nonnull(strstr(message, "sm_70"));
    free(blob.bytes);
}
END_TEST

START_TEST(test_arch_specific_target_runs_on_its_own_device_only)
{
    static const char text[] = ".version 9.0\n.target sm_90a\n"
                               ".address_size 64\n.entry k() { ret; }\n";
    const void *images[] = {text};
    const size_t nbytes[] = {sizeof text - 1};
    char message[MODULE_MESSAGE];
    struct module *m;
    ck_assert_int_eq(module_load(images, nbytes, 1, 90, true, &m, message),
                     MODULE_OK);
    ck_assert(m->arch_specific);
    module_free(m);
    ck_assert_int_eq(module_load(images, nbytes, 1, 90, false, &m, message),
                     MODULE_NO_IMAGE);
    ck_assert_int_eq(module_load(images, nbytes, 1, 100, true, &m, message),
                     MODULE_NO_IMAGE);
}
END_TEST

static void load_damaged(const struct blob *blob)
{
    char message[MODULE_MESSAGE];
    struct module *m;
    enum module_status status = load_blob(blob, CAPABILITY, &m, message);
    if (status == MODULE_OK)
        module_free(m);
    else
        ck_assert_int_gt(strlen(message), 0);
}

// Cut to exactly its length, so that a read past it is seen by a sanitizer.
START_TEST(test_truncations_do_no_harm)
{
    struct blob blob = read_fixture(fixtures[_i]);
    for (size_t n = 0; n < blob.nbytes; n += 1 + n / 64) {
        struct blob cut = {malloc(n ? n : 1), n};
        memcpy(cut.bytes, blob.bytes, n);
        load_damaged(&cut);
        free(cut.bytes);
    }
    free(blob.bytes);
}
END_TEST

START_TEST(test_flipped_bytes_do_no_harm)
{
    struct blob blob = read_fixture(fixtures[_i]);
    unsigned seed = 1;
    for (unsigned i = 0; i < 600; i++) {
        // The first hundred in the headers, the others anywhere.
        size_t at = (size_t)rand_r(&seed) % (i < 100 ? 80 : blob.nbytes);
        unsigned char was = blob.bytes[at];
        blob.bytes[at] ^= (unsigned char)(1 + rand_r(&seed) % 255);
        load_damaged(&blob);
        blob.bytes[at] = was;
    }
    free(blob.bytes);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("module/fatbin");
    TCase *t = tcase_create("images");
    tcase_add_loop_test(t, test_unpacks_compression, 0, 4);
    tcase_add_loop_test(t, test_takes_highest_ptx_not_above_device, 0,
                        sizeof devices / sizeof *devices);
    tcase_add_test(t, test_older_device_has_no_image);
    tcase_add_test(t, test_arch_specific_target_runs_on_its_own_device_only);
    tcase_add_loop_test(t, test_truncations_do_no_harm, 0, 4);
    tcase_add_loop_test(t, test_flipped_bytes_do_no_harm, 0, 4);
    suite_add_tcase(s, t);
    return s;
}

TEST_MAIN(suite)
