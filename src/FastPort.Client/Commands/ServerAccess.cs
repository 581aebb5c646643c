using System.CommandLine;
using System.CommandLine.Parsing;
using System.Security.Cryptography;

namespace FastPort.Client.Commands;

/// <summary>The security options of the command line for reaching a server; empty if not given. Immutable.</summary>
internal sealed record ServerAccess
{
    public string Authority { get; init; } = string.Empty;

    public string Host { get; init; } = string.Empty;

    public string Pin { get; init; } = string.Empty;

    public string Certificate { get; init; } = string.Empty;

    public string Key { get; init; } = string.Empty;

    public bool AllowsPlaintext { get; init; }

    /// <summary>Sets the options of a client.</summary>
    public void ApplyTo(FastPortClientOptions options)
    {
        options.Tls.AuthorityFile = Authority;
        options.Tls.ServerName = Host;
        options.Tls.Pin = Pin;
        options.Tls.CertificateFile = Certificate;
        options.Tls.KeyFile = Key;
        options.AllowPlaintext = AllowsPlaintext;
    }
}

/// <summary>The options <c>--tls-*</c> and <c>--allow-plaintext</c> of the commands that connect.</summary>
internal sealed class ServerAccessOptions
{
    private const string PinPrefix = "sha256/";

    private readonly Option<string> _authority = Text(
        "--tls-ca", "PEM file with the authorities that may have signed the server's certificate. [default: the system's]", "FILE");

    private readonly Option<string> _host = Text(
        "--tls-host", "The name that the server's certificate must have. [default: the host of the server's URI]", "NAME");

    private readonly Option<string> _pin = Text(
        "--tls-pin", "SHA-256 hash of the server's public key. Only this key is accepted, regardless of who signed it.", "sha256/HASH");

    private readonly Option<string> _certificate = Text(
        "--tls-cert", "PEM or PFX file with this client's certificate, for servers that ask for one.", "FILE");

    private readonly Option<string> _key = Text(
        "--tls-key", "PEM file with the private key of --tls-cert. [default: in the same file]", "FILE");

    private readonly Option<bool> _allowPlaintext = new("--allow-plaintext")
    {
        Description = "Sends a token to another machine even if the connection is not encrypted.",
    };

    /// <summary>Adds the options to a command.</summary>
    /// <param name="command">The command.</param>
    /// <param name="server">The command's option or argument that names the server.</param>
    /// <param name="defaultServer">The server if none is named; null if the command hosts one itself then.</param>
    public void AddTo(Command command, Symbol server, string? defaultServer)
    {
        command.Add(_authority);
        command.Add(_host);
        command.Add(_pin);
        command.Add(_certificate);
        command.Add(_key);
        command.Add(_allowPlaintext);
        command.Validators.Add(result => Validate(result, Given(result, server) ?? defaultServer));
    }

    public ServerAccess Read(ParseResult result) => new()
    {
        Authority = result.GetValue(_authority) ?? string.Empty,
        Host = result.GetValue(_host) ?? string.Empty,
        Pin = result.GetValue(_pin) ?? string.Empty,
        Certificate = result.GetValue(_certificate) ?? string.Empty,
        Key = result.GetValue(_key) ?? string.Empty,
        AllowsPlaintext = result.GetValue(_allowPlaintext),
    };

    private static bool IsSecure(string? server) =>
        Endpoint.TryParse(server, out Endpoint? endpoint, out _) && endpoint.Scheme is "tls" or "wss";

    private static Option<string> Text(string name, string description, string helpName) => new(name)
    {
        Description = description,
        HelpName = helpName,
    };

    private void Validate(CommandResult result, string? server)
    {
        Option<string>[] all = [_authority, _host, _pin, _certificate, _key];
        if (!IsSecure(server)
            && Array.Find(all, option => result.GetResult(option) is not null) is { } useless)
        {
            result.AddError(server is null
                ? $"{useless.Name} has no meaning without --server: use tls:// or wss://."
                : $"{useless.Name} has no meaning for {server}: use tls:// or wss://.");
        }
        else if (result.GetResult(_key) is not null && result.GetResult(_certificate) is null)
        {
            result.AddError("--tls-key has no meaning without --tls-cert: name the certificate of this key.");
        }

        if (server is null && result.GetResult(_allowPlaintext) is { Implicit: false })
        {
            result.AddError($"{_allowPlaintext.Name} has no meaning without --server: a token is sent to no other machine.");
        }

        if (Given(result, _pin) is { } pin && !IsPin(pin))
        {
            result.AddError($"--tls-pin is '{pin}'; give {PinPrefix} and the base64 SHA-256 hash of the server's public key.");
        }
    }

    // As written: the value of a wrong argument cannot be read, and its error is already reported.
    private static string? Given(CommandResult result, Symbol symbol)
    {
        SymbolResult? found = symbol is Option option ? result.GetResult(option) : result.GetResult((Argument)symbol);
        return found?.Tokens is [var token, ..] ? token.Value : null;
    }

    private static bool IsPin(string pin) =>
        pin.StartsWith(PinPrefix, StringComparison.Ordinal)
        && Convert.TryFromBase64String(pin[PinPrefix.Length..], new byte[SHA256.HashSizeInBytes], out int length)
        && length == SHA256.HashSizeInBytes;
}
