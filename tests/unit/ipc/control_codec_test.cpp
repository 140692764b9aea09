#include "ipc/control_codec.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

namespace rocem::ipc {
namespace {

std::vector<std::byte> bytes(std::span<const std::byte> from) {
    return {from.begin(), from.end()};
}

rocem_abi_create_cq_request create_cq() {
    auto request = make_request<rocem_abi_create_cq_request>(MessageType::create_cq, 42);
    request.cqe = 1000;
    request.comp_vector = 3;
    return request;
}

TEST_CASE("check_request__a_request_survives_the_way") {
    const auto sent = create_cq();
    const CheckedHeader checked = check_request(bytes_of(sent));
    REQUIRE(checked.error == DecodeError::none);
    CHECK(checked.header.type == ROCEM_ABI_CREATE_CQ);
    CHECK(checked.header.request_id == 42);
    const auto got = read_message<rocem_abi_create_cq_request>(bytes_of(sent));
    CHECK(got.cqe == 1000);
    CHECK(got.comp_vector == 3);
}

TEST_CASE("check_request__every_length_but_the_right_one_is_refused") {
    const auto request = create_cq();
    for (std::size_t length = 0; length < sizeof(request); ++length) {
        const auto cut = bytes_of(request).first(length);
        CHECK(check_request(cut).error == DecodeError::truncated);
    }
    std::vector<std::byte> longer = bytes(bytes_of(request));
    longer.resize(longer.size() + 8);
    CHECK(check_request(longer).error == DecodeError::wrong_length);
    // A header that agrees with a datagram of another type's length.
    for (std::uint32_t length = sizeof(rocem_abi_header); length < 200; ++length) {
        if (length == sizeof(request)) continue;
        std::vector<std::byte> other(length);
        rocem_abi_header header = request.header;
        header.bytes = length;
        std::memcpy(other.data(), &header, sizeof(header));
        CHECK(check_request(other).error == DecodeError::wrong_length);
    }
}

TEST_CASE("check_request__unknown_types_are_refused") {
    for (const int number : {0, 21, 22, 0x8000, 0xffff}) {
        const auto type = static_cast<std::uint16_t>(number);
        auto request = make_request<rocem_abi_bare>(MessageType::alloc_pd, 1);
        request.header.type = type;
        CHECK(check_request(bytes_of(request)).error == DecodeError::unknown_type);
        CHECK(find_command(type) == nullptr);
        CHECK(name_of(type) == std::string("unknown"));
    }
}

TEST_CASE("check_request__fields_that_must_be_zero") {
    auto request = create_cq();
    request.header.error = 5;
    CHECK(check_request(bytes_of(request)).error == DecodeError::reserved_set);
    request = create_cq();
    request.header.reserved = 1;
    CHECK(check_request(bytes_of(request)).error == DecodeError::reserved_set);
}

TEST_CASE("check_request__noise_is_never_looked_into") {
    std::mt19937 random(3);
    for (int i = 0; i < 20'000; ++i) {
        std::vector<std::byte> noise(random() % 80);
        for (std::byte& byte : noise)
            byte = static_cast<std::byte>(random());
        if (noise.size() >= 8 && random() % 2 == 0) {
            const auto length = static_cast<std::uint32_t>(noise.size());
            const auto type = static_cast<std::uint32_t>(random() % 24);
            std::memcpy(noise.data(), &length, sizeof(length));
            std::memcpy(noise.data() + 4, &type, sizeof(type));
        }
        const CheckedHeader checked = check_request(noise);
        if (checked.error == DecodeError::none) {
            CHECK(find_command(checked.header.type)->request_bytes == noise.size());
        }
    }
}

TEST_CASE("check_reply__must_be_the_answer_to_the_request") {
    const auto request = create_cq();
    auto reply = make_reply<rocem_abi_create_cq_reply>(request.header);
    CHECK(check_reply(bytes_of(reply), request.header).error == DecodeError::none);
    reply.header.request_id = 43;
    CHECK(check_reply(bytes_of(reply), request.header).error == DecodeError::wrong_reply);
    reply.header.request_id = 42;
    reply.header.type = ROCEM_ABI_CREATE_QP;
    CHECK(check_reply(bytes_of(reply), request.header).error == DecodeError::wrong_reply);
}

TEST_CASE("check_reply__a_refusal_has_its_own_size") {
    const auto request = create_cq();
    const auto refusal = make_refusal(request.header, EINVAL, "cqe: 0");
    REQUIRE(check_reply(bytes_of(refusal), request.header).error == DecodeError::none);
    CHECK(refusal.header.error == EINVAL);
    CHECK(text_in(refusal.reason) == "cqe: 0");
    auto reply = make_reply<rocem_abi_create_cq_reply>(request.header);
    reply.header.error = EINVAL;
    CHECK(check_reply(bytes_of(reply), request.header).error == DecodeError::wrong_length);
    auto silent = refusal;
    silent.header.error = 0;
    CHECK(check_reply(bytes_of(silent), request.header).error == DecodeError::wrong_length);
}

TEST_CASE("make_refusal__a_long_reason_is_cut") {
    const auto refusal = make_refusal(create_cq().header, ENOMEM, std::string(1000, 'x'));
    CHECK(text_in(refusal.reason) == std::string(ROCEM_ABI_REASON_BYTES - 1, 'x'));
}

TEST_CASE("text_in__a_field_without_an_end_ends_with_the_field") {
    char field[4] = {'a', 'b', 'c', 'd'};
    CHECK(text_in(field) == "abcd");
    CHECK(set_text(field, "xyz"));
    CHECK(text_in(field) == "xyz");
    CHECK_FALSE(set_text(field, "wxyz"));
    CHECK(text_in(field) == "wxy");
    CHECK(set_text(field, ""));
    CHECK(text_in(field).empty());
}

TEST_CASE("agree_on_version__the_highest_of_both") {
    CHECK(agree_on_version(1, 1, 1, 1) == 1);
    CHECK(agree_on_version(1, 5, 2, 3) == 3);
    CHECK(agree_on_version(2, 3, 1, 5) == 3);
    CHECK(agree_on_version(4, 6, 1, 3) == 0);
    CHECK(agree_on_version(1, 1, 2, 3) == 0);
    CHECK(agree_on_version(3, 1, 1, 9) == 0);
    CHECK(agree_on_version(0, 0xffff, 1, 1) == 1);
}

}  // namespace
}  // namespace rocem::ipc
