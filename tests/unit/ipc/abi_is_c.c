/* The ABI and the public API are C: this file compiles, and the asserts in abi.h hold, in C11. */
#include "client/rocem.h"
#include "ipc/abi.h"

_Static_assert(ROCEM_ABI_VERSION_MIN <= ROCEM_ABI_VERSION_MAX, "a range");
_Static_assert((int)ROCEM_WR_ATOMIC_FETCH_AND_ADD == 6, "enum ibv_wr_opcode");
_Static_assert(sizeof(struct rocem_sge) == sizeof(struct rocem_abi_sge), "copied as one");
