// A folder for one submission, under build/work, gone when it was graded.
#include "grade.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
    return remove(path);
}

void work_folder_remove(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

// Folders of runs that were killed: a day old, nobody works in them.
static void remove_stale(void)
{
    DIR *all = opendir("build/work");
    struct stat st;
    char path[PATH_MAX];
    for (struct dirent *e; all && (e = readdir(all));) {
        snprintf(path, sizeof path, "build/work/%s", e->d_name);
        if (!strncmp(e->d_name, "grade.", 6) && !lstat(path, &st) &&
            st.st_mtime < time(NULL) - 24 * 60 * 60)
            work_folder_remove(path);
    }
    if (all)
        closedir(all);
}

int work_folder(char *path, size_t room)
{
    char here[PATH_MAX], name[PATH_MAX];
    if ((mkdir("build", 0755) && errno != EEXIST) ||
        (mkdir("build/work", 0755) && errno != EEXIST) ||
        !getcwd(here, sizeof here))
        return -1;
    remove_stale();
    int n = snprintf(name, sizeof name, "%s/build/work/grade.XXXXXX", here);
    if (n < 0 || (size_t)n >= sizeof name || (size_t)n >= room || !mkdtemp(name))
        return -1;
    memcpy(path, name, (size_t)n + 1);
    return 0;
}
