// The loops of bench_exec in plain C, for 32 lanes.
#pragma once

void plain_arithmetic(float *data, unsigned iterations);
void plain_integer(float *data, unsigned iterations);
void plain_memory(float *data, unsigned iterations);
