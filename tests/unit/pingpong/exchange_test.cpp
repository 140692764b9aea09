#include "exchange.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "failure.hpp"

namespace rocem::tools {
namespace {

void talk(const std::string& where, ExchangeListener& listener) {
    std::thread server([&listener] {
        Exchange exchange = listener.accept();
        const auto got = exchange.receive<WindowDone>();
        exchange.send(WindowDone{got.digest + 1, got.messages});
    });
    Exchange exchange = Exchange::connect(where, 0);
    exchange.send(WindowDone{41, 7});
    const auto back = exchange.receive<WindowDone>();
    server.join();
    CHECK(back.digest == 42);
    CHECK(back.messages == 7);
    CHECK(exchange.peer_gone());
    CHECK_THROWS_AS(exchange.receive<WindowDone>(), PeerGone);
}

TEST_CASE("exchange__over_tcp_with_a_port_of_the_systems_choice") {
    ExchangeListener listener("127.0.0.1:0");
    CHECK(listener.where() != "127.0.0.1:0");
    talk(listener.where(), listener);
}

TEST_CASE("exchange__over_a_unix_socket_that_goes_with_its_listener") {
    const std::string path = "/tmp/rocem-exchange-" + std::to_string(::getpid());
    {
        ExchangeListener listener(path);
        CHECK(listener.where() == path);
        talk(path, listener);
    }
    CHECK(::access(path.c_str(), F_OK) != 0);
}

TEST_CASE("exchange__says_what_is_wrong_with_a_peer") {
    CHECK_THROWS_WITH(Exchange::connect("nowhere", 0), Catch::Contains("expected HOST:PORT"));
    CHECK_THROWS_WITH(Exchange::connect("/tmp/rocem-no-such-exchange", 0), Catch::Contains("no server"));
    CHECK_THROWS_WITH(ExchangeListener("/no/such/directory/x"), Catch::Contains("cannot listen"));
}

}  // namespace
}  // namespace rocem::tools
