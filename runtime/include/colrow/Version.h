//===- Version.h - the version all programs of the project print -----------===//
#pragma once

namespace colrow {

constexpr const char *versionText = "0.1.0";

} // namespace colrow
