// What counts, as CSV for a spreadsheet and as JSON for programs.
#include <jansson.h>
#include <string.h>

#include "class.h"

void csv_cell(FILE *out, const char *text)
{
    bool guard = *text && strchr("=+-@\t\r", *text);

    if (!guard && !strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    if (guard)
        fputc('\'', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static int csv_row(void *self, const struct row *row)
{
    FILE *out = self;
    const char *const cells[] = {row->status,    row->target, row->gpu,
                                 row->isolation, row->when,   row->reason};

    csv_cell(out, row->student);
    fputc(',', out);
    csv_cell(out, row->lab);
    // Blank, not zero: nothing is known of a submission that was not graded.
    if (row->graded)
        fprintf(out, ",%.2f,%.2f", row->score, row->max_score);
    else
        fputs(",,", out);
    fprintf(out, ",%s", !row->graded ? "" : row->modelled ? "yes" : "no");
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        fputc(',', out);
        csv_cell(out, cells[i] ? cells[i] : "");
    }
    fputs("\r\n", out);
    return 0;
}

int report_csv(struct gradebook *book, const char *lab, FILE *out)
{
    fputs("student,lab,score,max_score,speed_modelled,status,target,gpu,"
          "isolation,graded_at,reason\r\n",
          out);
    return gradebook_rows(book, lab, NULL, csv_row, out);
}

static void set_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, text ? json_string(text) : json_null());
}

static int json_row(void *self, const struct row *row)
{
    json_t *object = json_object();

    set_text(object, "student", row->student);
    set_text(object, "lab", row->lab);
    set_text(object, "status", row->status);
    json_object_set_new(object, "score",
                        row->graded ? json_real(row->score) : json_null());
    json_object_set_new(object, "max_score",
                        row->graded ? json_real(row->max_score) : json_null());
    json_object_set_new(object, "modelled", json_boolean(row->modelled));
    set_text(object, "target", row->target);
    set_text(object, "gpu", row->gpu);
    set_text(object, "isolation", row->isolation);
    set_text(object, "graded_at", row->when);
    set_text(object, "reason", row->reason);
    json_object_set_new(object, "attempts", json_integer(row->attempts));
    json_t *result = row->result ? json_loads(row->result, 0, NULL) : NULL;
    json_object_set_new(object, "result", result ? result : json_null());
    return json_array_append_new(self, object) == 0 ? 0 : -1;
}

int report_json(struct gradebook *book, const char *lab, FILE *out)
{
    json_t *rows = json_array();
    int status = gradebook_rows(book, lab, NULL, json_row, rows);

    if (status == 0)
        status = json_dumpf(rows, out, JSON_INDENT(2));
    json_decref(rows);
    fputc('\n', out);
    return status;
}
