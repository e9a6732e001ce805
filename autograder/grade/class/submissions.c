// A folder of submissions, as it came: an entry a student.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "class.h"

static bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);

    return n > m && strcasecmp(name + n - m, suffix) == 0;
}

// The length of the student's part of a file's name; 0 when the file is of no
// kind that is taken.
static size_t student_length(const char *name)
{
    static const char *const kinds[] = {".cu", ".tar.gz", ".tgz", ".tar",
                                        ".zip"};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (has_suffix(name, kinds[i]))
            return strlen(name) - strlen(kinds[i]);
    return 0;
}

static struct submission *add(struct submissions *all, const char *folder,
                              const char *name, size_t length)
{
    struct submission *list =
        realloc(all->list, (all->n + 1) * sizeof *all->list);
    if (!list)
        abort();
    all->list = list;
    struct submission *one = &list[all->n++];
    memset(one, 0, sizeof *one);
    char *student = strndup(name, length);
    one->student = text_clean(student);
    free(student);
    one->path = text_format("%s/%s", folder, name);
    return one;
}

static void add_entry(struct submissions *all, int folder_fd,
                      const char *folder, const char *name)
{
    struct stat st;
    size_t length = strlen(name), stem = student_length(name);
    const char *problem = NULL;

    if (fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        problem = strerror(errno);
    } else if (S_ISDIR(st.st_mode)) {
        stem = 0; // a folder's dots are the student's own
    } else if (S_ISLNK(st.st_mode)) {
        problem = "a symbolic link, not a file or folder";
    } else if (!S_ISREG(st.st_mode)) {
        problem = "a special file, not a file or folder";
    } else if (stem == 0) {
        problem = "neither a folder nor a .cu, .zip, .tar or .tar.gz file";
    }
    struct submission *one = add(all, folder, name, stem ? stem : length);
    one->problem = problem ? text_format("%s", problem) : NULL;
}

static int by_student(const void *a, const void *b)
{
    const struct submission *x = a, *y = b;
    int order = strcmp(x->student, y->student);

    return order ? order : strcmp(x->path, y->path);
}

static void drop(struct submission *one)
{
    free(one->student);
    free(one->path);
    free(one->problem);
}

// Two entries of one student: neither is graded in the other's place.
static void merge_doubles(struct submissions *all)
{
    size_t kept = 0;

    for (size_t i = 0; i < all->n; i++) {
        struct submission *one = &all->list[i];
        struct submission *last = kept ? &all->list[kept - 1] : NULL;
        if (!last || strcmp(last->student, one->student) != 0) {
            all->list[kept++] = *one;
            continue;
        }
        char *path = text_clean(one->path);
        char *problem = text_format("handed in twice: also as %s", path);
        free(path);
        free(last->problem);
        last->problem = problem;
        drop(one);
    }
    all->n = kept;
}

int submissions_find(const char *folder, struct submissions *all)
{
    memset(all, 0, sizeof *all);
    char *absolute = realpath(folder, NULL);
    DIR *dir = absolute ? opendir(absolute) : NULL;
    if (!dir) {
        free(absolute);
        return -1;
    }
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            add_entry(all, dirfd(dir), absolute, entry->d_name);
    closedir(dir);
    all->folder = text_clean(absolute);
    free(absolute);
    if (all->n)
        qsort(all->list, all->n, sizeof *all->list, by_student);
    merge_doubles(all);
    return 0;
}

void submissions_free(struct submissions *all)
{
    for (size_t i = 0; i < all->n; i++)
        drop(&all->list[i]);
    free(all->list);
    free(all->folder);
}
