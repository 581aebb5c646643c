using FastPort.Connections;

namespace Company.My_Protocol.Tests;

public sealed class LineProtocolTests
{
    [Fact]
    public async Task Lines_are_answered_in_capitals()
    {
        var options = new ConnectionServerOptions { Endpoints = { "inproc://lines" } };
        await using var server = new ConnectionServer(options, LineProtocol.Answer);
        await server.StartAsync(TestContext.Current.CancellationToken);
        var output = new StringWriter { NewLine = "|" };

        await LineClient.RunAsync(
            "inproc://lines", new StringReader("hello\nto all"), output, TestContext.Current.CancellationToken);

        Assert.Equal("HELLO|TO ALL|", output.ToString());
    }
}
