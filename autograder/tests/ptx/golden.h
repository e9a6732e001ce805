// A golden: a PTX file that says what its kernel must compute.
//
//   // threads: 32                     (the default)
//   // in a: 1 2 0xffffffff            word t % n goes to in[0 * threads + t]
//   // in b: 7                         ... to in[1 * threads + t]
//   // expect add.s32: 8 9 6           out[0 * threads + t] is word t % n
//   // expect mul.wide.s32 hi: 0       out[1 * threads + t]
//
// The kernel is `test`, with parameters out and in, and runs in one block.
// Words are 32 bits, decimal or 0x...; after `expect` stands whose result the
// line is: the opcode, as it is in the PTX, and more if need be.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { GOLDEN_LINES = 320, GOLDEN_WORDS = 64, GOLDEN_LABEL = 80 };

struct golden_line {
    char label[GOLDEN_LABEL];
    uint32_t words[GOLDEN_WORDS];
    unsigned nwords;
};

struct golden {
    char *ptx;
    unsigned threads;
    struct golden_line in[GOLDEN_LINES], expect[GOLDEN_LINES];
    unsigned nin, nexpect;
};

// False, with a message on stderr, when the file is not as above says.
bool golden_read(const char *path, struct golden *);
void golden_free(struct golden *);
static inline uint32_t golden_word(const struct golden_line *line, unsigned t)
{
    return line->words[t % line->nwords];
}
