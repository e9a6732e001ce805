#include "session_impl.h"
const struct target target_gpu = {0};
