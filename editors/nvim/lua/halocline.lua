-- Starts `haloc lsp` for .halo files, from Neovim 0.7 on:
--   require("halocline").setup()
--   require("halocline").setup({ cmd = { "/opt/halocline/bin/haloc", "lsp", "-I", "shared" } })
local M = {}

local function start(buffer, cmd)
    local folder = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ":p:h")
    local config = { name = "halocline", cmd = cmd, root_dir = M.root_dir or folder }
    if vim.lsp.start then
        vim.lsp.start(config, { bufnr = buffer })
        return
    end
    M.client = M.client or vim.lsp.start_client(config) -- Neovim 0.7
    vim.lsp.buf_attach_client(buffer, M.client)
end

-- Colours by the tree-sitter grammar, where `parser/halocline.so` is on the runtime path.
local function colour(buffer)
    if #vim.api.nvim_get_runtime_file("parser/halocline.so", false) == 0 then
        return
    end
    if vim.treesitter.start then
        vim.treesitter.start(buffer, "halocline")
    else -- Neovim 0.7
        vim.treesitter.highlighter.new(vim.treesitter.get_parser(buffer, "halocline"))
    end
end

function M.setup(options)
    options = options or {}
    M.root_dir = options.root_dir
    local group = vim.api.nvim_create_augroup("halocline", {})
    vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
        group = group,
        pattern = "*.halo",
        callback = function()
            vim.bo.filetype = "halocline"
        end,
    })
    vim.api.nvim_create_autocmd("FileType", {
        group = group,
        pattern = "halocline",
        callback = function()
            vim.bo.commentstring = "# %s"
            colour(vim.api.nvim_get_current_buf())
            start(vim.api.nvim_get_current_buf(), options.cmd or { "haloc", "lsp" })
        end,
    })
end

return M
