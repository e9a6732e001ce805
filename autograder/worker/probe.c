// Which isolation works here: the strongest one, found by trying.
#include <unistd.h>

#include "cage.h"

const char *isolation_name(enum isolation isolation)
{
    switch (isolation) {
    case ISOLATION_NAMESPACES:
        return "namespaces";
    case ISOLATION_USER:
        return "user";
    default:
        return "none";
    }
}

enum isolation isolation_probe(void)
{
    static enum isolation found;
    static bool known;
    if (!known) {
        found = bwrap_works()    ? ISOLATION_NAMESPACES
                : geteuid() == 0 ? ISOLATION_USER
                                 : ISOLATION_NONE;
        known = true;
    }
    return found;
}
