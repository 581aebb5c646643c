using FastPort.Client.Commands;
using FastPort.Client.Load;
using FastPort.Programs;
using Xunit;

namespace FastPort.Client.Tests.Commands;

/// <summary>The options that say how a server is reached safely.</summary>
public sealed class ServerAccessTests
{
    private const string Server = "tls://example.org:6628";
    private const string Pin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

    private static readonly string[] Given = [
        "--tls-ca", "ca.pem", "--tls-host", "fastport", "--tls-pin", Pin, "--tls-cert", "me.pem", "--tls-key", "me.key",
        "--allow-plaintext"];

    private static readonly ServerAccess Expected = new()
    {
        Authority = "ca.pem",
        Host = "fastport",
        Pin = Pin,
        Certificate = "me.pem",
        Key = "me.key",
        AllowsPlaintext = true,
    };

    private readonly Recorder _commands = new();
    private readonly StringWriter _error = new();

    [Theory]
    [InlineData("load", "--server", Server)]
    [InlineData("load", "--server", "TLS://example.org:6628")]
    [InlineData("top", "--server", Server)]
    [InlineData("tags", "browse", "--server", Server)]
    [InlineData("tags", "read", "a", "--server", Server)]
    [InlineData("tags", "write", "a", "1", "--server", Server)]
    [InlineData("tags", "watch", "a", "--server", Server)]
    public async Task Every_command_that_connects_has_them(params string[] args)
    {
        await RunAsync(args);
        Assert.Equal(new ServerAccess(), Read());

        await RunAsync([.. args, .. Given]);
        Assert.Equal(Expected, Read());
        Assert.Empty(_error.ToString());

        ServerAccess? Read() => _commands.Load?.Access ?? _commands.Top?.Access ?? _commands.Tags?.Settings.Access;
    }

    [Theory]
    [InlineData("--tls-ca has no meaning for tcp://h:1: use tls:// or wss://.", "load", "--server", "tcp://h:1", "--tls-ca", "ca.pem")]
    [InlineData("--tls-host has no meaning for unix:///f: use tls:// or wss://.", "load", "--server", "unix:///f", "--tls-host", "h")]
    [InlineData("--tls-cert has no meaning without --server: use tls:// or wss://.", "load", "--tls-cert", "me.pem")]
    [InlineData("--allow-plaintext has no meaning without --server", "load", "--allow-plaintext")]
    [InlineData("--tls-pin has no meaning for tcp://127.0.0.1:6628: use tls:// or wss://.", "top", "--tls-pin", Pin)]
    [InlineData("--tls-key has no meaning for tcp://127.0.0.1:6629: use tls:// or wss://.", "tags", "browse", "--tls-key", "me.key")]
    [InlineData("--tls-key has no meaning without --tls-cert", "top", "--server", Server, "--tls-key", "me.key")]
    [InlineData("--tls-pin is 'abc'; give sha256/ and the base64", "top", "--server", Server, "--tls-pin", "abc")]
    [InlineData("--tls-pin is 'sha256/AAAA'; give sha256/ and the base64", "load", "--server", Server, "--tls-pin", "sha256/AAAA")]
    [InlineData("--server is 'tls://h:0'; write it as", "load", "--server", "tls://h:0", "--tls-ca", "ca.pem")]
    [InlineData("--tls-pin", "top", "--server", Server, "--tls-pin")]
    [InlineData("--tls-ca", "compare", "a.json", "b.json", "--tls-ca", "ca.pem")]
    public async Task What_has_no_meaning_is_exit_code_2_with_a_sentence(string sentence, params string[] args)
    {
        Assert.Equal(ExitCode.Usage, await RunAsync(args));

        Assert.Contains(sentence, _error.ToString(), StringComparison.Ordinal);
        Assert.Equal((null, null, null), (_commands.Load, _commands.Top, _commands.Tags));
    }

    [Fact]
    public async Task Plaintext_may_be_allowed_for_any_server()
    {
        Assert.Equal(10, await RunAsync("top", "--server", "tcp://example.org:6628", "--allow-plaintext"));

        Assert.True(_commands.Top!.Access.AllowsPlaintext);
    }

    [Fact]
    public void What_was_given_reaches_the_client()
    {
        FastPortClientOptions options = LoadConnections.Options(new LoadSettings { Access = Expected }, Server, 64);

        Assert.Equal(
            ("ca.pem", "fastport", Pin, "me.pem", "me.key", true),
            (options.Tls.AuthorityFile, options.Tls.ServerName, options.Tls.Pin, options.Tls.CertificateFile, options.Tls.KeyFile,
                options.AllowPlaintext));
        Assert.False(LoadConnections.Options(new LoadSettings(), Server, 64).AllowPlaintext);
    }

    private Task<int> RunAsync(params string[] args) => CommandLine.RunAsync(args, _commands, _error);
}
