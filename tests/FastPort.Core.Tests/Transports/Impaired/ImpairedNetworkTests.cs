using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports.Impaired;

/// <summary>
/// The real TCP of the kernel over a network that loses 2 % of the packets, delays each by 50 ms and lets others overtake some, in real
/// time. No test waits for a time: each goes on until enough packets were lost, or until what it waits for has happened.
/// </summary>
public abstract class ImpairedNetworkTests(TransportKind transport)
{
    private const int EnoughPackets = 20;
    private const int EnoughWhileIdle = 5;

    // A Ping is answered in time if TCP, which has seen round trips of 100 ms only, loses the answer less than four times.
    private const int Heartbeat = 1500;

    // Under load what is lost goes out again well before twice this, even if the session began with a SYN that was lost.
    private const int HeartbeatUnderLoad = 3000;

    private const int NoHeartbeat = 0;

    [ImpairedNetworkFact]
    public async Task Each_message_is_handled_once_and_in_order_and_each_request_answered_once()
    {
        const int Clients = 8;
        const int Messages = 500;
        await using ImpairedNetwork network = await ImpairedNetwork.OpenAsync(transport, Clients, NoHeartbeat);

        Dictionary<string, long> account, link;
        long sent = 0;
        do
        {
            account = await network.Clients.AskAsync($"exchange {Messages}");
            link = await network.Link.AskAsync("counts");
            sent += Clients * Messages;
        }
        while (link["lost"] < EnoughPackets || link["reordered"] < EnoughPackets);

        Dictionary<string, long> server = await network.Server.AskAsync("figures");
        Assert.Equal(sent, account["numbers"]);
        Assert.Equal(sent, account["answered"] + account["posted"]);
        Assert.Equal((0, 0, 0), (account["wrong"], account["lost"], account["otherwise"]));
        Assert.Equal((0, 0, 0), (account["never"], account["again"], account["invented"]));
        Assert.Equal(0, account["repliesToNothing"]);
        Assert.Equal((sent, 0, 0), (server["handled"], server["disordered"], server["wrong"]));
        Assert.Equal((Clients, 0), (server["open"], server["closed"]));
        Assert.True(account["smallest"] >= 2000 * ImpairedNetwork.DelayMilliseconds, $"A round trip took {account["smallest"]} us.");
    }

    [ImpairedNetworkFact]
    public async Task Idle_sessions_stay_open()
    {
        const int Clients = 40;
        const int Messages = 3;
        await using ImpairedNetwork network = await ImpairedNetwork.OpenAsync(transport, Clients, Heartbeat, connectsUnderLoss: false);
        long lostBefore = (await network.Link.AskAsync("counts"))["lost"];

        Dictionary<string, long> clients, server;
        long lost;
        do
        {
            Task<Dictionary<string, long>> serving = network.Server.AskAsync($"heartbeats {Messages}");
            clients = await network.Clients.AskAsync($"heartbeats {Messages}");
            server = await serving;
            lost = (await network.Link.AskAsync("counts"))["lost"] - lostBefore;
        }
        while (lost < EnoughWhileIdle && clients["closed"] == 0);

        Assert.Equal((Clients, 0, 0), (server["open"], server["closed"], server["heartbeatTimeouts"]));
        Assert.Equal((0, 0), (clients["closed"], clients["heartbeatTimeouts"]));
    }

    [ImpairedNetworkFact]
    public async Task After_a_cut_that_both_sides_have_found_out_the_clients_are_back_and_no_request_is_without_an_outcome()
    {
        const int Clients = 8;
        await using ImpairedNetwork network = await ImpairedNetwork.OpenAsync(transport, Clients, HeartbeatUnderLoad);
        await network.Clients.AskAsync("begin");

        await network.Link.AskAsync("cut");
        Dictionary<string, long> server = await network.Server.AskAsync($"closed {Clients}");
        Dictionary<string, long> cut = await network.Clients.AskAsync("closed");
        await network.Link.AskAsync("restore");
        await network.Clients.AskAsync("back");
        Dictionary<string, long> account = await network.Clients.AskAsync("finish");

        Assert.Equal((Clients, Clients), (server["closed"], server["heartbeatTimeouts"]));
        Assert.Equal((Clients, Clients), (cut["closed"], cut["heartbeatTimeouts"]));
        Assert.Equal(account["numbers"], account["answered"] + account["lost"] + account["posted"]);
        Assert.Equal((0, 0), (account["wrong"], account["otherwise"]));
        Assert.Equal((0, 0, 0), (account["again"], account["invented"], account["repliesToNothing"]));
        Assert.True(account["lost"] >= Clients, "The cut has failed no request.");
        Assert.True(account["answered"] > cut["answered"], "No request was answered after the cut.");
        server = await network.Server.AskAsync("figures");
        Assert.Equal((Clients, 0L), (server["open"], server["wrong"]));
    }
}

public sealed class ImpairedNetworkEpollTests() : ImpairedNetworkTests(TransportKind.Epoll);

public sealed class ImpairedNetworkSocketsTests() : ImpairedNetworkTests(TransportKind.Sockets);
