//===- MutationTest.cpp - damaged exports under sanitizers -----------------===//
//
// Real exports with changes at random, of bytes and of what they mean: each is imported or refused
// with a diagnostic. This program is built with AddressSanitizer and UBSan, and so is all code in
// it that sees what is in a file. What fails is named by the model and the seed of its changes.
//
//===----------------------------------------------------------------------===//

#include "TestModels.h"
#include "colrow/Error.h"
#include "frontend/onnx/Import.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <google/protobuf/message.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>

using namespace colrow;
using namespace colrow::testing;
namespace pb = google::protobuf;
namespace fs = std::filesystem;

#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
constexpr bool isSanitized = true;
#else // the sanitizers' runtime is not installed
static void __sanitizer_set_death_callback(void (*)()) {}
constexpr bool isSanitized = false;
#endif

// LLVM and protobuf are as Debian built them: containers that they change look overflown.
extern "C" const char *__asan_default_options() {
  return "detect_container_overflow=0:detect_leaks=0:max_allocation_size_mb=2048:"
         "hard_rss_limit_mb=4096";
}

namespace {

int cases() { // of each model
  const char *full = std::getenv("COLROW_FULL");
  return full && *full == '1' ? 1000 : 100;
}

/// What is being tried, for messages of a process that ends in it.
char current[160];

void tellCurrent() { std::fprintf(stderr, "while importing %s\n", current); }

void dieOfSignal(int number) {
  tellCurrent();
  std::fprintf(stderr, "%s\n", number == SIGALRM ? "did not end within 60 s" : "aborted");
  std::_Exit(1);
}

class Mutator {
public:
  Mutator(const std::string &text, unsigned seed) : text(text), random(seed) {}

  std::string run() {
    unsigned changes = 1 + pick(3);
    onnx::ModelProto model;
    model.ParseFromString(text);
    bool structural = pick(3) > 0;
    if (structural) {
      collectNames(model.graph());
      for (unsigned i = 0; i < changes; ++i)
        changeMeaning(model);
      return model.SerializeAsString();
    }
    std::string bytes = text;
    for (unsigned i = 0; i < changes; ++i)
      changeBytes(bytes);
    return bytes;
  }

private:
  size_t pick(size_t count) { return random() % count; }

  /// A byte that is not in the middle of weights, where a change is another valid weight.
  size_t place(const std::string &bytes) {
    for (;;) {
      size_t at = pick(bytes.size());
      size_t printable = 0;
      for (size_t i = at; i < std::min(bytes.size(), at + 24); ++i)
        printable += bytes[i] >= 32 && bytes[i] < 127;
      if (printable > 8 || pick(50) == 0)
        return at;
    }
  }

  void changeBytes(std::string &bytes) {
    size_t at = place(bytes);
    switch (pick(5)) {
    case 0:
      bytes[at] = char(bytes[at] ^ 1 << pick(8));
      break;
    case 1:
      bytes[at] = char(random());
      break;
    case 2: {
      size_t count = 1 + pick(4);
      bytes.insert(at, count, char(random()));
      break;
    }
    case 3:
      bytes.erase(at, 1 + pick(4));
      break;
    default: // a varint that does not end, or that is huge
      bytes.replace(at, 1, std::string(1 + pick(10), '\xff'));
      break;
    }
  }

  void collectNames(const onnx::GraphProto &graph) {
    for (const onnx::NodeProto &node : graph.node()) {
      names.insert(names.end(), node.input().begin(), node.input().end());
      names.insert(names.end(), node.output().begin(), node.output().end());
      names.push_back(node.op_type());
    }
    for (const onnx::TensorProto &tensor : graph.initializer())
      names.push_back(tensor.name());
  }

  /// A message to change: mostly a node or an initializer, or something in one.
  pb::Message *choose(onnx::ModelProto &model) {
    onnx::GraphProto &graph = *model.mutable_graph();
    size_t kind = pick(10);
    if (kind < 5 && graph.node_size())
      return descend(graph.mutable_node(int(pick(size_t(graph.node_size())))), 2);
    if (kind < 8 && graph.initializer_size())
      return descend(graph.mutable_initializer(int(pick(size_t(graph.initializer_size())))), 2);
    return descend(&model, 6);
  }

  /// A message somewhere below, or with a chance of one in `stops` at every level this one.
  pb::Message *descend(pb::Message *message, size_t stops) {
    for (;;) {
      std::vector<pb::Message *> below;
      std::vector<const pb::FieldDescriptor *> fields;
      message->GetReflection()->ListFields(*message, &fields);
      for (const pb::FieldDescriptor *field : fields) {
        if (field->cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE)
          continue;
        if (!field->is_repeated()) {
          below.push_back(message->GetReflection()->MutableMessage(message, field));
          continue;
        }
        int count = message->GetReflection()->FieldSize(*message, field);
        below.push_back(message->GetReflection()->MutableRepeatedMessage(message, field,
                                                                         int(pick(size_t(count)))));
      }
      if (below.empty() || pick(stops) == 0)
        return message;
      message = below[pick(below.size())];
    }
  }

  int64_t extreme() {
    const int64_t values[] = {0,
                              -1,
                              1,
                              2,
                              7,
                              int64_t(1) << 31,
                              int64_t(1) << 32,
                              int64_t(1) << 40,
                              (int64_t(1) << 62) + 1,
                              std::numeric_limits<int64_t>::max(),
                              std::numeric_limits<int64_t>::min(),
                              -(int64_t(1) << 31)};
    return values[pick(std::size(values))];
  }

  std::string otherText(const std::string &old) {
    switch (pick(5)) {
    case 0:
      return "";
    case 1:
      return std::to_string(extreme()); // an offset or a length of external data
    case 2:
      return old.substr(0, pick(old.size() + 1)) + char(random()) + old;
    default:
      return names[pick(names.size())];
    }
  }

  void changeMeaning(onnx::ModelProto &model) {
    pb::Message *message = choose(model);
    const pb::Reflection *reflection = message->GetReflection();
    std::vector<const pb::FieldDescriptor *> fields;
    reflection->ListFields(*message, &fields);
    if (fields.empty())
      return;
    const pb::FieldDescriptor *field = fields[pick(fields.size())];
    if (pick(6) == 0)
      return reflection->ClearField(message, field);
    if (field->is_repeated() && pick(2)) {
      int count = reflection->FieldSize(*message, field);
      int i = int(pick(size_t(count)));
      if (pick(2))
        reflection->SwapElements(message, field, i, int(pick(size_t(count))));
      else if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE && pick(2))
        reflection->AddMessage(message, field)
            ->CopyFrom(reflection->GetRepeatedMessage(*message, field, i));
      else
        reflection->RemoveLast(message, field);
      return;
    }
    change(message, field);
  }

  void change(pb::Message *message, const pb::FieldDescriptor *field) {
    const pb::Reflection *r = message->GetReflection();
    bool repeated = field->is_repeated();
    int i = repeated ? int(pick(size_t(r->FieldSize(*message, field)))) : 0;
    using F = pb::FieldDescriptor;
    switch (field->cpp_type()) {
    case F::CPPTYPE_INT32: {
      auto value = int32_t(pick(2) ? int64_t(pick(25)) : extreme());
      return repeated ? r->SetRepeatedInt32(message, field, i, value)
                      : r->SetInt32(message, field, value);
    }
    case F::CPPTYPE_INT64:
      return repeated ? r->SetRepeatedInt64(message, field, i, extreme())
                      : r->SetInt64(message, field, extreme());
    case F::CPPTYPE_FLOAT: {
      const float values[] = {0, -1, 1e30f, std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN()};
      float value = values[pick(5)];
      return repeated ? r->SetRepeatedFloat(message, field, i, value)
                      : r->SetFloat(message, field, value);
    }
    case F::CPPTYPE_ENUM:
      return repeated ? r->SetRepeatedEnumValue(message, field, i, int(pick(12)))
                      : r->SetEnumValue(message, field, int(pick(12)));
    case F::CPPTYPE_STRING: {
      std::string old =
          repeated ? r->GetRepeatedString(*message, field, i) : r->GetString(*message, field);
      std::string text = otherText(old.size() > 200 ? old.substr(0, 200) : old);
      return repeated ? r->SetRepeatedString(message, field, i, text)
                      : r->SetString(message, field, text);
    }
    default:
      return;
    }
  }

  const std::string &text;
  std::mt19937 random;
  std::vector<std::string> names;
};

/// Whether it was imported; otherwise it was refused in words.
bool import(const fs::path &path) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string refusal;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      refusal += diagnostic.str();
    return mlir::success();
  });
  ImportOptions options;
  options.batch = 2;
  options.sequence = 8;
  if (mlir::succeeded(importOnnx(context, path, options)))
    return true;
  EXPECT_NE(refusal, "") << current;
  return false;
}

class Mutation : public ::testing::TestWithParam<const char *> {};

TEST_P(Mutation, IsImportedOrRefused) {
  if (!isSanitized)
    GTEST_SKIP() << "built without sanitizers: their runtime was not found (libclang-rt-22-dev)";
  std::string name = GetParam();
  ScratchFolder folder;
  std::string text = readText(realModel(name));
  fs::path data = realModel(name).string() + ".data";
  if (fs::exists(data))
    fs::copy_file(data, folder / "model.onnx.data");
  __sanitizer_set_death_callback(tellCurrent);
  std::signal(SIGABRT, dieOfSignal);
  std::signal(SIGALRM, dieOfSignal);
  int imported = 0;
  for (int i = 0; i < cases(); ++i) {
    std::snprintf(current, sizeof(current), "%s, changed with seed %d", name.c_str(), i);
    writeText(folder / "model.onnx", Mutator(text, unsigned(i)).run());
    alarm(60);
    imported += import(folder / "model.onnx");
  }
  alarm(0);
  RecordProperty("imported", imported);
  // Changes neither all break the file at once nor all leave it as good as it was.
  EXPECT_GT(imported, cases() / 20);
  EXPECT_LT(imported, cases() * 19 / 20);
}

INSTANTIATE_TEST_SUITE_P(Exports, Mutation,
                         ::testing::Values("gpt2-tiny", "gpt2-tiny-dynamo", "gpt2-tiny-train",
                                           "gpt2-tiny-loss-dynamo", "gpt2-fresh-dynamo"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace
