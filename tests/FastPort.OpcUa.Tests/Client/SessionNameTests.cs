using System.Collections.Concurrent;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Services;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>Servers list sessions by name: two of one name are two nodes of one name.</summary>
public sealed class SessionNameTests
{
    [Fact]
    public async Task Each_session_has_a_name_of_its_own_that_begins_with_the_applications()
    {
        ConcurrentQueue<string?> names = [];
        await using var server = new ScriptedServer();
        uint session = 0;
        server.On<CreateSessionRequest>(call =>
        {
            names.Enqueue(call.Request<CreateSessionRequest>().SessionName);
            return call.ReplyAsync(new CreateSessionResponse
            {
                SessionId = new NodeId(1, ++session),
                AuthenticationToken = new NodeId(1, session),
                RevisedSessionTimeout = 60_000,
            });
        });

        await using OpcUaClient first = await server.ConnectAsync(new OpcUaClientOptions { ApplicationName = "line 4" });
        await using OpcUaClient second = await server.ConnectAsync(new OpcUaClientOptions { ApplicationName = "line 4" });

        Assert.Equal(2, names.Distinct().Count());
        Assert.All(names, static name => Assert.StartsWith("line 4 ", name, StringComparison.Ordinal));
    }
}
