// What the tools want of a lab.yaml, out of libyaml's tree of nodes.
#include "tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

// The value of `key` in a mapping, or NULL.
static yaml_node_t *get(yaml_document_t *doc, yaml_node_t *map, const char *key)
{
    if (!map || map->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start;
         p < map->data.mapping.pairs.top; p++) {
        yaml_node_t *k = yaml_document_get_node(doc, p->key);
        if (k && k->type == YAML_SCALAR_NODE &&
            strcmp((const char *)k->data.scalar.value, key) == 0)
            return yaml_document_get_node(doc, p->value);
    }
    return NULL;
}

// Element i of a sequence, or NULL past its end.
static yaml_node_t *at(yaml_document_t *doc, yaml_node_t *list, size_t i)
{
    if (!list || list->type != YAML_SEQUENCE_NODE)
        return NULL;
    yaml_node_item_t *item = list->data.sequence.items.start + i;
    return item < list->data.sequence.items.top
               ? yaml_document_get_node(doc, *item)
               : NULL;
}

static const char *text_of(const yaml_node_t *node)
{
    return node && node->type == YAML_SCALAR_NODE
               ? (const char *)node->data.scalar.value
               : "";
}

static void copy(char *to, size_t room, const yaml_node_t *node)
{
    snprintf(to, room, "%s", text_of(node));
}

static void read_names(yaml_document_t *doc, yaml_node_t *list, const char *key,
                       struct names *names)
{
    yaml_node_t *node;
    for (size_t i = 0; names->n < MANIFEST_MOST && (node = at(doc, list, i)); i++)
        copy(names->name[names->n++], sizeof names->name[0],
             key ? get(doc, node, key) : node);
}

static void read_tests(yaml_document_t *doc, yaml_node_t *list,
                       struct manifest *m)
{
    yaml_node_t *node;
    for (size_t i = 0; i < MANIFEST_MOST && (node = at(doc, list, i)); i++) {
        struct lab_test *t = &m->test[i];
        yaml_node_t *targets = get(doc, node, "targets");
        copy(t->kind, sizeof t->kind, get(doc, node, "kind"));
        copy(t->what, sizeof t->what, get(doc, node, "what"));
        t->task = atoi(text_of(get(doc, node, "task")));
        t->points = strtod(text_of(get(doc, node, "points")), NULL);
        t->gpu_only = strcmp(text_of(at(doc, targets, 0)), "gpu") == 0 &&
                      !at(doc, targets, 1);
    }
}

static void read_rungs(yaml_document_t *doc, yaml_node_t *list,
                       struct manifest *m)
{
    yaml_node_t *node;
    for (size_t i = 0; m->nrungs < MANIFEST_MOST && (node = at(doc, list, i));
         i++) {
        struct rung *r = &m->rungs[m->nrungs++];
        copy(r->file, sizeof r->file, get(doc, node, "file"));
        copy(r->test, sizeof r->test, get(doc, node, "test"));
        copy(r->class, sizeof r->class, get(doc, node, "class"));
    }
}

static void read_speed(yaml_document_t *doc, yaml_node_t *list,
                       struct manifest *m)
{
    yaml_node_t *test, *class;
    for (size_t i = 0; (test = at(doc, list, i)); i++) {
        yaml_node_t *classes = get(doc, test, "classes");
        for (size_t k = 0;
             m->nthresholds < MANIFEST_MOST && (class = at(doc, classes, k));
             k++) {
            struct threshold *t = &m->thresholds[m->nthresholds++];
            copy(t->test, sizeof t->test, get(doc, test, "test"));
            copy(t->target, sizeof t->target, get(doc, class, "target"));
            t->capability = atoi(text_of(get(doc, class, "capability")));
            t->pass = strtod(text_of(get(doc, class, "pass")), NULL);
            t->full = strtod(text_of(get(doc, class, "full")), NULL);
        }
    }
}

int manifest_read(const char *path, struct manifest *m,
                  char message[TOOL_MESSAGE])
{
    memset(m, 0, sizeof *m);
    char *text = text_read(path);
    if (!text) {
        snprintf(message, TOOL_MESSAGE, "%.200s: %s", path, strerror(errno));
        return -1;
    }
    yaml_parser_t parser;
    yaml_document_t doc;
    int status = -1;
    if (!yaml_parser_initialize(&parser))
        abort();
    yaml_parser_set_input_string(&parser, (unsigned char *)text, strlen(text));
    if (yaml_parser_load(&parser, &doc)) {
        yaml_node_t *root = yaml_document_get_root_node(&doc);
        read_names(&doc, get(&doc, root, "needs"), NULL, &m->needs);
        read_names(&doc, get(&doc, root, "introduces"), NULL, &m->introduces);
        read_names(&doc, get(&doc, root, "tasks"), "section", &m->sections);
        read_names(&doc, get(&doc, root, "tests"), "name", &m->tests);
        read_tests(&doc, get(&doc, root, "tests"), m);
        read_rungs(&doc, get(&doc, root, "rungs"), m);
        read_speed(&doc, get(&doc, root, "speed"), m);
        yaml_document_delete(&doc);
        status = 0;
    } else {
        snprintf(message, TOOL_MESSAGE, "%.200s:%zu: %.200s", path,
                 parser.problem_mark.line + 1,
                 parser.problem ? parser.problem : "not YAML");
    }
    yaml_parser_delete(&parser);
    free(text);
    return status;
}

bool names_hold(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->name[i], name) == 0)
            return true;
    return false;
}
