//===- Kernels.h - everything a generated CPU trainer calls ---------------===//
#pragma once

#include "colrow/KernelsContext.h"
#include "colrow/KernelsEinsum.h"
#include "colrow/KernelsIndex.h"
#include "colrow/KernelsReduce.h"
#include "colrow/KernelsShape.h"
#include "colrow/KernelsSlices.h"
#include "colrow/KernelsTensor.h"
