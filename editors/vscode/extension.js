// Starts `haloc lsp`, and shows what its commands give beside the text.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function showBeside(command, text) {
    const language = command === "halocline.showCuda" ? "cuda-cpp" : "plaintext";
    const known = (await vscode.languages.getLanguages()).includes(language);
    const document = await vscode.workspace.openTextDocument({
        content: text,
        language: known ? language : "plaintext",
    });
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
}

async function activate() {
    const settings = vscode.workspace.getConfiguration("halocline");
    const folders = settings.get("include").flatMap((folder) => ["-I", folder]);
    const server = { command: settings.get("path"), args: ["lsp", ...folders] };
    client = new LanguageClient("halocline", "Halocline", server, {
        documentSelector: [{ language: "halocline" }],
        synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.halo") },
        middleware: {
            executeCommand: async (command, args, next) => {
                const text = await next(command, args);
                if (typeof text === "string") await showBeside(command, text);
                return text;
            },
        },
    });
    await client.start();
}

function deactivate() {
    return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
