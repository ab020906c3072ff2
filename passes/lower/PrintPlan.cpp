//===- PrintPlan.cpp - steps and memory, for people and tests -------------===//

#include "dialect/Colrow.h"
#include "passes/lower/Passes.h"
#include "passes/lower/Plan.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_PRINTPLAN
#include "passes/lower/Passes.h.inc"

namespace {

StringRef nameOf(Segment segment) {
  switch (segment) {
  case Segment::argument:
    return "argument";
  case Segment::result:
    return "result";
  case Segment::constant:
    return "constant";
  case Segment::output:
    return "output";
  case Segment::activation:
    return "activation";
  case Segment::scratch:
    return "scratch";
  }
  llvm_unreachable("a segment without a name");
}

StringRef nameOf(Step::Kind kind) {
  switch (kind) {
  case Step::call:
    return "call";
  case Step::loop:
    return "loop";
  case Step::accumulate:
    return "accumulate";
  case Step::copy:
    return "copy";
  }
  llvm_unreachable("a kind of step without a name");
}

class PrintPlan : public impl::PrintPlanBase<PrintPlan> {
public:
  void runOnOperation() override {
    FailureOr<ProgramPlan> program = ProgramPlan::create(getOperation());
    if (failed(program))
      return signalPassFailure();
    for (const auto &plan : program->functions)
      print(*plan);
    llvm::outs() << "bytes: scratch " << program->scratchBytes << ", activation "
                 << program->activationBytes << ", output " << program->outputBytes
                 << ", constant " << program->constantBytes << "\n";
  }

private:
  static void print(const FunctionPlan &plan) {
    llvm::raw_ostream &out = llvm::outs();
    func::FuncOp function = plan.function;
    out << "@" << function.getSymName() << "\n";
    for (const Step &step : plan.steps) {
      out << "  " << nameOf(step.kind);
      if (step.kind == Step::copy) {
        out << " result " << step.result << ": " << nameOf(plan.resultBuffer(step.result).segment)
            << " + " << plan.resultBuffer(step.result).offset << "\n";
        continue;
      }
      for (Operation *op : step.ops)
        out << " " << op->getName().stripDialect();
      if (step.kind == Step::loop)
        out << " over [" << llvm::interleaved(step.shape) << "]";
      StringRef separator = ":";
      for (Operation *op : step.ops)
        for (Value result : op->getResults())
          if (plan.hasPlace(result)) {
            const Buffer &buffer = plan.bufferOf(result);
            out << separator << " " << nameOf(buffer.segment) << " + " << buffer.offset;
            separator = ",";
          }
      out << "\n";
    }
  }
};

} // namespace
} // namespace colrow
