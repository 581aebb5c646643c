using System.Runtime.CompilerServices;
using Xunit;

namespace FastPort.Conformance.Tests;

/// <summary>The TypeScript client in Node.js and in Chromium.</summary>
public sealed class TypeScriptTests
{
    [TypeScriptTheory]
    [InlineData("tcp")]
    [InlineData("tls")]
    [InlineData("unix")]
    [InlineData("ws")]
    [InlineData("wss")]
    public Task Passes_in_Node(string transport) => Suite.PassesAsync(transport, static () => Clients.TypeScript("node.mjs"), "trace");

    [TypeScriptTheory]
    [InlineData("ws")]
    public Task Passes_in_Chromium(string transport) =>
        Suite.PassesAsync(transport, static () => Clients.TypeScript("browser.mjs"), "trace");

    [AttributeUsage(AttributeTargets.Method)]
    private sealed class TypeScriptTheoryAttribute : TheoryAttribute
    {
        public TypeScriptTheoryAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
            : base(sourceFile, sourceLine) => Skip = Clients.SkipReason(
                Path.Combine("clients", "typescript"), Path.Combine("dist", "index.js"), "run `npm ci && npm run build` there.");
    }
}
