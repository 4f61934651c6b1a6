#pragma once

#include <boxcar/dispatcher/registry/level_text.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/dispatcher/registry/registration_site.h>
#include <boxcar/ivalue/macros.h>

#include <string>

// For those who ask how an operator is differentiated, without doing it.

namespace boxcar::autograd {

// Registers the kernels at the autograd keys, unless that was done: the first tensor that requires grad does it.
BOXCAR_API void registerAutogradKernels();
// Where it registers them.
RegistrationSite autogradKernelSite() noexcept;

// Returns what becomes of the gradient of [op]'s calls, as a clause: "by the formula at
// backends/ops/aten_arithmetic.derivatives:12". Registers the kernels.
BOXCAR_API std::string describeGradient(const OperatorHandle& op);

// What calls meet at the autograd keys, and at the kernel that computes tangents, for setLevelDescriber().
void describeRecording(LevelCall& call);
void describeTangents(LevelCall& call);

}  // namespace boxcar::autograd
