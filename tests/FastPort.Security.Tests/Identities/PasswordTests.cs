using System.Text;
using FastPort.Security.Files;
using FastPort.Security.Identities;
using FastPort.Security.Tests.Support;
using Xunit;

namespace FastPort.Security.Tests.Identities;

/// <summary>Users with passwords, against a server.</summary>
public sealed class PasswordTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task A_user_with_the_right_password_is_let_in_and_others_are_not()
    {
        await using SecureServer server = await StartAsync($"anna:{PasswordHash.Create("a:b ü")}:operator");

        await server.ConnectAsync(Basic("anna:a:b ü"));

        Session session = Assert.Single(server.Server.Sessions);
        Assert.Equal(("anna", "password"), (session.User!.Identity!.Name, session.User.Identity.AuthenticationType));
        Assert.True(session.User.IsInRole("operator"));
        foreach (string wrong in new[] { Basic("anna:x"), Basic("bert:a:b ü") })
        {
            Assert.EndsWith(": The user name or the password is wrong.", await RefusedAsync(server, wrong), StringComparison.Ordinal);
        }

        Assert.Contains("demands a token", await RefusedAsync(server, string.Empty), StringComparison.Ordinal);
        Assert.Contains("does not accept JSON Web Tokens", await RefusedAsync(server, "a.b.c"), StringComparison.Ordinal);
        string noText = "Basic " + Convert.ToBase64String([0xFF, 0x3A]);
        foreach (string wrong in new[] { "Basic", "Basic ", "Basic !!", noText, Basic("anna"), Basic(":x") })
        {
            await RefusedAsync(server, wrong);
        }
    }

    [Fact]
    public async Task A_password_that_was_changed_is_in_force_at_the_next_look_for_those_who_were_remembered_too()
    {
        await using SecureServer server = await StartAsync($"anna:{PasswordHash.Create("old")}");
        FastPortClient first = await server.ConnectAsync(Basic("anna:old"));
        await server.ConnectAsync(Basic("anna:old"));

        await File.WriteAllTextAsync(_directory["users"], $"anna:{PasswordHash.Create("new")}", TestContext.Current.CancellationToken);
        server.Look();

        await RefusedAsync(server, Basic("anna:old"));
        await server.ConnectAsync(Basic("anna:new"));
        await first.RequestAsync(SecureServer.Echo, new byte[1]).InTimeAsync();
    }

    [Fact]
    public async Task A_password_that_was_changed_is_forgotten_with_the_file_whoever_else_is_told_first()
    {
        void Write(string password) => File.WriteAllText(_directory["users"], $"anna:{PasswordHash.Create(password)}");
        Write("old");
        TimeSpan interval = TimeSpan.FromSeconds(5);
        var file = new WatchedFile<UserFile>(
            _directory["users"], "users", UserFile.MaxBytes, UserFile.Read, interval, new FakeTimeProvider(), new RecordingLog());
        PasswordAuthentication? passwords = null;
        Task<AuthenticationResult>? meanwhile = null;
        file.Changed += _ =>
        {
            meanwhile = CheckAsync("old");
            throw new InvalidOperationException("a defect");
        };
        using (passwords = new PasswordAuthentication(file))
        {
            Assert.True((await CheckAsync("old")).IsAccepted);

            Write("new");
            file.Look();

            Assert.False((await meanwhile!.InTimeAsync()).IsAccepted);
            Assert.False((await CheckAsync("old")).IsAccepted);
            Assert.True((await CheckAsync("new")).IsAccepted);
        }

        Task<AuthenticationResult> CheckAsync(string password) =>
            passwords!.AuthenticateAsync("anna", password, peer: null, CancellationToken.None).AsTask();
    }

    [Fact]
    public async Task Anonymous_peers_are_let_in_where_that_is_allowed()
    {
        await using SecureServer server = await StartAsync($"anna:{PasswordHash.Create("a")}", static o => o.AllowAnonymous = true);

        await server.ConnectAsync();

        Assert.Null(Assert.Single(server.Server.Sessions).User);
        await RefusedAsync(server, Basic("anna:wrong"));
    }

    private static string Basic(string text) => "Basic " + Convert.ToBase64String(Encoding.UTF8.GetBytes(text));

    private static async Task<string> RefusedAsync(SecureServer server, string token)
    {
        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => server.ConnectAsync(token));
        Assert.Equal(ErrorCode.Unauthenticated, e.Code);
        return e.Message;
    }

    private async Task<SecureServer> StartAsync(string users, Action<SecurityOptions>? configure = null)
    {
        await File.WriteAllTextAsync(_directory["users"], users);
        return await SecureServer.StartAsync(o =>
        {
            o.UsersFile = _directory["users"];
            configure?.Invoke(o);
        });
    }
}
