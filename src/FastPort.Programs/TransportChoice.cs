using System.Globalization;
using FastPort.Transports.Epoll;

namespace FastPort.Programs;

/// <summary>The transport options of the command line; null if not given. Immutable.</summary>
internal sealed record TransportChoice
{
    public TransportKind? Kind { get; init; }

    public int? Loops { get; init; }

    public int? SpinMicroseconds { get; init; }

    public bool? PinLoops { get; init; }

    /// <summary>
    /// The transport of a client's connections, by its name in <c>--transport</c> and in the JSON result: epoll or sockets.
    /// </summary>
    public string ClientTransport => Kind switch
    {
        TransportKind.Epoll => "epoll",
        TransportKind.Sockets => "sockets",
        _ => EpollTransport.IsSupported ? "epoll" : "sockets",
    };

    /// <summary>
    /// The choice as keys of section <c>FastPort</c>: added to a configuration, the keys override its values and are checked with it.
    /// </summary>
    public IEnumerable<KeyValuePair<string, string?>> ToConfiguration()
    {
        (string Key, string? Value)[] all =
        [
            (nameof(FastPortServerOptions.Transport), Kind?.ToString()),
            (nameof(FastPortServerOptions.Loops), Loops?.ToString(CultureInfo.InvariantCulture)),
            (nameof(FastPortServerOptions.SpinMicroseconds), SpinMicroseconds?.ToString(CultureInfo.InvariantCulture)),
            (nameof(FastPortServerOptions.PinLoops), PinLoops?.ToString()),
        ];
        return all.Where(static one => one.Value is not null)
            .Select(static one => KeyValuePair.Create($"{FastPortServerOptions.SectionName}:{one.Key}", one.Value));
    }

    /// <summary>Sets the options that were given; leaves the others unchanged.</summary>
    public void ApplyTo(FastPortClientOptions options)
    {
        options.Transport = Kind ?? options.Transport;
        options.Loops = Loops ?? options.Loops;
        options.SpinMicroseconds = SpinMicroseconds ?? options.SpinMicroseconds;
        options.PinLoops = PinLoops ?? options.PinLoops;
    }
}
