using System.Collections.Concurrent;
using System.Net;
using System.Security.Claims;
using System.Security.Cryptography.X509Certificates;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Users as identities, who may read and write which variables, and bans.</summary>
public sealed class AuthorizationTests : IDisposable
{
    private static readonly NodeId Open = new(2, 1);
    private static readonly NodeId Secret = new(2, 2);
    private static readonly NodeId Clock = new(0, 2258);

    private readonly ConcurrentQueue<VariableAccess> _asked = new();
    private readonly string _folder = Directory.CreateTempSubdirectory("opcua-").FullName;
    private volatile bool _isOpen;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task Who_may_not_gets_its_status_for_the_one_variable()
    {
        await using TestServer server = await StartAsync();
        await using OpcUaClient anna = await ConnectAsync(server, "anna");
        await using OpcUaClient bert = await ConnectAsync(server, "bert");
        await using OpcUaClient nobody = await server.ConnectAsync();

        Assert.Equal([StatusCodes.Good, StatusCodes.Good], await ReadAsync(anna));
        foreach (OpcUaClient refused in new[] { bert, nobody })
        {
            Assert.Equal([StatusCodes.Good, StatusCodes.BadUserAccessDenied], await ReadAsync(refused));
            Assert.Equal(Variant.Null, (await refused.ReadAsync([Secret]))[0].Value);
            Assert.Equal(StatusCodes.BadUserAccessDenied, (await refused.ReadAsync([Secret], ["0:1"]))[0].Status);
            Assert.Equal(
                [StatusCodes.Good, StatusCodes.BadUserAccessDenied], await refused.WriteAsync([new(Open, 5), new(Secret, 6)]));
            Assert.Equal([0x63, 0], await LevelsAsync(refused, AttributeId.UserAccessLevel));
            Assert.Equal([0x63, 0x63], await LevelsAsync(refused, AttributeId.AccessLevel));
        }

        Assert.Equal(7, (await anna.ReadAsync([Secret]))[0].Value);
        Assert.Equal([0x63, 0x63], await LevelsAsync(anna, AttributeId.UserAccessLevel));
        Assert.Equal([StatusCodes.Good], await anna.WriteAsync([new(Secret, 8)]));

        VariableAccess written = Assert.Single(
            _asked, static access => access is { IsWrite: true, IsAttempt: true, User.Identity.Name: "anna" });
        Assert.Equal(Secret, written.Variable.Id);
        Assert.True(IPAddress.IsLoopback(((IPEndPoint)written.Peer!).Address));

        // What a client may do is asked without an attempt.
        Assert.Contains(_asked, static access => access is { IsWrite: true, IsAttempt: false, User.Identity.Name: "bert" });
    }

    [Fact]
    public async Task A_monitored_item_reports_the_status_while_its_user_may_not_read()
    {
        await using TestServer server = await StartAsync();
        var secret = (VariableNode)server.Server.AddressSpace.Find(Secret)!;
        await using OpcUaClient bert = await ConnectAsync(server, "bert");
        await using OpcUaSubscription subscription =
            await bert.SubscribeAsync(new() { PublishingInterval = TimeSpan.FromMilliseconds(50) });
        await subscription.AddItemsAsync([new(Secret) { SamplingInterval = TimeSpan.Zero }]);

        Assert.Equal((Variant.Null, StatusCodes.BadUserAccessDenied), await NextAsync(subscription));
        _isOpen = true;
        secret.Value = new DataValue(9);
        Assert.Equal((9, StatusCodes.Good), await NextAsync(subscription));
        _isOpen = false;
        secret.Value = new DataValue(10);
        Assert.Equal((Variant.Null, StatusCodes.BadUserAccessDenied), await NextAsync(subscription));
        Assert.All(_asked.Where(static access => access.Variable.Id == Secret), static access => Assert.False(access.IsAttempt));
    }

    [Fact]
    public async Task A_monitored_item_reports_what_its_own_user_may_do()
    {
        await using TestServer server = await StartAsync();
        var secret = (VariableNode)server.Server.AddressSpace.Find(Secret)!;
        await using OpcUaClient anna = await ConnectAsync(server, "anna");
        await using OpcUaClient bert = await ConnectAsync(server, "bert");
        await using OpcUaSubscription annas = await WatchAsync(anna);
        await using OpcUaSubscription berts = await WatchAsync(bert);

        Assert.Equal(((byte)0x63, StatusCodes.Good), await NextAsync(annas));
        Assert.Equal(((byte)0, StatusCodes.Good), await NextAsync(berts));
        secret.IsWritable = false;
        Assert.Equal(((byte)1, StatusCodes.Good), await NextAsync(annas));

        static async Task<OpcUaSubscription> WatchAsync(OpcUaClient client)
        {
            OpcUaSubscription subscription =
                await client.SubscribeAsync(new() { PublishingInterval = TimeSpan.FromMilliseconds(50) });
            await subscription.AddItemsAsync([new(Secret) { Attribute = AttributeId.UserAccessLevel, SamplingInterval = TimeSpan.Zero }]);
            return subscription;
        }
    }

    [Fact]
    public async Task A_banned_user_gets_no_session_and_loses_those_that_it_has()
    {
        var bans = new BanList();
        await using TestServer server = await StartAsync(bans);
        await using OpcUaClient anna = await ConnectAsync(server, "anna");
        await using OpcUaClient bert = await ConnectAsync(server, "bert");

        bans.Add(new Ban("user:anna", DateTimeOffset.UtcNow + TimeSpan.FromHours(1)));

        OpcUaException ended = await Assert.ThrowsAsync<OpcUaException>(() => anna.ReadAsync([Clock]).AsTask());
        Assert.Equal(StatusCodes.BadSessionIdInvalid, ended.Status);
        OpcUaException refused = await Assert.ThrowsAsync<OpcUaException>(() => ConnectAsync(server, "anna"));
        Assert.Equal(StatusCodes.BadUserAccessDenied, refused.Status);
        Assert.True((await bert.ReadAsync([Clock]))[0].Status.IsGood);

        Assert.True(bans.Lift("user:anna"));
        await using OpcUaClient again = await ConnectAsync(server, "anna");
    }

    [Fact]
    public async Task A_banned_address_gets_no_connection()
    {
        var bans = new BanList();
        await using TestServer server = await StartAsync(bans);
        await using OpcUaClient connected = await server.ConnectAsync(Once(new()));

        bans.Add(new Ban("127.0.0.1", DateTimeOffset.UtcNow + TimeSpan.FromHours(1)));

        await Assert.ThrowsAsync<OpcUaException>(() => server.ConnectAsync(Once(new())));
        await Assert.ThrowsAsync<OpcUaException>(() => connected.ReadAsync([Clock]).AsTask());
    }

    [Fact]
    public void Users_and_callbacks_are_not_given_together()
    {
        var options = new OpcUaServerOptions
        {
            Endpoints = { "opc.tcp://127.0.0.1:0" },
            Users = new Users(),
            ValidateUser = static (_, _, _) => new(true),
        };

        Exception e = Assert.ThrowsAny<Exception>(() => new OpcUaServer(options));
        Assert.Contains("Users", e.Message, StringComparison.Ordinal);
    }

    private static OpcUaClientOptions Once(OpcUaClientOptions options)
    {
        options.Reconnect = false;
        options.Certificates.UnsafeTrustAll = true;
        return options;
    }

    private static Task<OpcUaClient> ConnectAsync(TestServer server, string user) =>
        server.ConnectAsync(Once(new() { UserName = user, Password = "secret" }));

    private static async Task<StatusCode[]> ReadAsync(OpcUaClient client) =>
        [.. (await client.ReadAsync([Open, Secret])).Select(static value => value.Status)];

    private static async Task<IEnumerable<int>> LevelsAsync(OpcUaClient client, AttributeId attribute) =>
        (await client.ReadAsync([Open, Secret], attribute)).Select(static value => (int)value.Value.Get<byte>());

    private static async Task<(Variant Value, StatusCode Status)> NextAsync(OpcUaSubscription subscription)
    {
        DataValue value = (await subscription.Changes.ReadAsync(Patience.Token)).Value;
        return (value.Value, value.Status);
    }

    private Task<TestServer> StartAsync(BanList? bans = null) => TestServer.StartAsync(
        static space =>
        {
            space.AddVariable(AddressSpace.ObjectsFolder, Open, "Open", 1, writable: true);
            space.AddVariable(AddressSpace.ObjectsFolder, Secret, "Secret", 7, writable: true);
        },
        options =>
        {
            options.Users = new Users();
            options.AuthorizeVariable = Allows;
            options.Bans = bans;
            options.Certificates.Directory = _folder;
        });

    private bool Allows(in VariableAccess access)
    {
        _asked.Enqueue(access);
        return access.Variable.Id != Secret || _isOpen || access.User?.Identity?.Name == "anna";
    }

    private sealed class Users : IOpcUaUsers
    {
        public bool HasNames => true;

        public bool HasCertificates => false;

        public ValueTask<ClaimsPrincipal?> FindAsync(string name, string password, EndPoint? peer, CancellationToken cancellationToken) =>
            new(password == "secret" ? new ClaimsPrincipal(new ClaimsIdentity([new Claim(ClaimTypes.Name, name)], "test")) : null);

        public ValueTask<ClaimsPrincipal?> FindAsync(
            X509Certificate2 certificate, EndPoint? peer, CancellationToken cancellationToken) => new((ClaimsPrincipal?)null);
    }
}
