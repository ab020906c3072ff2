//===- Memory.cpp - buffers of values and their offsets -------------------===//

#include "dialect/Colrow.h"
#include "passes/lower/Elementwise.h"
#include "passes/lower/Plan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace colrow {
namespace {

/// Whether a constant is printed as a number wherever it is read.
bool isPrinted(ConstantOp constant) {
  return isa<SplatElementsAttr>(constant.getValue()) &&
         llvm::all_of(constant->getUses(), [](OpOperand &use) {
           if (auto reshape = dyn_cast<ReshapeOp>(use.getOwner()))
             return llvm::all_of(reshape->getUsers(), isElementwise);
           return isElementwise(use.getOwner());
         });
}

class MemoryPlanner {
public:
  MemoryPlanner(FunctionPlan &plan, ProgramPlan &program) : plan(plan), program(program) {}

  LogicalResult run() {
    for (auto [i, step] : llvm::enumerate(plan.steps))
      for (Operation *op : step.ops)
        stepOf[op] = i;
    for (BlockArgument argument : plan.function.getArguments())
      assign(argument, newBuffer(argument, Segment::argument, argument.getArgNumber()));
    for (Operation &op : plan.function.getBody().front().without_terminator())
      placeResults(&op);
    placeFunctionResults();
    placeSegments();
    return success();
  }

private:
  int64_t end() const { return plan.steps.size(); }

  int64_t lastUse(Value value) {
    int64_t last = -1;
    for (Operation *user : value.getUsers()) {
      if (isa<func::ReturnOp>(user))
        return end();
      auto step = stepOf.find(user);
      last = std::max(last, step == stepOf.end() ? lastUse(user->getResult(0)) : step->second);
    }
    return last;
  }

  unsigned newBuffer(Value value, Segment segment = Segment::scratch, int64_t offset = 0) {
    Buffer buffer;
    buffer.segment = segment;
    buffer.offset = offset;
    buffer.bytes = tensorBytes(value.getType());
    buffer.value = value;
    Operation *op = value.getDefiningOp();
    buffer.first = op && stepOf.count(op) ? stepOf[op] : 0;
    buffer.last = buffer.first;
    plan.buffers.push_back(buffer);
    return plan.buffers.size() - 1;
  }

  void assign(Value value, unsigned buffer) {
    auto shape = cast<RankedTensorType>(value.getType()).getShape();
    SmallVector<int64_t> strides = rowMajorStrides(shape);
    if (std::optional<ArrayRef<int64_t>> order = writtenOrder(value)) {
      int64_t stride = 1;
      for (int64_t dim : llvm::reverse(*order)) {
        strides[dim] = stride;
        stride *= shape[dim];
      }
    }
    assign(value, {buffer, 0, strides});
  }
  void assign(Value value, Place place) {
    Buffer &buffer = plan.buffers[place.buffer];
    buffer.last = std::max(buffer.last, lastUse(value));
    plan.places[value] = std::move(place);
  }

  void placeResults(Operation *op) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      return placeConstant(constant);
    if (isView(op))
      return placeView(op);
    auto found = stepOf.find(op);
    assert(found != stepOf.end() && "what is no view has a step");
    Step &step = plan.steps[found->second];
    for (OpResult result : op->getResults()) {
      if (step.kind == Step::accumulate && result == step.ops[1]->getOperand(1))
        continue; // goes into the sum
      if (step.kind == Step::loop && !plan.isStored(result))
        continue;
      if (std::optional<Value> operand = sameMemory(result))
        assign(result, plan.place(*operand));
      else if (std::optional<unsigned> dying = reusable(result, step))
        assign(result, *dying);
      else
        assign(result, newBuffer(result));
    }
    if (step.kind == Step::call || step.kind == Step::accumulate)
      for (RankedTensorType type : workspaceTypes(op)) {
        Buffer buffer;
        buffer.bytes = tensorBytes(type);
        buffer.first = buffer.last = found->second;
        step.workspace.push_back(plan.buffers.size());
        plan.buffers.push_back(buffer);
      }
  }

  void placeConstant(ConstantOp constant) {
    if (constant->use_empty() || isPrinted(constant))
      return;
    // The same value may have several types after reshapes of splats; each has memory of its own.
    auto [entry, isNew] = program.constants.insert({constant.getValue(), program.constantBytes});
    if (isNew)
      program.constantBytes += llvm::alignTo(tensorBytes(constant.getType()), bufferAlignment);
    assign(constant, newBuffer(constant, Segment::constant, entry->second));
  }

  void placeView(Operation *op) {
    Value operand = op->getOperand(0), result = op->getResult(0);
    if (!plan.hasPlace(operand))
      return; // a number, or a variable of a loop
    Place place = plan.place(operand);
    auto shape = cast<RankedTensorType>(result.getType()).getShape();
    if (isa<ReshapeOp>(op)) {
      auto from = cast<RankedTensorType>(operand.getType()).getShape();
      place.strides = plan.isContiguous(operand) ? rowMajorStrides(shape)
                                                 : *takenApart(from, place.strides, shape);
    } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
      SmallVector<int64_t> strides;
      for (int64_t dim : transpose.getPermutation())
        strides.push_back(place.strides[dim]);
      place.strides = strides;
    } else if (auto slice = dyn_cast<SliceOp>(op)) {
      for (auto [d, stride] : llvm::enumerate(place.strides)) {
        place.offset += slice.getStarts()[d] * stride;
        stride *= slice.getSteps()[d];
      }
    } else {
      auto from = cast<RankedTensorType>(operand.getType()).getShape();
      SmallVector<int64_t> strides(shape.size(), 0);
      for (size_t d = 0; d < from.size(); ++d)
        strides[shape.size() - from.size() + d] = from[d] == 1 ? 0 : place.strides[d];
      place.strides = strides;
    }
    assign(result, place);
  }

  /// The operand whose memory a result takes over by what the operation is.
  std::optional<Value> sameMemory(OpResult result) {
    Operation *op = result.getOwner();
    if (auto mark = op->getAttrOfType<IntegerAttr>(inPlaceAttrName))
      return op->getOperand(mark.getInt());
    if (auto update = dyn_cast<AdamWOp>(op)) {
      Value operands[] = {update.getParameter(), update.getFirst(), update.getSecond()};
      return operands[result.getResultNumber()];
    }
    if (func::FuncOp callee = getCallee(op))
      if (auto mark = callee.getResultAttrOfType<IntegerAttr>(result.getResultNumber(),
                                                              inPlaceAttrName))
        return op->getOperand(mark.getInt());
    return {};
  }

  /// Operands that the kernel of an operation may overwrite with its first result.
  static SmallVector<unsigned> overwritable(Operation *op) {
    if (isa<CommAllReduceOp, SoftmaxOp, DropoutOp, MaskPaddingOp, SoftmaxGradOp, LayerNormGradOp,
            RmsNormGradOp>(op))
      return {0};
    if (isa<CrossEntropyGradOp>(op))
      return {1};
    return {};
  }

  bool isDying(Value operand, Value result, int64_t step) {
    if (!plan.hasPlace(operand))
      return false;
    const Place &place = plan.place(operand);
    const Buffer &buffer = plan.buffers[place.buffer];
    return buffer.segment == Segment::scratch && buffer.last <= step && buffer.value &&
           place.offset == 0 && plan.isContiguous(operand) &&
           buffer.bytes == tensorBytes(operand.getType()) &&
           buffer.bytes == tensorBytes(result.getType()) &&
           cast<RankedTensorType>(operand.getType()).getElementType() ==
               cast<RankedTensorType>(result.getType()).getElementType();
  }

  /// A buffer that the step is the last to read and may overwrite with this result.
  std::optional<unsigned> reusable(OpResult result, const Step &step) {
    int64_t index = stepOf[result.getOwner()];
    if (step.kind == Step::loop) {
      // Every read of the buffer in this loop has to be at the element that is written.
      for (Operation *op : step.ops)
        for (Value operand : op->getOperands()) {
          if (!isDying(operand, result, index))
            continue;
          unsigned buffer = plan.place(operand).buffer;
          bool elementwise = llvm::all_of(step.ops, [&](Operation *other) {
            return llvm::all_of(other->getOperands(), [&](Value read) {
              return !plan.hasPlace(read) || plan.place(read).buffer != buffer ||
                     isDying(read, result, index);
            });
          });
          if (elementwise && plan.buffers[buffer].first < index &&
              taken.insert({index, buffer}).second)
            return buffer;
        }
      return {};
    }
    if (result.getResultNumber() != 0)
      return {};
    Operation *op = result.getOwner();
    for (unsigned number : overwritable(op)) {
      Value operand = op->getOperand(number);
      if (!isDying(operand, result, index))
        continue;
      unsigned buffer = plan.place(operand).buffer;
      bool once = llvm::count_if(op->getOperands(), [&](Value other) {
                    return plan.hasPlace(other) && plan.place(other).buffer == buffer;
                  }) == 1;
      if (once)
        return buffer;
    }
    return {};
  }

  void placeFunctionResults() {
    func::FuncOp function = plan.function;
    Operation *terminator = function.getBody().front().getTerminator();
    int64_t outputOffset = 0;
    DenseSet<unsigned> claimed;
    for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
      StringRef role = getResultRole(function, i);
      if (!plan.outlined && (role == "loss" || role == "metric")) {
        if (plan.hasPlace(value)) {
          plan.resultBuffers.push_back(plan.place(value).buffer);
        } else { // a number
          plan.resultBuffers.push_back(newBuffer(value));
          copyToResult(value, i);
        }
        continue;
      }
      std::optional<unsigned> tied = getTiedArgument(function, i);
      if (auto mark = function.getResultAttrOfType<IntegerAttr>(i, inPlaceAttrName))
        tied = mark.getInt();
      Segment segment = plan.outlined ? Segment::result : Segment::output;
      int64_t offset = plan.outlined ? i : outputOffset;
      if (tied) {
        plan.resultBuffers.push_back(plan.place(function.getArgument(*tied)).buffer);
      } else if (canBecomeResult(value) && claimed.insert(plan.place(value).buffer).second) {
        Buffer &buffer = plan.buffers[plan.place(value).buffer];
        buffer.segment = segment;
        buffer.offset = offset;
        plan.resultBuffers.push_back(plan.place(value).buffer);
      } else {
        plan.resultBuffers.push_back(newBuffer(value, segment, offset));
      }
      if (segment == Segment::output && !tied)
        outputOffset += llvm::alignTo(tensorBytes(value.getType()), bufferAlignment);
      if (!plan.hasPlace(value) || plan.place(value).buffer != plan.resultBuffers.back())
        copyToResult(value, i);
    }
    plan.outputBytes = outputOffset;
  }

  void copyToResult(Value value, unsigned result) {
    Step step{Step::copy};
    step.source = value;
    step.result = result;
    plan.steps.push_back(step);
  }

  bool canBecomeResult(Value value) {
    if (!plan.hasPlace(value))
      return false;
    const Buffer &buffer = plan.buffers[plan.place(value).buffer];
    return buffer.segment == Segment::scratch && plan.place(value).offset == 0 &&
           buffer.bytes == tensorBytes(value.getType()) && plan.isContiguous(value);
  }

  void placeSegments() {
    int64_t firstBackward = end();
    for (auto [i, step] : llvm::enumerate(plan.steps))
      if (step.backward) {
        firstBackward = i;
        break;
      }
    if (!plan.outlined)
      for (Buffer &buffer : plan.buffers)
        if (buffer.segment == Segment::scratch && buffer.first < firstBackward &&
            buffer.last >= firstBackward && buffer.last < end())
          buffer.segment = Segment::activation;
    plan.scratchBytes = pack(Segment::scratch, plan.scratchBegin) - plan.scratchBegin;
    plan.activationBytes = pack(Segment::activation, 0);
  }

  /// Offsets from `begin` on: largest buffers first, each at the lowest place that is free while it
  /// is alive. Returns the end of the segment.
  int64_t pack(Segment segment, int64_t begin) {
    SmallVector<Buffer *> order, placed;
    for (Buffer &buffer : plan.buffers)
      if (buffer.segment == segment)
        order.push_back(&buffer);
    llvm::stable_sort(order, [](Buffer *a, Buffer *b) { return a->bytes > b->bytes; });
    int64_t end = begin;
    for (Buffer *buffer : order) {
      buffer->offset = begin;
      // `placed` is sorted by offset, so one pass finds the first gap.
      for (Buffer *other : placed)
        if (other->first <= buffer->last && buffer->first <= other->last &&
            other->offset < buffer->offset + buffer->bytes &&
            buffer->offset < other->offset + other->bytes)
          buffer->offset = llvm::alignTo(other->offset + other->bytes, bufferAlignment);
      end = std::max<int64_t>(end, llvm::alignTo(buffer->offset + buffer->bytes, bufferAlignment));
      placed.insert(llvm::upper_bound(placed, buffer, [](Buffer *a, Buffer *b) {
        return a->offset < b->offset;
      }), buffer);
    }
    return end;
  }

  FunctionPlan &plan;
  ProgramPlan &program;
  DenseMap<Operation *, int64_t> stepOf;
  DenseSet<std::pair<int64_t, unsigned>> taken; ///< buffers a loop overwrites with one result
};

} // namespace

LogicalResult planMemory(FunctionPlan &plan, ProgramPlan &program) {
  return MemoryPlanner(plan, program).run();
}

} // namespace colrow
