#include "runtime/cpu/object_loader.h"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "runtime/core/error.h"

namespace halo::rt {

namespace orc = llvm::orc;

namespace {

// Whether memory is what is missing; the error stays as it is.
bool is_of_memory(llvm::Error& error) {
    std::error_code code;
    error = llvm::handleErrors(std::move(error), [&](std::unique_ptr<llvm::ECError> system) -> llvm::Error {
        code = system->convertToErrorCode();
        return llvm::Error(std::move(system));
    });
    return code == std::errc::not_enough_memory;
}

[[noreturn]] void fail(const std::string& why, bool is_memory) {
    throw Error(is_memory ? ErrorCode::out_of_memory : ErrorCode::compile_failed,
                "cannot load compiled code: " + why);
}

[[noreturn]] void fail(llvm::Error error) {
    const bool is_memory = is_of_memory(error);
    fail(llvm::toString(std::move(error)), is_memory);
}

// Records the address of each symbol of a linked object.
class SymbolRecorder : public orc::ObjectLinkingLayer::Plugin {
public:
    explicit SymbolRecorder(std::vector<LoadedObject::Symbol>& symbols) : symbols_(symbols) {}

    void modifyPassConfig(orc::MaterializationResponsibility&, llvm::jitlink::LinkGraph&,
                          llvm::jitlink::PassConfiguration& passes) override {
        passes.PrePrunePasses.emplace_back([](llvm::jitlink::LinkGraph& graph) {
            // Keeps unreachable symbols: a function's variable is still looked up by name.
            for (llvm::jitlink::Symbol* symbol : graph.defined_symbols())
                symbol->setLive(true);
            return llvm::Error::success();
        });
        passes.PostFixupPasses.emplace_back([this](llvm::jitlink::LinkGraph& graph) {
            for (llvm::jitlink::Symbol* symbol : graph.defined_symbols()) {
                if (!symbol->hasName()) continue;
                symbols_.push_back({symbol->getName().str(), symbol->getAddress().toPtr<void*>(),
                                    static_cast<std::size_t>(symbol->getSize()), symbol->isCallable()});
            }
            return llvm::Error::success();
        });
    }
    llvm::Error notifyFailed(orc::MaterializationResponsibility&) override { return llvm::Error::success(); }
    llvm::Error notifyRemovingResources(orc::JITDylib&, orc::ResourceKey) override {
        return llvm::Error::success();
    }
    void notifyTransferringResources(orc::JITDylib&, orc::ResourceKey, orc::ResourceKey) override {}

private:
    std::vector<LoadedObject::Symbol>& symbols_;
};

class Resolver : public orc::DefinitionGenerator {
public:
    explicit Resolver(std::function<void*(const std::string&)> resolve) : resolve_(std::move(resolve)) {}

    llvm::Error tryToGenerate(orc::LookupState&, orc::LookupKind, orc::JITDylib& library,
                              orc::JITDylibLookupFlags, const orc::SymbolLookupSet& wanted) override {
        orc::SymbolMap found;
        for (const auto& [name, flags] : wanted) {
            void* address = resolve_((*name).str());
            if (address == nullptr) continue;
            found[name] = {orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
        }
        return found.empty() ? llvm::Error::success()
                             : library.define(orc::absoluteSymbols(std::move(found)));
    }

private:
    std::function<void*(const std::string&)> resolve_;
};

}  // namespace

struct LoadedObject::Session {
    std::string bytes;  // of the object; its line table is read when asked for
    std::string complaint;
    bool lacks_memory = false;  // among the errors
    std::vector<Symbol> symbols;
    std::unique_ptr<orc::ExecutionSession> execution;
    std::unique_ptr<orc::ObjectLinkingLayer> layer;

    mutable std::once_flag read_lines;
    std::unique_ptr<llvm::object::ObjectFile> file;
    std::unique_ptr<llvm::DWARFContext> lines;

    // The session ends before its layer goes: what it removes is memory that the layer frees.
    ~Session() {
        if (!execution) return;
        if (auto error = execution->endSession()) llvm::consumeError(std::move(error));
        layer.reset();
    }

    void start() {
        auto control = orc::SelfExecutorProcessControl::Create();
        if (!control) fail(control.takeError());
        execution = std::make_unique<orc::ExecutionSession>(std::move(*control));
        execution->setErrorReporter([this](llvm::Error error) {
            if (!complaint.empty()) complaint += "; ";
            lacks_memory = lacks_memory || is_of_memory(error);
            complaint += llvm::toString(std::move(error));
        });
        layer = std::make_unique<orc::ObjectLinkingLayer>(*execution);
        layer->addPlugin(std::make_shared<SymbolRecorder>(symbols));
    }
};

LoadedObject::LoadedObject(const std::string& object, std::function<void*(const std::string&)> resolve)
    : session_(std::make_unique<Session>()) {
    Session& session = *session_;
    session.bytes = object;
    auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(session.bytes, "object"));
    if (!file) fail(file.takeError());
    session.file = std::move(*file);
    session.start();

    orc::JITDylib& library = session.execution->createBareJITDylib("main");
    library.addGenerator(std::make_unique<Resolver>(std::move(resolve)));
    if (auto error =
            session.layer->add(library, llvm::MemoryBuffer::getMemBuffer(session.bytes, "object", false)))
        fail(std::move(error));
    // Looking up one name links the whole object; any defined function will do.
    orc::SymbolLookupSet wanted;
    for (const llvm::object::SymbolRef& symbol : session.file->symbols()) {
        auto flags = symbol.getFlags();
        auto name = symbol.getName();
        if (!flags || !name) continue;
        const bool defined = !(*flags & llvm::object::SymbolRef::SF_Undefined);
        if (defined && (*flags & llvm::object::SymbolRef::SF_Global))
            wanted.add(session.execution->intern(*name));
    }
    auto linked =
        session.execution->lookup({{&library, orc::JITDylibLookupFlags::MatchAllSymbols}}, std::move(wanted));
    if (!linked) {
        if (session.complaint.empty()) fail(linked.takeError());
        llvm::consumeError(linked.takeError());
        fail(session.complaint, session.lacks_memory);
    }
    std::sort(session.symbols.begin(), session.symbols.end(),
              [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
}

LoadedObject::~LoadedObject() = default;

const std::vector<LoadedObject::Symbol>& LoadedObject::symbols() const {
    return session_->symbols;
}

std::optional<int> LoadedObject::line(const void* code, const std::string& file) const {
    const Session& session = *session_;
    const Symbol* function = nullptr;
    for (const Symbol& symbol : session.symbols) {
        const auto* begin = static_cast<const char*>(symbol.address);
        if (symbol.is_code && code >= begin && code < begin + symbol.bytes) function = &symbol;
    }
    if (function == nullptr) return std::nullopt;
    std::call_once(session.read_lines, [&] { session_->lines = llvm::DWARFContext::create(*session.file); });
    // The line table counts from the start of the function's section in the object.
    for (const llvm::object::SymbolRef& symbol : session.file->symbols()) {
        auto name = symbol.getName();
        auto value = symbol.getValue();
        auto section = symbol.getSection();
        if (!name || !value || !section || *name != function->name || *section == session.file->section_end())
            continue;
        const auto offset = static_cast<const char*>(code) - static_cast<const char*>(function->address);
        const llvm::DIInliningInfo frames = session.lines->getInliningInfoForAddress(
            {*value + static_cast<std::uint64_t>(offset), (*section)->getIndex()},
            {llvm::DILineInfoSpecifier::FileLineInfoKind::RawValue,
             llvm::DILineInfoSpecifier::FunctionNameKind::None});
        for (std::uint32_t i = 0; i < frames.getNumberOfFrames(); ++i) {
            const llvm::DILineInfo& frame = frames.getFrame(i);
            if (frame.Line != 0 && llvm::StringRef(frame.FileName).ends_with(file))
                return static_cast<int>(frame.Line);
        }
    }
    return std::nullopt;
}

}  // namespace halo::rt
