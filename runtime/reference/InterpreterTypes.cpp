#include "runtime/reference/InterpreterTypes.h"

#include "colrow/Error.h"
#include "dialect/Colrow.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace colrow {

using reference::ElementType;
using reference::Shape;
using reference::Tensor;

static std::string text(Type type) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  stream << type;
  return result;
}

ElementType toElementType(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (element.isF32())
    return ElementType::f32;
  if (element.isF64())
    return ElementType::f64;
  if (element.isInteger(64))
    return ElementType::i64;
  if (element.isInteger(32))
    return ElementType::i32;
  if (element.isInteger(8))
    return ElementType::u8;
  if (element.isInteger(1))
    return ElementType::b1;
  throw Error("the interpreter has no tensors of " + text(element));
}

Type fromElementType(MLIRContext *context, ElementType type) {
  switch (type) {
  case ElementType::f32:
    return Float32Type::get(context);
  case ElementType::f64:
    return Float64Type::get(context);
  case ElementType::i64:
    return IntegerType::get(context, 64);
  case ElementType::i32:
    return IntegerType::get(context, 32);
  case ElementType::u8:
    return IntegerType::get(context, 8);
  case ElementType::b1:
    return IntegerType::get(context, 1);
  }
  llvm_unreachable("all element types have a type");
}

Tensor toTensor(ElementsAttr attribute) {
  auto type = cast<RankedTensorType>(attribute.getType());
  ElementType element = toElementType(type);
  Shape shape(type.getShape());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      throw Error("a constant's data ('" + resource.getRawHandle().getKey().str() +
                  "') is not in the file");
    ArrayRef<char> bytes = blob->getData();
    return Tensor::fromBytes(element, shape, bytes.data(), bytes.size());
  }
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  if (!dense)
    throw Error("the interpreter cannot read a constant of this form: " + text(type));
  bool isFloat = reference::isFloat(element);
  auto toDouble = [](const APFloat &value) {
    APFloat wide = value;
    bool inexact;
    wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    return wide.convertToDouble();
  };
  auto toInteger = [&](const APInt &value) {
    bool isSigned = element == ElementType::i64 || element == ElementType::i32;
    return isSigned ? value.getSExtValue() : static_cast<int64_t>(value.getZExtValue());
  };
  if (dense.isSplat()) {
    Tensor one = isFloat ? Tensor::floats({}, {toDouble(dense.getSplatValue<APFloat>())}, element)
                         : Tensor::integers({}, {toInteger(dense.getSplatValue<APInt>())}, element);
    return one.view(shape, Shape(shape.size(), 0), 0);
  }
  if (isFloat) {
    std::vector<double> values;
    values.reserve(type.getNumElements());
    for (const APFloat &value : dense.getValues<APFloat>())
      values.push_back(toDouble(value));
    return Tensor::floats(shape, std::move(values), element);
  }
  std::vector<int64_t> values;
  values.reserve(type.getNumElements());
  for (const APInt &value : dense.getValues<APInt>())
    values.push_back(toInteger(value));
  return Tensor::integers(shape, std::move(values), element);
}

template <typename T, typename From>
static DenseElementsAttr denseAttr(RankedTensorType type, const std::vector<From> &from) {
  std::vector<T> values(from.begin(), from.end());
  bool equal = llvm::all_of(values, [&](const T &value) {
    return std::memcmp(&value, &values.front(), sizeof(T)) == 0;
  });
  ArrayRef<T> all(values);
  return DenseElementsAttr::get(type, equal && !values.empty() ? all.take_front() : all);
}

DenseElementsAttr toElementsAttr(MLIRContext *context, const Tensor &x) {
  RankedTensorType type = RankedTensorType::get(x.shape(), fromElementType(context, x.type()));
  switch (x.type()) {
  case ElementType::f32:
    return denseAttr<float>(type, x.toFloats());
  case ElementType::f64:
    return denseAttr<double>(type, x.toFloats());
  case ElementType::i64:
    return denseAttr<int64_t>(type, x.toIntegers());
  case ElementType::i32:
    return denseAttr<int32_t>(type, x.toIntegers());
  case ElementType::u8:
    return denseAttr<uint8_t>(type, x.toIntegers());
  case ElementType::b1: {
    SmallVector<bool> values;
    for (int64_t value : x.toIntegers())
      values.push_back(value != 0);
    bool equal = llvm::all_equal(values) && !values.empty();
    ArrayRef<bool> all(values);
    return DenseElementsAttr::get(type, equal ? all.take_front() : all);
  }
  }
  llvm_unreachable("all element types have an attribute");
}

std::vector<GridAxis> gridAxes(GridAttr grid) {
  std::vector<GridAxis> axes;
  if (grid)
    for (auto [name, size] : llvm::zip(grid.getNames(), grid.getSizes()))
      axes.push_back({name.str(), size});
  return axes;
}

reference::Placement placementOf(RankedTensorType type, GridAttr grid) {
  reference::Placement placement;
  placement.dims = getSlices(type, grid);
  if (LayoutAttr layout = getLayout(type))
    for (const AxisState &state : layout.getStates())
      if (state.isPartial() || state.isPartialMax()) {
        placement.partialAxes.push_back(state.axis.str());
        placement.maximum |= state.isPartialMax();
      }
  return placement;
}

LocalShape localShapeOf(RankedTensorType type, GridAttr grid, int64_t rank) {
  return LocalShape::of(getSlices(type, grid), gridAxes(grid), rank);
}

} // namespace colrow
