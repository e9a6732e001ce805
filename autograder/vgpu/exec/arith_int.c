// Integer arithmetic (PTX ISA 9.7.1).
#include "lanes.h"

BINARY(add_u32, u32, u32, u32, a + b)
