/* rocem: RDMA over the emulated NICs of rocemd, in the shape of verbs.
 *
 * Functions that make an object return NULL on failure and set errno. Functions that return int return 0, or
 * a positive errno (rocem_poll_cq: a count, or a negative errno). rocem_last_error() says in words what was
 * wrong. Numbers of states, opcodes, masks, flags and events equal libibverbs'. See rocem_open for what every
 * call answers when the daemon is gone, and in the child of a fork.
 *
 * Every function may be called from every thread; only an object that is being destroyed must not be used
 * elsewhere.
 */
#ifndef ROCEM_H
#define ROCEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- errors */

/* Why this thread's last failed call failed ("rocem_modify_qp: path_mtu: 4096 is above the port's active_mtu
 * 1024"). Valid until this thread's next failed call; "" before the first. */
const char* rocem_last_error(void);

/* ---------------------------------------------------------------- device */

struct rocem_context {
    int async_fd; /* readable when rocem_get_async_event has something; O_NONBLOCK may be set on it */
};

/* Attaches to a daemon and opens one of its NICs.
 * socket_path: NULL tries $ROCEM_SOCKET (alone, if it is set), $XDG_RUNTIME_DIR/rocem/rocemd.sock,
 * /run/rocem/rocemd.sock. nic: NULL opens the daemon's first. errno: ENOENT, ECONNREFUSED, EACCES as
 * connect(2); EPROTONOSUPPORT: daemon and library have no version in common; ENODEV: no NIC of that name;
 * EPROTO: what answers is no rocemd.
 *
 * When the daemon ends, completions that are already in a CQ can still be polled. Then: channels and async_fd
 * are readable, one ROCEM_EVENT_DEVICE_FATAL comes, everything else answers EIO; destroying calls succeed.
 *
 * A forked child does not share the parent's connection: every call there on an object of the parent answers
 * ENODEV and changes nothing, and memory of rocem_alloc is not mapped. The child may open a context of its
 * own. */
struct rocem_context* rocem_open(const char* socket_path, const char* nic);

/* EBUSY while PDs, CQs, channels or memory of this context exist. */
int rocem_close(struct rocem_context* context);

struct rocem_device_attr {
    char name[32];    /* the NIC's */
    char version[32]; /* the daemon's */
    uint64_t node_guid;
    uint64_t sys_image_guid;
    uint64_t max_mr_size;  /* bytes */
    uint64_t max_msg_size; /* bytes */
    uint32_t vendor_id;
    uint32_t vendor_part_id;
    uint32_t hw_ver;
    uint32_t max_qp;
    uint32_t max_qp_wr;
    uint32_t max_sge;
    uint32_t max_inline_data; /* bytes */
    uint32_t max_cq;
    uint32_t max_cqe;
    uint32_t max_mr;
    uint32_t max_pd;
    uint32_t max_qp_rd_atom;
    uint32_t atomic_cap; /* 1: atomic among the QPs of this NIC */
    uint32_t num_comp_vectors;
    uint32_t phys_port_cnt;
};

int rocem_query_device(struct rocem_context* context, struct rocem_device_attr* attr);

enum rocem_mtu { ROCEM_MTU_256 = 1, ROCEM_MTU_512, ROCEM_MTU_1024, ROCEM_MTU_2048, ROCEM_MTU_4096 };

enum rocem_port_state { ROCEM_PORT_DOWN = 1, ROCEM_PORT_INIT, ROCEM_PORT_ARMED, ROCEM_PORT_ACTIVE };

struct rocem_port_attr {
    enum rocem_port_state state;
    enum rocem_mtu max_mtu;
    enum rocem_mtu active_mtu;
    uint32_t gid_tbl_len;
    uint32_t pkey_tbl_len;
    uint32_t max_msg_sz; /* bytes */
    uint8_t link_layer;  /* 2: Ethernet */
    uint8_t active_width;
    uint8_t active_speed;
    uint8_t phys_state;
};

/* port_num: 1. EINVAL: there is no such port. */
int rocem_query_port(struct rocem_context* context, uint8_t port_num, struct rocem_port_attr* attr);

union rocem_gid {
    uint8_t raw[16];
};

/* EINVAL: beyond the table; ENODATA: the entry is empty. */
int rocem_query_gid(struct rocem_context* context, uint8_t port_num, uint32_t index, union rocem_gid* gid);

/* Counter `index` of the NIC, without asking the daemon. ENOENT: there are fewer. The label lives as long as
 * the context. */
int rocem_query_counter(struct rocem_context* context, uint32_t index, const char** label, uint64_t* value);

/* ---------------------------------------------------------------- memory */

struct rocem_pd {
    struct rocem_context* context;
};

struct rocem_pd* rocem_alloc_pd(struct rocem_context* context);
/* EBUSY while MRs or QPs use it. */
int rocem_dealloc_pd(struct rocem_pd* pd);

/* Memory that the daemon maps too: the only memory that rocem_reg_mr takes. Zeroed, in whole pages; not
 * inherited by a forked child. ENOMEM: the daemon's limit for a client is reached. */
void* rocem_alloc(struct rocem_context* context, size_t bytes);
/* `memory` as rocem_alloc gave it. EBUSY while MRs lie in it. */
int rocem_free(struct rocem_context* context, void* memory);

enum rocem_access_flags {
    ROCEM_ACCESS_LOCAL_WRITE = 1,
    ROCEM_ACCESS_REMOTE_WRITE = 2, /* demands LOCAL_WRITE */
    ROCEM_ACCESS_REMOTE_READ = 4,
    ROCEM_ACCESS_REMOTE_ATOMIC = 8 /* demands LOCAL_WRITE */
};

struct rocem_mr {
    struct rocem_context* context;
    struct rocem_pd* pd;
    void* addr;
    size_t length;
    uint32_t lkey;
    uint32_t rkey;
};

/* EOPNOTSUPP: the bytes are not all in one piece of rocem_alloc's memory. EINVAL: the flags. */
struct rocem_mr* rocem_reg_mr(struct rocem_pd* pd, void* addr, size_t length, uint32_t access);
/* The same bytes, named from `iova` on in work requests and by peers. */
struct rocem_mr* rocem_reg_mr_iova(struct rocem_pd* pd, void* addr, size_t length, uint64_t iova,
                                   uint32_t access);
/* When it returns, nobody reads or writes the bytes through this MR any more. */
int rocem_dereg_mr(struct rocem_mr* mr);

/* ---------------------------------------------------------------- completions */

struct rocem_comp_channel {
    struct rocem_context* context;
    int fd; /* readable when rocem_get_cq_event has something; O_NONBLOCK may be set on it */
};

struct rocem_comp_channel* rocem_create_comp_channel(struct rocem_context* context);
/* EBUSY while CQs use it. */
int rocem_destroy_comp_channel(struct rocem_comp_channel* channel);

struct rocem_cq {
    struct rocem_context* context;
    struct rocem_comp_channel* channel;
    void* cq_context;
    uint32_t cqe; /* granted: as many completions fit */
};

/* EINVAL: cqe is 0 or above max_cqe, or comp_vector is not below num_comp_vectors. channel may be NULL. A CQ
 * that overflows raises ROCEM_EVENT_CQ_ERR, takes no more completions, and its QPs go to ERR. */
struct rocem_cq* rocem_create_cq(struct rocem_context* context, uint32_t cqe, void* cq_context,
                                 struct rocem_comp_channel* channel, uint32_t comp_vector);
/* EBUSY while QPs use it. Waits until every event of this CQ has been acknowledged. */
int rocem_destroy_cq(struct rocem_cq* cq);

enum rocem_wc_status {
    ROCEM_WC_SUCCESS = 0,
    ROCEM_WC_LOC_LEN_ERR = 1,
    ROCEM_WC_LOC_QP_OP_ERR = 2,
    ROCEM_WC_LOC_PROT_ERR = 4,
    ROCEM_WC_WR_FLUSH_ERR = 5,
    ROCEM_WC_BAD_RESP_ERR = 7,
    ROCEM_WC_LOC_ACCESS_ERR = 8,
    ROCEM_WC_REM_INV_REQ_ERR = 9,
    ROCEM_WC_REM_ACCESS_ERR = 10,
    ROCEM_WC_REM_OP_ERR = 11,
    ROCEM_WC_RETRY_EXC_ERR = 12,
    ROCEM_WC_RNR_RETRY_EXC_ERR = 13,
    ROCEM_WC_FATAL_ERR = 19,
    ROCEM_WC_GENERAL_ERR = 21
};

/* A sentence for a status, also for one that is none of the above. */
const char* rocem_wc_status_str(enum rocem_wc_status status);

enum rocem_wc_opcode {
    ROCEM_WC_SEND = 0,
    ROCEM_WC_RDMA_WRITE = 1,
    ROCEM_WC_RDMA_READ = 2,
    ROCEM_WC_COMP_SWAP = 3,
    ROCEM_WC_FETCH_ADD = 4,
    ROCEM_WC_RECV = 128,
    ROCEM_WC_RECV_RDMA_WITH_IMM = 129
};

enum rocem_wc_flags { ROCEM_WC_WITH_IMM = 2 };

/* With an error status only wr_id, status and qp_num mean something. */
struct rocem_wc {
    uint64_t wr_id;
    enum rocem_wc_status status;
    enum rocem_wc_opcode opcode;
    uint32_t byte_len;  /* receives, READ, atomics */
    uint32_t immediate; /* with ROCEM_WC_WITH_IMM; the number that the peer's work request had */
    uint32_t qp_num;
    uint32_t wc_flags;
};

/* Up to `entries` completions in order; 0: none is there; -EIO: none is there and the daemon is gone. */
int rocem_poll_cq(struct rocem_cq* cq, int entries, struct rocem_wc* wc);

/* One event for the next completion (solicited_only: for the next solicited or failed one) on the CQ's
 * channel. Poll once more after this call: what is in the CQ already makes no event. EINVAL: the CQ has no
 * channel. */
int rocem_req_notify_cq(struct rocem_cq* cq, int solicited_only);

/* Waits for an event, unless the channel's fd says O_NONBLOCK (then EAGAIN). EINTR: a signal came. Each event
 * that came must be acknowledged before its CQ is destroyed. */
int rocem_get_cq_event(struct rocem_comp_channel* channel, struct rocem_cq** cq, void** cq_context);
void rocem_ack_cq_events(struct rocem_cq* cq, uint32_t count);

/* ---------------------------------------------------------------- queue pairs */

enum rocem_qp_type { ROCEM_QPT_RC = 2 };

enum rocem_qp_state {
    ROCEM_QPS_RESET = 0,
    ROCEM_QPS_INIT,
    ROCEM_QPS_RTR,
    ROCEM_QPS_RTS,
    ROCEM_QPS_SQD,
    ROCEM_QPS_SQE,
    ROCEM_QPS_ERR
};

struct rocem_qp_cap {
    uint32_t max_send_wr;
    uint32_t max_recv_wr;
    uint32_t max_send_sge;
    uint32_t max_recv_sge;
    uint32_t max_inline_data; /* bytes */
};

struct rocem_qp_init_attr {
    void* qp_context;
    struct rocem_cq* send_cq;
    struct rocem_cq* recv_cq;
    struct rocem_qp_cap cap; /* asked for; replaced by what was granted */
    enum rocem_qp_type qp_type;
    int sq_sig_all; /* 1: every send request completes, whatever its flags */
};

struct rocem_qp {
    struct rocem_context* context;
    void* qp_context;
    struct rocem_pd* pd;
    struct rocem_cq* send_cq;
    struct rocem_cq* recv_cq;
    uint32_t qp_num;
    enum rocem_qp_type qp_type;
};

/* In state RESET. EINVAL: a cap above the device's limit; EOPNOTSUPP: another type than RC. */
struct rocem_qp* rocem_create_qp(struct rocem_pd* pd, struct rocem_qp_init_attr* init_attr);
/* Its completions that have not been polled vanish. Waits until every async event of this QP has been
 * acknowledged. */
int rocem_destroy_qp(struct rocem_qp* qp);

struct rocem_global_route {
    union rocem_gid dgid;
    uint32_t flow_label; /* 20 bits; 0: made from the QP numbers */
    uint8_t sgid_index;
    uint8_t hop_limit; /* 0: 64 */
    uint8_t traffic_class;
};

struct rocem_ah_attr {
    struct rocem_global_route grh;
    uint16_t dlid; /* not used on Ethernet */
    uint8_t sl;
    uint8_t is_global; /* must be 1 */
    uint8_t port_num;
};

enum rocem_qp_attr_mask {
    ROCEM_QP_STATE = 1 << 0,
    ROCEM_QP_CUR_STATE = 1 << 1,
    ROCEM_QP_EN_SQD_ASYNC_NOTIFY = 1 << 2,
    ROCEM_QP_ACCESS_FLAGS = 1 << 3,
    ROCEM_QP_PKEY_INDEX = 1 << 4,
    ROCEM_QP_PORT = 1 << 5,
    ROCEM_QP_AV = 1 << 7,
    ROCEM_QP_PATH_MTU = 1 << 8,
    ROCEM_QP_TIMEOUT = 1 << 9,
    ROCEM_QP_RETRY_CNT = 1 << 10,
    ROCEM_QP_RNR_RETRY = 1 << 11,
    ROCEM_QP_RQ_PSN = 1 << 12,
    ROCEM_QP_MAX_QP_RD_ATOMIC = 1 << 13,
    ROCEM_QP_MIN_RNR_TIMER = 1 << 15,
    ROCEM_QP_SQ_PSN = 1 << 16,
    ROCEM_QP_MAX_DEST_RD_ATOMIC = 1 << 17,
    ROCEM_QP_DEST_QPN = 1 << 20
};

struct rocem_qp_attr {
    enum rocem_qp_state qp_state;
    enum rocem_qp_state cur_qp_state;
    enum rocem_mtu path_mtu;
    uint32_t rq_psn; /* 24 bits */
    uint32_t sq_psn; /* 24 bits */
    uint32_t dest_qp_num;
    uint32_t qp_access_flags; /* enum rocem_access_flags */
    struct rocem_ah_attr ah_attr;
    uint16_t pkey_index;
    uint8_t en_sqd_async_notify;
    uint8_t sq_draining;        /* query only */
    uint8_t max_rd_atomic;      /* as requester */
    uint8_t max_dest_rd_atomic; /* as responder */
    uint8_t min_rnr_timer;      /* code, 0 .. 31 (0 is the longest: 655.36 ms) */
    uint8_t port_num;
    uint8_t timeout;   /* 4.096 us << timeout, 0 .. 31; 0: for ever */
    uint8_t retry_cnt; /* 0 .. 7 */
    uint8_t rnr_retry; /* 0 .. 7; 7: for ever */
};

/* ibv_modify_qp(3)'s table of required and optional attributes. EINVAL: nothing has changed,
 * rocem_last_error() names the attribute. To RTR also EHOSTUNREACH, ETIMEDOUT: the next hop did not answer.
 */
int rocem_modify_qp(struct rocem_qp* qp, const struct rocem_qp_attr* attr, uint32_t mask);
/* All attributes and what was granted; either pointer may be NULL. */
int rocem_query_qp(struct rocem_qp* qp, struct rocem_qp_attr* attr, struct rocem_qp_init_attr* init_attr);

/* ---------------------------------------------------------------- work requests */

struct rocem_sge {
    uint64_t addr;   /* in the MR, as the MR's addr or iova counts */
    uint32_t length; /* bytes */
    uint32_t lkey;
};

enum rocem_wr_opcode {
    ROCEM_WR_RDMA_WRITE = 0,
    ROCEM_WR_RDMA_WRITE_WITH_IMM = 1,
    ROCEM_WR_SEND = 2,
    ROCEM_WR_SEND_WITH_IMM = 3,
    ROCEM_WR_RDMA_READ = 4,
    ROCEM_WR_ATOMIC_CMP_AND_SWP = 5,
    ROCEM_WR_ATOMIC_FETCH_AND_ADD = 6
};

enum rocem_send_flags {
    ROCEM_SEND_FENCE = 1,
    ROCEM_SEND_SIGNALED = 2,
    ROCEM_SEND_SOLICITED = 4,
    ROCEM_SEND_INLINE =
        8 /* SEND and WRITE: the bytes at sg_list are copied by rocem_post_send; lkeys are not looked at */
};

struct rocem_send_wr {
    uint64_t wr_id;
    struct rocem_send_wr* next;
    struct rocem_sge* sg_list;
    int num_sge;
    enum rocem_wr_opcode opcode;
    uint32_t send_flags;  /* enum rocem_send_flags */
    uint32_t immediate;   /* *_WITH_IMM */
    uint32_t rkey;        /* RDMA, atomics */
    uint64_t remote_addr; /* RDMA, atomics */
    uint64_t compare_add; /* CMP_AND_SWP: compared; FETCH_AND_ADD: added */
    uint64_t swap;        /* CMP_AND_SWP: stored when equal */
};

struct rocem_recv_wr {
    uint64_t wr_id;
    struct rocem_recv_wr* next;
    struct rocem_sge* sg_list;
    int num_sge;
};

/* Posts a chain. On failure *bad_wr (if bad_wr is not NULL) is the first request that was not posted; those
 * before it were. ENOMEM: max_send_wr requests are posted and no completion of one of them has been polled;
 * EINVAL: the QP is not in RTS, SQD, SQE or ERR (ERR: the request completes as flushed), num_sge, opcode,
 * inline data above max_inline_data, or more than max_msg_size bytes; EIO: the daemon is gone. Makes no
 * system call while the NIC's worker is awake. */
int rocem_post_send(struct rocem_qp* qp, struct rocem_send_wr* wr, struct rocem_send_wr** bad_wr);
/* In every state but RESET. */
int rocem_post_recv(struct rocem_qp* qp, struct rocem_recv_wr* wr, struct rocem_recv_wr** bad_wr);

/* ---------------------------------------------------------------- asynchronous events */

enum rocem_event_type {
    ROCEM_EVENT_CQ_ERR = 0,
    ROCEM_EVENT_QP_FATAL = 1,
    ROCEM_EVENT_QP_REQ_ERR = 2,
    ROCEM_EVENT_QP_ACCESS_ERR = 3,
    ROCEM_EVENT_COMM_EST = 4,
    ROCEM_EVENT_SQ_DRAINED = 5,
    ROCEM_EVENT_DEVICE_FATAL = 8,
    ROCEM_EVENT_PORT_ACTIVE = 9,
    ROCEM_EVENT_PORT_ERR = 10,
    ROCEM_EVENT_GID_CHANGE = 18
};

struct rocem_async_event {
    union {
        struct rocem_cq* cq; /* CQ_ERR */
        struct rocem_qp* qp; /* QP_*, COMM_EST, SQ_DRAINED */
        int port_num;        /* PORT_*, GID_CHANGE */
    } element;
    enum rocem_event_type event_type;
};

/* Waits for an event, unless async_fd says O_NONBLOCK (then EAGAIN). EINTR: a signal came. EIO: the daemon is
 * gone and DEVICE_FATAL has been told. An event that is not read waits for as long as its object lives and is
 * not RESET; when more wait than a socket holds, one may stand for several of its type and object. */
int rocem_get_async_event(struct rocem_context* context, struct rocem_async_event* event);
/* Must follow each event, before its object is destroyed. */
void rocem_ack_async_event(const struct rocem_async_event* event);

/* ---------------------------------------------------------------- management */

struct rocem_nic_info {
    char name[32];
    uint64_t node_guid;
};

/* The daemon's NICs: their number, of which at most `entries` are written to nics; a negative errno on
 * failure. socket_path as in rocem_open. */
int rocem_list_nics(const char* socket_path, struct rocem_nic_info* nics, int entries);

/* What `rocemctl` shows: question "status", "nics", "qps" or "counters", the last two maybe with " NIC".
 * Returns a JSON document for free(3). */
char* rocem_ask_daemon(const char* socket_path, const char* question);

#ifdef __cplusplus
}
#endif

#endif
