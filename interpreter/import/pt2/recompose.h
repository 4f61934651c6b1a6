#pragma once

#include <boxcar/interpreter/import/pt2/exported_program.h>

namespace boxcar::interp::pt2 {

// Replaces calls of Core ATen operators, which run_decompositions() leaves, by those of the operators that models call,
// where the result is the same: convolution by conv2d, addmm with a transposed weight by linear, native_layer_norm by
// layer_norm. What then nothing uses, such as the transposed weight, stays in the graph.
void recompose(ExportedProgram& program);

}  // namespace boxcar::interp::pt2
