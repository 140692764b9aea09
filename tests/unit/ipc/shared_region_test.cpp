#include "ipc/shared_region.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace rocem::ipc {
namespace {

TEST_CASE("make_region__is_zeroed_whole_pages_that_keep_their_size") {
    const SharedRegion region = make_region("test", 5000);
    REQUIRE(region);
    CHECK(region.mapping.size() == 8192);
    CHECK(region.mapping.data()[0] == std::byte{0});
    CHECK(region.mapping.data()[8191] == std::byte{0});
    CHECK(::ftruncate(region.fd.get(), 4096) != 0);
    CHECK(errno == EPERM);
    CHECK(::ftruncate(region.fd.get(), 16384) != 0);
    CHECK(::fcntl(region.fd.get(), F_ADD_SEALS, F_SEAL_WRITE) != 0);
    CHECK((::fcntl(region.fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("map_sealed__both_sides_see_the_same_bytes") {
    const SharedRegion region = make_region("test", 4096);
    const Mapping client = map_sealed(region.fd.get(), 4096, Access::read_write);
    REQUIRE(client);
    client.data()[17] = std::byte{0xab};
    CHECK(region.mapping.data()[17] == std::byte{0xab});
}

TEST_CASE("make_region__only_the_maker_writes") {
    const SharedRegion region = make_region("test", 4096, Writers::maker);
    REQUIRE(region);
    const Mapping reader = map_sealed(region.fd.get(), 4096, Access::read_only);
    REQUIRE(reader);
    region.mapping.data()[3] = std::byte{7};
    CHECK(reader.data()[3] == std::byte{7});
    CHECK_FALSE(map_sealed(region.fd.get(), 4096, Access::read_write));
    const char byte = 1;
    CHECK(::pwrite(region.fd.get(), &byte, 1, 0) < 0);
    CHECK(::mprotect(reader.data(), 4096, PROT_READ | PROT_WRITE) != 0);
}

TEST_CASE("map_sealed__what_could_shrink_is_refused") {
    const UniqueFd fd(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    REQUIRE(::ftruncate(fd.get(), 8192) == 0);
    CHECK_FALSE(map_sealed(fd.get(), 8192, Access::read_write));
    CHECK(errno == EPROTO);
    // All seals but the one that keeps more from being taken off: they cannot be, but it is not what we made.
    REQUIRE(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
    CHECK_FALSE(map_sealed(fd.get(), 8192, Access::read_write));
    REQUIRE(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SEAL) == 0);
    CHECK(map_sealed(fd.get(), 8192, Access::read_write));
    CHECK_FALSE(map_sealed(fd.get(), 8193, Access::read_write));
    CHECK(errno == EPROTO);
    CHECK_FALSE(map_sealed(fd.get(), 0, Access::read_write));
}

TEST_CASE("map_sealed__a_file_that_is_no_memfd_is_refused") {
    const UniqueFd fd(::open("/dev/zero", O_RDWR | O_CLOEXEC));
    CHECK_FALSE(map_sealed(fd.get(), 4096, Access::read_write));
    CHECK(errno == EPROTO);
}

TEST_CASE("map_sealed__a_forked_child_does_not_have_it") {
    const SharedRegion region = make_region("test", 4096);
    const Mapping client = map_sealed(region.fd.get(), 4096, Access::read_write);
    REQUIRE(client);
    const pid_t child = ::fork();
    if (child == 0) {
        // mincore says ENOMEM for what is not mapped.
        unsigned char resident = 0;
        ::_exit(::mincore(client.data(), 4096, &resident) != 0 && errno == ENOMEM ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

TEST_CASE("make_sealed_text__nobody_changes_it") {
    const std::string_view text = "{\"nics\": []}";
    const UniqueFd fd = make_sealed_text("test", text);
    REQUIRE(fd);
    const Mapping reader = map_sealed(fd.get(), text.size(), Access::read_only);
    REQUIRE(reader);
    CHECK(std::memcmp(reader.data(), text.data(), text.size()) == 0);
    CHECK_FALSE(map_sealed(fd.get(), text.size(), Access::read_write));
}

}  // namespace
}  // namespace rocem::ipc
