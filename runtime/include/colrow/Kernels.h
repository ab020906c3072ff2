//===- Kernels.h - everything a generated CPU trainer calls ---------------===//
#pragma once

#include "colrow/KernelsActivation.h"
#include "colrow/KernelsAttention.h"
#include "colrow/KernelsContext.h"
#include "colrow/KernelsDropout.h"
#include "colrow/KernelsEinsum.h"
#include "colrow/KernelsIndex.h"
#include "colrow/KernelsLoss.h"
#include "colrow/KernelsNorm.h"
#include "colrow/KernelsOptimizer.h"
#include "colrow/KernelsReduce.h"
#include "colrow/KernelsShape.h"
#include "colrow/KernelsSlices.h"
#include "colrow/KernelsSoftmax.h"
#include "colrow/KernelsTensor.h"
#include "colrow/Math.h"
