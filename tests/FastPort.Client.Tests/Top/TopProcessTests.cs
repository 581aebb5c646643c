using FastPort.Client.Tests.Load;
using FastPort.Client.Tests.Processes;
using FastPort.Protocol;
using Xunit;

namespace FastPort.Client.Tests.Top;

public sealed class TopProcessTests : IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("fastport-client-").FullName;

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Fact]
    public async Task Shows_the_figures_of_a_server_as_often_as_it_was_told()
    {
        ulong looks = 0;
        await using FastPortServer server = await TestServer.StartAsync(new FastPort.MessageHandlers().MapQueued(
            DiagnosticType.Status,
            context =>
            {
                context.Reply(new ProtobufBody(new ServerStatus
                {
                    ServerName = "plant\u001b[2J",
                    UptimeMs = 1000 * ++looks,
                    MessagesIn = 500 * looks,
                    Latencies = { new MessageLatency { Name = "Move", Nanoseconds = { 4200 }, Counts = { 500 * looks } } },
                }));
                return ValueTask.CompletedTask;
            }));
        using var client = new ClientProcess(_directory, ["top", "--server", server.Uri(), "--interval", "100", "--count", "2"]);

        Assert.Equal(0, await client.EndAsync());

        Assert.Equal(3ul, looks);
        Assert.Equal(2, client.Output.Split("in 500 messages/s").Length - 1);
        Assert.Contains("4.2 us", client.Output, StringComparison.Ordinal);
        Assert.Contains("plant\\u001B[2J at tcp://", client.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_server_that_does_not_allow_it_is_a_sentence_and_exit_code_1()
    {
        await using FastPortServer server = await TestServer.StartAsync(new FastPort.MessageHandlers().MapQueued(
            DiagnosticType.Status,
            static context =>
            {
                context.Fail(ErrorCode.Forbidden, "Not you.");
                return ValueTask.CompletedTask;
            }));
        using var client = new ClientProcess(_directory, ["top", "--server", server.Uri()]);

        Assert.Equal(1, await client.EndAsync());
        Assert.Contains("Not you.", await client.Error, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_endpoint_that_is_none_is_told_with_its_reason()
    {
        using var client = new ClientProcess(_directory, ["top", "--server", "http://127.0.0.1:80"]);

        Assert.Equal(2, await client.EndAsync());
        Assert.Contains("server is 'http://127.0.0.1:80'", await client.Error, StringComparison.Ordinal);
    }
}
