#include "daemon/control/command_queue.hpp"

#include <poll.h>

#include <catch2/catch.hpp>
#include <memory>
#include <thread>

using namespace rocem::daemon;

namespace {

bool readable(int fd) {
    pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
    return ::poll(&entry, 1, 0) == 1;
}

}  // namespace

TEST_CASE("a command queue is bounded and first in, first out") {
    CommandQueue<std::unique_ptr<int>> queue(4);
    CHECK(queue.empty());
    for (int i = 0; i < 4; ++i)
        CHECK(queue.try_push(std::make_unique<int>(i)));
    CHECK(queue.room() == 0);
    auto fifth = std::make_unique<int>(4);
    CHECK_FALSE(queue.try_push(std::move(fifth)));
    REQUIRE(fifth != nullptr);  // a refused value is not lost
    for (int i = 0; i < 4; ++i)
        CHECK(**queue.try_pop() == i);
    CHECK_FALSE(queue.try_pop().has_value());
}

TEST_CASE("a popped slot keeps nothing alive") {
    CommandQueue<std::shared_ptr<int>> queue(2);
    auto value = std::make_shared<int>(1);
    CHECK(queue.try_push(std::shared_ptr<int>(value)));
    CHECK(value.use_count() == 2);
    queue.try_pop();
    CHECK(value.use_count() == 1);
}

TEST_CASE("a waker wakes until it is cleared") {
    Waker waker;
    REQUIRE(waker.valid());
    CHECK_FALSE(readable(waker.descriptor()));
    waker.notify();
    waker.notify();
    CHECK(readable(waker.descriptor()));
    waker.clear();
    CHECK_FALSE(readable(waker.descriptor()));
    waker.notify();
    CHECK(readable(waker.descriptor()));
}

TEST_CASE("no message is lost between two threads, one of which sleeps", "[threads]") {
    constexpr int count = 20'000;
    CommandQueue<int> queue(8);
    Waker waker;
    std::thread producer([&] {
        for (int i = 0; i < count; ++i) {
            int value = i;
            while (!queue.try_push(std::move(value)))
                std::this_thread::yield();
            waker.notify();
        }
    });
    int expected = 0;
    bool in_order = true;
    while (expected < count) {
        pollfd entry{.fd = waker.descriptor(), .events = POLLIN, .revents = 0};
        REQUIRE(::poll(&entry, 1, 30'000) == 1);  // a lost wakeup would hang here
        waker.clear();
        while (auto value = queue.try_pop())
            in_order = in_order && *value == expected++;
    }
    producer.join();
    CHECK(in_order);
}
