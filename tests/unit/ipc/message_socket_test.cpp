#include "ipc/message_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

namespace rocem::ipc {
namespace {

struct Pair {
    Pair() {
        int ends[2] = {-1, -1};
        REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
        a.reset(ends[0]);
        b.reset(ends[1]);
    }
    UniqueFd a;
    UniqueFd b;
};

std::vector<std::byte> letter(std::size_t size) {
    return std::vector<std::byte>(size, std::byte{0x5a});
}

ino_t inode(int fd) {
    struct stat facts {};
    ::fstat(fd, &facts);
    return facts.st_ino;
}

int open_descriptors() {
    int count = 0;
    for (int fd = 0; fd < 256; ++fd)
        count += ::fcntl(fd, F_GETFD) >= 0;
    return count;
}

TEST_CASE("message__comes_whole_with_its_descriptors") {
    const Pair pair;
    const UniqueFd one(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const UniqueFd two(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
    const int fds[] = {one.get(), two.get()};
    REQUIRE(send_message(pair.a.get(), letter(100), fds, Wait::block) == Transfer::done);
    ReceivedMessage message;
    REQUIRE(receive_message(pair.b.get(), message, Wait::dont_wait) == Transfer::done);
    CHECK(message.size == 100);
    REQUIRE(message.fd_count == 2);
    CHECK(inode(message.fds[0].get()) == inode(one.get()));
    CHECK(inode(message.fds[1].get()) == inode(two.get()));
    CHECK((::fcntl(message.fds[0].get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("message__nothing_there_and_nobody_there") {
    Pair pair;
    ReceivedMessage message;
    CHECK(receive_message(pair.b.get(), message, Wait::dont_wait) == Transfer::would_block);
    pair.a.reset();
    CHECK(receive_message(pair.b.get(), message, Wait::block) == Transfer::closed);
    CHECK(send_message(pair.b.get(), letter(10), {}, Wait::block) == Transfer::closed);
}

TEST_CASE("message__a_full_socket_does_not_block_who_does_not_wait") {
    const Pair pair;
    Transfer result = Transfer::done;
    while (result == Transfer::done)
        result = send_message(pair.a.get(), letter(1000), {}, Wait::dont_wait);
    CHECK(result == Transfer::would_block);
}

TEST_CASE("message__too_long_is_malformed") {
    const Pair pair;
    REQUIRE(send_message(pair.a.get(), letter(ROCEM_ABI_MESSAGE_BYTES_MAX), {}, Wait::block) ==
            Transfer::done);
    REQUIRE(send_message(pair.a.get(), letter(ROCEM_ABI_MESSAGE_BYTES_MAX + 1), {}, Wait::block) ==
            Transfer::done);
    ReceivedMessage message;
    CHECK(receive_message(pair.b.get(), message, Wait::block) == Transfer::done);
    CHECK(receive_message(pair.b.get(), message, Wait::block) == Transfer::malformed);
    CHECK(message.size == 0);
}

TEST_CASE("message__descriptors_that_nobody_takes_are_closed") {
    const Pair pair;
    const UniqueFd one(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const int before = open_descriptors();
    {
        const int fds[] = {one.get(), one.get(), one.get()};
        ReceivedMessage message;
        for (int i = 0; i < 3; ++i) {
            REQUIRE(send_message(pair.a.get(), letter(10), fds, Wait::block) == Transfer::done);
            REQUIRE(receive_message(pair.b.get(), message, Wait::block) == Transfer::done);
        }
        CHECK(open_descriptors() == before + 3);
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("message__more_descriptors_than_allowed_are_malformed_and_closed") {
    const Pair pair;
    const UniqueFd one(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const int before = open_descriptors();
    // By hand: send_message would not.
    std::vector<int> fds(40, one.get());
    std::vector<char> control(CMSG_SPACE(fds.size() * sizeof(int)));
    char byte = 1;
    iovec part{&byte, 1};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(rights), fds.data(), fds.size() * sizeof(int));
    REQUIRE(::sendmsg(pair.a.get(), &header, 0) == 1);
    {
        ReceivedMessage message;
        CHECK(receive_message(pair.b.get(), message, Wait::block) == Transfer::malformed);
    }
    CHECK(open_descriptors() == before);
}

}  // namespace
}  // namespace rocem::ipc
