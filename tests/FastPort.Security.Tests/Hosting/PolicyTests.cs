using System.Text;
using System.Text.Json;
using FastPort.Security.Audit;
using FastPort.Security.Files;
using FastPort.Security.Identities;
using FastPort.Security.Policies;
using FastPort.Security.Tests.Support;
using Xunit;

namespace FastPort.Security.Tests.Hosting;

/// <summary>A server whose policy decides, with its audit log.</summary>
public sealed class PolicyTests : IDisposable
{
    private const string Rules =
        """
        { "rules": [
          { "for": ["role:operator"], "send": ["0x1000"], "publish": ["news/*"], "subscribe": ["news/*"], "relayTo": ["b"] },
          { "for": ["anonymous"], "send": ["0x1001"] } ] }
        """;

    private static readonly string Users = $"anna:{PasswordHash.Create("a")}:operator\nbert:{PasswordHash.Create("b")}";
    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task What_no_rule_allows_is_Forbidden_audited_and_counted_and_the_session_stays_open()
    {
        await using (SecureServer server = await StartAsync(Rules))
        {
            FastPortClient anna = await server.ConnectAsync(Basic("anna:a"));
            FastPortClient bert = await server.ConnectAsync(Basic("bert:b"), "b");
            FastPortClient nobody = await server.ConnectAsync();

            await anna.RequestAsync(SecureServer.Echo, new byte[1]).InTimeAsync();
            await ForbiddenAsync(anna.RequestAsync(SecureServer.Other, new byte[1]));
            await ForbiddenAsync(bert.RequestAsync(SecureServer.Echo, new byte[1]));
            await ForbiddenAsync(nobody.RequestAsync(SecureServer.Echo, new byte[1]));
            await nobody.RequestAsync(SecureServer.Other, new byte[1]).InTimeAsync();
            await anna.SubscribeAsync("news/today", static (scoped in RoutedMessage _) => { }).InTimeAsync();
            await ForbiddenAsync(anna.SubscribeAsync("new", static (scoped in RoutedMessage _) => { }));
            await anna.PublishAsync("news/today", 1, new byte[1]).InTimeAsync();
            await ForbiddenAsync(anna.PublishAsync("other", 1, new byte[1]));
            await anna.RelayAsync("b", 1, new byte[1]).InTimeAsync();
            await ForbiddenAsync(bert.RelayAsync("b", 1, new byte[1]));
            await ForbiddenAsync(anna.ListPeersAsync().ToArrayAsync().AsTask());
            await anna.RequestAsync(SecureServer.Echo, new byte[1]).InTimeAsync();
        }

        JsonElement[] lines = Audit();
        JsonElement[] refused = [.. lines.Where(static l => Text(l, "event") == "message.refused")];
        Assert.Equal(
            ["anna:0x1001:", "bert:0x1000:", ":0x1000:", "anna:0x0005:new", "anna:0x0007:other", "bert:0x0004:b", "anna:0x0008:"],
            refused.Select(static l => $"{Text(l, "user")}:{Text(l, "type")}:{Text(l, "name")}"));
        Assert.Equal(3, lines.Count(static l => Text(l, "event") == "session.identified"));
        Assert.Equal(3, lines.Count(static l => Text(l, "event") == "session.closed"));
        Assert.All(refused, static l => Assert.StartsWith("127.0.0.1:", Text(l, "remote"), StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_flood_of_refused_messages_has_few_lines_and_a_count_and_hides_nobody_else()
    {
        const int Messages = 100_000;
        await using (SecureServer server = await StartAsync(Rules))
        {
            FastPortClient anna = await server.ConnectAsync(Basic("anna:a"));
            for (int i = 0; i < Messages; i++)
            {
                await anna.SendAsync(SecureServer.Other, ReadOnlyMemory<byte>.Empty).InTimeAsync();
            }

            // The server has seen all of them when it answers the last.
            await anna.RequestAsync(SecureServer.Echo, new byte[1]).InTimeAsync();
            await server.ConnectAsync(Basic("bert:b"));
            server.Time.Advance(TimeSpan.FromSeconds(1));
            await ForbiddenAsync(anna.RequestAsync(SecureServer.Other, new byte[1]));
        }

        JsonElement[] lines = Audit();
        JsonElement[] refused = [.. lines.Where(static l => Text(l, "event") == "message.refused")];
        Assert.Equal(12, refused.Length);
        Assert.All(refused, static l => Assert.Equal("anna", Text(l, "user")));
        Assert.Equal($"{Messages - 10}", Assert.Single(refused, static l => Text(l, "count").Length != 0).GetProperty("count").GetString());
        Assert.Equal("0x1001", Text(refused[^1], "type"));
        Assert.Equal(
            ["anna", "bert"], lines.Where(static l => Text(l, "event") == "session.identified").Select(static l => Text(l, "user")));
    }

    [Fact]
    public async Task Hello_Ping_Goodbye_and_Cancel_are_not_the_policys()
    {
        await using SecureServer server = await StartAsync("""{ "rules": [] }""");
        FastPortClient client = server.Client();
        await client.ConnectAsync().InTimeAsync();

        await ForbiddenAsync(client.RequestAsync(SecureServer.Echo, new byte[1]));

        Session session = Assert.Single(server.Server.Sessions);
        await client.CloseAsync().InTimeAsync();
        Assert.Equal(CloseKind.PeerClosed, (await session.Closed.InTimeAsync()).Kind);
    }

    [Fact]
    public async Task A_change_of_the_policy_is_in_force_for_open_sessions_and_ends_subscriptions()
    {
        await using (SecureServer server = await StartAsync(Rules))
        {
            FastPortClient anna = await server.ConnectAsync(Basic("anna:a"));
            await anna.SubscribeAsync("news/today", static (scoped in RoutedMessage _) => { }).InTimeAsync();
            await anna.SubscribeAsync("news/sport", static (scoped in RoutedMessage _) => { }).InTimeAsync();
            Assert.Equal(1, server.Server.Routing.Publish("news/today", 1, new byte[1]) + await PublishAsync(anna, "news/today"));

            await File.WriteAllTextAsync(
                _directory["policy"],
                """{ "rules": [ { "for": ["*"], "publish": ["news/*"], "subscribe": ["news/s*"] } ] }""",
                TestContext.Current.CancellationToken);
            server.Look();

            Assert.Equal(0, await PublishAsync(anna, "news/today"));
            Assert.Equal(1, await PublishAsync(anna, "news/sport"));
            await ForbiddenAsync(anna.RequestAsync(SecureServer.Echo, new byte[1]));
            await ForbiddenAsync(anna.SubscribeAsync("news/t", static (scoped in RoutedMessage _) => { }));
        }

        JsonElement[] lines = Audit();
        JsonElement ended = Assert.Single(lines, static l => Text(l, "event") == "subscription.ended");
        Assert.Equal(("anna", "news/today"), (Text(ended, "user"), Text(ended, "name")));
        Assert.Equal("policy", Text(Assert.Single(lines, static l => Text(l, "event") == "file.reloaded"), "what"));
    }

    [Fact]
    public async Task A_policy_that_is_wrong_later_leaves_the_one_before_in_force()
    {
        await using SecureServer server = await StartAsync(Rules);
        FastPortClient nobody = await server.ConnectAsync();

        await File.WriteAllTextAsync(
            _directory["policy"], """{ "rules": [ { "for": ["*"], "sned": ["*"] } ] }""", TestContext.Current.CancellationToken);
        server.Look();

        await nobody.RequestAsync(SecureServer.Other, new byte[1]).InTimeAsync();
        await ForbiddenAsync(nobody.RequestAsync(SecureServer.Echo, new byte[1]));
        Assert.Contains("rules[0].sned is unknown", Assert.Single(server.Log.WithId(9101)).Text, StringComparison.Ordinal);
    }

    // The second look at subscriptions is a timer's callback: what it throws ends the process.
    [Fact]
    public async Task A_policy_that_changes_while_the_host_is_disposed_harms_nobody()
    {
        await using SecureServer server = await StartAsync(Rules);
        var time = new FakeTimeProvider();
        var options = new SecurityOptions();
        var events = new SecurityEvents(null, string.Empty, time);
        int asked = 0;
        var file = new WatchedFile<Policy>(
            _directory["policy"], "policy", 1000, static (b, p) => PolicyReader.Read(b, p), options.ReloadInterval, time, server.Log);
        using var policy = new ServerPolicy(file, options, time, events, Routing, server.Log);

        await File.WriteAllTextAsync(_directory["policy"], """{ "rules": [] }""", TestContext.Current.CancellationToken);
        time.Advance(2 * options.ReloadInterval);

        Assert.Equal(2, asked);
        Assert.Empty(server.Log.WithId(9102));

        ServerRouting Routing() => asked++ == 0 ? server.Server.Routing : throw new ObjectDisposedException("host");
    }

    [Fact]
    public async Task In_report_only_mode_everything_is_done_and_audited()
    {
        await using (SecureServer server = await StartAsync("""{ "rules": [] }""", static o => o.PolicyReportOnly = true))
        {
            FastPortClient nobody = await server.ConnectAsync();
            await nobody.RequestAsync(SecureServer.Echo, new byte[1]).InTimeAsync();
            await nobody.SubscribeAsync("news", static (scoped in RoutedMessage _) => { }).InTimeAsync();
        }

        Assert.Equal(
            ["0x1000", "0x0005"], Audit().Where(static l => Text(l, "event") == "message.reported").Select(static l => Text(l, "type")));
    }

    [Fact]
    public async Task A_policy_that_is_wrong_at_the_start_stops_the_host()
    {
        var e = await Assert.ThrowsAsync<FastPortOptionsException>(() => StartAsync("""{ "rules": [ { } ] }"""));

        Assert.Contains("rules[0] has no \"for\"", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task No_secret_is_in_the_log_or_the_audit()
    {
        SecureServer server = await StartAsync(Rules);
        await server.ConnectAsync(Basic("anna:a"));
        await Assert.ThrowsAsync<RequestFailedException>(() => server.ConnectAsync(Basic("anna:canary-1")));
        await Assert.ThrowsAsync<RequestFailedException>(() => server.ConnectAsync("canary-2"));
        await server.DisposeAsync();

        string[] texts = [.. server.Log.Lines.Select(static l => l.Text), .. Audit().Select(static l => l.GetRawText())];
        Assert.NotEmpty(texts);
        string[] secrets = ["canary", Basic("anna:canary-1")[6..], Basic("anna:a")[6..], "argon2"];
        Assert.DoesNotContain(texts, text => Array.Exists(secrets, secret => text.Contains(secret, StringComparison.Ordinal)));
    }

    private static async Task<int> PublishAsync(FastPortClient client, string topic) =>
        await client.PublishAsync(topic, 1, new byte[1]).InTimeAsync();

    private static string Basic(string text) => "Basic " + Convert.ToBase64String(Encoding.UTF8.GetBytes(text));

    private static async Task ForbiddenAsync(Task task)
    {
        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => task.InTimeAsync());
        Assert.Equal(ErrorCode.Forbidden, e.Code);
    }

    private static string Text(JsonElement line, string key) =>
        line.TryGetProperty(key, out JsonElement value) ? value.ToString() : string.Empty;

    private JsonElement[] Audit() =>
        [.. File.ReadAllLines(_directory["audit"]).Select(static line => JsonDocument.Parse(line).RootElement)];

    private async Task<SecureServer> StartAsync(string policy, Action<SecurityOptions>? configure = null)
    {
        await File.WriteAllTextAsync(_directory["policy"], policy);
        await File.WriteAllTextAsync(_directory["users"], Users);
        return await SecureServer.StartAsync(o =>
        {
            o.PolicyFile = _directory["policy"];
            o.UsersFile = _directory["users"];
            o.AuditFile = _directory["audit"];
            o.AllowAnonymous = true;
            configure?.Invoke(o);
        });
    }
}
