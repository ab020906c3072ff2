//===- Attention.cpp - attention out of primitive operations --------------===//
//
// Found from its softmax: up to the product of queries and keys, through scale and masks, and down
// to the product with the values, through dropout. Transposes and scales of the operands are
// absorbed. Masks that follow from constants are known by their values, whatever made them.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Remarks.h"
#include "passes/raise/Match.h"
#include "passes/raise/Recognisers.h"
#include "passes/raise/Views.h"

#include <fmt/format.h>

using namespace mlir;

namespace colrow {
namespace {

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// What is added to a score to hide its key: the exponential of anything like it is 0.
constexpr double hidden = -1e9;

//===----------------------------------------------------------------------===//
// Masks by value
//===----------------------------------------------------------------------===//

/// What a constant mask does.
struct MaskValue {
  bool hidesNothing = false;
  /// Where it hides the keys behind i + offset from query i, and no more, for an offset of at least
  /// 0: the offset.
  std::optional<int64_t> causal;
  bool isFinite = false, hasFiniteRows = false; ///< no infinity; none that fills a row
};

/// Of what is added to scores [..., queries, keys].
MaskValue maskValue(reference::Tensor mask, int64_t queries, int64_t keys) {
  int64_t rank = mask.rank();
  bool isWhole = rank >= 2 && mask.dim(rank - 2) == queries && mask.dim(rank - 1) == keys;
  // The same for all batches and heads: one matrix.
  auto isRepeated = [&](int64_t dim) { return mask.dim(dim) == 1 || mask.strides()[dim] == 0; };
  if (isWhole && llvm::all_of(llvm::seq<int64_t>(0, rank - 2), isRepeated))
    mask = mask.view({queries, keys}, {mask.strides()[rank - 2], mask.strides()[rank - 1]},
                     mask.offset());
  std::vector<double> values = mask.toFloats();
  auto isFinite = [](double value) { return std::isfinite(value); };
  MaskValue found;
  found.hidesNothing = llvm::all_of(values, [](double value) { return value == 0; });
  found.isFinite = llvm::all_of(values, isFinite);
  found.hasFiniteRows = true;
  size_t row = rank < 1 ? 1 : mask.shape().back();
  for (size_t begin = 0; begin < values.size(); begin += row)
    found.hasFiniteRows &= llvm::any_of(ArrayRef(values).slice(begin, row), isFinite);
  if (!isWhole || found.hidesNothing)
    return found;
  int64_t visible = 0;
  while (visible < keys && values[visible] == 0)
    ++visible;
  if (visible == 0)
    return found;
  for (auto [i, value] : llvm::enumerate(values)) {
    int64_t query = static_cast<int64_t>(i) / keys % queries, key = static_cast<int64_t>(i) % keys;
    if (key < visible + query ? value != 0 : !(value <= hidden))
      return found;
  }
  found.causal = visible - 1;
  return found;
}

/// The same of a condition under which scores stay, others become hidden.
MaskValue conditionValue(const reference::Tensor &condition, bool visible, int64_t queries,
                         int64_t keys) {
  std::vector<double> values;
  for (int64_t value : condition.toIntegers())
    values.push_back((value != 0) == visible ? 0 : -std::numeric_limits<double>::infinity());
  return maskValue(reference::Tensor::floats(condition.shape(), std::move(values)), queries, keys);
}

/// Whether a mask that is no constant has no infinities.
bool isFiniteChoice(Value mask) {
  auto select = mask.getDefiningOp<SelectOp>();
  auto isFinite = [](Value value) {
    std::optional<double> number = numberOf(value);
    return number && std::isfinite(*number);
  };
  return select && isFinite(select.getOnTrue()) && isFinite(select.getOnFalse());
}

//===----------------------------------------------------------------------===//
// The pattern
//===----------------------------------------------------------------------===//

class AttentionMatcher {
public:
  AttentionMatcher(SoftmaxOp softmax, ConstantValues &constants)
      : softmax(softmax), constants(constants) {}

  /// Replaces the attention around the softmax where there is one.
  void run() {
    if (softmax.getType().getRank() != 4 || softmax.getAxis() != 3 || !findOutput() ||
        !findScores(softmax.getInput()) || !findOperands())
      return;
    // A query that may see nothing gives 0 where the graph turns NaN into 0.
    bool alwaysSees = !mask || maskIsFinite || (maskHasFiniteRows && !causal);
    if (!sanitized || alwaysSees)
      replace();
  }

private:
  int64_t queries() { return softmax.getType().getDimSize(2); }
  int64_t keys() { return softmax.getType().getDimSize(3); }

  /// Down from the softmax to the product with the values.
  bool findOutput() {
    Value p = softmax.getResult();
    // 0 instead of NaN: for rows that see nothing.
    if (llvm::hasNItems(p.getUses(), 2))
      for (Operation *user : p.getUsers())
        if (auto select = dyn_cast<SelectOp>(user)) {
          auto isNan = select.getCondition().getDefiningOp<IsNanOp>();
          if (!isNan || !isNan->hasOneUse() || isNan.getInput() != p ||
              select.getOnFalse() != p || numberOf(select.getOnTrue()) != 0.0 ||
              select.getType() != p.getType())
            return false;
          sanitized = true;
          p = select;
          break;
        }
    if (auto op = onlyReader<DropoutOp>(p); op && op.getInput() == p) {
      dropout = op;
      p = op;
    }
    if (auto reshape = onlyReader<ReshapeOp>(p))
      if (differsByOnes(reshape))
        p = reshape;
    probabilities = p;
    output = onlyReader<EinsumOp>(p);
    return static_cast<bool>(output);
  }

  /// Up from the softmax to the product of queries and keys.
  bool findScores(Value scores) {
    if (!scores.hasOneUse() || scores.getType() != softmax.getType())
      return false;
    if ((product = productOf(scores)))
      return true;
    if (std::optional<Scaled> scaled = scaledOf(scores)) {
      scale *= scaled->factor;
      return findScores(scaled->value);
    }
    if (auto add = scores.getDefiningOp<AddOp>()) {
      bool left = isScores(add.getLhs()), right = isScores(add.getRhs());
      return left != right && addMask(left ? add.getRhs() : add.getLhs()) &&
             findScores(left ? add.getLhs() : add.getRhs());
    }
    if (auto select = scores.getDefiningOp<SelectOp>()) {
      bool visible = !numberOf(select.getOnTrue());
      Value kept = visible ? select.getOnTrue() : select.getOnFalse();
      std::optional<double> other =
          numberOf(visible ? select.getOnFalse() : select.getOnTrue());
      const std::optional<reference::Tensor> &condition = constants.of(select.getCondition());
      return other && *other <= hidden && condition &&
             addCausal(conditionValue(*condition, visible, queries(), keys())) && findScores(kept);
    }
    return false;
  }

  /// A product as it is or with dimensions of 1 added: importers leave out a batch of 1.
  static EinsumOp productOf(Value value) {
    auto reshape = value.getDefiningOp<ReshapeOp>();
    if (reshape && differsByOnes(reshape) && reshape.getInput().hasOneUse())
      value = reshape.getInput();
    return value.getDefiningOp<EinsumOp>();
  }

  static SmallVector<int64_t> withoutOnes(ArrayRef<int64_t> shape) {
    return llvm::to_vector(llvm::make_filter_range(shape, [](int64_t size) { return size != 1; }));
  }
  static bool differsByOnes(ReshapeOp reshape) {
    return withoutOnes(shapeOf(reshape.getInput())) == withoutOnes(reshape.getType().getShape());
  }

  /// Whether the product of queries and keys can be on this side of a sum.
  bool isScores(Value value) {
    while (value.getType() == softmax.getType()) {
      Operation *op = value.getDefiningOp();
      if (productOf(value))
        return true;
      if (std::optional<Scaled> scaled = scaledOf(value))
        value = scaled->value;
      else if (auto add = dyn_cast_or_null<AddOp>(op))
        return isScores(add.getLhs()) || isScores(add.getRhs());
      else if (auto select = dyn_cast_or_null<SelectOp>(op))
        value = numberOf(select.getOnTrue()) ? select.getOnFalse() : select.getOnTrue();
      else
        return false;
    }
    return false;
  }

  /// What is multiplied behind a mask would be the mask too.
  bool isBehindScale() const { return scale != 1; }

  bool addCausal(const MaskValue &value) {
    if (value.hidesNothing)
      return true;
    if (!value.causal || causal || isBehindScale())
      return false;
    causal = value.causal;
    return true;
  }

  bool addMask(Value value) {
    if (const std::optional<reference::Tensor> &constant = constants.of(value)) {
      MaskValue known = maskValue(*constant, queries(), keys());
      if (known.hidesNothing || (known.causal && !causal))
        return addCausal(known);
      maskIsFinite = known.isFinite;
      maskHasFiniteRows = known.hasFiniteRows;
    } else {
      maskIsFinite = isFiniteChoice(value);
    }
    if (mask || isBehindScale() || dependsOnParameter(value))
      return false;
    mask = value;
    return true;
  }

  bool findOperands() {
    // Scores [b, h, s, t] of queries [b, h, s, d] and keys [b, h, t, d].
    std::string scores = lettersOfScores(product.resultLetters(), product.getResult());
    if (scores.empty())
      return false;
    bool queriesFirst = product.lhsLetters().contains(scores[2]);
    Value queryValue = queriesFirst ? product.getLhs() : product.getRhs();
    Value keyValue = queriesFirst ? product.getRhs() : product.getLhs();
    std::string q = withOnes(queriesFirst ? product.lhsLetters() : product.rhsLetters(), scores);
    std::string k = withOnes(queriesFirst ? product.rhsLetters() : product.lhsLetters(), scores);
    std::string keyRow{scores[0], scores[1], scores[3]};
    std::optional<char> depth = letterBeside(q, StringRef(scores).take_front(3));
    if (!depth || StringRef(scores).contains(*depth) || letterBeside(k, keyRow) != depth)
      return false;
    // Their product with values [b, h, t, e].
    bool probabilitiesFirst = output.getLhs() == probabilities;
    Value valueValue = probabilitiesFirst ? output.getRhs() : output.getLhs();
    std::string p = lettersOfScores(
        probabilitiesFirst ? output.lhsLetters() : output.rhsLetters(), probabilities);
    if (p.empty())
      return false;
    std::string v = withOnes(probabilitiesFirst ? output.rhsLetters() : output.lhsLetters(), p);
    std::string result = withOnes(output.resultLetters(), p);
    std::string valueRow{p[0], p[1], p[3]}, own = p.substr(0, 3);
    std::optional<char> width = letterBeside(v, valueRow);
    if (!width || StringRef(p).contains(*width) || letterBeside(result, own) != width)
      return false;
    own += *width;
    for (char letter : result)
      resultOrder.push_back(own.find(letter));

    query = operand(queryValue, q, scores.substr(0, 3) + *depth, /*grouped=*/false);
    bool grouped = true;
    do {
      key = operand(keyValue, k, keyRow + *depth, grouped);
      value = operand(valueValue, v, valueRow + *width, grouped);
      grouped = false;
    } while (key.repeats != value.repeats);
    return value.factor == 1;
  }

  /// The letters of a tensor in the four dimensions of the scores, with a digit where it lacks one of
  /// 1; empty where its dimensions are others.
  std::string lettersOfScores(StringRef letters, Value tensor) {
    std::string result;
    ArrayRef<int64_t> shape = shapeOf(tensor);
    for (auto [dim, size] : llvm::enumerate(softmax.getType().getShape())) {
      if (size == 1 && shape.size() < 4 - dim) {
        result += static_cast<char>('0' + dim);
        continue;
      }
      if (shape.empty() || shape.front() != size)
        return "";
      result += letters.front();
      letters = letters.drop_front();
      shape = shape.drop_front();
    }
    return result;
  }

  /// Letters with the digits of the scores in front.
  static std::string withOnes(StringRef letters, StringRef scores) {
    std::string result;
    for (char letter : scores)
      if (llvm::isDigit(letter))
        result += letter;
    return result + letters.str();
  }

  /// The one letter of four that is not among three; nothing where these are not all there.
  static std::optional<char> letterBeside(StringRef letters, StringRef three) {
    if (letters.size() != 4 ||
        !llvm::all_of(three, [&](char letter) { return letters.contains(letter); }))
      return std::nullopt;
    return *llvm::find_if(letters, [&](char letter) { return !three.contains(letter); });
  }

  /// A view of an operand in the order of `wanted`, four letters of which the operand may lack those
  /// that are digits.
  static ReorderedView operand(Value value, StringRef letters, StringRef wanted, bool grouped) {
    SmallVector<int64_t> shape(letters.size() - shapeOf(value).size(), 1);
    llvm::append_range(shape, shapeOf(value));
    std::optional<int64_t> heads;
    if (grouped)
      heads = letters.find(wanted[1]);
    ReorderedView view = findView(value, shape, heads);
    SmallVector<int64_t> order;
    for (char letter : wanted)
      order.push_back(view.order[letters.find(letter)]);
    view.order = order;
    return view;
  }

  static Value withShape(OpBuilderWithLayouts &b, Value value, ArrayRef<int64_t> shape) {
    if (shapeOf(value) == shape)
      return value;
    return b.create<ReshapeOp>(RankedTensorType::get(shape, getElementTypeOrSelf(value.getType())),
                               value);
  }
  static Value build(OpBuilderWithLayouts &b, const ReorderedView &view) {
    return inOrder(b, withShape(b, view.source, view.shape), view.order);
  }
  static Value inOrder(OpBuilderWithLayouts &b, Value value, ArrayRef<int64_t> order) {
    if (llvm::equal(order, llvm::seq<int64_t>(0, order.size())))
      return value;
    return b.create<TransposeOp>(value, order);
  }

  void replace() {
    OpBuilderWithLayouts b(output);
    Value q = build(b, query), k = build(b, key), v = build(b, value);
    APFloat total(scale * query.factor * key.factor);
    Value random;
    FloatAttr rate;
    IntegerAttr id;
    if (dropout) {
      random = dropout.getRandom();
      rate = dropout.getRateAttr();
      id = dropout.getIdAttr();
    }
    auto attention = b.create<AttentionOp>(
        q, k, v, mask, random, b.getF64FloatAttr(total.convertToDouble()),
        causal ? b.getI64IntegerAttr(*causal) : IntegerAttr(), rate, id, TypeAttr());
    Value result = inOrder(b, attention, resultOrder);
    Value replaced = output.getResult();
    if (auto reshape = onlyReader<ReshapeOp>(replaced))
      if (reshape.getType() == result.getType())
        replaced = reshape;
    replaced.replaceAllUsesWith(withShape(b, result, shapeOf(replaced)));
    remark::passed(attention.getLoc(),
                   remark::RemarkOpts::name("Attention").category("colrow-raise"))
        << describe(attention);
  }

  static std::string describe(AttentionOp attention) {
    ArrayRef<int64_t> q = shapeOf(attention.getQuery()), k = shapeOf(attention.getKey());
    std::string text = "attention recognised: ";
    if (attention.getCausal())
      text += "causal, ";
    if (attention.getMask())
      text += "masked, ";
    text += fmt::format("{} heads of {}", q[1], q[3]);
    if (q[1] != k[1])
      text += fmt::format(" in {} groups", k[1]);
    if (attention.getRate())
      text += fmt::format(", dropout {}", attention.getRate()->convertToDouble());
    return text;
  }

  SoftmaxOp softmax;
  ConstantValues &constants;

  bool sanitized = false; ///< NaN becomes 0
  bool maskIsFinite = false, maskHasFiniteRows = false;
  DropoutOp dropout;
  Value probabilities, mask;
  EinsumOp product, output;
  double scale = 1; ///< of the scores
  std::optional<int64_t> causal;
  ReorderedView query, key, value;
  SmallVector<int64_t> resultOrder; ///< of [b, h, s, e]
};

} // namespace

void recogniseAttention(func::FuncOp function) {
  ConstantValues constants;
  SmallVector<SoftmaxOp> all(function.getOps<SoftmaxOp>());
  for (SoftmaxOp softmax : all)
    AttentionMatcher(softmax, constants).run();
}

} // namespace colrow
