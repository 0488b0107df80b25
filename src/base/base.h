/* Common header of the engine: allocation, descriptors, errors, time, threads. */
#ifndef LATCH_BASE_H
#define LATCH_BASE_H

#include "src/base/base64.h"
#include "src/base/clock.h"
#include "src/base/context.h"
#include "src/base/descriptor.h"
#include "src/base/error.h"
#include "src/base/list.h"
#include "src/base/thread.h"

#endif
