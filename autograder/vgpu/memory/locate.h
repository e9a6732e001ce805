// The source line that findings and faults name.
#pragma once

#include "../module/module.h"

// The position to name to a person, of module->locs[loc]: for code inlined from
// headers of the CUDA toolkit or the system, the innermost one outside them.
// NULL when nothing is known.
const struct ptx_loc *finding_loc(const struct module *, uint32_t loc);
