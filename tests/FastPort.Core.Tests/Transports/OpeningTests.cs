using FastPort.Connections;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports;

public sealed class OpeningTests
{
    [Theory, EveryLink]
    public async Task What_a_protocol_sends_while_it_is_opened_arrives_however_much_it_is(string link)
    {
        await using TestLink open = TestLink.Open(link, static settings => settings with { MaxSendBytes = 16 * 1024 * 1024 });
        byte[] piece = new byte[40_000];
        long sent = 0;
        TestProtocol? server = null;
        server = new TestProtocol
        {
            Opened = () =>
            {
                for (int i = 0; i < 200 && server!.TryWrite(piece); i++)
                {
                    sent += piece.Length;
                    server.Connection.FlushNow();
                }
            },
        };

        (TestProtocol client, _) = await open.ConnectAsync(server: server);

        await server.WhenOpened.InTimeAsync();
        await client.ReceivedAsync(200 * piece.Length);
        Assert.Equal(200 * piece.Length, sent);
    }

    [Theory, EveryLink]
    public async Task A_protocol_whose_connection_is_closed_while_it_starts_hears_of_the_beginning_and_the_end_or_of_neither(string link)
    {
        await using TestLink open = TestLink.Open(link);
        for (int i = 0; i < 30; i++)
        {
            Connection connection = await open.Transport.CreateConnector(open.Endpoint, open.Settings).ConnectAsync(Patience.Token);
            var protocol = new TestProtocol { Connection = connection };

            await Task.WhenAll(
                Task.Run(() => connection.Start(protocol)), Task.Run(() => connection.Close(CloseReason.LocalClosed))).InTimeAsync();
            await (await open.AcceptedAsync()).Closed.InTimeAsync();
            await connection.Closed.InTimeAsync();

            Assert.Equal(protocol.WhenOpened.IsCompleted, protocol.Closed.IsCompleted);
            Assert.Empty(protocol.Misuse);
        }
    }
}
