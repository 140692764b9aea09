#include "daemon/control/listen_socket.hpp"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>

using namespace rocem::daemon;

namespace {

struct Directory {
    Directory() { REQUIRE(::mkdtemp(name.data()) != nullptr); }
    ~Directory() {
        ::unlink(socket().c_str());
        ::unlink((socket() + ".lock").c_str());
        ::rmdir(name.c_str());
    }
    std::string socket() const { return name + "/s"; }

    std::string name = "/tmp/rocem-test-XXXXXX";
};

rocem::config::SocketSettings settings(const std::string& path) {
    return {.path = path, .mode = 0620, .group = ""};
}

// What a daemon leaves behind that was killed: a socket that nobody listens on.
void leave_stale(const std::string& path) {
    const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
    ::close(fd);
}

}  // namespace

TEST_CASE("the socket has the mode of the settings and goes away with its owner") {
    Directory directory;
    {
        const auto listener = ListenSocket::open(settings(directory.socket()));
        REQUIRE(listener);
        struct stat status {};
        REQUIRE(::stat(directory.socket().c_str(), &status) == 0);
        CHECK(S_ISSOCK(status.st_mode));
        CHECK((status.st_mode & 07777) == 0620);
    }
    CHECK(::access(directory.socket().c_str(), F_OK) != 0);
}

TEST_CASE("a second daemon on the same path is refused, and the first one keeps its socket") {
    Directory directory;
    const auto first = ListenSocket::open(settings(directory.socket()));
    REQUIRE(first);
    const auto second = ListenSocket::open(settings(directory.socket()));
    REQUIRE_FALSE(second);
    CHECK(second.error().find("another daemon listens on " + directory.socket()) == 0);
    CHECK(::access(directory.socket().c_str(), F_OK) == 0);
}

TEST_CASE("the socket of a dead daemon is replaced") {
    Directory directory;
    leave_stale(directory.socket());
    CHECK(ListenSocket::open(settings(directory.socket())));
}

TEST_CASE("a file that is no socket is left alone") {
    Directory directory;
    std::ofstream(directory.socket()) << "precious";
    const auto listener = ListenSocket::open(settings(directory.socket()));
    REQUIRE_FALSE(listener);
    CHECK(listener.error() == directory.socket() + " exists and is not a socket");
    CHECK(::access(directory.socket().c_str(), F_OK) == 0);
}

TEST_CASE("what cannot be done is said") {
    Directory directory;
    auto wrong = settings(directory.socket());
    wrong.group = "no-such-group";
    CHECK(ListenSocket::open(wrong).error() == "socket group no-such-group does not exist");
    CHECK(::access(directory.socket().c_str(), F_OK) != 0);
    CHECK(ListenSocket::open(settings(directory.name + "/missing/s")).error().find("No such file") !=
          std::string::npos);
    CHECK(ListenSocket::open(settings("/tmp/" + std::string(200, 'x'))).error().find("longer than 107") !=
          std::string::npos);
}
