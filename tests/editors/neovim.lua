-- A person at Neovim: opens a spec with a mistake, looks, mends, renames, sets the layout, and goes.
-- HALOC: the command; SPEC: the file; RESULT: where to say what came.
vim.opt.runtimepath:append(vim.env.HALO_EDITORS .. "/nvim")
require("halocline").setup({ cmd = { vim.env.HALOC, "lsp" } })
vim.cmd("edit " .. vim.env.SPEC)

local result = {}
local function diagnostics(count)
    vim.wait(20000, function()
        return #vim.diagnostic.get(0) == count
    end, 20)
    return vim.diagnostic.get(0)
end
local function ask(method, params)
    local answers = vim.lsp.buf_request_sync(0, method, params, 20000) or {}
    for _, answer in pairs(answers) do
        return answer.result
    end
end
local function encoding()
    for _, client in pairs(vim.lsp.buf_get_clients and vim.lsp.buf_get_clients(0) or vim.lsp.get_clients()) do
        return client.offset_encoding
    end
end

local first = diagnostics(1)[1]
result.message = first and first.message
result.word = first and vim.api.nvim_buf_get_text(0, first.lnum, first.col, first.end_lnum, first.end_col, {})[1]

-- The quick fix.
local actions = ask("textDocument/codeAction", {
    textDocument = vim.lsp.util.make_text_document_params(),
    range = first.user_data.lsp.range or {
        start = { line = first.lnum, character = first.col },
        ["end"] = { line = first.end_lnum, character = first.end_col },
    },
    context = { diagnostics = {} },
})
vim.lsp.util.apply_workspace_edit(actions[1].edit, encoding())
result.left = #diagnostics(0)

-- Over the `u` of the statement.
vim.fn.search("u\\[t+1\\]")
local place = vim.lsp.util.make_position_params(0, encoding())
result.hover = ask("textDocument/hover", place).contents.value
result.defined = ask("textDocument/definition", place)[1].range.start.line
place.newName = "heat"
vim.lsp.util.apply_workspace_edit(ask("textDocument/rename", place), encoding())
vim.lsp.util.apply_text_edits(
    ask("textDocument/formatting", {
        textDocument = vim.lsp.util.make_text_document_params(),
        options = { tabSize = 4, insertSpaces = true },
    }),
    0,
    encoding()
)
result.text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n")

local file = io.open(vim.env.RESULT, "w")
file:write((vim.json and vim.json.encode or vim.fn.json_encode)(result))
file:close()
vim.cmd("qall!")
