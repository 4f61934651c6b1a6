#pragma once

// Exported from libboxcar.so; everything else is hidden.
#define BOXCAR_API __attribute__((visibility("default")))
// For variables that are made from templates: GCC exports them whatever -fvisibility says.
#define BOXCAR_HIDDEN __attribute__((visibility("hidden")))

#define BOXCAR_STRINGIZE_IMPL(x) #x
#define BOXCAR_STRINGIZE(x) BOXCAR_STRINGIZE_IMPL(x)
#define BOXCAR_CONCATENATE_IMPL(a, b) a##b
#define BOXCAR_CONCATENATE(a, b) BOXCAR_CONCATENATE_IMPL(a, b)

// A name that is unique within the translation unit, for what the registration macros declare.
#define BOXCAR_UID __COUNTER__
