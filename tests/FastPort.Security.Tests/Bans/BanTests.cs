using System.Net;
using System.Text;
using FastPort.Security.Bans;
using FastPort.Security.Files;
using FastPort.Security.Identities;
using FastPort.Security.Tests.Support;
using FastPort.Telemetry;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Xunit;

namespace FastPort.Security.Tests.Bans;

/// <summary>A server with a file of bans, and bans for those who guess passwords.</summary>
public sealed class BanTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    private string Path => _directory["bans"];

    [Fact]
    public async Task A_ban_in_the_file_is_in_force_at_the_next_look_and_its_end_too()
    {
        await using SecureServer server = await StartAsync();
        await server.ConnectAsync(Basic("anna:right"));

        BanFiles.Add(Path, new Ban("user:anna", DateTimeOffset.UtcNow + TimeSpan.FromHours(1), "shared her password"));
        server.Look();

        await Patience.UntilAsync(() => server.Server.Sessions.Count == 0, "the session has ended");
        FastPortClient refused = server.Client(Basic("anna:right"));
        var e = await Assert.ThrowsAsync<RequestFailedException>(() => refused.ConnectAsync().InTimeAsync());
        Assert.Contains("user:anna is banned until ", e.Message, StringComparison.Ordinal);
        Assert.Contains("shared her password", Assert.Single(server.Log.WithId(9120)).Text, StringComparison.Ordinal);

        Assert.True(BanFiles.Lift(Path, "user:anna"));
        server.Look();
        await server.ConnectAsync(Basic("anna:right"));
        Assert.Single(server.Log.WithId(9121));
    }

    [Fact]
    public async Task A_change_of_the_file_leaves_the_bans_of_the_program()
    {
        await using SecureServer server = await StartAsync();
        server.Server.Bans.Add(new Ban("user:mine", DateTimeOffset.UtcNow + TimeSpan.FromHours(1)));

        BanFiles.Add(Path, new Ban("user:other", DateTimeOffset.UtcNow + TimeSpan.FromHours(2)));
        server.Look();
        Assert.Equal(["user:mine", "user:other"], server.Server.Bans.Entries.Select(static ban => ban.Subject));

        BanFiles.Lift(Path, "user:other");
        server.Look();
        Assert.Equal("user:mine", Assert.Single(server.Server.Bans.Entries).Subject);
    }

    [Fact]
    public async Task Bans_that_the_file_has_at_the_start_are_in_force_and_not_told_again()
    {
        BanFiles.Add(Path, new Ban("user:anna", DateTimeOffset.UtcNow + TimeSpan.FromHours(1)));
        await using (SecureServer server = await StartAsync(o => o.AuditFile = _directory["audit"]))
        {
            Assert.Equal("user:anna", Assert.Single(server.Server.Bans.Entries).Subject);
            Assert.Empty(server.Log.WithId(9120));

            BanFiles.Add(Path, new Ban("user:bert", DateTimeOffset.UtcNow + TimeSpan.FromHours(1)));
            server.Look();
            Assert.Single(server.Log.WithId(9120));
        }

        string[] lines = await File.ReadAllLinesAsync(_directory["audit"], TestContext.Current.CancellationToken);
        Assert.Contains("user:bert", Assert.Single(lines, static line => line.Contains("ban.added", StringComparison.Ordinal)));
    }

    [Fact]
    public void A_list_of_the_application_beside_the_options_bans_does_not_start()
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Services.AddFastPort(builder.Configuration)
            .ConfigureComponents(static (_, components) => components.Bans = new BanList())
            .AddSecurity(builder.Configuration, static o => o.BanAfterRefusals = 3);
        using IHost host = builder.Build();

        var e = Assert.Throws<FastPortOptionsException>(() => host.Services.GetRequiredService<FastPortServer>());

        Assert.Contains("ban with FastPortServer.Bans", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_address_whose_Hellos_are_refused_too_often_is_banned_and_the_file_says_so()
    {
        await using SecureServer server = await StartAsync(static o =>
        {
            o.BanAfterRefusals = 3;
            o.BanTime = TimeSpan.FromMinutes(5);
        });
        for (int i = 0; i < 2; i++)
        {
            await RefusedAsync(server);
        }

        await server.ConnectAsync(Basic("anna:right"));
        Assert.Empty(BanFiles.Read(Path));
        await RefusedAsync(server);

        await Patience.UntilAsync(() => server.Server.Bans.Entries.Count != 0, "the address is banned");
        Ban ban = Assert.Single(server.Server.Bans.Entries);
        Assert.Equal(("127.0.0.1", "3 logins were refused"), (ban.Subject, ban.Reason));
        await Assert.ThrowsAnyAsync<Exception>(() => server.ConnectAsync(Basic("anna:right")));
        Assert.Equal(1, server.Server.Counters.Snapshot().ConnectionsRejectedFor(ConnectionRejection.Banned));

        // The clock of the test is long before today, so for the command the ban has ended; for the server it has not.
        Assert.Contains("127.0.0.1", await File.ReadAllTextAsync(Path, TestContext.Current.CancellationToken), StringComparison.Ordinal);
        server.Look();
        Assert.Single(server.Server.Bans.Entries);

        server.Time.Advance(TimeSpan.FromMinutes(5));
        Assert.Empty(server.Server.Bans.Entries);
        await server.ConnectAsync(Basic("anna:right"));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_subscriber_that_throws_costs_neither_the_ban_nor_the_process(bool hasFile)
    {
        await using SecureServer server = await StartAsync(o =>
        {
            o.BanAfterRefusals = 1;
            o.BansFile = hasFile ? o.BansFile : string.Empty;
        });
        var told = new TaskCompletionSource<Ban>(TaskCreationOptions.RunContinuationsAsynchronously);
        server.Server.Bans.Added += static _ => throw new InvalidOperationException("a defect");
        server.Server.Bans.Added += told.SetResult;

        await RefusedOrCutAsync(server);

        Assert.Equal("127.0.0.1", (await told.Task.InTimeAsync()).Subject);
        await Patience.UntilAsync(() => server.Log.WithId(hasFile ? 9102 : 9123).Count == 1, "the defect was logged");
        await Assert.ThrowsAnyAsync<Exception>(() => server.ConnectAsync(Basic("anna:right")));
        Assert.Equal(1, server.Server.Counters.Snapshot().ConnectionsRejectedFor(ConnectionRejection.Banned));
    }

    [Fact]
    public async Task A_look_at_the_file_that_began_before_an_automatic_ban_does_not_lift_it()
    {
        var log = new RecordingLog();
        var time = new FakeTimeProvider();
        var bans = new BanList();
        List<string> lifted = [];
        bans.Lifted += ban => lifted.Add(ban.Subject);
        using var read = new ManualResetEventSlim();
        using var release = new ManualResetEventSlim();
        bool isHeld = false;
        BanFiles.Create(Path);
        using var file = new WatchedFile<IReadOnlyList<Ban>>(Path, "bans", BanFile.MaxBytes, Read, TimeSpan.FromSeconds(1), time, log);
        IReadOnlyList<Ban> before = [];
        file.Changed += now =>
        {
            bans.Replace(before, now);
            before = now;
        };
        BanFiles.Add(Path, new Ban("user:anna", DateTimeOffset.UtcNow + TimeSpan.FromHours(1)));

        Volatile.Write(ref isHeld, true);
        Task look = Task.Run(() => time.Advance(TimeSpan.FromSeconds(1)), TestContext.Current.CancellationToken);
        read.Wait(Patience.Token);
        new AutomaticBans(1, TimeSpan.FromHours(1), bans, file, TimeProvider.System, log).Refused(new IPEndPoint(0x070200C0, 1));
        await Patience.UntilAsync(() => BanFiles.Read(Path).Count == 2, "the ban was written");
        Volatile.Write(ref isHeld, false);
        release.Set();
        await look.InTimeAsync();

        await Patience.UntilAsync(() => bans.Entries.Count == 2, "both are banned");
        Assert.Equal(["192.0.2.7", "user:anna"], bans.Entries.Select(static ban => ban.Subject).Order(StringComparer.Ordinal));
        Assert.Empty(lifted);

        IReadOnlyList<Ban>? Read(byte[] bytes, ICollection<string> problems)
        {
            if (Volatile.Read(ref isHeld))
            {
                read.Set();
                release.Wait(Patience.Token);
            }

            return BanFile.Read(bytes, problems);
        }
    }

    [Fact]
    public async Task An_automatic_ban_that_cannot_be_written_is_in_force_all_the_same()
    {
        await using SecureServer server = await StartAsync(static o => o.BanAfterRefusals = 1);
        await File.WriteAllTextAsync(Path, "wrong", TestContext.Current.CancellationToken);

        await RefusedOrCutAsync(server);

        await Patience.UntilAsync(() => server.Server.Bans.Entries.Count == 1, "the address is banned");
        Assert.Single(server.Log.WithId(9122));
    }

    [Fact]
    public async Task Refusals_of_long_ago_do_not_count()
    {
        await using SecureServer server = await StartAsync(static o =>
        {
            o.BanAfterRefusals = 2;
            o.BanTime = TimeSpan.FromMinutes(5);
        });
        await RefusedAsync(server);
        server.Time.Advance(TimeSpan.FromMinutes(5));

        await RefusedAsync(server);

        Assert.Empty(server.Server.Bans.Entries);
        await server.ConnectAsync(Basic("anna:right"));
    }

    [Fact]
    public async Task Bans_are_audited()
    {
        string audit = _directory["audit"];
        await using (SecureServer server = await StartAsync(o => o.AuditFile = audit))
        {
            server.Server.Bans.Add(new Ban("192.0.2.7", server.Time.GetUtcNow() + TimeSpan.FromHours(1), "a \"test\""));
            server.Server.Bans.Lift("192.0.2.7");
        }

        string text = await File.ReadAllTextAsync(audit, TestContext.Current.CancellationToken);
        Assert.Contains("\"event\":\"ban.added\"", text, StringComparison.Ordinal);
        Assert.Contains("\"subject\":\"192.0.2.7\"", text, StringComparison.Ordinal);
        Assert.Contains("\"event\":\"ban.lifted\"", text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_file_that_is_wrong_keeps_the_bans_of_before()
    {
        await using SecureServer server = await StartAsync();
        BanFiles.Add(Path, new Ban("192.0.2.7", DateTimeOffset.UtcNow + TimeSpan.FromHours(1)));
        server.Look();
        await File.AppendAllTextAsync(Path, "192.0.2.8\n", TestContext.Current.CancellationToken);

        server.Look();

        Assert.Single(server.Server.Bans.Entries);
        Assert.Contains("Line 2", Assert.Single(server.Log.WithId(9101)).Text, StringComparison.Ordinal);
        IOException e = Assert.Throws<IOException>(() => BanFiles.Read(Path));
        Assert.Contains("Line 2", e.Message, StringComparison.Ordinal);
    }

    private static string Basic(string text) => "Basic " + Convert.ToBase64String(Encoding.UTF8.GetBytes(text));

    private static async Task RefusedAsync(SecureServer server)
    {
        var e = await Assert.ThrowsAsync<RequestFailedException>(
            () => server.Client(Basic("anna:wrong")).ConnectAsync().InTimeAsync());
        Assert.Contains("password is wrong", e.Message, StringComparison.Ordinal);
    }

    // A ban at the first refusal may close the connection before the answer leaves.
    private static Task RefusedOrCutAsync(SecureServer server) =>
        Assert.ThrowsAsync<RequestFailedException>(() => server.Client(Basic("anna:wrong")).ConnectAsync().InTimeAsync());

    private async Task<SecureServer> StartAsync(Action<SecurityOptions>? configure = null)
    {
        string users = _directory["users"];
        await File.WriteAllTextAsync(users, $"anna:{PasswordHash.Create("right")}", TestContext.Current.CancellationToken);
        return await SecureServer.StartAsync(o =>
        {
            o.UsersFile = users;
            o.BansFile = Path;
            configure?.Invoke(o);
        });
    }
}
