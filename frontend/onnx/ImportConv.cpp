//===- ImportConv.cpp - convolutions and pooling, as products and sums ----===//

#include "frontend/onnx/Model.h"
#include "frontend/onnx/OnnxNode.h"

using namespace mlir;

namespace colrow {

namespace {
/// How windows lie over the spatial dimensions.
struct Windows {
  SmallVector<int64_t> kernel, strides, dilations, low, high, out;

  size_t rank() const { return kernel.size(); }
  int64_t positions() const {
    int64_t count = 1;
    for (int64_t size : kernel)
      count *= size;
    return count;
  }
};
} // namespace

static SmallVector<int64_t> listOr(OnnxNode &node, StringRef name, size_t rank, int64_t otherwise) {
  if (!node.hasAttribute(name))
    return SmallVector<int64_t>(rank, otherwise);
  return node.integerList(name);
}

static Windows windowsOf(OnnxNode &node, ArrayRef<int64_t> kernel) {
  Windows w;
  w.kernel.assign(kernel.begin(), kernel.end());
  size_t rank = w.rank();
  ArrayRef<int64_t> sizes = typeOf(node.in(0)).getShape().drop_front(2);
  w.strides = listOr(node, "strides", rank, 1);
  w.dilations = listOr(node, "dilations", rank, 1);
  SmallVector<int64_t> pads = listOr(node, "pads", 2 * rank, 0);
  if (sizes.size() != rank || w.strides.size() != rank || w.dilations.size() != rank ||
      pads.size() != 2 * rank)
    node.fail("has a kernel, strides, dilations or pads that do not fit its operand");
  std::string automatic = node.text("auto_pad", "NOTSET");
  for (size_t i = 0; i < rank; ++i) {
    int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
    int64_t low = pads[i], high = pads[i + rank];
    if (automatic == "VALID") {
      low = high = 0;
    } else if (automatic != "NOTSET") {
      int64_t out = (sizes[i] + w.strides[i] - 1) / w.strides[i];
      int64_t total = std::max<int64_t>((out - 1) * w.strides[i] + reach - sizes[i], 0);
      low = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      high = total - low;
    }
    int64_t room = sizes[i] + low + high - reach;
    if (room < 0 || low < 0 || high < 0)
      node.fail("has a kernel larger than its operand, or negative pads");
    w.low.push_back(low);
    w.high.push_back(high);
    w.out.push_back(room / w.strides[i] + 1);
  }
  return w;
}

static Value padSpatially(FoldingBuilder &b, Value x, const Windows &w, double value) {
  if (llvm::all_of(w.low, [](int64_t n) { return n == 0; }) &&
      llvm::all_of(w.high, [](int64_t n) { return n == 0; }))
    return x;
  SmallVector<int64_t> low{0, 0}, high{0, 0}, steps(w.rank() + 2, 1);
  llvm::append_range(low, w.low);
  llvm::append_range(high, w.high);
  return b.create<PadOp>({x}, {b.dims("low", low), b.dims("high", high), b.dims("steps", steps),
                               b.number("value", value)});
}

/// The elements of every window at one position of the kernel: [batch, channels, out...].
static Value atPosition(FoldingBuilder &b, Value padded, const Windows &w, int64_t position,
                        SmallVectorImpl<int64_t> &kernelIndex) {
  kernelIndex.assign(w.rank(), 0);
  for (size_t i = w.rank(); i-- > 0; position /= w.kernel[i])
    kernelIndex[i] = position % w.kernel[i];
  SmallVector<int64_t> starts{0, 0}, limits(typeOf(padded).getShape().take_front(2)), steps{1, 1};
  for (size_t i = 0; i < w.rank(); ++i) {
    starts.push_back(kernelIndex[i] * w.dilations[i]);
    limits.push_back(starts.back() + (w.out[i] - 1) * w.strides[i] + 1);
    steps.push_back(w.out[i] == 1 ? 1 : w.strides[i]);
  }
  return b.create<SliceOp>(
      {padded}, {b.dims("starts", starts), b.dims("limits", limits), b.dims("steps", steps)});
}

/// Windows that neither overlap nor leave gaps, the patches of a vision transformer, are one
/// product: [b, c, H k, W k] -> [b, c, H, k, W, k].
static Value buildPatches(FoldingBuilder &b, Value x, Value weight, const Windows &w) {
  std::string left = "bc", right = "oc", result = "bo";
  SmallVector<int64_t> shape(typeOf(x).getShape().take_front(2));
  for (size_t i = 0; i < w.rank(); ++i) {
    x = b.slice(x, i + 2, 0, w.out[i] * w.kernel[i]);
    shape.append({w.out[i], w.kernel[i]});
    char place = static_cast<char>('p' + i), inside = static_cast<char>('i' + i);
    left += {place, inside};
    right += inside;
    result += place;
  }
  return b.einsum(left + "," + right + "->" + result, b.reshape(x, shape), weight);
}

static void buildConv(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  Value weight = node.in(1);
  SmallVector<int64_t> filter = shapeOf(weight), input = shapeOf(node.in(0));
  int64_t groups = node.integer("group", 1);
  if (filter.size() < 3 || input.size() != filter.size() || groups < 1 ||
      input[1] != filter[1] * groups || filter[0] % groups != 0)
    node.fail("has a weight that does not fit its operand");
  Windows w = windowsOf(node, ArrayRef(filter).drop_front(2));
  Value x = padSpatially(b, node.in(0), w, 0), y;
  SmallVector<int64_t> result{input[0], filter[0]};
  llvm::append_range(result, w.out);
  bool isPatches = groups == 1 && w.kernel == w.strides && w.rank() <= 6 &&
                   llvm::all_of(w.dilations, [](int64_t d) { return d == 1; });
  if (isPatches) {
    y = buildPatches(b, x, weight, w);
  } else {
    int64_t places = reference::elementCount(reference::Shape(w.out.begin(), w.out.end()));
    Value filters = b.reshape(weight, {groups, filter[0] / groups, filter[1], w.positions()});
    SmallVector<int64_t> index;
    for (int64_t position = 0; position < w.positions(); ++position) {
      Value part =
          b.reshape(atPosition(b, x, w, position, index), {input[0], groups, filter[1], places});
      Value matrix = b.reshape(b.slice(filters, 3, position, position + 1),
                               {groups, filter[0] / groups, filter[1]});
      Value term = b.einsum("bgcp,goc->bgop", part, matrix);
      y = y ? b.add(y, term) : term;
    }
    y = b.reshape(y, result);
  }
  if (node.has(2)) {
    SmallVector<int64_t> shape(result.size(), 1);
    shape[1] = filter[0];
    y = b.add(y, b.reshape(node.in(2), shape));
  }
  node.set(y);
}

template <typename ReduceTy> static void buildGlobalPool(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  Value x = node.in(0);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, rankOf(x)));
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= shapeOf(x)[axis];
  Value y = b.reduce<ReduceTy>(x, axes, true);
  node.set(std::is_same_v<ReduceTy, ReduceSumOp> ? b.div(y, static_cast<double>(count)) : y);
}

static constexpr OnnxOp ops[] = {
    {"Conv", minOpset, "FFF", buildConv},
    {"GlobalAveragePool", minOpset, "f", buildGlobalPool<ReduceSumOp>},
    {"GlobalMaxPool", minOpset, "f", buildGlobalPool<ReduceMaxOp>},
};

ArrayRef<OnnxOp> convOps() { return ops; }

} // namespace colrow
