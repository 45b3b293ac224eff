#include "compiler/lower/strategy.h"
#include "compiler/support/error.h"
namespace halo::lower {
StrategyResult lower_stream(Context&, const schedule::Schedule&, Images&) {
    throw UnsupportedError("tile");
}
}  // namespace halo::lower
