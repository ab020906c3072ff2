//===- Profile.h - where a rank's time goes --------------------------------===//
//
// Kernels and collectives open a ProfileScope. It does nothing (one branch) unless the thread that
// runs the rank has attached a Profile:
//
//   Profile profile;
//   ProfileAttachment attachment(profile);
//   program->forwardBackward(scalars);
//   profile.entries();
//
// The profile of a thread is the only state that kernels find outside of their arguments: they
// report to it and never read it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace colrow {

/// Calls, time and work, by what was called.
class Profile {
public:
  struct Entry {
    int64_t calls = 0;
    double seconds = 0; ///< of the calls, with what they call
    double flops = 0;   ///< of matrix products that were computed, 2 for each multiplication
    double bytes = 0;   ///< of operands and results, each read or written once
  };

  /// By name: of a kernel or collective; of a product with its equation and shapes.
  const std::map<std::string, Entry> &entries() const { return byName; }

private:
  friend class ProfileScope;
  std::map<std::string, Entry> byName;
  bool isInside = false; ///< a scope is open; scopes inside it are part of it
  double innerFlops = 0; ///< of products inside the open scope
};

/// Makes a profile that of the calling thread, until the end of the enclosing C++ scope.
class ProfileAttachment {
public:
  explicit ProfileAttachment(Profile &profile) { ofThisThread() = &profile; }
  ~ProfileAttachment() { ofThisThread() = nullptr; }
  ProfileAttachment(const ProfileAttachment &) = delete;
  ProfileAttachment &operator=(const ProfileAttachment &) = delete;

  static Profile *&ofThisThread() {
    static thread_local Profile *profile = nullptr;
    return profile;
  }
};

/// From here to the end of the enclosing C++ scope is one call of `name`, if this thread is
/// profiled. Inside another scope it is part of that one: its time is not counted again, its
/// products are that call's.
class ProfileScope {
public:
  /// `tensors` (views; absent ones count nothing) are what the call reads or writes. What it reads
  /// and writes is given twice.
  template <typename... Tensors> explicit ProfileScope(const char *name, const Tensors &...tensors)
      : name(name), profile(ProfileAttachment::ofThisThread()) {
    if (profile)
      open((0.0 + ... + bytesOf(tensors)));
  }
  ~ProfileScope() {
    if (profile)
      close();
  }
  ProfileScope(const ProfileScope &) = delete;
  ProfileScope &operator=(const ProfileScope &) = delete;

  /// Whether the thread is profiled, and whether this scope is in no other: for what is not free to
  /// find out.
  bool isActive() const { return profile != nullptr; }
  bool isOutermost() const { return isOuter; }

  void addBytes(double count) { bytes += count; }
  /// Only where the scope is active.
  void addFlops(double count) { profile->innerFlops += count; }
  /// What tells this call from others of its name.
  void describe(const std::string &text) { details = " " + text; }

private:
  template <typename Tensor> static double bytesOf(const Tensor &tensor) {
    return tensor.data ? double(tensor.numel()) * double(sizeof(*tensor.data)) : 0;
  }

  void open(double ofTensors) {
    isOuter = !profile->isInside;
    if (!isOuter)
      return;
    profile->isInside = true;
    profile->innerFlops = 0;
    bytes = ofTensors;
    begin = Clock::now();
  }

  void close() {
    if (!isOuter)
      return;
    profile->isInside = false;
    Profile::Entry &entry = profile->byName[name + details];
    ++entry.calls;
    entry.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    entry.flops += profile->innerFlops;
    entry.bytes += bytes;
  }

  using Clock = std::chrono::steady_clock;
  const char *name;
  Profile *profile;
  bool isOuter = false;
  std::string details;
  double bytes = 0;
  Clock::time_point begin;
};

} // namespace colrow
