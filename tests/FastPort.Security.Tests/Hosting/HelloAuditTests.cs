using System.Text;
using System.Text.Json;
using FastPort.Security.Identities;
using FastPort.Security.Tests.Support;
using Xunit;

namespace FastPort.Security.Tests.Hosting;

/// <summary>Hellos that are refused, with good credentials or without, are in the audit log.</summary>
public sealed class HelloAuditTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Every_refused_Hello_is_audited_whatever_for()
    {
        string[] names = ["anna", "bert", "carl", "dora"];
        string users = string.Join('\n', names.Select(static name => $"{name}:{PasswordHash.Create("right")}"));
        await File.WriteAllTextAsync(_directory["users"], users, TestContext.Current.CancellationToken);
        await using (SecureServer server = await SecureServer.StartAsync(
            o =>
            {
                o.UsersFile = _directory["users"];
                o.AuditFile = _directory["audit"];
            },
            server: static o =>
            {
                o.RequireRoutingId = true;
                o.Rates.PerIdentity.ConnectionsPerSecond = 1;
            }))
        {
            server.Server.Bans.Add(new Ban("user:carl", server.Time.GetUtcNow() + TimeSpan.FromHours(1), "shared a password"));
            await server.ConnectAsync(Basic("anna:right"), "a");

            await RefusedAsync(server, "anna:wrong", "b");
            await RefusedAsync(server, "anna:right", "b");
            await RefusedAsync(server, "bert:right", "a");
            await RefusedAsync(server, "carl:right", "c");
            await RefusedAsync(server, "dora:right", "");
        }

        Assert.Equal("anna", Text(Assert.Single(Lines("session.identified")), "user"));
        JsonElement[] refused = Lines("hello.refused");
        Assert.All(refused, static l => Assert.Equal("test", Text(l, "client")));
        Assert.Collection(
            refused,
            static l => Assert.Contains("password is wrong", Text(l, "reason"), StringComparison.Ordinal),
            static l => AssertLine(l, "anna", "may open 1 connections/s"),
            static l => AssertLine(l, "bert", "The routing id 'a' belongs to another session."),
            static l => AssertLine(l, "carl", "shared a password"),
            static l => AssertLine(l, "dora", "This server requires a routing_id"));
    }

    [Fact]
    public async Task A_refused_Hello_does_not_name_the_user_of_the_one_before_it()
    {
        string users = $"anna:{PasswordHash.Create("right")}";
        await File.WriteAllTextAsync(_directory["users"], users, TestContext.Current.CancellationToken);
        await using (SecureServer server = await SecureServer.StartAsync(
            o => (o.UsersFile, o.AuditFile) = (_directory["users"], _directory["audit"])))
        {
            await server.ConnectAsync(Basic("anna:right"), "a");
            using RawPeer peer = await RawPeer.ConnectAsync(server.Server.Endpoints[0]);

            WireFrame duplicate = await peer.CallAsync(Wire.HelloRequest(1, "a", Basic("anna:right")));
            WireFrame wrong = await peer.CallAsync(Wire.HelloRequest(2, "b", Basic("bert:wrong")));

            Assert.Equal((11u, 5u), (duplicate.ErrorCode, wrong.ErrorCode));
        }

        Assert.Equal(["anna", ""], Lines("hello.refused").Select(static line => Text(line, "user")));
    }

    [Fact]
    public async Task A_subscriber_of_the_application_that_throws_costs_neither_the_line_nor_the_ban()
    {
        string users = $"anna:{PasswordHash.Create("right")}";
        await File.WriteAllTextAsync(_directory["users"], users, TestContext.Current.CancellationToken);
        await using (SecureServer server = await SecureServer.StartAsync(
            o => (o.UsersFile, o.AuditFile, o.BanAfterRefusals) = (_directory["users"], _directory["audit"], 1),
            before: static builder => builder
                .OnHelloRefused(static (_, _, _) => throw new InvalidOperationException("a defect"))))
        {
            await RefusedAsync(server, "anna:wrong", "a");

            await Patience.UntilAsync(() => server.Server.Bans.Entries.Count == 1, "the address is banned");
            await Patience.UntilAsync(() => server.Log.WithId(3006).Count == 1, "the defect was logged");
        }

        Assert.Single(Lines("hello.refused"));
    }

    private JsonElement[] Lines(string name) =>
    [
        .. File.ReadAllLines(_directory["audit"]).Select(static line => JsonDocument.Parse(line).RootElement)
            .Where(line => Text(line, "event") == name),
    ];

    private static void AssertLine(JsonElement line, string user, string reason)
    {
        Assert.Equal(user, Text(line, "user"));
        Assert.Contains(reason, Text(line, "reason"), StringComparison.Ordinal);
    }

    private static Task RefusedAsync(SecureServer server, string credentials, string routingId) =>
        Assert.ThrowsAsync<RequestFailedException>(
            () => server.Client(Basic(credentials), routingId).ConnectAsync().InTimeAsync());

    private static string Basic(string text) => "Basic " + Convert.ToBase64String(Encoding.UTF8.GetBytes(text));

    private static string Text(JsonElement line, string key) =>
        line.TryGetProperty(key, out JsonElement value) ? value.ToString() : string.Empty;
}
