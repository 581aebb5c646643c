using System.CommandLine;
using System.CommandLine.Parsing;
using FastPort.Client.Load;
using FastPort.Framing;
using FastPort.Programs;

namespace FastPort.Client.Commands;

/// <summary>The command <c>load</c>: its options and their conversion to settings.</summary>
internal sealed class LoadCommand
{
    private static readonly LoadSettings Defaults = new();

    private readonly Option<string?> _server = new("--server")
    {
        Description =
            "The server, for example tcp://127.0.0.1:6628, tls://host:6628 or unix:///run/fastport.sock. Without it, the command hosts a "
            + "server in its process.",
        HelpName = "URI",
        CustomParser = OptionParsers.Endpoint("--server"),
    };

    private readonly Option<string> _tokenFile = TokenFileOption.Create();

    private readonly ServerAccessOptions _access = new();

    private readonly Option<int> _connections = WholeNumberOption.Create(
        "--connections", "Number of connections.", "N", Defaults.Connections, 1, LoadSettings.MaxConnections);

    private readonly Option<int> _inFlight = WholeNumberOption.Create(
        "--in-flight", "Requests in flight per connection.", "N", Defaults.InFlight, 1, LoadSettings.MaxInFlight);

    private readonly Option<int> _size = WholeNumberOption.Create(
        "--size", "Payload bytes of a message, up to the server's frame limit.", "BYTES", Defaults.Size, 0,
        EchoPayload.LargestPayload(FrameLimits.MaxBodyBytes(FrameLimits.Maximum)));

    private readonly Option<TimeSpan?> _duration = OptionParsers.Duration(
        "--duration", "Measured time, for example 10s, 500ms, 2m. [default: 10s]", TimeSpan.FromMilliseconds(1));

    private readonly Option<TimeSpan?> _warmUp = OptionParsers.Duration(
        "--warmup", "Time before the measurement begins. [default: 2s]", TimeSpan.Zero);

    private readonly Option<double?> _rate = new("--rate")
    {
        Description =
            "Open loop: messages per second over all connections, on a fixed schedule; latency counts from when a message was due. "
            + "[default: closed loop, as fast as the server answers]",
        HelpName = "N",
        CustomParser = OptionParsers.Rate,
    };

    private readonly Option<LoadMode?> _mode = new("--mode")
    {
        Description = "echo: requests and replies. sink: one-way to the server. source: one-way from the server. [default: echo]",
        HelpName = "echo|sink|source",
        CustomParser = OptionParsers.Mode,
    };

    private readonly Option<string?> _json = new("--json") { Description = "Writes the result to this file as JSON.", HelpName = "FILE" };

    private readonly Option<string?> _html = new("--html")
    {
        Description = "Writes the report to this file as an HTML page with charts that works offline.",
        HelpName = "FILE",
    };

    private readonly Option<bool> _noProgress = new("--no-progress") { Description = "Hides the live progress line." };

    private readonly TransportOptions _transport = new();

    private LoadCommand(Func<LoadSettings, Task<int>> run)
    {
        Command = new ExampleCommand(
            "load",
            "Puts load on a server and reports its latencies.",
            "load --server tcp://127.0.0.1:6628 --connections 100 --rate 20000 --duration 30s")
        {
            _server, _tokenFile, _connections, _inFlight, _size, _duration, _warmUp, _rate, _mode, _json, _html, _noProgress,
        };
        _access.AddTo(Command, _server, defaultServer: null);
        _transport.AddTo(Command);
        Command.Validators.Add(Validate);
        Command.SetAction((result, _) => run(Settings(result)));
    }

    private Command Command { get; }

    /// <summary>Creates the command.</summary>
    /// <param name="run">Runs the load and returns the exit code.</param>
    public static Command Create(Func<LoadSettings, Task<int>> run) => new LoadCommand(run).Command;

    private void Validate(CommandResult result)
    {
        // By its text: an unknown mode has no value, and a separate error.
        string? mode = result.GetResult(_mode)?.Tokens is [var token] ? token.Value : null;
        if (IsGiven(_rate) && mode is "sink" or "source")
        {
            result.AddError("--rate works with --mode echo only: one-way loads run as fast as the receiver accepts messages.");
        }

        if (IsGiven(_inFlight) && mode == "sink")
        {
            result.AddError("--in-flight has no meaning for --mode sink: one-way messages have no replies.");
        }

        if (IsGiven(_tokenFile) && !IsGiven(_server))
        {
            result.AddError("--token-file has no meaning without --server: the server inside this process asks for no token.");
        }

        bool IsGiven(Option option) => result.GetResult(option) is { Implicit: false };
    }

    private LoadSettings Settings(ParseResult result) => new()
    {
        Server = result.GetValue(_server),
        TokenFile = result.GetValue(_tokenFile) ?? string.Empty,
        Access = _access.Read(result),
        Connections = result.GetValue(_connections),
        InFlight = result.GetValue(_inFlight),
        Size = result.GetValue(_size),
        Duration = result.GetValue(_duration) ?? Defaults.Duration,
        WarmUp = result.GetValue(_warmUp) ?? Defaults.WarmUp,
        Rate = result.GetValue(_rate),
        Mode = result.GetValue(_mode) ?? Defaults.Mode,
        JsonPath = result.GetValue(_json),
        HtmlPath = result.GetValue(_html),
        Transport = _transport.Read(result),
        Progress = !result.GetValue(_noProgress),
    };
}
