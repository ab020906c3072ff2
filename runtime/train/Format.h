//===- Format.h - fmt, header only -----------------------------------------===//
//
// The one place that includes fmt, so that an emitted trainer needs no library of it.
//
//===----------------------------------------------------------------------===//
#pragma once

#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include <fmt/format.h>
