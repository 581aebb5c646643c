using System.Net.Sockets;
using FastPort.Client.Load;
using FastPort.Programs;
using Xunit;

namespace FastPort.Client.Tests.Load;

public sealed class DescriptorsTests
{
    private static readonly LoadSettings Remote = new() { Server = "tcp://127.0.0.1:6628", Connections = 10_000 };

    [Fact]
    public void Connections_that_the_process_cannot_have_are_refused_with_numbers()
    {
        LoadFailedException e = Assert.Throws<LoadFailedException>(() => Descriptors.Require(Remote, 4096));

        Assert.Equal(ExitCode.Usage, e.ExitCode);
        Assert.Equal(
            "--connections is 10000: this needs more descriptors than the 4096 that this process may open. "
            + "Raise the limit (ulimit -n 10200 and above) or ask for fewer connections.",
            e.Message);
    }

    [Fact]
    public void A_server_inside_the_process_needs_as_many_again()
    {
        LoadFailedException e = Assert.Throws<LoadFailedException>(() => Descriptors.Require(Remote with { Server = null }, 20_000));

        Assert.StartsWith("--connections is 10000, both ends in this process: ", e.Message, StringComparison.Ordinal);
        Assert.Contains("ulimit -n 20200 ", e.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(10_200L)]
    [InlineData(null)]
    public void Enough_is_enough(long? limit) => Descriptors.Require(Remote, limit);

    [Fact]
    public void A_connection_that_found_none_left_is_explained_the_same_way()
    {
        var none = new EndpointException(
            Endpoint.Parse(Remote.Server!), "Cannot connect.", new SocketException((int)SocketError.TooManyOpenSockets));

        Assert.Contains("needs more descriptors", Descriptors.Explain(Remote, none)!.Message, StringComparison.Ordinal);
        Assert.Null(
            Descriptors.Explain(
                Remote, new EndpointException(
                    Endpoint.Parse(Remote.Server!), "x", new SocketException((int)SocketError.ConnectionRefused))));
    }
}
