using System.Runtime.CompilerServices;
using Xunit;

namespace FastPort.Conformance.Tests;

/// <summary>
/// The peer of the interop tests, which is written from docs/protocol.md alone: the page is enough for a client that passes the suite.
/// </summary>
public sealed class NodePeerTests
{
    [NodePeerTheory]
    [InlineData("tcp")]
    [InlineData("ws")]
    public Task Passes(string transport) => Suite.PassesAsync(transport, Clients.NodePeer, "tags");

    [AttributeUsage(AttributeTargets.Method)]
    private sealed class NodePeerTheoryAttribute : TheoryAttribute
    {
        public NodePeerTheoryAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
            : base(sourceFile, sourceLine) => Skip = Clients.SkipReason(
                Path.Combine("tests", "FastPort.Interop.Tests", "node"),
                Path.Combine("node_modules", "protobufjs", "package.json"),
                "run `npm ci` there.");
    }
}
