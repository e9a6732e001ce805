// What the keeper tells whoever started it.
#pragma once

#include <stdint.h>

enum { KEEPER_MAGIC = 0x6b656570, KEEPER_FAILED = 120 };

struct keeper_status {
    uint32_t magic;
    int32_t status; // as waitpid gives it
};
