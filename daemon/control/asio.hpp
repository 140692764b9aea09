// Boost.Asio as this folder uses it.
#pragma once

#include <utility>  // missing in Asio 1.74's own headers under C++20

// One thread runs the io_context, and the fences that this leaves out are refused by g++ under TSan.
#define BOOST_ASIO_DISABLE_FENCED_BLOCK

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
