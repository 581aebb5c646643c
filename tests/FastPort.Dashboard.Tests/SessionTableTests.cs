using System.Text.Json;
using FastPort.Dashboard.Sessions;
using FastPort.Dashboard.Tests.Support;
using Xunit;

namespace FastPort.Dashboard.Tests;

/// <summary>The table of sessions: sorted, filtered and paged by the server.</summary>
public sealed class SessionTableTests
{
    [Fact]
    public async Task ShowsWhatASessionHasDone()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        FastPortClient client = await host.ConnectAsync("press 7", "machine-7");
        await DashboardHost.EchoAsync(client, 3);
        FastPort.Session session = Assert.Single(host.Server.Sessions);

        JsonElement row = (await ReadAsync(host, "filter=MACHINE")).GetProperty("rows")[0];

        Assert.Equal(session.Id, row.GetProperty("id").GetInt64());
        Assert.Equal("machine-7", row.GetProperty("routingId").GetString());
        Assert.Equal("press 7", row.GetProperty("name").GetString());
        Assert.Equal(session.RemoteEndPoint?.ToString(), row.GetProperty("address").GetString());
        Assert.Equal(session.MessagesReceived, row.GetProperty("messagesIn").GetInt64());
        Assert.Equal(session.MessagesSent, row.GetProperty("messagesOut").GetInt64());
        Assert.Equal(session.Connection.BytesReceived, row.GetProperty("bytesIn").GetInt64());
        Assert.Equal(0, row.GetProperty("pendingBytes").GetInt64());
        Assert.False(row.GetProperty("isSlow").GetBoolean());
    }

    [Fact]
    public void TwentyThousandAreSortedFilteredAndPaged()
    {
        SessionSnapshot snapshot = new(
            [.. Enumerable.Range(1, 20_000).Select(static i => Row(i, $"machine-{i % 1000:000}", i * 7 % 20_000))], 0);

        SessionPage first = snapshot.Read(new SessionQuery("messagesIn", IsDescending: true, string.Empty, 0));
        Assert.Equal((20_000, 20_000, 200, 100), (first.Total, first.Matching, first.Pages, first.Rows.Count));
        Assert.Equal(19_999, first.Rows[0].MessagesIn);
        Assert.Equal(Enumerable.Range(0, 100).Select(static i => 19_999L - i), first.Rows.Select(static row => row.MessagesIn));

        SessionPage some = snapshot.Read(new SessionQuery("id", IsDescending: false, "MACHINE-12", 1));
        Assert.Equal((200, 2), (some.Matching, some.Pages));
        Assert.All(some.Rows, static row => Assert.StartsWith("machine-12", row.RoutingId, StringComparison.Ordinal));

        // A page that is gone is the last one.
        Assert.Equal(1, snapshot.Read(new SessionQuery("id", IsDescending: false, "MACHINE-12", 999)).Page);

        // Equal rows are ordered by id, so that pages do not overlap.
        Assert.Equal(
            Enumerable.Range(1, 100).Select(static i => (long)i),
            snapshot.Read(new SessionQuery("dropped", IsDescending: true, string.Empty, 0)).Rows.Select(static row => row.Id));
    }

    [Fact]
    public void EveryColumnCanBeSorted()
    {
        SessionSnapshot snapshot = new([Row(1, "a", 5), Row(2, "b", 3), Row(3, "c", 4)], 0);

        foreach (string name in SessionSort.Names)
        {
            SessionPage up = snapshot.Read(new SessionQuery(name, IsDescending: false, string.Empty, 0));
            Assert.Equal([1L, 2, 3], up.Rows.Select(static row => row.Id).Order());
        }

        Assert.Equal(
            [2L, 3, 1], snapshot.Read(new SessionQuery("messagesIn", IsDescending: false, string.Empty, 0)).Rows.Select(static r => r.Id));
    }

    [Fact]
    public async Task PagesOfTheSameSecondShareASnapshot()
    {
        var time = new FakeTimeProvider();
        await using DashboardHost host = await DashboardHost.StartAsync();
        var sessions = new SessionDirectory(host.Server, time);
        SessionSnapshot first = sessions.Read();
        FastPortClient client = await host.ConnectAsync();
        await DashboardHost.EchoAsync(client, 10);

        Assert.Same(first, sessions.Read());
        time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(0, Assert.Single(sessions.Read().Rows).Rate);
        await DashboardHost.EchoAsync(client, 10);
        time.Advance(TimeSpan.FromSeconds(2));

        // Ten requests and their replies in two seconds.
        Assert.Equal(10, Assert.Single(sessions.Read().Rows).Rate);
    }

    private static SessionRow Row(long id, string routingId, long messagesIn) => new()
    {
        Id = id,
        RoutingId = routingId,
        Name = "client",
        Address = "127.0.0.1:1",
        Opened = 0,
        MessagesIn = messagesIn,
        MessagesOut = 0,
        Rate = 0,
        BytesIn = 0,
        BytesOut = 0,
        PendingBytes = 0,
        Dropped = 0,
        IsSlow = false,
    };

    private static async Task<JsonElement> ReadAsync(DashboardHost host, string query) =>
        JsonDocument.Parse(await host.Http.GetStringAsync($"/sessions?{query}", TestContext.Current.CancellationToken)).RootElement;
}
