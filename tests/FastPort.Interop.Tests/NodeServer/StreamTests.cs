using FastPort.Interop.Tests.Peers;
using FastPort.Protocol;
using Google.Protobuf;
using Xunit;

namespace FastPort.Interop.Tests.NodeServer;

/// <summary>The stream extension with a server of another language.</summary>
public sealed class StreamTests
{
    [NodeFact]
    public async Task An_exchange_passes_the_windows_of_both_sides()
    {
        using NodePeer peer = await NodePeer.StartAsync(new { welcome = new { sessionId = 1, extensions = 2 } });
        await using FastPortClient client = await peer.ConnectAsync(
            static options => (options.Session.StreamWindowMessages, options.Session.StreamWindowBytes) = (3, 10));

        int next = 0;
        await foreach (Echo echo in client.ExchangeAsync(NodePeer.Exchange, NumbersAsync(1_000), Echo.Parser))
        {
            Assert.Equal($"{next++}", echo.Payload.ToStringUtf8());
        }

        Assert.Equal(1_000, next);
        await client.CloseAsync();
        Assert.Empty((await peer.FinishAsync()).Cancels);
    }

    [NodeFact]
    public async Task A_reader_that_leaves_cancels_the_call()
    {
        using NodePeer peer = await NodePeer.StartAsync(new { welcome = new { sessionId = 1, extensions = 2 } });
        await using FastPortClient client = await peer.ConnectAsync();

        await foreach (Echo echo in client.ExchangeAsync(NodePeer.Exchange, NumbersAsync(1_000_000), Echo.Parser))
        {
            if (echo.Payload.ToStringUtf8() == "300")
            {
                break;
            }
        }

        await client.CloseAsync();
        Assert.Single((await peer.FinishAsync()).Cancels);
    }

    [NodeFact]
    public async Task A_server_that_does_not_know_the_extension_is_sent_nothing()
    {
        using NodePeer peer = await NodePeer.StartAsync();
        await using FastPortClient client = await peer.ConnectAsync();

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(async () =>
        {
            await foreach (Echo _ in client.ExchangeAsync(NodePeer.Exchange, NumbersAsync(1), Echo.Parser))
            {
            }
        });

        Assert.Equal(RequestFailure.NotSupported, failure.Failure);
        await client.CloseAsync();
        Assert.Empty((await peer.FinishAsync()).Cancels);
    }

    private static async IAsyncEnumerable<Echo> NumbersAsync(int count)
    {
        for (int i = 0; i < count; i++)
        {
            yield return new Echo { Payload = ByteString.CopyFromUtf8($"{i}") };
        }

        await Task.CompletedTask;
    }
}
