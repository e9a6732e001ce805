// Which source line to name to a person: not one of the toolkit.
#include "locate.h"

#include <ctype.h>
#include <string.h>

enum { MAX_INLINED = 64 };

static bool begins(const char *text, const char *head)
{
    return strncmp(text, head, strlen(head)) == 0;
}

// A folder that the toolkit's include folder lies in: cuda, cuda-13.0, cu13
// or cuda_runtime (as Python packages have it), targets/x86_64-linux.
static bool is_toolkit_folder(const char *path, const char *end)
{
    const char *name = end;
    while (name > path && name[-1] != '/')
        name--;
    if (begins(name, "cuda/") || begins(name, "cuda_runtime/"))
        return true;
    if (begins(name, "cuda-") && isdigit((unsigned char)name[5]))
        return true;
    if (begins(name, "cu") && isdigit((unsigned char)name[2]))
        return true;
    static const char targets[] = "/targets";
    const char *before = name - 1; // the slash between
    size_t n = sizeof targets - 1;
    return before >= path + n && memcmp(before - n, targets, n) == 0;
}

// A header of the CUDA toolkit or of the system.
static bool is_toolkit_file(const char *path)
{
    static const char include[] = "/include/";
    if (begins(path, "/usr/include/"))
        return true;
    for (const char *at = strstr(path, include); at;
         at = strstr(at + 1, include))
        if (is_toolkit_folder(path, at))
            return true;
    return false;
}

const struct ptx_loc *finding_loc(const struct module *m, uint32_t loc)
{
    const struct ptx_loc *last = NULL;
    for (int k = 0; k < MAX_INLINED && loc > 0 && loc < m->nlocs; k++) {
        last = &m->locs[loc];
        if (last->file < m->nfiles && !is_toolkit_file(m->files[last->file]))
            break;
        loc = last->inlined_at;
    }
    return last;
}
