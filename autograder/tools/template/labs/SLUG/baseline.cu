// Lab @NUMBER@'s trusted side: what speed tests measure against, and
// references that need a GPU. None so far.
#include <cuda_runtime.h>
