// Every hostile submission gets the verdict that its first line names, within
// its limits, and leaves nothing behind.
//
// They run on the virtual GPU, at both levels of isolation that are for
// grading, as far as this machine has them. Those that attack the compiler are compiled
// here, in the compile sandbox; the others ahead, by make.
#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"
#include "worker/cage.h"
#include "worker/session.h"
#include "worker/tree.h"

enum { N = 1000, MAX_CASES = 128 };
static const double deadline_s = 3, compile_s = 6;
static enum isolation level;

static char folder[] = "autograder/tests/hostile";
static char *names[MAX_CASES]; // without ".cu"
static unsigned ncases;

static void list_cases(void)
{
    DIR *dir = opendir(folder);
    struct dirent *e;
    while (dir && ncases < MAX_CASES && (e = readdir(dir)) != NULL) {
        char *dot = strstr(e->d_name, ".cu");
        if (dot && dot[3] == '\0')
            names[ncases++] = strndup(e->d_name, (size_t)(dot - e->d_name));
    }
    if (dir)
        closedir(dir);
}

static void read_verdict(const char *name, char *verdict, size_t nbytes)
{
    char path[256], line[64] = "";
    snprintf(path, sizeof path, "%s/%s.cu", folder, name);
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, f));
    fclose(f);
    line[strcspn(line, "\n")] = '\0';
    ck_assert_int_eq(strncmp(line, "// verdict: ", 12), 0);
    snprintf(verdict, nbytes, "%s", line + 12);
}

// ---- traces --------------------------------------------------------------------

static size_t count_files(const char *pattern)
{
    glob_t g;
    size_t n = glob(pattern, 0, NULL, &g) == 0 ? g.gl_pathc : 0;
    globfree(&g);
    return n;
}

// What could hold memory when all processes are gone: descriptors of ours, and
// files in /dev/shm, which are counted below. (System V segments are refused.)
static void check_no_trace(size_t descriptors_before)
{
    struct tree_usage u = {0};
    for (int i = 0; i < 100 && u.processes != 1; i++) {
        usleep(10000); // the kernel takes a namespace apart
        tree_measure(getpid(), &u);
    }
    ck_assert_uint_eq(u.processes, 1);
    ck_assert_uint_eq(u.threads, 1);
    ck_assert_uint_eq(count_files("/tmp/hostile-*"), 0);
    ck_assert_uint_eq(count_files("/dev/shm/hostile-*"), 0);
    ck_assert_uint_eq(count_files("/var/tmp/hostile-*"), 0);
    ck_assert_uint_eq(count_files("hostile-*"), 0);
    ck_assert_uint_eq(count_files("/proc/self/fd/*"), descriptors_before);
}

// ---- a submission in a session -----------------------------------------------------

static struct session *session;
static struct buffer *d_a, *d_b, *d_c;

static void open_session(const char *submission)
{
    char message[512];
    struct session_options o = {
        .target = TARGET_VIRTUAL, .isolation = level,
        .submission = submission, .watch = WATCH_COUNT | WATCH_WRITERS,
        .memory_bytes = UINT64_C(1) << 30, .max_processes = 64};
    ck_assert_msg(session_open(&o, &session, message) == 0, "%s", message);
    d_a = buffer_device(session, N * sizeof(float), 0, "a");
    d_b = buffer_device(session, N * sizeof(float), 0, "b");
    d_c = buffer_device(session, N * sizeof(float), 0, "c");
    ck_assert(d_a && d_b && d_c);
}

static void call_vector_add(uint64_t seed, struct outcome *o)
{
    struct call c = {
        .symbol = "vector_add", .returns = RETURN_I32, .nargs = 4,
        .deadline_s = deadline_s,
        .args = {{.kind = ARG_BUFFER, .buffer = d_a},
                 {.kind = ARG_BUFFER, .buffer = d_b},
                 {.kind = ARG_BUFFER, .buffer = d_c},
                 {.kind = ARG_U64, .u = N}}};
    ck_assert_int_eq(buffer_random(d_a, seed), 0);
    ck_assert_int_eq(buffer_random(d_b, ~seed), 0);
    ck_assert_int_eq(buffer_fill(d_c, 0xff), 0);
    session_call(session, &c, o);
}

static bool is_right(uint64_t seed)
{
    float c[N];
    struct writers w = {0};
    ck_assert_int_eq(buffer_read(d_c, 0, c, sizeof c), 0);
    for (unsigned i = 0; i < N; i++)
        if (!(c[i] == random_at(seed, i) + random_at(~seed, i)))
            return false;
    return buffer_writers(d_c, &w) && w.kernel == sizeof c;
}

static const char *verdict_of(const struct outcome *o, uint64_t seed)
{
    switch (o->status) {
    case CALL_RETURNED:
        return is_right(seed) ? "right" : "wrong";
    case CALL_SIGNAL:
        return strstr(o->text, "limit on") ? "stopped" : "signal";
    case CALL_EXITED:
        return "exited";
    case CALL_TIMEOUT:
        return "timeout";
    default:
        return "another";
    }
}

// "stopped" is met by any end that a limit brings about.
static bool is_met(const char *wanted, const char *got)
{
    return strcmp(wanted, got) == 0 ||
           (strcmp(wanted, "stopped") == 0 &&
            (strcmp(got, "timeout") == 0 || strcmp(got, "wrong") == 0));
}

static void run(const char *name, const char *wanted)
{
    struct outcome o;
    char submission[256];
    snprintf(submission, sizeof submission, "build/tests/hostile/%s.so", name);
    open_session(submission);
    // Twice, with other inputs: the second may not live on the first.
    call_vector_add(1, &o);
    if (o.status == CALL_RETURNED)
        call_vector_add(2, &o);
    const char *got = verdict_of(&o, 2);
    ck_assert_msg(is_met(wanted, got), "%s: %s instead of %s: %s\n%s", name,
                  got, wanted, o.text, o.output);
    ck_assert_msg(!strstr(o.output, "BREACH"), "%s: %s", name, o.output);
    session_close(session);
}

// ---- a submission for the compiler ---------------------------------------------------

static void compile(const char *name)
{
    char here[4096], source[4200], include[4200], scratch[] = "/tmp/check-XXXXXX";
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    snprintf(source, sizeof source, "%s/%s/%s.cu", here, folder, name);
    snprintf(include, sizeof include, "%s/labs", here);
    ck_assert_ptr_nonnull(mkdtemp(scratch));
    char lab[4300];
    snprintf(lab, sizeof lab, "-I%s/02-vector-add", include);
    const char *const argv[] = {
        "/usr/local/cuda/bin/nvcc", "-cudart", "shared", "-shared",
        "-Xcompiler", "-fPIC", lab, "-o", "a.so", source, NULL};
    const char *const env[] = {"PATH=/usr/bin:/bin:/usr/local/cuda/bin", NULL};
    const char *const readable[] = {source, include, NULL};
    struct sandbox_run r = {
        .isolation = level, .argv = argv, .env = env,
        .readable = readable, .scratch = scratch, .wall_s = compile_s,
        .cpu_s = compile_s, .memory_bytes = UINT64_C(2) << 30,
        .scratch_bytes = 256 << 20, .max_processes = 64};
    struct sandbox_result result;
    sandbox_run(&r, &result);
    bool made = result.how == RAN_EXIT && result.code == 0;
    ck_assert_msg(!made && result.how != RAN_NOT_STARTED, "%s: %d %d %s", name,
                  result.how, result.code, result.output);
    ck_assert_double_lt(result.wall_s, compile_s + 4);
    ck_assert_uint_le(strlen(result.output), (64 << 10) + 80);
    sandbox_result_free(&result);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    ck_assert_int_eq(system(command), 0);
}

// ---- all of them ------------------------------------------------------------------------

START_TEST(test_gets_its_verdict_and_leaves_no_trace)
{
    char verdict[64];
    size_t descriptors = count_files("/proc/self/fd/*");
    setenv("HOSTILE_TEST_SECRET", "secret", 1);
    read_verdict(names[_i], verdict, sizeof verdict);
    double start = now_s();
    if (strcmp(verdict, "not compiled") == 0)
        compile(names[_i]);
    else
        run(names[_i], verdict);
    ck_assert_double_lt(now_s() - start, 30);
    check_no_trace(descriptors);
}
END_TEST

START_TEST(test_corpus_is_there)
{
    ck_assert_uint_ge(ncases, 30);
}
END_TEST

static void use_namespaces(void)
{
    level = ISOLATION_NAMESPACES;
}

static void use_fresh_user(void)
{
    level = ISOLATION_USER;
}

static void add_corpus(Suite *s, const char *name, SFun use)
{
    TCase *t = tcase_create(name);
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, use, NULL);
    tcase_add_loop_test(t, test_gets_its_verdict_and_leaves_no_trace, 0,
                        (int)ncases);
    suite_add_tcase(s, t);
}

static Suite *suite(void)
{
    Suite *s = suite_create("hostile");
    TCase *t = tcase_create("corpus");
    list_cases();
    tcase_add_test(t, test_corpus_is_there);
    suite_add_tcase(s, t);
    if (isolation_probe() == ISOLATION_NAMESPACES)
        add_corpus(s, "namespaces", use_namespaces);
    if (geteuid() == 0)
        add_corpus(s, "a fresh user", use_fresh_user);
    return s;
}
TEST_MAIN(suite)
