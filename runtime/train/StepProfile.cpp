//===- StepProfile.cpp - where the time of a run's steps goes --------------===//

#include "StepProfile.h"

#include <nlohmann/json.hpp>
#include <sys/resource.h>

namespace colrow {

void StepProfile::beginStep() {
  if (!isWarm)
    return;
  attachment.emplace(profile);
  begin = Clock::now();
}

void StepProfile::endStep() {
  if (attachment) {
    seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    ++steps;
    attachment.reset();
  }
  isWarm = true;
}

void StepProfile::write() {
  nlohmann::ordered_json calls = nlohmann::ordered_json::array();
  for (const auto &[name, entry] : profile.entries())
    calls.push_back({{"name", name},
                     {"calls", entry.calls},
                     {"seconds", entry.seconds},
                     {"flops", entry.flops},
                     {"bytes", entry.bytes}});
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  nlohmann::ordered_json json = {{"steps", steps},
                                 {"seconds", seconds},
                                 {"peak_resident_bytes", int64_t(usage.ru_maxrss) * 1024},
                                 {"calls", calls}};
  file.write(json.dump(1) + "\n");
  file.commit();
}

} // namespace colrow
