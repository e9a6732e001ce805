// verdict: not compiled
// Templates that double with every level.
#include "vector_add.h"
template <int depth, int path> struct tree {
    static const long value = tree<depth - 1, 2 * path>::value +
                              tree<depth - 1, 2 * path + 1>::value;
};
template <int path> struct tree<0, path> {
    static const long value = path;
};
cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    return tree<28, 1>::value ? cudaSuccess : cudaErrorUnknown;
}

cudaError_t vector_add_host(const float *h_a, const float *h_b, float *h_c,
                            size_t n)
{
    return cudaErrorInvalidValue;
}

cudaError_t saxpy(float alpha, const float *d_x, const float *d_y, float *d_z,
                  size_t n)
{
    return cudaErrorInvalidValue;
}
