//===- colrow-opt: runs passes on printed IR ------------------------------===//

#include "dialect/Colrow.h"
#include "passes/Passes.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::registerTransformsPasses();
  colrow::registerColrowPasses();
  mlir::DialectRegistry registry;
  registry.insert<colrow::ColrowDialect, mlir::func::FuncDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Colrow's pass driver\n", registry));
}
