// Runs shell commands from the repository's root and keeps what they print.
#pragma once

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "../test.h"

static char said[16384]; // stdout and stderr of the last command

// The exit status of a command; its output is in `said`.
static int shell(const char *command)
{
    char line[4096];

    snprintf(line, sizeof line, "{ %s\n} 2>&1 </dev/null", command);
    FILE *pipe = popen(line, "r");
    ck_assert_ptr_nonnull(pipe);
    size_t n = fread(said, 1, sizeof said - 1, pipe);
    said[n] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

#define ck_assert_said(text)                                                   \
    ck_assert_msg(strstr(said, text) != NULL, "not said: \"%s\" in:\n%s",      \
                  text, said)
#define ck_assert_not_said(text)                                               \
    ck_assert_msg(strstr(said, text) == NULL, "said: \"%s\" in:\n%s", text,    \
                  said)
