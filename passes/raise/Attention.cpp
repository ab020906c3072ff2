//===- Attention.cpp - attention out of primitive operations --------------===//
//
// Found from its softmax: up to the product of queries and keys, through scale and masks, and down
// to the product with the values, through dropout. Transposes and scales of the operands are
// absorbed. Masks that follow from constants are known by their values, whatever made them.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Remarks.h"
#include "passes/raise/JoinedProducts.h"
#include "passes/raise/Masks.h"
#include "passes/raise/Match.h"
#include "passes/raise/Recognisers.h"
#include "passes/raise/Views.h"

#include <fmt/format.h>

using namespace mlir;

namespace colrow {
namespace {

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

//===----------------------------------------------------------------------===//
// The pattern
//===----------------------------------------------------------------------===//

class AttentionMatcher {
public:
  AttentionMatcher(SoftmaxOp softmax, ConstantValues &constants)
      : softmax(softmax), constants(constants) {}

  /// Replaces the attention around the softmax where there is one.
  void run() {
    takeSoftmaxApart();
    if (softmax.getType().getRank() != 4 || softmax.getAxis() != 3 || !findOutput() ||
        !findScores(softmax.getInput()) || !findOperands())
      return;
    // A query that may see nothing gives 0 where the graph turns NaN into 0, and the mean of all
    // values where it raises -infinity.
    bool alwaysSees = masks.empty() || maskIsFinite || (maskHasFiniteRows && !causal);
    if ((!sanitized && !clamped) || alwaysSees)
      replace();
  }

private:
  /// See queryFactorOf().
  struct QueryFactor {
    Value scores, factor;
    bool divides;
  };

  /// Scores that are added to a number like this are lost in it, in double too.
  static constexpr double swallows = -1e30;

  int64_t queries() { return softmax.getType().getDimSize(2); }
  int64_t keys() { return softmax.getType().getDimSize(3); }

  /// A softmax of joined batch and heads as one of both.
  void takeSoftmaxApart() {
    auto joined = softmax.getInput().getDefiningOp<ReshapeOp>();
    int64_t last = softmax.getType().getRank() - 1;
    if (!joined || static_cast<int64_t>(softmax.getAxis()) != last)
      return;
    auto parts = takenApart(softmax.getType().getShape(), shapeOf(joined.getInput()));
    if (!parts || parts->back().size() != 1)
      return;
    OpBuilderWithLayouts b(softmax);
    auto apart = b.create<SoftmaxOp>(joined.getInput(), shapeOf(joined.getInput()).size() - 1);
    softmax.getResult().replaceAllUsesWith(withShape(b, apart, softmax.getType().getShape()));
    softmax.erase();
    if (joined.use_empty())
      joined.erase();
    softmax = apart;
  }

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
    if (auto reshape = onlyReader<ReshapeOp>(p)) {
      while (auto next = onlyReader<ReshapeOp>(reshape))
        reshape = next;
      if (withoutOnes(shapeOf(p)) == withoutOnes(shapeOf(reshape)))
        p = reshape;
      else if (!takeOutputApart(p, reshape))
        return false;
    }
    probabilities = p;
    output = onlyReader<EinsumOp>(p);
    return static_cast<bool>(output);
  }

  /// Where the product with the values reads joined dimensions of the probabilities: the same with
  /// these as they are.
  static bool takeOutputApart(Value probabilities, ReshapeOp joined) {
    auto product = onlyReader<EinsumOp>(joined);
    auto parts = takenApart(joined.getType().getShape(), shapeOf(probabilities));
    if (!product || !parts)
      return false;
    bool isLhs = product.getLhs() == joined;
    EinsumOp apart =
        takeApart(product, isLhs ? product.lhsLetters() : product.rhsLetters(), *parts);
    OpBuilderWithLayouts b(product);
    product.getResult().replaceAllUsesWith(withShape(b, apart, product.getType().getShape()));
    product.erase();
    for (Operation *op = joined; op && isa<ReshapeOp>(op) && op->use_empty();) {
      Operation *before = op->getOperand(0).getDefiningOp();
      op->erase();
      op = before;
    }
    return true;
  }

  /// x where a value is x times (or divided by) something that is the same for all keys, which
  /// could be a factor of the query.
  static std::optional<QueryFactor> queryFactorOf(Value value) {
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<MulOp, DivOp>(op))
      return std::nullopt;
    for (unsigned i : {0, 1}) {
      Value scores = op->getOperand(i), factor = op->getOperand(1 - i);
      ArrayRef<int64_t> shape = shapeOf(factor);
      if (scores.getType() == value.getType() && (shape.empty() || shape.back() == 1) &&
          (i == 0 || isa<MulOp>(op)))
        return QueryFactor{scores, factor, isa<DivOp>(op)};
    }
    return std::nullopt;
  }

  /// Up from the softmax to the product of queries and keys.
  bool findScores(Value scores) {
    if (!scores.hasOneUse() || scores.getType() != softmax.getType())
      return false;
    if ((product = productOf(scores)))
      return true;
    // Joined dimensions, taken apart somewhere behind the product: take apart what is before.
    if (auto reshape = scores.getDefiningOp<ReshapeOp>()) {
      auto parts = takenApart(shapeOf(reshape.getInput()), shapeOf(scores));
      if (!parts || !reshape.getInput().hasOneUse())
        return false;
      Value apart = takeFormulaApart(reshape.getInput(), *parts);
      if (apart.getDefiningOp<ReshapeOp>())
        return false;
      scores.replaceAllUsesWith(apart);
      reshape.erase();
      return findScores(apart);
    }
    if (std::optional<Scaled> scaled = scaledOf(scores)) {
      scale *= scaled->factor;
      return findScores(scaled->value);
    }
    if (auto clamp = scores.getDefiningOp<MaxOp>()) {
      std::optional<double> low = numberOf(clamp.getRhs());
      if (!low || !(*low * scale <= swallows) || !canAdd())
        return false;
      clamped = true;
      return findScores(clamp.getLhs());
    }
    // a tanh(x), which is |a| tanh(a x / |a|).
    if (auto tanh = scores.getDefiningOp<TanhOp>()) {
      if (cap || scale == 0 || !queryFactors.empty())
        return false;
      cap = std::abs(scale);
      return findScores(tanh.getInput());
    }
    if (std::optional<QueryFactor> found = queryFactorOf(scores)) {
      queryFactors.push_back(*found);
      return findScores(found->scores);
    }
    if (auto add = scores.getDefiningOp<AddOp>()) {
      bool left = isScores(add.getLhs()), right = isScores(add.getRhs());
      return left != right && addMask(left ? add.getRhs() : add.getLhs()) &&
             findScores(left ? add.getLhs() : add.getRhs());
    }
    if (auto sub = scores.getDefiningOp<SubOp>()) {
      if (!isScores(sub.getLhs()))
        return false;
      OpBuilderWithLayouts b(sub);
      return addMask(b.create<NegOp>(sub.getRhs())) && findScores(sub.getLhs());
    }
    if (auto select = scores.getDefiningOp<SelectOp>()) {
      bool visible = !numberOf(select.getOnTrue());
      Value kept = visible ? select.getOnTrue() : select.getOnFalse();
      std::optional<double> other =
          numberOf(visible ? select.getOnFalse() : select.getOnTrue());
      return other && addCondition(select.getCondition(), visible, *other) && findScores(kept);
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
    int64_t elements = softmax.getType().getNumElements();
    while (cast<RankedTensorType>(value.getType()).getNumElements() == elements) {
      Operation *op = value.getDefiningOp();
      if (productOf(value))
        return true;
      if (std::optional<Scaled> scaled = scaledOf(value))
        value = scaled->value;
      else if (std::optional<QueryFactor> found = queryFactorOf(value))
        value = found->scores;
      else if (isa_and_nonnull<AddOp, SubOp>(op))
        return isScores(op->getOperand(0)) || (isa<AddOp>(op) && isScores(op->getOperand(1)));
      else if (isa_and_nonnull<TanhOp, ReshapeOp, MaxOp>(op))
        value = op->getOperand(0);
      else if (auto select = dyn_cast_or_null<SelectOp>(op))
        value = numberOf(select.getOnTrue()) ? select.getOnFalse() : select.getOnTrue();
      else
        return false;
    }
    return false;
  }

  /// Whether what is added here can be added behind everything found so far: scaled, but not
  /// capped.
  bool canAdd() const { return !cap && scale > 0 && queryFactors.empty(); }

  /// Notes a mask that is known by its value; whether that says all about it.
  bool addKnown(const MaskValue &value) {
    if (value.hidesNothing)
      return true;
    if (!value.causal || causal)
      return false;
    causal = value.causal;
    return true;
  }

  bool addMask(Value value) {
    if (!canAdd())
      return false;
    bool isFinite = isFiniteValue(value), hasFiniteRows = isFinite;
    if (const std::optional<reference::Tensor> &constant = constants.of(value)) {
      MaskValue known = maskValue(*constant, queries(), keys());
      // Scaled down far enough, a number that hides a key does not.
      if (known.hidesNothing || (scale >= 1e-3 && addKnown(known)))
        return true;
      isFinite = known.isFinite;
      hasFiniteRows = known.hasFiniteRows;
    }
    addMask({value, scale, true, std::nullopt}, isFinite, hasFiniteRows);
    return true;
  }

  /// Scores that stay where a condition is `visible` and become `other` where it is not.
  bool addCondition(Value condition, bool visible, double other) {
    // A number in which scores are lost is as good as one in their place; a smaller one is where a
    // query sees some key.
    if (!canAdd() || !(other * scale <= hiddenScore))
      return false;
    bool isFinite = std::isfinite(other), hasFiniteRows = isFinite;
    if (const std::optional<reference::Tensor> &constant = constants.of(condition)) {
      MaskValue known = conditionValue(*constant, visible, queries(), keys());
      if (addKnown(known))
        return true;
      if (!known.hasFiniteRows && other * scale > swallows)
        return false;
      hasFiniteRows |= known.hasFiniteRows;
    } else if (other * scale > swallows) {
      return false;
    }
    addMask({condition, scale, visible, other}, isFinite, hasFiniteRows);
    return true;
  }

  /// What is added to the scores: a value, or 0 and `other` by a condition.
  struct Added {
    Value value;
    double factor;
    bool visible = true;
    std::optional<double> other;
  };

  void addMask(const Added &added, bool isFinite, bool hasFiniteRows) {
    // Rows of two masks that leave a key each may leave none together.
    maskHasFiniteRows = masks.empty() ? hasFiniteRows : maskIsFinite && isFinite;
    maskIsFinite = (masks.empty() || maskIsFinite) && isFinite;
    masks.push_back(added);
  }

  /// The sum of all masks; null where there is none.
  Value buildMask(OpBuilderWithLayouts &b) {
    Type element = getElementTypeOrSelf(softmax.getType());
    Value sum;
    for (const Added &added : masks) {
      Value value = added.value;
      if (added.other) {
        Value shown = b.scalar(0, element), rest = b.scalar(*added.other * added.factor, element);
        value =
            b.create<SelectOp>(value, added.visible ? shown : rest, added.visible ? rest : shown);
      } else if (added.factor != 1) {
        value = b.create<MulOp>(value, b.scalar(added.factor, element));
      }
      sum = sum ? b.create<AddOp>(sum, value) : value;
    }
    return sum;
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
    addHead(k, scores);
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
    addHead(v, p);
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
    auto heads = [](const ReorderedView &view) { return view.shape[view.order[1]]; };
    return value.factor == 1 && heads(key) == heads(value);
  }

  /// Keys and values of one head for all, whose dimension an importer leaves out of the product,
  /// get it back in front.
  static void addHead(std::string &letters, StringRef scores) {
    if (letters.size() == 3 && letters.find(scores[1]) == std::string::npos)
      letters.insert(letters.begin(), scores[1]);
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
    Value q = build(b, query);
    for (const QueryFactor &each : queryFactors)
      q = each.divides ? Value(b.create<DivOp>(q, each.factor))
                       : Value(b.create<MulOp>(q, each.factor));
    Value k = build(b, key), v = build(b, value);
    APFloat total(scale * query.factor * key.factor);
    Value random, mask = buildMask(b);
    FloatAttr rate;
    IntegerAttr id;
    if (dropout) {
      random = dropout.getRandom();
      rate = dropout.getRateAttr();
      id = dropout.getIdAttr();
    }
    auto attention = b.create<AttentionOp>(
        q, k, v, mask, random, b.getF64FloatAttr(total.convertToDouble()),
        cap ? b.getF64FloatAttr(*cap) : FloatAttr(),
        causal ? b.getI64IntegerAttr(*causal) : IntegerAttr(), rate, id, TypeAttr());
    Value result = inOrder(b, attention, resultOrder);
    Value replaced = output.getResult();
    for (Value next = replaced; auto reshape = onlyReader<ReshapeOp>(next); next = reshape)
      if (reshape.getType() == result.getType()) {
        replaced = reshape;
        break;
      }
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
    if (attention.getCap())
      text += fmt::format("capped at {}, ", attention.getCap()->convertToDouble());
    if (attention.getMask())
      text += dependsOnParameter(attention.getMask()) ? "with a trained bias, " : "masked, ";
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
  bool clamped = false;   ///< scores are at least some number that hides
  bool maskIsFinite = false, maskHasFiniteRows = false;
  DropoutOp dropout;
  Value probabilities;
  SmallVector<Added> masks;
  EinsumOp product, output;
  double scale = 1; ///< of the scores
  std::optional<double> cap;
  SmallVector<QueryFactor> queryFactors;
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
