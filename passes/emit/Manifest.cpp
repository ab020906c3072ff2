//===- Manifest.cpp - manifest.json ---------------------------------------===//
//
//   model        the file that was compiled
//   grid         ranks by axis
//   flops        of matrix products in one call of forward_backward and of evaluate, all ranks
//   loop_bytes   of operands and results of the generated loops in one call of forward_backward and
//                of update, one rank, each operand counted once a loop
//   parameters   name (torch's), onnx (values of the file that hold it; none: created again), shape
//                as stored without padding, transposed (of torch's), layout, rule and because (see
//                colrow-shard), bytes_per_rank with padding, tied_to (torch's other names)
//   collectives  one for each call at run time: kind, axes, payload_bytes, wire_bytes_per_rank,
//                phase (init, forward, backward, update, evaluate), layer (number, or null outside
//                of repeated structure), because
//   segments     bytes that one rank allocates, by use
//   on_first_use the segments that are allocated where they are first used: training without
//                evaluation needs none of them
//
// test/tools/colrow/manifest.test holds it against the emitted source.
//
//===----------------------------------------------------------------------===//

#include "passes/emit/Program.h"

#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

using namespace mlir;
using nlohmann::ordered_json;

namespace colrow {
namespace {

std::string layoutText(RankedTensorType type) {
  std::string text;
  if (LayoutAttr layout = getLayout(type))
    for (const AxisState &state : layout.getStates())
      text += (text.empty() ? "" : ", ") + state.axis.str() + " = " + state.str();
  return text.empty() ? "invariant" : text;
}

/// Bytes that one rank sends for a collective over n ranks in which `whole` bytes are combined:
/// what ring algorithms move (Patarasuk and Yuan, 2009).
double wireBytes(StringRef kind, double whole, double n) {
  return kind == "all_reduce" ? 2 * whole * (n - 1) / n : whole * (n - 1) / n;
}

class ManifestWriter {
public:
  ManifestWriter(ModuleOp module, const ProgramModel &model, const ProgramPlan &plan,
                 const Segments &segments)
      : module(module), grid(getGrid(module)), model(model), plan(plan), segments(segments) {}

  std::string run() {
    ordered_json json;
    json["model"] = model.info.model;
    json["grid"] = ordered_json::object();
    for (const GridAxis &axis : model.info.grid)
      json["grid"][axis.name] = axis.size;
    ordered_json flops;
    for (const char *name : {"forward_backward", "evaluate"})
      if (auto function = module.lookupSymbol<func::FuncOp>(name))
        flops[name] = productFlops(function) * (grid ? grid.numRanks() : 1);
    json["flops"] = flops;
    for (const char *name : {"forward_backward", "update"})
      if (const FunctionPlan *function = plan.lookup(name))
        json["loop_bytes"][name] = loopBytes(*function);
    json["parameters"] = parameters();
    json["collectives"] = ordered_json::array();
    for (const char *name : {"forward_backward", "update", "evaluate"})
      if (const FunctionPlan *function = plan.lookup(name))
        addCollectives(*function, name, nullptr, json["collectives"]);
    json["segments"] = segmentBytes();
    json["on_first_use"] = onFirstUse();
    return json.dump(2) + "\n";
  }

private:
  ordered_json parameters() {
    ordered_json list = ordered_json::array();
    for (auto [info, type, attributes] :
         llvm::zip(model.info.parameters, model.parameterTypes, model.parameterAttributes)) {
      ordered_json parameter;
      parameter["name"] = info.name;
      parameter["onnx"] = ordered_json::array();
      if (auto names = attributes.getAs<ArrayAttr>("colrow.onnx"))
        for (Attribute name : names)
          parameter["onnx"].push_back(cast<StringAttr>(name).str());
      parameter["shape"] = info.valid;
      parameter["transposed"] = info.transposed;
      parameter["layout"] = layoutText(type);
      auto text = [&, each = attributes](StringRef name, const char *unsharded) {
        auto said = each.getAs<StringAttr>(name);
        return said ? said.str() : std::string(unsharded);
      };
      parameter["rule"] = text("colrow.rule", "whole");
      parameter["because"] = text("colrow.because", "there is one rank");
      parameter["bytes_per_rank"] = tensorBytes(getLocalType(type, grid));
      parameter["tied_to"] = info.aliases;
      list.push_back(parameter);
    }
    return list;
  }

  /// The two moments are the optimizer's.
  static std::string keyOf(const std::string &segment) {
    bool isMoment = segment == "firstMoments" || segment == "secondMoments";
    return isMoment ? "optimizer" : segment == "wholeOutputs" ? "whole_outputs" : segment;
  }

  ordered_json segmentBytes() {
    ordered_json json = ordered_json::object();
    for (const SegmentSize &segment : segments) {
      std::string key = keyOf(segment.name);
      json[key] = json.value(key, int64_t(0)) + segment.bytes;
    }
    return json;
  }

  ordered_json onFirstUse() {
    ordered_json json = ordered_json::array();
    for (const SegmentSize &segment : segments)
      if (segment.onFirstUse)
        json.push_back(keyOf(segment.name));
    return json;
  }

  int64_t loopBytes(const FunctionPlan &function) {
    int64_t bytes = 0;
    for (const Step &step : function.steps) {
      if (step.kind == Step::loop)
        bytes += loopBytes(function, step);
      else if (step.kind == Step::copy)
        bytes += 2 * tensorBytes(step.source.getType());
      else
        for (Operation *op : step.ops)
          if (func::FuncOp callee = getCallee(op))
            bytes += loopBytes(*plan.lookup(callee.getSymName()));
    }
    return bytes;
  }

  static int64_t loopBytes(const FunctionPlan &function, const Step &step) {
    int64_t bytes = 0;
    // Reads of the same memory with the same strides are one.
    std::set<std::tuple<unsigned, int64_t, std::vector<int64_t>>> reads;
    auto add = [&](Value value, bool isRead) {
      auto type = cast<RankedTensorType>(value.getType());
      const Place &place = function.place(value);
      std::vector<int64_t> strides(place.strides.begin(), place.strides.end());
      if (isRead && !reads.insert({place.buffer, place.offset, strides}).second)
        return;
      int64_t elements = 1; // without those that a broadcast repeats
      for (auto [size, stride] : llvm::zip(type.getShape(), place.strides))
        elements *= stride == 0 ? 1 : size;
      bytes += elements * elementBytes(type.getElementType());
    };
    for (Operation *op : step.ops) {
      for (Value operand : op->getOperands()) {
        Value source = operand;
        while (auto reshape = source.getDefiningOp<ReshapeOp>())
          source = reshape->getOperand(0);
        if (function.hasPlace(operand) && !llvm::is_contained(step.ops, source.getDefiningOp()))
          add(operand, /*isRead=*/true);
      }
      if (function.isStored(op->getResult(0)))
        add(op->getResult(0), /*isRead=*/false);
    }
    return bytes;
  }

  double ranksOver(ArrayAttr axes) {
    double ranks = 1;
    for (Attribute axis : axes)
      ranks *= grid.sizeOf(cast<StringAttr>(axis).getValue());
    return ranks;
  }

  void add(ordered_json &list, Operation *op, StringRef kind, ArrayAttr axes, double payload,
           StringRef phase, const ordered_json &layer, const std::string &because) {
    ordered_json entry;
    entry["kind"] = kind.str();
    for (Attribute axis : axes)
      entry["axes"].push_back(cast<StringAttr>(axis).str());
    entry["payload_bytes"] = static_cast<int64_t>(payload);
    entry["wire_bytes_per_rank"] = static_cast<int64_t>(wireBytes(kind, payload, ranksOver(axes)));
    entry["phase"] = phase.str();
    entry["layer"] = layer;
    auto said = op->getAttrOfType<StringAttr>("colrow.because");
    entry["because"] = said ? said.str() : because;
    list.push_back(entry);
  }

  void addCollectives(const FunctionPlan &function, StringRef name, const ordered_json &layer,
                      ordered_json &list) {
    for (const Step &step : function.steps)
      for (Operation *op : step.ops) {
        StringRef phase = name;
        if (name == "forward_backward")
          phase = step.backward ? "backward" : "forward";
        if (func::FuncOp callee = getCallee(op))
          addCollectives(*plan.lookup(callee.getSymName()), phase,
                         op->getAttrOfType<IntegerAttr>("colrow.instance").getInt(), list);
        else
          addCollective(op, phase, layer, list);
      }
  }

  static std::string reasonOf(Operation *op) {
    std::string name = getUserName(op->getOperand(0), "a value");
    auto from = cast<RankedTensorType>(op->getAttrOfType<TypeAttr>("from").getValue());
    if (isa<CommAllReduceOp>(op))
      return fmt::format("'{}' is a {} of the ranks' parts", name,
                         llvm::any_of(getLayout(from).getStates(),
                                      [](const AxisState &state) { return state.isPartialMax(); })
                             ? "maximum"
                             : "sum");
    return fmt::format("'{}' is {} on the ranks", name, layoutText(from));
  }

  void addCollective(Operation *op, StringRef phase, const ordered_json &layer,
                     ordered_json &list) {
    auto axes = op->getAttrOfType<ArrayAttr>("axes");
    StringRef kind = op->getName().stripDialect();
    if (isa<CommAllReduceOp, CommAllGatherOp, CommReduceScatterOp, CommAllToAllOp>(op)) {
      kind.consume_front("comm.");
      Value value = isa<CommAllGatherOp>(op) ? op->getResult(0) : op->getOperand(0);
      add(list, op, kind, axes, tensorBytes(value.getType()), phase, layer,
          reasonOf(op));
      return;
    }
    // Losses over a cut vocabulary: the largest logit of a token, then the sum of exponentials, the
    // label's logit and, for label smoothing, the sum of logits (runtime/include/colrow/KernelsLoss.h).
    if (!isa<CrossEntropyOp, CrossEntropyWithStatisticsOp, LinearCrossEntropyOp,
             LinearCrossEntropyWithGradOp>(op))
      return;
    auto global = op->getAttrOfType<TypeAttr>(ColrowDialect::globalAttrName);
    LayoutAttr layout = global ? getLayout(global.getValue()) : LayoutAttr();
    SmallVector<Attribute> cut;
    for (const AxisState &state : layout ? layout.getStates() : ArrayRef<AxisState>())
      if (state.isShard())
        cut.push_back(state.axis);
    if (cut.empty())
      return;
    bool linear = isa<LinearCrossEntropyOp, LinearCrossEntropyWithGradOp>(op);
    Value labels = op->getOperand(linear ? 2 : 1);
    double tokens = cast<RankedTensorType>(labels.getType()).getNumElements();
    auto over = ArrayAttr::get(op->getContext(), cut);
    add(list, op, "all_reduce", over, 4 * tokens, phase, layer,
        "the largest logit of each token, for the loss over a cut vocabulary");
    auto smoothing = op->getAttrOfType<FloatAttr>("label_smoothing");
    bool isSmoothed = smoothing && smoothing.getValueAsDouble() > 0;
    add(list, op, "all_reduce", over, (isSmoothed ? 12 : 8) * tokens, phase, layer,
        isSmoothed ? "sums of exponentials and of logits, and logit of the label of each token"
                   : "sum of exponentials and logit of the label of each token");
  }

  ModuleOp module;
  GridAttr grid;
  const ProgramModel &model;
  const ProgramPlan &plan;
  const Segments &segments;
};

} // namespace

std::string emitManifest(ModuleOp module, const ProgramModel &model, const ProgramPlan &plan,
                         const Segments &segments) {
  return ManifestWriter(module, model, plan, segments).run();
}

} // namespace colrow
