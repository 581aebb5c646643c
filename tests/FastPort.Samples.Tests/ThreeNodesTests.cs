using System.Globalization;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>The rolling restart of docs/scaling.md, as the sample does it: behind a real HAProxy, with the configuration in docs.</summary>
public sealed class ThreeNodesTests
{
    [NodesFact]
    public async Task Each_node_is_restarted_under_load_and_nothing_is_lost()
    {
        using SampleProcess sample = SampleProcess.Start("ThreeNodes");

        int exitCode = await sample.WaitAsync();

        Assert.True(exitCode == 0, sample.Output);
        Assert.Contains("three nodes behind haproxy", sample.Output, StringComparison.Ordinal);
        Assert.Matches(@"requests: ([1-9]\d*) sent, \1 answered", sample.Output);
        Assert.Matches(
            @"relays: ([1-9]\d*) sent, \1 confirmed, \d+ told to retry and sent again\s+received: \1 exactly once,", sample.Output);
        Assert.Contains("0 more than once, 0 confirmed and missing", sample.Output, StringComparison.Ordinal);
        foreach (string node in new[] { "node-a", "node-b", "node-c" })
        {
            Assert.Contains($"{node}: ended after ", sample.Output, StringComparison.Ordinal);
        }
    }

    [NodesFact]
    public async Task What_it_has_started_ends_with_it()
    {
        using SampleProcess sample = SampleProcess.Start("ThreeNodes");
        string endpoint = await sample.ReadWordAfterAsync("listens on tcp://127.0.0.1:");
        await sample.ReadWordAfterAsync("clients with routing ids ");

        await sample.TerminateAsync();
        int exitCode = await sample.WaitAsync();

        Assert.True(exitCode == 1, sample.Output);
        Assert.Contains("interrupted: everything that was started has ended", sample.Output, StringComparison.Ordinal);
        using var client = new TcpClient();
        await Assert.ThrowsAsync<SocketException>(
            () => client.ConnectAsync("127.0.0.1", int.Parse(endpoint, CultureInfo.InvariantCulture)));
    }

    /// <summary>A fact that needs redis-server and HAProxy.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    private sealed class NodesFactAttribute : FactAttribute
    {
        private static readonly string[] Programs = ["redis-server", "haproxy"];

        public NodesFactAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
            : base(sourceFile, sourceLine) => Skip = PeerPrograms.SkipReason(Problem);

        private static string? Problem => Programs.FirstOrDefault(static program => PeerPrograms.Find(program) is null) is { } missing
            ? $"There is no {missing}: install it, in Debian with `apt-get install {missing}`."
            : null;
    }
}
