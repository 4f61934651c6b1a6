// Does nothing: what it costs is what every program pays that has libboxcar.so, before main.

#include <boxcar/ivalue/tensor.h>

int main() { return boxcar::Tensor().defined() ? 1 : 0; }
