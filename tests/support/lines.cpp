#include "tests/support/lines.hpp"

#include <cstdio>

namespace rocem::test {

std::string lines(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (const std::size_t note = line.find("//"); note != std::string_view::npos)
            line = line.substr(0, note);
        const std::size_t first = line.find_first_not_of(' ');
        if (first == std::string_view::npos) continue;
        line = line.substr(first, line.find_last_not_of(' ') - first + 1);
        result.append(line).append("\n");
    }
    return result;
}

std::string_view name_of(engine::WcStatus status) {
    using engine::WcStatus;
    switch (status) {
        case WcStatus::success:
            return "ok";
        case WcStatus::local_length_error:
            return "LOC_LEN_ERR";
        case WcStatus::local_qp_operation_error:
            return "LOC_QP_OP_ERR";
        case WcStatus::local_protection_error:
            return "LOC_PROT_ERR";
        case WcStatus::flush_error:
            return "WR_FLUSH_ERR";
        case WcStatus::bad_response_error:
            return "BAD_RESP_ERR";
        case WcStatus::local_access_error:
            return "LOC_ACCESS_ERR";
        case WcStatus::remote_invalid_request_error:
            return "REM_INV_REQ_ERR";
        case WcStatus::remote_access_error:
            return "REM_ACCESS_ERR";
        case WcStatus::remote_operation_error:
            return "REM_OP_ERR";
        case WcStatus::retry_exceeded_error:
            return "RETRY_EXC_ERR";
        case WcStatus::rnr_retry_exceeded_error:
            return "RNR_RETRY_EXC_ERR";
        case WcStatus::fatal_error:
            return "FATAL_ERR";
        case WcStatus::general_error:
            return "GENERAL_ERR";
    }
    return "unknown status";
}

std::string_view name_of(engine::QpState state) {
    using engine::QpState;
    switch (state) {
        case QpState::reset:
            return "RESET";
        case QpState::init:
            return "INIT";
        case QpState::rtr:
            return "RTR";
        case QpState::rts:
            return "RTS";
        case QpState::sqd:
            return "SQD";
        case QpState::sqe:
            return "SQE";
        case QpState::error:
            return "ERR";
    }
    return "unknown state";
}

std::string_view name_of(engine::EventType type) {
    using engine::EventType;
    switch (type) {
        case EventType::cq_error:
            return "CQ_ERR";
        case EventType::qp_fatal:
            return "QP_FATAL";
        case EventType::qp_request_error:
            return "QP_REQ_ERR";
        case EventType::qp_access_error:
            return "QP_ACCESS_ERR";
        case EventType::communication_established:
            return "COMM_EST";
        case EventType::sq_drained:
            return "SQ_DRAINED";
        case EventType::device_fatal:
            return "DEVICE_FATAL";
        case EventType::port_active:
            return "PORT_ACTIVE";
        case EventType::port_error:
            return "PORT_ERR";
        case EventType::gid_change:
            return "GID_CHANGE";
    }
    return "unknown event";
}

namespace {

std::string_view name_of(engine::WcOpcode opcode) {
    using engine::WcOpcode;
    switch (opcode) {
        case WcOpcode::send:
            return "SEND";
        case WcOpcode::rdma_write:
            return "RDMA_WRITE";
        case WcOpcode::rdma_read:
            return "RDMA_READ";
        case WcOpcode::compare_swap:
            return "COMP_SWAP";
        case WcOpcode::fetch_add:
            return "FETCH_ADD";
        case WcOpcode::receive:
            return "RECV";
        case WcOpcode::receive_rdma_with_immediate:
            return "RECV_RDMA_WITH_IMM";
    }
    return "unknown opcode";
}

bool carries_length(const engine::WorkCompletion& completion) {
    using engine::WcOpcode;
    return completion.opcode != WcOpcode::send && completion.opcode != WcOpcode::rdma_write;
}

}  // namespace

std::string describe(const engine::WorkCompletion& completion) {
    std::string text = "wr=" + std::to_string(completion.wr_id);
    if (completion.status != engine::WcStatus::success) {
        // Verbs define only wr_id, status and qp_num of a failed completion.
        return text.append(" ").append(name_of(completion.status));
    }
    text.append(" ").append(name_of(completion.opcode)).append(" ok");
    if (carries_length(completion)) text += " len=" + std::to_string(completion.byte_len);
    if (completion.with_immediate) {
        char immediate[16];
        std::snprintf(immediate, sizeof immediate, " imm=0x%x", completion.immediate);
        text += immediate;
    }
    if (completion.solicited) text += " solicited";
    return text;
}

}  // namespace rocem::test
