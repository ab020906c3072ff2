//===- Comm.cpp - collectives, and what ranks need to know of themselves --===//

#include "passes/emit/FunctionEmitter.h"

using namespace mlir;

namespace colrow {

std::string ProgramMembers::member(const std::string &type, const std::string &prefix,
                                   const std::string &initializer, const std::string &comment) {
  for (const Member &known : list)
    if (known.type == type && known.initializer == initializer)
      return known.name;
  std::string name = prefix;
  for (unsigned number = 2;
       llvm::any_of(list, [&](const Member &known) { return known.name == name; }); ++number)
    name = fmt::format("{}{}", prefix, number);
  list.push_back({type, name, initializer, comment});
  return name;
}

std::string ProgramMembers::communicator(ArrayAttr axes) {
  std::vector<std::string> names;
  for (Attribute axis : axes)
    names.push_back(quoted(cast<StringAttr>(axis).getValue()));
  std::string prefix = "over";
  for (Attribute axis : axes)
    prefix += "_" + identifier(cast<StringAttr>(axis).getValue());
  return member("Communicator &", camelBack(prefix),
                fmt::format("rank.over({{{}}})", fmt::join(names, ", ")), "");
}

std::string ProgramMembers::indexMap(RankedTensorType global, int64_t dim) {
  DimSlice slice = colrow::getSlices(global, grid)[dim];
  if (!slice.isCut())
    return member("const IndexMap ", "map", std::to_string(slice.size), "all of a dimension");
  return member("const IndexMap ", "map", fmt::format("localDim(rank, {})", dimSlice(slice)),
                "this rank's part of a dimension");
}

std::string ProgramMembers::vocabulary(RankedTensorType global, int64_t dim,
                                       const LossAttributes &loss) {
  SmallVector<Attribute> axes;
  if (LayoutAttr layout = getLayout(global))
    for (const AxisState &state : layout.getStates())
      if (state.isShard() && state.dim == dim)
        axes.push_back(state.axis);
  std::string map = indexMap(global, dim), ranks = "nullptr";
  if (!axes.empty())
    ranks = "&" + communicator(ArrayAttr::get(global.getContext(), axes));
  std::string terms;
  if (loss.labelSmoothing > 0 || loss.zLoss > 0)
    terms = fmt::format(", /*labelSmoothing=*/{}, /*zLoss=*/{}", loss.labelSmoothing, loss.zLoss);
  return member("const VocabularySlice ", "vocabulary",
                fmt::format("VocabularySlice{{{}, {}, {}, {}{}}}", map, loss.valid, ranks, loss.ignore,
                            terms),
                "this rank's part of the logits");
}

static std::string dimSlices(RankedTensorType global, GridAttr grid) {
  std::vector<std::string> dims;
  for (const DimSlice &slice : getSlices(global, grid))
    dims.push_back(dimSlice(slice));
  return fmt::format("{{{}}}", fmt::join(dims, ", "));
}

std::string ProgramMembers::slices(RankedTensorType global) {
  return member("const Slices ", "slices",
                fmt::format("LocalShape::of({}, rank.grid(), rank.index())",
                            dimSlices(global, grid)),
                "this rank's part of a tensor");
}

std::string ProgramMembers::exchange(ArrayAttr axes, RankedTensorType from, RankedTensorType to) {
  std::vector<std::string> names;
  for (Attribute axis : axes)
    names.push_back(quoted(cast<StringAttr>(axis).getValue()));
  return member("SliceExchange ", "exchange",
                fmt::format("rank, {{{}}}, {}, {}", fmt::join(names, ", "),
                            dimSlices(from, grid), dimSlices(to, grid)),
                "slices between ranks");
}

static std::string axisNames(ArrayAttr axes) {
  std::vector<std::string> names;
  for (Attribute axis : axes)
    names.push_back(cast<StringAttr>(axis).str());
  return fmt::format("{}", fmt::join(names, ", "));
}

bool emitComm(FunctionEmitter &e, Operation *op) {
  if (op->getName().stripDialect().starts_with("comm.") == false)
    return false;
  Value in = op->getOperand(0), out = op->getResult(0);
  auto axes = op->getAttrOfType<ArrayAttr>("axes");
  auto typeOf = [&](StringRef name) {
    return cast<RankedTensorType>(op->getAttrOfType<TypeAttr>(name).getValue());
  };
  RankedTensorType from = typeOf("from"), to = typeOf("to");
  if (isa<CommAllReduceOp>(op)) {
    auto state = getState(from, cast<StringAttr>(axes[0]));
    std::string type = e.elementType(out);
    if (e.plan.place(in).buffer != e.plan.place(out).buffer) {
      std::string source = e.view(in);
      e.line(fmt::format("copy<{}>(ctx, {}, {});", type, source, e.view(out)));
    }
    std::string target = e.pointer(out);
    e.line(fmt::format("{}.allReduce({}, {}{}); // g: {} over {}", e.members.communicator(axes),
                       target, cast<RankedTensorType>(out.getType()).getNumElements(),
                       state.isPartialMax() ? ", ReduceOp::max" : "",
                       state.isPartialMax() ? "maximum" : "sum", axisNames(axes)));
    return true;
  }
  StringRef method = isa<CommAllGatherOp>(op)       ? "allGather"
                     : isa<CommReduceScatterOp>(op) ? "reduceScatter"
                     : isa<CommAllToAllOp>(op)      ? "allToAll"
                     : isa<CommTakeShardOp>(op)     ? "takeShard"
                                                    : "place";
  std::string source = e.pointer(in);
  e.line(fmt::format("{}.{}({}, {});", e.members.exchange(axes, from, to), method.str(), source,
                     e.pointer(out)));
  return true;
}

} // namespace colrow
