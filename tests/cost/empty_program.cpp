// Does nothing: its cost is what every program with libboxcar.so pays before main.

#include <boxcar/ivalue/tensor.h>

int main() { return boxcar::Tensor().defined() ? 1 : 0; }
