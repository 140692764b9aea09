// Work requests that own what engine::SendWr and engine::RecvWr only point at.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "protocol/ids.hpp"
#include "queue_engine/work_request.hpp"

namespace rocem::test {

using SgeList = std::vector<engine::Sge>;

struct RemoteAddress {
    std::uint64_t va = 0;
    protocol::RKey r_key;
};

struct SendRequest {
    engine::SendWr fields;
    SgeList sges;
    std::vector<std::byte> inline_bytes;

    // The value for post_send; lives no longer than this request.
    engine::SendWr wr() const {
        engine::SendWr result = fields;
        result.sges = sges;
        result.inline_bytes = inline_bytes;
        return result;
    }

    SendRequest unsignaled() && {
        return with([](engine::SendWr& wr) { wr.signaled = false; });
    }
    SendRequest fenced() && {
        return with([](engine::SendWr& wr) { wr.fence = true; });
    }
    SendRequest solicited() && {
        return with([](engine::SendWr& wr) { wr.solicited = true; });
    }

 private:
    template <class Change>
    SendRequest with(Change change) {
        change(fields);
        return std::move(*this);
    }
};

struct ReceiveRequest {
    std::uint64_t wr_id = 0;
    SgeList sges;

    engine::RecvWr wr() const {
        engine::RecvWr result;
        result.wr_id = wr_id;
        result.wqe_index = static_cast<std::uint32_t>(wr_id);
        result.sges = sges;
        return result;
    }
};

inline SendRequest make_request(engine::WrOpcode opcode, std::uint64_t wr_id, SgeList local,
                                RemoteAddress remote = {}) {
    SendRequest request;
    request.fields.wr_id = wr_id;
    request.fields.wqe_index = static_cast<std::uint32_t>(wr_id);
    request.fields.opcode = opcode;
    request.fields.signaled = true;
    request.fields.remote_addr = remote.va;
    request.fields.r_key = remote.r_key;
    request.sges = std::move(local);
    return request;
}

inline SendRequest send(std::uint64_t wr_id, SgeList local) {
    return make_request(engine::WrOpcode::send, wr_id, std::move(local));
}

inline SendRequest send_inline(std::uint64_t wr_id, std::vector<std::byte> bytes) {
    SendRequest request = make_request(engine::WrOpcode::send, wr_id, {});
    request.fields.inline_data = true;
    request.inline_bytes = std::move(bytes);
    return request;
}

inline SendRequest send_with_immediate(std::uint64_t wr_id, SgeList local, std::uint32_t immediate) {
    SendRequest request = make_request(engine::WrOpcode::send_with_immediate, wr_id, std::move(local));
    request.fields.immediate = immediate;
    return request;
}

inline SendRequest write(std::uint64_t wr_id, SgeList local, RemoteAddress remote) {
    return make_request(engine::WrOpcode::rdma_write, wr_id, std::move(local), remote);
}

inline SendRequest write_with_immediate(std::uint64_t wr_id, SgeList local, RemoteAddress remote,
                                        std::uint32_t immediate) {
    SendRequest request =
        make_request(engine::WrOpcode::rdma_write_with_immediate, wr_id, std::move(local), remote);
    request.fields.immediate = immediate;
    return request;
}

inline SendRequest read(std::uint64_t wr_id, SgeList local, RemoteAddress remote) {
    return make_request(engine::WrOpcode::rdma_read, wr_id, std::move(local), remote);
}

inline SendRequest fetch_add(std::uint64_t wr_id, SgeList local, RemoteAddress remote, std::uint64_t add) {
    SendRequest request = make_request(engine::WrOpcode::fetch_add, wr_id, std::move(local), remote);
    request.fields.compare_add = add;
    return request;
}

inline SendRequest compare_swap(std::uint64_t wr_id, SgeList local, RemoteAddress remote,
                                std::uint64_t compare, std::uint64_t swap) {
    SendRequest request = make_request(engine::WrOpcode::compare_swap, wr_id, std::move(local), remote);
    request.fields.compare_add = compare;
    request.fields.swap = swap;
    return request;
}

inline ReceiveRequest receive(std::uint64_t wr_id, SgeList local) {
    return {wr_id, std::move(local)};
}

// Bytes that differ everywhere and between salts.
inline std::vector<std::byte> pattern(std::size_t length, unsigned salt = 1) {
    std::vector<std::byte> bytes(length);
    std::uint32_t state = 0x9e3779b9u * (salt + 1);
    for (std::byte& byte : bytes) {
        state = state * 1664525u + 1013904223u;
        byte = static_cast<std::byte>(state >> 24);
    }
    return bytes;
}

inline bool same_bytes(std::span<const std::byte> left, std::span<const std::byte> right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

}  // namespace rocem::test
