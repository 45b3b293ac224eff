-- Neovim colours a spec by the tree-sitter grammar: which capture each word has.
-- PARSER: the folder with parser/halocline.so; SPEC: the file; RESULT: where to say what came.
vim.opt.runtimepath:append(vim.env.HALO_EDITORS .. "/nvim")
vim.opt.runtimepath:append(vim.env.PARSER)
require("halocline").setup({ cmd = { vim.env.HALOC, "lsp" } })
vim.cmd("edit " .. vim.env.SPEC)

local result = { captures = {} }
local buffer = vim.api.nvim_get_current_buf()
local parser = vim.treesitter.get_parser(buffer, "halocline")
local root = parser:parse()[1]:root()
result.has_error = root:has_error()
result.is_coloured = vim.treesitter.highlighter.active[buffer] ~= nil
local get_query = vim.treesitter.query.get or vim.treesitter.get_query or vim.treesitter.query.get_query
for _, name in ipairs({ "highlights", "locals", "folds" }) do
    local query = get_query("halocline", name)
    for id, node in query:iter_captures(root, buffer, 0, -1) do
        local row, column, last_row, last_column = node:range()
        if name == "highlights" and row == last_row then
            local word = vim.api.nvim_buf_get_text(buffer, row, column, last_row, last_column, {})[1]
            table.insert(result.captures, word .. " " .. query.captures[id])
        end
    end
end

local file = io.open(vim.env.RESULT, "w")
file:write((vim.json and vim.json.encode or vim.fn.json_encode)(result))
file:close()
vim.cmd("qall!")
