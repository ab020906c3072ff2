#include "test/Execute/Block.h"

#include "test/Execute/SingleOp.h"

using namespace mlir;

namespace colrow::test {
namespace {

constexpr int64_t batch = 4, tokens = 6, hidden = 8, heads = 4, headSize = 2, vocabulary = 32;

class Builder {
public:
  Builder(ModuleOp module, GridAttr grid)
      : context(module.getContext()), grid(grid), outer(OpBuilder::atBlockEnd(module.getBody())),
        function(func::FuncOp::create(outer, module.getLoc(), "main",
                                      FunctionType::get(context, {}, {}))),
        b(start(function)) {}

  void build() {
    AxisState rows = state("dp", StateKind::shard, 0);
    Value ids = argument("input", "input_ids", {batch, tokens}, b.getI64Type(), {rows});
    Value labels = argument("input", "labels", {batch, tokens}, b.getI64Type(), {rows});
    Value count = argument("input", "colrow.count", {}, b.getF32Type(), {});
    Value table = parameter("wte", {vocabulary, hidden}, {cut(0)});
    Value positions = parameter("wpe", {tokens, hidden}, {});

    Value x = toWhole(b.create<TakeOp>(used(table), ids, 0, TypeAttr()));
    x = b.create<AddOp>(x, used(positions));
    x = b.create<AddOp>(x, attention(norm(x, "ln_1")));
    x = b.create<AddOp>(x, mlp(norm(x, "ln_2")));
    x = norm(x, "ln_f");
    Value logits = b.create<EinsumOp>("bth,vh->btv", forRanks(x), used(table));
    Value loss = b.create<CrossEntropyOp>(logits, labels, b.beside(count, logits.getType()),
                                          /*ignore=*/-100, vocabulary, TypeAttr(), FloatAttr(),
                                          FloatAttr());
    loss = convert<GOp>(loss, state("dp", StateKind::invariant));
    func::ReturnOp::create(b, b.getLoc(), loss);
    function.setType(FunctionType::get(context, function.getBody().front().getArgumentTypes(),
                                       loss.getType()));
    for (auto [i, names] : llvm::enumerate(arguments)) {
      function.setArgAttr(i, "colrow.role", b.getStringAttr(names.first));
      function.setArgAttr(i, "colrow.name", b.getStringAttr(names.second));
    }
    function.setResultAttr(0, "colrow.role", b.getStringAttr("loss"));
    function.setResultAttr(0, "colrow.name", b.getStringAttr("loss"));
  }

private:
  static OpBuilderWithLayouts start(func::FuncOp function) {
    OpBuilder builder = OpBuilder::atBlockEnd(function.addEntryBlock());
    return OpBuilderWithLayouts(function.getLoc(), builder);
  }

  AxisState state(StringRef axis, StateKind kind, int64_t dim = 0) {
    return {StringAttr::get(context, axis), kind, dim};
  }
  AxisState cut(int64_t dim, int64_t blocks = 1, int64_t unit = 1) {
    return AxisState::shard(StringAttr::get(context, "tp"), dim, blocks, unit);
  }

  Value argument(StringRef role, StringRef name, ArrayRef<int64_t> shape, Type element,
                 ArrayRef<AxisState> states) {
    RankedTensorType type = RankedTensorType::get(
        shape, element, grid ? LayoutAttr::get(context, states) : LayoutAttr());
    arguments.push_back({role.str(), name.str()});
    return function.getBody().front().addArgument(type, b.getLoc());
  }
  Value parameter(StringRef name, ArrayRef<int64_t> shape, ArrayRef<AxisState> states) {
    return argument("parameter", name, shape, b.getF32Type(), states);
  }

  template <typename Conversion> Value convert(Value value, AxisState to) {
    if (!grid)
      return value;
    return b.create<Conversion>(withState(value.getType(), to), value,
                                b.getArrayAttr({to.axis}));
  }
  /// A parameter where it meets data: data parallelism is f on the parameters.
  Value used(Value parameter) {
    return convert<FOp>(parameter, state("dp", StateKind::replicated));
  }
  Value forRanks(Value value) {
    return convert<FOp>(value, state("tp", StateKind::replicated));
  }
  Value toWhole(Value value) { return convert<GOp>(value, state("tp", StateKind::invariant)); }

  Value norm(Value x, const std::string &name) {
    Value scale = used(parameter(name + ".weight", {hidden}, {}));
    Value bias = used(parameter(name + ".bias", {hidden}, {}));
    return b.create<LayerNormOp>(x, scale, bias, 2, llvm::APFloat(1e-5));
  }

  Value column(Value x, const std::string &name, int64_t size, AxisState weightCut,
               AxisState biasCut) {
    Value weight = used(parameter(name + ".weight", {hidden, size}, {weightCut}));
    Value bias = used(parameter(name + ".bias", {size}, {biasCut}));
    return b.create<AddOp>(b.create<EinsumOp>("bti,io->bto", forRanks(x), weight), bias);
  }
  Value row(Value x, const std::string &name, int64_t size, AxisState weightCut) {
    Value weight = used(parameter(name + ".weight", {size, hidden}, {weightCut}));
    Value bias = used(parameter(name + ".bias", {hidden}, {}));
    return b.create<AddOp>(toWhole(b.create<EinsumOp>("bti,io->bto", x, weight)), bias);
  }

  Value attention(Value x) {
    Value qkv = column(x, "attn.c_attn", 3 * hidden, cut(1, 3, headSize), cut(0, 3, headSize));
    SmallVector<Value> parts;
    for (int64_t part = 0; part < 3; ++part) {
      Value slice = b.create<SliceOp>(
          qkv, ArrayRef<int64_t>{0, 0, part * hidden},
          ArrayRef<int64_t>{batch, tokens, (part + 1) * hidden}, ArrayRef<int64_t>{1, 1, 1});
      parts.push_back(b.create<ReshapeOp>(
          RankedTensorType::get({batch, tokens, heads, headSize}, b.getF32Type()), slice));
    }
    Value scores = b.create<EinsumOp>("bqhd,bkhd->bhqk", parts[0], parts[1]);
    scores = b.create<MulOp>(scores, b.scalar(0.7, b.getF32Type(), scores.getType()));
    auto positions = RankedTensorType::get({tokens, tokens}, b.getI64Type());
    Value visible = b.create<CompareOp>(Predicate::le, b.create<IotaOp>(positions, 1, TypeAttr()),
                                        b.create<IotaOp>(positions, 0, TypeAttr()));
    Value hiddenScore = b.scalar(-1e9, b.getF32Type(), scores.getType());
    scores = b.create<SelectOp>(visible, scores, hiddenScore);
    Value y = b.create<EinsumOp>("bhqk,bkhd->bqhd", b.create<SoftmaxOp>(scores, 3), parts[2]);
    y = b.create<ReshapeOp>(RankedTensorType::get({batch, tokens, hidden}, b.getF32Type()), y);
    return row(y, "attn.c_proj", hidden, cut(0, 1, headSize));
  }

  Value mlp(Value x) {
    Value y = column(x, "mlp.c_fc", 4 * hidden, cut(1), cut(0));
    return row(b.create<GeluOp>(GeluForm::tanh, y), "mlp.c_proj", 4 * hidden, cut(0));
  }

  MLIRContext *context;
  GridAttr grid;
  OpBuilder outer;
  func::FuncOp function;
  OpBuilderWithLayouts b;
  std::vector<std::pair<std::string, std::string>> arguments;
};

} // namespace

OwningOpRef<ModuleOp> buildBlock(GridAttr grid) {
  MLIRContext &context = testContext();
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, UnknownLoc::get(&context));
  if (grid)
    (*module)->setAttr(ColrowDialect::gridAttrName, grid);
  Builder(*module, grid).build();
  return module;
}

} // namespace colrow::test
