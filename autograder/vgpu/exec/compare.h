// What inst.imm and inst.flags mean in set and setp.
#pragma once

enum compare {
    COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE,
    COMPARE_EQU, COMPARE_NEU, COMPARE_LTU, COMPARE_LEU, COMPARE_GTU,
    COMPARE_GEU, COMPARE_NUM, COMPARE_NAN,
};

enum {
    COMPARE_FTZ = 1 << 0, // F_FTZ
    COMPARE_AND = 1 << 1,
    COMPARE_OR = 2 << 1,
    COMPARE_XOR = 3 << 1,
    COMPARE_BOOL = 3 << 1,
    COMPARE_TWO = 1 << 3,      // setp d|d2
    COMPARE_TO_FLOAT = 1 << 4, // set.f32
};
