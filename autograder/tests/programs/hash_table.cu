// Counts words in an open-addressing hash table that all threads fill by
// atomicCAS; the table's layout depends on the order, the counts do not.
// expect: right, checksum 66738b89
#include "program.h"

const unsigned SLOTS = 1 << 12, EMPTY = ~0u, KEYS = 1500, WORDS = 20000;

struct slot {
    unsigned key, count;
};

__global__ void count_words(const unsigned *words, slot *table)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= WORDS)
        return;
    unsigned key = words[i], at = key * 2654435769u >> 20;
    for (;; at = (at + 1) % SLOTS) {
        unsigned old = atomicCAS(&table[at].key, EMPTY, key);
        if (old == EMPTY || old == key) {
            atomicAdd(&table[at].count, 1);
            return;
        }
    }
}

int main()
{
    std::vector<unsigned> words(WORDS), expected(KEYS), counts(KEYS);
    numbers random = {4};
    for (auto &word : words) {
        word = random.next() % KEYS;
        expected[word]++;
    }
    unsigned *d_words = on_device(words);
    slot *d_table = on_device(std::vector<slot>(SLOTS, slot{EMPTY, 0}));
    count_words<<<(WORDS + 127) / 128, 128>>>(d_words, d_table);
    CHECK(cudaGetLastError());
    for (const slot &s : to_host(d_table, SLOTS))
        if (s.key != EMPTY)
            counts[s.key] += s.count;
    return report(counts, expected);
}
