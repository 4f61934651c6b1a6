#pragma once

// Exports from libboxcar.so; everything else is hidden.
#define BOXCAR_API __attribute__((visibility("default")))
// For variables instantiated from templates: GCC exports them regardless of -fvisibility.
#define BOXCAR_HIDDEN __attribute__((visibility("hidden")))

#define BOXCAR_STRINGIZE_IMPL(x) #x
#define BOXCAR_STRINGIZE(x) BOXCAR_STRINGIZE_IMPL(x)
#define BOXCAR_CONCATENATE_IMPL(a, b) a##b
#define BOXCAR_CONCATENATE(a, b) BOXCAR_CONCATENATE_IMPL(a, b)

// A number that is unique within the translation unit, for the names that the registration macros declare.
#define BOXCAR_UID __COUNTER__
