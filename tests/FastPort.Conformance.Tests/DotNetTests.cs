using Xunit;

namespace FastPort.Conformance.Tests;

/// <summary>The .NET client, <see cref="FastPortClient"/>.</summary>
public sealed class DotNetTests
{
    [Theory]
    [InlineData("tcp")]
    [InlineData("tls")]
    [InlineData("unix")]
    [InlineData("inproc")]
    [InlineData("ws")]
    [InlineData("wss")]
    public Task Passes_within_the_process(string transport) => Suite.PassesAsync(transport, Clients.InProcess, "session-id");

    [Fact]
    public Task Passes_in_a_process_of_its_own() => Suite.PassesAsync("tcp", Clients.DotNet, "session-id");
}
