//===- Trainer.cpp - emits, builds and runs a trainer ---------------------===//

#include "tools/colrow/Trainer.h"
#include "colrow/Error.h"
#include "colrow/File.h"
#include "colrow/Safetensors.h"
#include "passes/emit/Folder.h"
#include "tools/colrow/TemporaryFolder.h"
#include "tools/colrow/Weights.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SHA256.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

using namespace mlir;
namespace fs = std::filesystem;

namespace colrow {

using reference::Tensor;

static const char weightsFile[] = "weights.safetensors";

static void writeTrainer(Model &model, const ProgramFiles &files, const std::string &folder) {
  writeTrainerFolder(files, folder);
  if (hasWeights(model))
    writeWeights(model.parameters(), startingWeights(model, ""),
                 (fs::path(folder) / weightsFile).string());
}

void writeTrainer(Model &model, int64_t ranks, const std::string &folder) {
  writeTrainer(model, model.emit(ranks), folder);
}

/// Of everything a trainer is made from: options, model file, and data files by size and time.
static std::string hashOf(Model &model, int64_t ranks) {
  llvm::SHA256 hash;
  auto add = [&](const std::string &text) {
    hash.update(text);
    hash.update(StringRef("\0", 1));
  };
  const ModelOptions &options = model.options();
  add(COLROW_VERSION);
  add(std::to_string(ranks));
  add(fs::absolute(options.model).string());
  add(std::to_string(options.batch.value_or(0)));
  add(std::to_string(options.sequence.value_or(0)));
  for (const auto *texts : {&options.bindings, &options.parameters.tie, &options.parameters.untie,
                            &options.parameters.restoreBias, &options.layout}) {
    for (const std::string &text : *texts)
      add(text);
    add("");
  }
  add(options.objective);
  add(options.loss);
  add(options.logits);
  add(fmt::format("{} {}", options.labelSmoothing, options.zLoss));
  add(options.raise);
  add(options.requireSharded ? "sharded" : "");
  // A compiler or runtime that was built anew may make another program.
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, nullptr);
  std::vector<fs::path> files = model.file().files();
  files.push_back(self);
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  for (const fs::path &file : files) {
    std::error_code ignored;
    add(file.string());
    add(std::to_string(fs::file_size(file, ignored)));
    add(std::to_string(fs::last_write_time(file, ignored).time_since_epoch().count()));
  }
  return llvm::toHex(hash.final(), /*LowerCase=*/true).substr(0, 16);
}

static fs::path cacheFolder() {
  if (auto xdg = llvm::sys::Process::GetEnv("XDG_CACHE_HOME"); xdg && !xdg->empty())
    return fs::path(*xdg) / "colrow";
  SmallString<128> home;
  if (!llvm::sys::path::home_directory(home))
    throw Error("neither XDG_CACHE_HOME nor a home directory is set; compile into a folder of "
                "your own with 'colrow compile -o'");
  return fs::path(home.str().str()) / ".cache" / "colrow";
}

static const char buildingInfix[] = ".building.";

/// What builds that were killed have left: the process that the name ends in is gone.
static void removeAbandoned(const fs::path &cache) {
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(cache, ignored)) {
    std::string name = entry.path().filename().string();
    pid_t process = 0;
    if (StringRef(name).contains(buildingInfix) &&
        !StringRef(name).rsplit('.').second.getAsInteger(10, process) &&
        ::kill(process, 0) != 0 && errno == ESRCH)
      fs::remove_all(entry.path(), ignored);
  }
}

namespace {
/// Held by the process that builds a trainer; others wait for it, such as the ranks of an mpirun.
class BuildLock {
public:
  explicit BuildLock(fs::path file) : path(std::move(file)) {
    descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0)
      throw Error("cannot write '" + path.string() +
                  "': " + std::generic_category().message(errno));
    // A file system without locks does without: each process then builds for itself.
    while (::flock(descriptor, LOCK_EX) != 0 && errno == EINTR)
      ;
  }
  ~BuildLock() {
    std::error_code ignored;
    fs::remove(path, ignored); // whoever waits for it finds the trainer
    ::close(descriptor);
  }
  BuildLock(const BuildLock &) = delete;

private:
  fs::path path;
  int descriptor = -1;
};
} // namespace

std::string cachedTrainer(Model &model, int64_t ranks, const ManifestCheck &check) {
  fs::path folder = cacheFolder() / hashOf(model, ranks);
  auto isThere = [&] {
    if (!fs::exists(folder / "trainer"))
      return false;
    if (check)
      check(readTextFile((folder / "manifest.json").string()));
    return true;
  };
  if (isThere())
    return folder.string();
  // Built beside and renamed, so that a half-built one is never found.
  fs::path beside = folder, lock = folder;
  beside += buildingInfix + std::to_string(llvm::sys::Process::getProcessId());
  lock += ".lock";
  std::error_code code;
  fs::create_directories(beside.parent_path(), code);
  if (code)
    throw Error("cannot make the folder '" + beside.parent_path().string() +
                "': " + code.message());
  BuildLock held(lock);
  if (isThere())
    return folder.string();
  removeAbandoned(beside.parent_path());
  std::fprintf(stderr, "compiling '%s' for tp=%ld ...\n", model.options().model.c_str(),
               static_cast<long>(ranks));
  try {
    ProgramFiles files = model.emit(ranks);
    if (check)
      check(files.manifest);
    writeTrainer(model, files, beside.string());
    buildTrainer(beside.string());
  } catch (...) {
    fs::remove_all(beside, code);
    throw;
  }
  // CMake's own files name the folder they were made in; without them it can be built anew.
  fs::remove_all(beside / "build", code);
  fs::rename(beside, folder, code);
  if (code && !fs::exists(folder / "trainer"))
    throw Error("cannot rename '" + beside.string() + "': " + code.message());
  return folder.string();
}

void becomeTrainer(const std::string &folder, std::vector<std::string> arguments) {
  std::string program = (fs::path(folder) / "trainer").string();
  arguments.insert(arguments.begin(), program);
  std::vector<char *> words;
  for (std::string &argument : arguments)
    words.push_back(argument.data());
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  throw Error("cannot run '" + program + "': " + std::generic_category().message(errno));
}

/// Runs the trainer without its output; what it has to say against it goes to the file `errors`.
static int execute(const std::string &folder, std::vector<std::string> arguments,
                   const std::string &errors) {
  std::string program = (fs::path(folder) / "trainer").string();
  arguments.insert(arguments.begin(), program);
  SmallVector<StringRef> words(arguments.begin(), arguments.end());
  std::string message;
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(""), StringRef(errors)};
  int code = llvm::sys::ExecuteAndWait(program, words, std::nullopt, redirects, 0, 0, &message);
  if (code < 0)
    throw Error("cannot run '" + program + "': " + message);
  return code;
}

//===----------------------------------------------------------------------===//
// Replay
//===----------------------------------------------------------------------===//

static void writeBatches(const Batches &batches, const std::string &path) {
  SafetensorsWriter writer(path);
  for (const auto &[name, values] : batches)
    writer.declare("batch." + name, values.isFloat() ? TensorType::F32 : TensorType::I64,
                   values.shape());
  for (const auto &[name, values] : batches) {
    std::vector<uint8_t> bytes = values.toBytes();
    writer.write(bytes.data(), bytes.size());
  }
  writer.commit();
}

TrainingRun replayTraining(Model &model, int64_t ranks, const Batches &batches, int64_t steps,
                           const std::string &weights) {
  std::string folder = cachedTrainer(model, ranks);
  TemporaryFolder temporary;
  std::string in = (temporary.path / "batches.safetensors").string();
  std::string out = (temporary.path / "result.safetensors").string();
  std::string errors = (temporary.path / "errors").string();
  writeBatches(batches, in);
  std::vector<std::string> arguments{"replay", "--batches", in, "--out", out,
                                     "--steps", std::to_string(steps)};
  if (!weights.empty())
    arguments.insert(arguments.end(), {"--weights", resolveWeights(weights)});
  else if (!hasWeights(model))
    arguments.push_back("--init");
  if (execute(folder, arguments, errors) != 0) {
    auto text = llvm::MemoryBuffer::getFile(errors);
    StringRef what = text ? (*text)->getBuffer().trim() : StringRef("it ended without a word");
    what.consume_front("error: ");
    throw Error("the trainer at tp=" + std::to_string(ranks) + ": " + what.str());
  }
  SafetensorsFile file(out);
  TrainingRun run;
  for (const TensorEntry &tensor : file.tensors()) {
    StringRef name = tensor.name;
    std::vector<double> values = file.readDoubles(tensor);
    if (name == "losses")
      run.losses = values;
    else if (name == "grad_norms")
      run.norms = values;
    else if (name == "loss" || name == "grad_norm")
      continue;
    else if (name.consume_front("grad."))
      run.gradients[name.str()] = Tensor::floats(tensor.shape, values);
    else if (name.consume_front("final."))
      run.final[name.str()] = Tensor::floats(tensor.shape, values);
    else
      run.outputs[name.str()] = Tensor::floats(tensor.shape, values);
  }
  return run;
}

} // namespace colrow
