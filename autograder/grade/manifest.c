// lab.yaml -> struct manifest.
//
// libcyaml checks shapes and types by the schema below; what it cannot know
// (names that must agree, points that must add up) is checked after it.
#include "grade.h"

#include <cyaml/cyaml.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/text.h"

enum { LONGEST = 400, MOST = 64 };

static const char *const kind_names[] = {"value", "check", "counter", "speed"};

const char *kind_name(enum test_kind kind)
{
    return kind_names[kind];
}

// ---- the schema --------------------------------------------------------------

static const cyaml_strval_t kinds[] = {{"value", KIND_VALUE},
                                       {"check", KIND_CHECK},
                                       {"counter", KIND_COUNTER},
                                       {"speed", KIND_SPEED}};
static const cyaml_strval_t targets[] = {{"gpu", TARGET_GPU},
                                         {"virtual", TARGET_VIRTUAL}};
static const cyaml_strval_t rung_classes[] = {{"mistake", RUNG_MISTAKE},
                                              {"plain", RUNG_PLAIN},
                                              {"method", RUNG_METHOD}};

static const cyaml_schema_value_t text = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, LONGEST)};
static const cyaml_schema_value_t target = {CYAML_VALUE_ENUM(
    CYAML_FLAG_STRICT, enum target_kind, targets, CYAML_ARRAY_LEN(targets))};

#define TEXT(type, field, flags)                                               \
    CYAML_FIELD_STRING_PTR(#field, CYAML_FLAG_POINTER | (flags), type, field,  \
                           1, LONGEST)
#define LIST(type, field, entry, least, flags)                                 \
    CYAML_FIELD_SEQUENCE(#field, CYAML_FLAG_POINTER | (flags), type, field,    \
                         entry, least, MOST)
#define NUMBER(type, field, flags)                                             \
    CYAML_FIELD_FLOAT(#field, CYAML_FLAG_DEFAULT | (flags), type, field)
#define COUNT(type, field, flags)                                              \
    CYAML_FIELD_UINT(#field, CYAML_FLAG_DEFAULT | (flags), type, field)
#define CHOICE(type, field, names)                                             \
    CYAML_FIELD_ENUM(#field, CYAML_FLAG_STRICT, type, field, names,            \
                     CYAML_ARRAY_LEN(names))
#define MAPPING(name, type, fields)                                            \
    static const cyaml_schema_value_t name = {                                 \
        CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, type, fields)}

static const cyaml_schema_field_t task_fields[] = {
    COUNT(struct manifest_task, task, 0),
    TEXT(struct manifest_task, title, 0),
    TEXT(struct manifest_task, section, 0),
    TEXT(struct manifest_task, main, 0),
    CYAML_FIELD_END,
};
MAPPING(task_entry, struct manifest_task, task_fields);

static const cyaml_schema_field_t test_fields[] = {
    TEXT(struct manifest_test, name, 0),
    CHOICE(struct manifest_test, kind, kinds),
    COUNT(struct manifest_test, task, 0),
    NUMBER(struct manifest_test, points, 0),
    TEXT(struct manifest_test, what, 0),
    LIST(struct manifest_test, targets, &target, 1, CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_END,
};
MAPPING(test_entry, struct manifest_test, test_fields);

static const cyaml_schema_field_t class_fields[] = {
    CHOICE(struct manifest_class, target, targets),
    COUNT(struct manifest_class, capability, 0),
    NUMBER(struct manifest_class, pass, 0),
    NUMBER(struct manifest_class, full, 0),
    NUMBER(struct manifest_class, stretch, CYAML_FLAG_OPTIONAL),
    TEXT(struct manifest_class, source, 0),
    CYAML_FIELD_END,
};
MAPPING(class_entry, struct manifest_class, class_fields);

static const cyaml_schema_field_t speed_fields[] = {
    TEXT(struct manifest_speed, test, 0),
    LIST(struct manifest_speed, classes, &class_entry, 1, 0),
    CYAML_FIELD_END,
};
MAPPING(speed_entry, struct manifest_speed, speed_fields);

static const cyaml_schema_field_t rung_fields[] = {
    TEXT(struct manifest_rung, file, 0),
    TEXT(struct manifest_rung, test, 0),
    CHOICE(struct manifest_rung, class, rung_classes),
    CYAML_FIELD_END,
};
MAPPING(rung_entry, struct manifest_rung, rung_fields);

static const cyaml_schema_field_t policy_fields[] = {
    LIST(struct manifest_policy, forbid_libraries, &text, 0, CYAML_FLAG_OPTIONAL),
    NUMBER(struct manifest_policy, compile_s, CYAML_FLAG_OPTIONAL),
    NUMBER(struct manifest_policy, run_s, CYAML_FLAG_OPTIONAL),
    COUNT(struct manifest_policy, memory_mib, CYAML_FLAG_OPTIONAL),
    COUNT(struct manifest_policy, processes, CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t manifest_fields[] = {
    TEXT(struct manifest, lab, 0),
    TEXT(struct manifest, title, 0),
    LIST(struct manifest, submit, &text, 1, 0),
    LIST(struct manifest, needs, &text, 0, CYAML_FLAG_OPTIONAL),
    LIST(struct manifest, introduces, &text, 0, CYAML_FLAG_OPTIONAL),
    COUNT(struct manifest, devices, CYAML_FLAG_OPTIONAL),
    LIST(struct manifest, tasks, &task_entry, 1, 0),
    LIST(struct manifest, tests, &test_entry, 1, 0),
    LIST(struct manifest, speed, &speed_entry, 0, CYAML_FLAG_OPTIONAL),
    LIST(struct manifest, rungs, &rung_entry, 0, CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_MAPPING("policy", CYAML_FLAG_DEFAULT | CYAML_FLAG_OPTIONAL,
                        struct manifest, policy, policy_fields),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct manifest, manifest_fields)};

// ---- telling what libcyaml says -------------------------------------------------

// Keeps the first complaint and the first place of its backtrace.
struct complaint {
    char words[256];
    unsigned line;
};

static void hear(cyaml_log_t level, void *ctx, const char *format, va_list args)
{
    struct complaint *c = ctx;
    char said[256];
    vsnprintf(said, sizeof said, format, args);
    said[strcspn(said, "\n")] = '\0';
    const char *place = strstr(said, "(line: ");
    if (place && !c->line)
        c->line = (unsigned)strtoul(place + 7, NULL, 10);
    else if (!c->words[0])
        snprintf(c->words, sizeof c->words, "%s",
                 strncmp(said, "Load: ", 6) ? said : said + 6);
}

static const cyaml_config_t *config(struct complaint *c)
{
    static cyaml_config_t config = {.log_fn = hear,
                                    .mem_fn = cyaml_mem,
                                    .log_level = CYAML_LOG_WARNING,
                                    .flags = CYAML_CFG_NO_ALIAS};
    config.log_ctx = c;
    return &config;
}

// The line, from `from` on, that gives `key` the value `value` (NULL: any);
// `from` when there is none.
static unsigned line_of(const char *yaml, unsigned from, const char *key,
                        const char *value)
{
    unsigned line = 1;
    for (const char *at = yaml; *at; at = line_next(at), line++) {
        const char *p = at + strspn(at, " -{");
        size_t n = strlen(key);
        if (line < from || strncmp(p, key, n) || p[n] != ':')
            continue;
        p += n + 1;
        p += strspn(p, " \"'");
        if (!value || !strncmp(p, value, strlen(value)))
            return line;
    }
    return from;
}

// libcyaml places an unknown key at its neighbour: look for the key itself.
static unsigned complaint_line(const char *yaml, const struct complaint *c)
{
    static const char unknown[] = "Unexpected key: ";
    if (strncmp(c->words, unknown, sizeof unknown - 1))
        return c->line ? c->line : 1;
    return line_of(yaml, c->line, c->words + sizeof unknown - 1, NULL);
}

// ---- what must agree ---------------------------------------------------------------

struct reader {
    const char *path, *yaml;
    struct manifest *m;
    char *message;
};

static int wrong(struct reader *r, unsigned line, const char *format, ...)
{
    int n = snprintf(r->message, GRADE_MESSAGE, "%s:%u: ", r->path, line);
    va_list args;
    va_start(args, format);
    if (n >= 0 && n < GRADE_MESSAGE)
        vsnprintf(r->message + n, (size_t)(GRADE_MESSAGE - n), format, args);
    va_end(args);
    return -1;
}

static unsigned line_in(struct reader *r, const char *section, const char *key,
                        const char *value)
{
    return line_of(r->yaml, line_of(r->yaml, 1, section, NULL), key, value);
}

static const struct manifest_test *test_named(const struct manifest *m,
                                              const char *name)
{
    for (unsigned i = 0; i < m->tests_count; i++)
        if (!strcmp(m->tests[i].name, name))
            return &m->tests[i];
    return NULL;
}

static int check_tests(struct reader *r)
{
    struct manifest *m = r->m;
    double sum = 0;
    for (unsigned i = 0; i < m->tests_count; i++) {
        struct manifest_test *t = &m->tests[i];
        unsigned line = line_in(r, "tests", "name", t->name);
        if (test_named(m, t->name) != t)
            return wrong(r, line, "test %s is listed twice", t->name);
        if (!manifest_task(m, t->task))
            return wrong(r, line, "test %s belongs to task %u, which is not under tasks:",
                         t->name, t->task);
        if (!(t->points >= 0 && t->points <= 100))
            return wrong(r, line, "test %s has %g points; 0 to 100 can be given",
                         t->name, t->points);
        t->on = t->targets_count ? 0 : ON_GPU | ON_VIRTUAL;
        for (unsigned k = 0; k < t->targets_count; k++)
            t->on |= t->targets[k] == TARGET_GPU ? ON_GPU : ON_VIRTUAL;
        sum += t->points;
    }
    if (!(fabs(sum - 100) < 1e-6))
        return wrong(r, line_of(r->yaml, 1, "tests", NULL),
                     "the tests' points add up to %g, not to 100", sum);
    return 0;
}

static int check_tasks(struct reader *r)
{
    for (unsigned i = 0; i < r->m->tasks_count; i++) {
        struct manifest_task *t = &r->m->tasks[i];
        unsigned line = line_in(r, "tasks", "main", t->main);
        const struct manifest_test *main = test_named(r->m, t->main);
        if (t->task != i + 1)
            return wrong(r, line, "tasks are numbered 1, 2, ... in order");
        if (!main)
            return wrong(r, line, "main test %s of task %u is not under tests:",
                         t->main, t->task);
        if (main->kind != KIND_VALUE || main->task != t->task)
            return wrong(r, line, "main test %s of task %u must be a value test of that task",
                         t->main, t->task);
    }
    return 0;
}

static int check_speed(struct reader *r)
{
    for (unsigned i = 0; i < r->m->speed_count; i++) {
        struct manifest_speed *s = &r->m->speed[i];
        unsigned line = line_in(r, "speed", "test", s->test);
        const struct manifest_test *test = test_named(r->m, s->test);
        if (!test || test->kind != KIND_SPEED)
            return wrong(r, line, "%s is not a speed test under tests:", s->test);
        for (unsigned k = 0; k < s->classes_count; k++) {
            struct manifest_class *c = &s->classes[k];
            if (!(c->pass > 0 && c->full > c->pass) ||
                (c->stretch != 0 && !(c->stretch >= c->full)))
                return wrong(r, line, "marks of %s for sm_%u must rise: pass, full, stretch",
                             s->test, c->capability);
        }
    }
    for (unsigned i = 0; i < r->m->rungs_count; i++) {
        struct manifest_rung *g = &r->m->rungs[i];
        if (!test_named(r->m, g->test))
            return wrong(r, line_in(r, "rungs", "file", g->file),
                         "rung %s names test %s, which is not under tests:",
                         g->file, g->test);
    }
    return 0;
}

// Submitted files lie in the lab's folder itself and have plain names.
static int check_submit(struct reader *r)
{
    bool any = false;
    for (unsigned i = 0; i < r->m->submit_count; i++) {
        const char *name = r->m->submit[i];
        size_t n = strlen(name);
        if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_.") != n || name[0] == '.')
            return wrong(r, line_of(r->yaml, 1, "submit", NULL),
                         "'%s' is no plain file name", name);
        any |= n > 3 && !strcmp(name + n - 3, ".cu");
    }
    if (!any)
        return wrong(r, line_of(r->yaml, 1, "submit", NULL),
                     "submit: names no .cu file");
    return 0;
}

static void fill_defaults(struct manifest *m)
{
    struct manifest_policy *p = &m->policy;
    m->devices = m->devices ? m->devices : 1;
    p->compile_s = p->compile_s > 0 ? p->compile_s : 60;
    p->run_s = p->run_s > 0 ? p->run_s : 30;
    p->memory_mib = p->memory_mib ? p->memory_mib : 2048;
    p->processes = p->processes ? p->processes : 64;
}

static int check_manifest(struct reader *r, const char *lab)
{
    fill_defaults(r->m);
    if (strcmp(r->m->lab, lab))
        return wrong(r, line_of(r->yaml, 1, "lab", NULL),
                     "says lab %s, but the folder is %s", r->m->lab, lab);
    if (r->m->devices > 8)
        return wrong(r, line_of(r->yaml, 1, "devices", NULL),
                     "there are 8 virtual devices at most");
    if (check_submit(r) || check_tests(r) || check_tasks(r) || check_speed(r))
        return -1;
    return 0;
}

// ---- entry ---------------------------------------------------------------------------

struct manifest *manifest_load(const char *path, const char *lab, char *message)
{
    struct manifest *m = NULL;
    struct complaint complaint = {0};
    char *yaml = text_read(path);
    if (!yaml) {
        snprintf(message, GRADE_MESSAGE, "%s: %s", path, strerror(errno));
        return NULL;
    }
    cyaml_err_t error = cyaml_load_data((const uint8_t *)yaml, strlen(yaml),
                                        config(&complaint), &schema,
                                        (cyaml_data_t **)&m, NULL);
    struct reader r = {path, yaml, m, message};
    if (error == CYAML_OK && !m) {
        wrong(&r, 1, "is empty");
    } else if (error != CYAML_OK) {
        wrong(&r, complaint_line(yaml, &complaint), "%s",
              complaint.words[0] ? complaint.words : cyaml_strerror(error));
    } else if (check_manifest(&r, lab)) {
        manifest_free(m);
        m = NULL;
    }
    free(yaml);
    return error == CYAML_OK ? m : NULL;
}

void manifest_free(struct manifest *m)
{
    struct complaint unheard = {0};
    if (m)
        cyaml_free(config(&unheard), &schema, m, 0);
}

const struct manifest_task *manifest_task(const struct manifest *m, unsigned task)
{
    for (unsigned i = 0; i < m->tasks_count; i++)
        if (m->tasks[i].task == task)
            return &m->tasks[i];
    return NULL;
}

const struct manifest_class *manifest_thresholds(const struct manifest *m,
                                                 const char *test,
                                                 enum target_kind target,
                                                 unsigned capability)
{
    for (unsigned i = 0; i < m->speed_count; i++)
        for (unsigned k = 0; k < m->speed[i].classes_count; k++) {
            const struct manifest_class *c = &m->speed[i].classes[k];
            if (!strcmp(m->speed[i].test, test) && c->target == target &&
                c->capability == capability)
                return c;
        }
    return NULL;
}
