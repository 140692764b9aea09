#include "daemon/sleeper.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

namespace rocem::daemon {

Sleeper::Sleeper() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

bool Sleeper::add(int fd) {
    return watch(fd, EPOLLIN);
}

bool Sleeper::add_writable(int fd) {
    return watch(fd, EPOLLOUT);
}

bool Sleeper::watch(int fd, std::uint32_t events) {
    epoll_event event{};
    event.events = events | EPOLLET;
    event.data.fd = fd;
    return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void Sleeper::remove(int fd) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void Sleeper::wait(engine::Duration limit) {
    std::array<epoll_event, 16> events;
    if (limit == engine::Duration::max()) {
        ::epoll_wait(epoll_.get(), events.data(), events.size(), -1);
        return;
    }
    timespec timeout{};
    timeout.tv_sec = static_cast<std::time_t>(limit.count() / 1'000'000'000);
    timeout.tv_nsec = static_cast<long>(limit.count() % 1'000'000'000);
    if (::epoll_pwait2(epoll_.get(), events.data(), events.size(), &timeout, nullptr) < 0 &&
        errno == ENOSYS) {
        // Before Linux 5.11: whole milliseconds, rounded down, so that no deadline is slept through.
        const auto milliseconds = static_cast<int>(std::min<std::int64_t>(limit.count() / 1'000'000, 60'000));
        ::epoll_wait(epoll_.get(), events.data(), events.size(), milliseconds);
    }
}

}  // namespace rocem::daemon
