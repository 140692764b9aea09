/* What rocemd and its clients share: every structure in shared memory or on the control socket.
 *
 * C11 and C++. Host byte order (both sides run on one machine), fixed-width fields, offsets instead of
 * pointers. All reserved fields are zero. Sizes and offsets are asserted at the end.
 *
 * A session is one connected control socket. The client says hello, opens one NIC, and gets these
 * descriptors:
 *
 *   session segment  (shared)     which queues have new work; which events did not fit a channel
 *   worker page      (read-only)  whether the worker that drives the NIC sleeps
 *   counters page    (read-only)  the NIC's counters, labelled
 *   doorbell         eventfd      the client writes it when the worker sleeps; the daemon never reads it
 *   event socket     SEQPACKET    rocem_abi_async_event; its end of file: the daemon is gone
 *
 * Each completion channel is a SEQPACKET socket more; each CQ and QP lives in a segment (memfd sealed against
 * change of size) that is named in the answer that made it. Numbers of states, opcodes, masks and events
 * equal libibverbs'.
 */
#ifndef ROCEM_IPC_ABI_H
#define ROCEM_IPC_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Versions of this file that this file's reader speaks. The layout of the two hello messages never changes.
 */
#define ROCEM_ABI_VERSION_MIN 1u
#define ROCEM_ABI_VERSION_MAX 1u

#define ROCEM_ABI_MAGIC \
    0x4d434f52u /* "ROCM", first word of hello, session segment, worker and counters page */
#define ROCEM_ABI_CACHE_LINE 64u
#define ROCEM_ABI_QUEUE_SLOTS_MAX 16384u  /* QPs of one session, and CQs of one session */
#define ROCEM_ABI_NAME_BYTES 32u          /* with the terminating zero */
#define ROCEM_ABI_REASON_BYTES 240u       /* with the terminating zero */
#define ROCEM_ABI_TEXT_BYTES 480u         /* a management request, without a terminating zero */
#define ROCEM_ABI_MESSAGE_BYTES_MAX 1024u /* of any message on any of the sockets */
#define ROCEM_ABI_FDS_MAX 5u              /* descriptors that travel with one message */

/* ---------------------------------------------------------------- rings */

/* Free-running 32-bit indices: the slot of index i is i & (slots - 1); producer - consumer <= capacity <=
 * slots. */
struct rocem_abi_ring_words {
    uint32_t producer; /* entries ever published */
    uint32_t reserved0[15];
    uint32_t consumer; /* entries ever given back */
    uint32_t reserved1[15];
};

struct rocem_abi_sge {
    uint64_t addr;   /* virtual address inside the MR */
    uint32_t length; /* bytes */
    uint32_t lkey;
};

enum rocem_abi_send_flags { /* enum ibv_send_flags */
                            ROCEM_ABI_SEND_FENCE = 1,
                            ROCEM_ABI_SEND_SIGNALED = 2,
                            ROCEM_ABI_SEND_SOLICITED = 4,
                            ROCEM_ABI_SEND_INLINE = 8
};

/* Head of a slot of a send queue; num_sge SGEs, or inline_length bytes when ROCEM_ABI_SEND_INLINE is set,
 * follow. */
struct rocem_abi_send_wqe {
    uint64_t wr_id;
    uint64_t remote_addr;   /* RDMA and atomics */
    uint64_t compare_add;   /* atomics */
    uint64_t swap;          /* compare and swap */
    uint32_t rkey;          /* RDMA and atomics */
    uint32_t immediate;     /* the number that ImmDt carries */
    uint32_t inline_length; /* bytes */
    uint16_t num_sge;
    uint8_t opcode; /* enum ibv_wr_opcode */
    uint8_t flags;  /* enum rocem_abi_send_flags */
    uint64_t reserved[2];
};

/* Head of a slot of a receive queue; num_sge SGEs follow. */
struct rocem_abi_recv_wqe {
    uint64_t wr_id;
    uint32_t num_sge;
    uint32_t reserved;
};

enum rocem_abi_cqe_flags { ROCEM_ABI_CQE_WITH_IMMEDIATE = 1 };

/* wqe_index is the free-running ring index of the request. The completion of a send request frees its slot
 * and all before it. A completion whose (qp_slot, qp_epoch) is no longer that of a QP is of a dead QP, or
 * older than a RESET. */
struct rocem_abi_cqe {
    uint64_t wr_id;
    uint32_t qp_slot;
    uint32_t qp_epoch;
    uint32_t wqe_index;
    uint32_t qpn;
    uint32_t byte_len;
    uint32_t immediate;
    uint8_t status; /* enum ibv_wc_status */
    uint8_t opcode; /* enum ibv_wc_opcode; 128 and above: a receive */
    uint16_t flags; /* enum rocem_abi_cqe_flags */
    uint32_t reserved[7];
};

enum rocem_abi_arm { ROCEM_ABI_ARM_NONE = 0, ROCEM_ABI_ARM_SOLICITED = 1, ROCEM_ABI_ARM_ANY = 2 };

/* Head of a CQ in its segment. The client raises arm; the worker takes it (sets it to NONE) when it sends the
 * event. */
struct rocem_abi_cq_head {
    struct rocem_abi_ring_words ring; /* the worker produces, the client consumes */
    uint32_t arm;
    uint32_t reserved[15];
};

/* Head of a QP in its segment. The client produces. */
struct rocem_abi_qp_head {
    struct rocem_abi_ring_words send;
    struct rocem_abi_ring_words recv;
};

/* ---------------------------------------------------------------- segments */

#define ROCEM_ABI_BITMAP_LEAVES (ROCEM_ABI_QUEUE_SLOTS_MAX / 64u)
#define ROCEM_ABI_BITMAP_SUMMARIES (ROCEM_ABI_BITMAP_LEAVES / 64u)

/* Bit s of the leaves stands for slot s; bit w of the summary says that leaf word w may have bits. */
struct rocem_abi_bitmap {
    uint64_t summary[ROCEM_ABI_BITMAP_SUMMARIES];
    uint64_t reserved[8 - ROCEM_ABI_BITMAP_SUMMARIES];
    uint64_t leaves[ROCEM_ABI_BITMAP_LEAVES];
};

struct rocem_abi_session_segment {
    uint32_t magic;
    uint32_t version; /* the one that hello agreed on */
    uint32_t reserved[14];
    struct rocem_abi_bitmap send_dirty; /* client sets: the QP slot's send queue has new entries */
    struct rocem_abi_bitmap recv_dirty; /* client sets: its receive queue has */
    struct rocem_abi_bitmap
        missed_events; /* worker sets: CQ slots whose event found the channel's socket full */
};

struct rocem_abi_worker_page {
    uint32_t magic;
    uint32_t need_wakeup; /* 1: the worker sleeps or is about to; who has posted work writes the doorbell */
    uint32_t reserved[14];
};

/* `count` values (uint64_t) at values_offset, `count` labels of ROCEM_ABI_LABEL_BYTES each at labels_offset.
 */
#define ROCEM_ABI_LABEL_BYTES 64u
struct rocem_abi_counters_page {
    uint32_t magic;
    uint32_t count;
    uint32_t values_offset; /* bytes from the page's start, a multiple of 8 */
    uint32_t labels_offset;
    uint32_t reserved[12];
};

/* Where an object lies. The segment's descriptor comes along each time; a client that has mapped segment_id
 * keeps its mapping and closes the descriptor. */
struct rocem_abi_segment_ref {
    uint32_t segment_id;
    uint32_t reserved;
    uint64_t segment_bytes;
    uint64_t offset; /* of the object, a multiple of ROCEM_ABI_CACHE_LINE */
    uint64_t bytes;
};

/* ---------------------------------------------------------------- control messages */

/* A request is one datagram; its answer has the same type and request_id and either error == 0 and the type's
 * reply body, or error != 0 and a rocem_abi_refusal. */
enum rocem_abi_message_type {
    ROCEM_ABI_HELLO = 1,
    ROCEM_ABI_LIST_NICS = 2,
    ROCEM_ABI_OPEN_NIC = 3,
    ROCEM_ABI_QUERY_PORT = 4,
    ROCEM_ABI_QUERY_GID = 5,
    ROCEM_ABI_ALLOC_PD = 6,
    ROCEM_ABI_DEALLOC_PD = 7,
    ROCEM_ABI_ALLOC_MEMORY = 8,
    ROCEM_ABI_FREE_MEMORY = 9,
    ROCEM_ABI_REG_MR = 10,
    ROCEM_ABI_DEREG_MR = 11,
    ROCEM_ABI_CREATE_CHANNEL = 12,
    ROCEM_ABI_DESTROY_CHANNEL = 13,
    ROCEM_ABI_CREATE_CQ = 14,
    ROCEM_ABI_DESTROY_CQ = 15,
    ROCEM_ABI_CREATE_QP = 16,
    ROCEM_ABI_MODIFY_QP = 17,
    ROCEM_ABI_QUERY_QP = 18,
    ROCEM_ABI_DESTROY_QP = 19,
    ROCEM_ABI_MANAGEMENT = 20
};

struct rocem_abi_header {
    uint32_t bytes; /* of the whole message, this header included */
    uint16_t type;  /* enum rocem_abi_message_type */
    uint16_t reserved;
    uint32_t request_id;
    uint32_t error; /* 0 in requests; an errno in answers */
};

struct rocem_abi_refusal {
    struct rocem_abi_header header;
    char reason[ROCEM_ABI_REASON_BYTES]; /* "path_mtu: 4096 is above the port's active_mtu 1024" */
};

/* Only a type: the requests alloc_pd and create_channel, and answers that say nothing but yes. */
struct rocem_abi_bare {
    struct rocem_abi_header header;
};

struct rocem_abi_hello_request {
    struct rocem_abi_header header;
    uint32_t magic;
    uint16_t version_min;
    uint16_t version_max;
    char program[ROCEM_ABI_NAME_BYTES]; /* for logs */
};

/* Refused with EPROTONOSUPPORT when no version is in both ranges. */
struct rocem_abi_hello_reply {
    struct rocem_abi_header header;
    uint32_t magic;
    uint16_t version;
    uint16_t nic_count;
    char daemon_version[ROCEM_ABI_NAME_BYTES];
};

struct rocem_abi_list_nics_request {
    struct rocem_abi_header header;
    uint32_t index; /* 0 .. nic_count - 1; ENOENT above */
    uint32_t reserved;
};

struct rocem_abi_list_nics_reply {
    struct rocem_abi_header header;
    char name[ROCEM_ABI_NAME_BYTES];
    uint64_t node_guid;
};

struct rocem_abi_open_nic_request {
    struct rocem_abi_header header;
    char name[ROCEM_ABI_NAME_BYTES]; /* empty: the daemon's first */
};

struct rocem_abi_device {
    char name[ROCEM_ABI_NAME_BYTES];
    char version[ROCEM_ABI_NAME_BYTES]; /* the daemon's */
    uint64_t node_guid;
    uint64_t sys_image_guid;
    uint64_t max_mr_size;  /* bytes */
    uint64_t max_msg_size; /* bytes */
    uint32_t max_qp;
    uint32_t max_qp_wr;
    uint32_t max_sge;
    uint32_t max_inline_data; /* bytes */
    uint32_t max_cq;
    uint32_t max_cqe;
    uint32_t max_mr;
    uint32_t max_pd;
    uint32_t max_qp_rd_atom;
    uint32_t atomic_cap; /* 1: IBV_ATOMIC_HCA */
    uint32_t vendor_id;
    uint32_t vendor_part_id;
    uint32_t hardware_version;
    uint32_t comp_vectors;
    uint32_t port_count;
    uint32_t reserved;
};

/* With descriptors: session segment, worker page, counters page, doorbell, event socket. */
struct rocem_abi_open_nic_reply {
    struct rocem_abi_header header;
    struct rocem_abi_device device;
    uint64_t counters_page_bytes;
};

struct rocem_abi_query_port_request {
    struct rocem_abi_header header;
    uint32_t port_num; /* 1 */
    uint32_t reserved;
};

struct rocem_abi_query_port_reply {
    struct rocem_abi_header header;
    uint8_t state;      /* enum ibv_port_state: 1 down, 4 active */
    uint8_t max_mtu;    /* enum ibv_mtu: 1 is 256 ... 5 is 4096 */
    uint8_t active_mtu; /* enum ibv_mtu */
    uint8_t link_layer; /* 2: Ethernet */
    uint8_t active_width;
    uint8_t active_speed;
    uint8_t physical_state; /* 3 disabled, 5 link up */
    uint8_t reserved0;
    uint32_t gid_table_length;
    uint32_t pkey_table_length;
    uint32_t max_msg_size; /* bytes */
    uint32_t reserved1;
};

struct rocem_abi_query_gid_request {
    struct rocem_abi_header header;
    uint32_t port_num;
    uint32_t index; /* ENODATA: the entry is empty; EINVAL: beyond the table */
};

struct rocem_abi_query_gid_reply {
    struct rocem_abi_header header;
    uint8_t gid[16];
    uint32_t gid_type; /* enum ibv_gid_type: 2 is RoCE v2 */
    uint32_t reserved;
};

struct rocem_abi_alloc_pd_reply {
    struct rocem_abi_header header;
    uint32_t pd;
    uint32_t reserved;
};

/* Requests that name one object: dealloc_pd, free_memory, dereg_mr, destroy_channel, destroy_cq, query_qp,
 * destroy_qp. */
struct rocem_abi_object_request {
    struct rocem_abi_header header;
    uint32_t object; /* pd, region, mr, channel, CQ slot, QP slot */
    uint32_t epoch;  /* CQs and QPs; 0 otherwise */
};

struct rocem_abi_alloc_memory_request {
    struct rocem_abi_header header;
    uint64_t bytes;
};

/* With one descriptor. */
struct rocem_abi_alloc_memory_reply {
    struct rocem_abi_header header;
    uint32_t region;
    uint32_t reserved;
    uint64_t bytes; /* whole pages, at least what was asked */
};

enum rocem_abi_memory_road {
    ROCEM_ABI_ROAD_REGION = 1 /* memory of alloc_memory; by address of the process: not in this version */
};

struct rocem_abi_reg_mr_request {
    struct rocem_abi_header header;
    uint32_t pd;
    uint32_t road;   /* enum rocem_abi_memory_road; another one is EOPNOTSUPP */
    uint32_t region; /* road region */
    uint32_t access; /* enum ibv_access_flags */
    uint64_t offset; /* road region: of the MR's first byte in the region */
    uint64_t length; /* bytes */
    uint64_t va;     /* how the client and its peers name the first byte */
};

struct rocem_abi_reg_mr_reply {
    struct rocem_abi_header header;
    uint32_t mr;
    uint32_t lkey;
    uint32_t rkey;
    uint32_t reserved;
};

/* With one descriptor: the client's end of the channel's socket (rocem_abi_cq_event). */
struct rocem_abi_create_channel_reply {
    struct rocem_abi_header header;
    uint32_t channel; /* never 0 */
    uint32_t reserved;
};

struct rocem_abi_create_cq_request {
    struct rocem_abi_header header;
    uint32_t cqe;         /* 1 .. max_cqe */
    uint32_t comp_vector; /* below comp_vectors */
    uint32_t channel;     /* 0: none */
    uint32_t reserved;
};

/* With one descriptor. */
struct rocem_abi_create_cq_reply {
    struct rocem_abi_header header;
    uint32_t cq_slot;
    uint32_t cq_epoch;
    uint32_t cqe; /* granted, at least what was asked: the capacity */
    uint32_t reserved;
    struct rocem_abi_segment_ref segment;
};

struct rocem_abi_qp_caps {
    uint32_t max_send_wr;
    uint32_t max_recv_wr;
    uint32_t max_send_sge;
    uint32_t max_recv_sge;
    uint32_t max_inline_data; /* bytes */
    uint32_t reserved;
};

struct rocem_abi_create_qp_request {
    struct rocem_abi_header header;
    uint32_t qp_type; /* enum ibv_qp_type: 2 is RC */
    uint32_t pd;
    uint32_t send_cq_slot;
    uint32_t recv_cq_slot;
    uint32_t sq_sig_all; /* 0 or 1 */
    uint32_t reserved;
    struct rocem_abi_qp_caps caps;
};

/* With one descriptor. */
struct rocem_abi_create_qp_reply {
    struct rocem_abi_header header;
    uint32_t qp_slot;
    uint32_t qp_epoch;
    uint32_t qpn;
    uint32_t reserved;
    struct rocem_abi_qp_caps caps; /* granted: at least what was asked */
    struct rocem_abi_segment_ref segment;
};

struct rocem_abi_address_vector {
    uint8_t dgid[16];
    uint32_t flow_label; /* 20 bits */
    uint8_t sgid_index;
    uint8_t hop_limit;
    uint8_t traffic_class;
    uint8_t sl;
    uint8_t is_global;
    uint8_t reserved0;
    uint16_t dlid;
    uint32_t reserved1;
};

struct rocem_abi_qp_attributes {
    struct rocem_abi_address_vector av;
    uint32_t rq_psn;
    uint32_t sq_psn;
    uint32_t dest_qpn;
    uint32_t access_flags; /* enum ibv_access_flags */
    uint16_t pkey_index;
    uint8_t state;     /* enum ibv_qp_state */
    uint8_t cur_state; /* enum ibv_qp_state */
    uint8_t path_mtu;  /* enum ibv_mtu */
    uint8_t en_sqd_async_notify;
    uint8_t sq_draining;
    uint8_t max_rd_atomic;
    uint8_t max_dest_rd_atomic;
    uint8_t min_rnr_timer;
    uint8_t port_num;
    uint8_t timeout;
    uint8_t retry_cnt;
    uint8_t rnr_retry;
    uint8_t reserved0[2];
    uint32_t reserved1;
    uint32_t reserved2;
};

/* The daemon first takes what the rings hold up to these indices, then changes the QP. */
struct rocem_abi_modify_qp_request {
    struct rocem_abi_header header;
    uint32_t qp_slot;
    uint32_t qp_epoch;
    uint32_t mask; /* enum ibv_qp_attr_mask */
    uint32_t send_producer;
    uint32_t recv_producer;
    uint32_t reserved;
    struct rocem_abi_qp_attributes attributes;
};

struct rocem_abi_modify_qp_reply {
    struct rocem_abi_header header;
    uint32_t qp_epoch; /* a RESET gives a new one, and empties both rings: their indices go on from the
                          request's */
    uint32_t state;
};

struct rocem_abi_query_qp_reply {
    struct rocem_abi_header header;
    struct rocem_abi_qp_attributes attributes;
    struct rocem_abi_qp_caps caps;
    uint32_t sq_sig_all;
    uint32_t reserved;
};

/* A question of rocemctl, "status", "nics", "qps" or "counters", maybe with the name of a NIC behind a blank.
 */
struct rocem_abi_management_request {
    struct rocem_abi_header header;
    uint32_t text_bytes;
    uint32_t reserved;
    char text[ROCEM_ABI_TEXT_BYTES];
};

/* With one descriptor: a memfd sealed against all change, which holds the answer, one JSON document. */
struct rocem_abi_management_reply {
    struct rocem_abi_header header;
    uint64_t text_bytes;
};

/* ---------------------------------------------------------------- what the daemon sends unasked */

/* On a channel. CQ slot ROCEM_ABI_CQ_NONE: look into missed_events. */
#define ROCEM_ABI_CQ_NONE 0xffffffffu
struct rocem_abi_cq_event {
    uint32_t cq_slot;
    uint32_t cq_epoch;
};

/* On the event socket. `slot` and `epoch` name a QP or a CQ, or are 0. DEVICE_FATAL (8): the daemon ends. */
struct rocem_abi_async_event {
    uint32_t type; /* enum ibv_event_type */
    uint32_t slot;
    uint32_t epoch;
    uint32_t reserved;
};

/* ---------------------------------------------------------------- sizes and offsets */

#ifdef __cplusplus
#define ROCEM_ABI_ASSERT(condition) static_assert(condition, #condition)
#else
#define ROCEM_ABI_ASSERT(condition) _Static_assert(condition, #condition)
#endif
#define ROCEM_ABI_SIZE(type, size) ROCEM_ABI_ASSERT(sizeof(struct type) == (size))
#define ROCEM_ABI_OFFSET(type, field, offset) ROCEM_ABI_ASSERT(offsetof(struct type, field) == (offset))

ROCEM_ABI_SIZE(rocem_abi_ring_words, 128);
ROCEM_ABI_OFFSET(rocem_abi_ring_words, consumer, 64);
ROCEM_ABI_SIZE(rocem_abi_sge, 16);
ROCEM_ABI_SIZE(rocem_abi_send_wqe, 64);
ROCEM_ABI_OFFSET(rocem_abi_send_wqe, rkey, 32);
ROCEM_ABI_OFFSET(rocem_abi_send_wqe, num_sge, 44);
ROCEM_ABI_SIZE(rocem_abi_recv_wqe, 16);
ROCEM_ABI_SIZE(rocem_abi_cqe, 64);
ROCEM_ABI_OFFSET(rocem_abi_cqe, wqe_index, 16);
ROCEM_ABI_OFFSET(rocem_abi_cqe, status, 32);
ROCEM_ABI_SIZE(rocem_abi_cq_head, 192);
ROCEM_ABI_OFFSET(rocem_abi_cq_head, arm, 128);
ROCEM_ABI_SIZE(rocem_abi_qp_head, 256);
ROCEM_ABI_SIZE(rocem_abi_bitmap, 64 + ROCEM_ABI_BITMAP_LEAVES * 8);
ROCEM_ABI_SIZE(rocem_abi_session_segment, 64 + 3 * sizeof(struct rocem_abi_bitmap));
ROCEM_ABI_SIZE(rocem_abi_worker_page, 64);
ROCEM_ABI_SIZE(rocem_abi_counters_page, 64);
ROCEM_ABI_SIZE(rocem_abi_segment_ref, 32);
ROCEM_ABI_SIZE(rocem_abi_header, 16);
ROCEM_ABI_SIZE(rocem_abi_refusal, 256);
ROCEM_ABI_SIZE(rocem_abi_bare, 16);
ROCEM_ABI_SIZE(rocem_abi_hello_request, 56);
ROCEM_ABI_OFFSET(rocem_abi_hello_request, version_min, 20);
ROCEM_ABI_SIZE(rocem_abi_hello_reply, 56);
ROCEM_ABI_OFFSET(rocem_abi_hello_reply, version, 20);
ROCEM_ABI_SIZE(rocem_abi_list_nics_request, 24);
ROCEM_ABI_SIZE(rocem_abi_list_nics_reply, 56);
ROCEM_ABI_SIZE(rocem_abi_open_nic_request, 48);
ROCEM_ABI_SIZE(rocem_abi_device, 160);
ROCEM_ABI_SIZE(rocem_abi_open_nic_reply, 184);
ROCEM_ABI_SIZE(rocem_abi_query_port_request, 24);
ROCEM_ABI_SIZE(rocem_abi_query_port_reply, 40);
ROCEM_ABI_SIZE(rocem_abi_query_gid_request, 24);
ROCEM_ABI_SIZE(rocem_abi_query_gid_reply, 40);
ROCEM_ABI_SIZE(rocem_abi_alloc_pd_reply, 24);
ROCEM_ABI_SIZE(rocem_abi_object_request, 24);
ROCEM_ABI_SIZE(rocem_abi_alloc_memory_request, 24);
ROCEM_ABI_SIZE(rocem_abi_alloc_memory_reply, 32);
ROCEM_ABI_SIZE(rocem_abi_reg_mr_request, 56);
ROCEM_ABI_SIZE(rocem_abi_reg_mr_reply, 32);
ROCEM_ABI_SIZE(rocem_abi_create_channel_reply, 24);
ROCEM_ABI_SIZE(rocem_abi_create_cq_request, 32);
ROCEM_ABI_SIZE(rocem_abi_create_cq_reply, 64);
ROCEM_ABI_SIZE(rocem_abi_qp_caps, 24);
ROCEM_ABI_SIZE(rocem_abi_create_qp_request, 64);
ROCEM_ABI_SIZE(rocem_abi_create_qp_reply, 88);
ROCEM_ABI_SIZE(rocem_abi_address_vector, 32);
ROCEM_ABI_SIZE(rocem_abi_qp_attributes, 72);
ROCEM_ABI_SIZE(rocem_abi_modify_qp_request, 112);
ROCEM_ABI_SIZE(rocem_abi_modify_qp_reply, 24);
ROCEM_ABI_SIZE(rocem_abi_query_qp_reply, 120);
ROCEM_ABI_SIZE(rocem_abi_management_request, 504);
ROCEM_ABI_SIZE(rocem_abi_management_reply, 24);
ROCEM_ABI_SIZE(rocem_abi_cq_event, 8);
ROCEM_ABI_SIZE(rocem_abi_async_event, 16);

#undef ROCEM_ABI_SIZE
#undef ROCEM_ABI_OFFSET

#ifdef __cplusplus
}
#endif

#endif
