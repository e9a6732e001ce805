// What inst.flags mean in barriers.
#pragma once

enum {
    BAR_ALIGNED = 1, // bar.sync: all threads come by the same instruction
    BAR_COUNTED = 2, // row b: how many threads take part
    BAR_POPC = 4,
    BAR_AND = 8,
    BAR_OR = 16,
    BAR_RED = BAR_POPC | BAR_AND | BAR_OR,
};

// inst.imm of .sync instructions.
enum {
    SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX,
    VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT,
    MATCH_ANY, MATCH_ALL, MATCH_ANY64, MATCH_ALL64,
    REDUX_ADD, REDUX_MIN_U, REDUX_MIN_S, REDUX_MAX_U, REDUX_MAX_S,
    REDUX_AND, REDUX_OR, REDUX_XOR,
    ELECT, BAR_WARP,
};
