using System.CommandLine;
using System.CommandLine.Parsing;
using FastPort.Transports.Epoll;

namespace FastPort.Programs;

/// <summary>The transport options of the commands.</summary>
internal sealed class TransportOptions
{
    private readonly Option<TransportKind?> _transport = new("--transport")
    {
        Description =
            "Transport for TCP and Unix sockets: event loops over epoll (Linux only), or the runtime's sockets; auto uses epoll where "
            + "available.",
        HelpName = "auto|epoll|sockets",
        CustomParser = ReadKind,
    };

    private readonly Option<int?> _loops = WholeNumberOption.Create(
        "--loops", "Number of epoll event loops, one thread each; 0 for one per core.", "N", 0, EpollOptions.MaxLoops);

    private readonly Option<int?> _spinMicroseconds = WholeNumberOption.Create(
        "--spin-us",
        "How long an event loop spins before it sleeps, in microseconds; 0 never spins. Without it loops spin adaptively.",
        "N", 0, EpollOptions.MaxSpinMicroseconds);

    private readonly Option<bool?> _pinLoops = new("--pin-loops")
    {
        Description = "Pins event loop n to the n-th core that the process may use.",
        Arity = ArgumentArity.Zero,
    };

    public void AddTo(Command command)
    {
        command.Add(_transport);
        command.Add(_loops);
        command.Add(_spinMicroseconds);
        command.Add(_pinLoops);
    }

    public TransportChoice Read(ParseResult result) => new()
    {
        Kind = result.GetValue(_transport),
        Loops = result.GetValue(_loops),
        SpinMicroseconds = result.GetValue(_spinMicroseconds),
        PinLoops = result.GetValue(_pinLoops),
    };

    /// <summary>Parses a value of <c>--transport</c>. Returns an error message, or null if the value is valid.</summary>
    /// <param name="text">The value.</param>
    /// <param name="hasEpoll">Whether the system has epoll.</param>
    /// <param name="kind">The parsed value, if valid.</param>
    internal static string? Parse(string text, bool hasEpoll, out TransportKind kind)
    {
        // Case-insensitive, as in the configuration. Only names are allowed; TryParse also accepts numbers.
        string allowed = hasEpoll ? "auto, epoll or sockets" : "auto or sockets";
        if (!Enum.TryParse(text, ignoreCase: true, out kind) || !kind.ToString().Equals(text, StringComparison.OrdinalIgnoreCase))
        {
            return $"--transport is '{text}'; give {allowed}.";
        }

        return kind == TransportKind.Epoll && !hasEpoll ? $"--transport is '{text}', which exists only on Linux; give {allowed}." : null;
    }

    private static TransportKind? ReadKind(ArgumentResult result)
    {
        if (Parse(
            result.Tokens.Count == 0 ? string.Empty
                : result.Tokens[0].Value, EpollTransport.IsSupported, out TransportKind kind) is { } problem)
        {
            result.AddError(problem);
        }

        return kind;
    }
}
