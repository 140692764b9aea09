#include "daemon/nic_core.hpp"

namespace rocem::daemon {

bool NicCore::run_dma(engine::Time now) {
    bool any = false;
    for (;;) {
        dma.collect();
        engine::DmaOp op;
        while (engine.poll_dma(op))
            dma.submit(op);
        if (dma.answers().empty()) return any;
        any = true;
        engine.handle_dma(now, dma.answers());
        dma.clear_answers();
    }
}

}  // namespace rocem::daemon
