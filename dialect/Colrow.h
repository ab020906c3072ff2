//===- Colrow.h - the dialect, all of it ----------------------------------===//
#pragma once

#include "dialect/Layout.h"
#include "dialect/OpBuilder.h"
#include "dialect/ShardingRule.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace colrow {
/// Checks a conversion: states on its axes, nothing else changes.
mlir::LogicalResult verifyConversion(mlir::Operation *op);

/// The trait of operations whose results are constants for differentiation.
template <typename OpTy>
class NoGradient : public mlir::OpTrait::TraitBase<OpTy, NoGradient> {};

/// Checks that operand and result of a comm op are what one rank holds of the global types.
mlir::LogicalResult verifyComm(mlir::Operation *op, mlir::Type from, mlir::Type to);
/// Marks operations that make one result of one element and broadcast operands as numpy does.
template <typename ConcreteType>
class NumpyElementwise : public mlir::OpTrait::TraitBase<ConcreteType, NumpyElementwise> {};
} // namespace colrow

#include "dialect/ColrowDialect.h.inc"
#include "dialect/ColrowEnums.h.inc"
#include "dialect/ColrowInterfaces.h.inc"

namespace colrow {

/// Shape inference that many ops share. Layouts are left out: see inferResultLayouts.
mlir::LogicalResult inferElementwise(std::optional<mlir::Location> location,
                                     mlir::ValueRange operands, mlir::Type element,
                                     llvm::SmallVectorImpl<mlir::Type> &types);
mlir::LogicalResult inferReduce(std::optional<mlir::Location> location, mlir::Type input,
                                llvm::ArrayRef<int64_t> axes, bool keepdims,
                                llvm::SmallVectorImpl<mlir::Type> &types);

/// Whether the op is a colrow.constant of zeros.
bool isZeroConstant(mlir::Operation *op);

/// The attributes of function arguments and results.
llvm::StringRef getRole(mlir::func::FuncOp function, unsigned argument);
llvm::StringRef getResultRole(mlir::func::FuncOp function, unsigned result);
llvm::StringRef getName(mlir::func::FuncOp function, unsigned argument);
llvm::StringRef getResultName(mlir::func::FuncOp function, unsigned result);

/// The user's name of a value: of the function argument it is, or of the ONNX node or value that
/// its location names; `fallback` where there is none.
std::string getUserName(mlir::Value value, llvm::StringRef fallback = "");

} // namespace colrow

#define GET_OP_CLASSES
#include "dialect/ColrowOps.h.inc"
