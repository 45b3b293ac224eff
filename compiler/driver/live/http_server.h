// Answers HTTP on the loopback address, a request a connection. Boost.Beast reads and writes it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "compiler/driver/live/http.h"

namespace halo::driver::live {

class HttpServer {
public:
    using Handler = std::function<HttpResponse(HttpRequest&)>;  // called in several threads

    // port: 0: one that is free. Throws CommandError (usage) where it is in use, or not to be had.
    // patience: how long a client may take to send its request, or to take some of the answer.
    HttpServer(int port, Handler handler, std::chrono::milliseconds patience = std::chrono::seconds(10));
    ~HttpServer();  // waits for the answers that are being made
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    int port() const;

private:
    class Sockets;  // the headers of Boost.Beast are for one file
    std::unique_ptr<Sockets> sockets_;
};

}  // namespace halo::driver::live
