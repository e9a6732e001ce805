// Lab 02's trusted side: what the speed of a submission is measured against.
#include <cuda_runtime.h>
#include <stddef.h>

// Copies n floats on the device: 4 n bytes read and 4 n written, at the rate
// that the driver's own copy reaches.
extern "C" cudaError_t copy(const float *d_from, float *d_to, size_t n)
{
    return cudaMemcpyAsync(d_to, d_from, n * sizeof(float),
                           cudaMemcpyDeviceToDevice, 0);
}
