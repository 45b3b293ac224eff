// Answers HTTP on the loopback address, with a thread for each connection that is open.
#pragma once

#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "compiler/driver/live/http.h"

namespace halo::driver::live {

class FileDescriptor {
public:
    explicit FileDescriptor(int number = -1) : number_(number) {}
    ~FileDescriptor();
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    int number() const { return number_; }

private:
    int number_;
};

class HttpServer {
public:
    using Handler = std::function<HttpResponse(HttpRequest&)>;  // called in several threads

    // port: 0: one that is free. Throws CommandError (usage) where it is in use, or not to be had.
    HttpServer(int port, Handler handler);
    ~HttpServer();  // waits for the answers that are being made
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    int port() const { return port_; }

private:
    struct Connection {
        explicit Connection(int number) : socket(number) {}
        FileDescriptor socket;
        std::thread thread;
        bool is_done = false;
    };
    void accept_all();
    void accept_one();
    void forget_done(bool all);
    void answer(const FileDescriptor& socket) const;

    Handler handler_;
    FileDescriptor listener_, wakes_;  // wakes_: an eventfd that ends accept_all()
    int port_ = 0;
    std::mutex mutex_;
    std::list<Connection> connections_;  // guarded by mutex_
    std::thread acceptor_;
};

}  // namespace halo::driver::live
