using FastPort.Configuration;
using FastPort.Transports;
using Microsoft.Extensions.Logging;

namespace FastPort.Connections;

/// <summary>
/// Options of a <see cref="ConnectionServer"/>. Every value is validated at the start. All have defaults except
/// <see cref="ServerOptions.Endpoints"/>, which needs at least one entry.
/// </summary>
public sealed class ConnectionServerOptions : ServerOptions
{
    /// <summary>The configuration section.</summary>
    public const string SectionName = "ConnectionServer";

    /// <summary>Creates options with default values.</summary>
    public ConnectionServerOptions()
        : base(SectionName)
    {
    }

    /// <summary>
    /// Unread bytes that a connection may hold; at least the size of the protocol's largest message. 4 KiB to 1 GiB. Defaults to 1 MiB + 4
    /// KiB. Memory is allocated as bytes arrive.
    /// </summary>
    public int MaxReceiveBytes { get; set; } = (1024 * 1024) + 4096;

    /// <summary>
    /// Bytes that may wait to be sent on one connection; 4 KiB to 1 GiB. Defaults to 4 MiB. Memory is allocated as bytes are written.
    /// </summary>
    public int MaxSendBytes { get; set; } = 4 * 1024 * 1024;

    /// <summary>
    /// Time after which the connection is closed if the peer reads none of its pending bytes. Zero disables it. Defaults to 30 s.
    /// </summary>
    public TimeSpan WriteTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Silence after which the operating system probes the peer (TCP keep-alive), up to 32,767 s, the maximum that Linux accepts; zero
    /// disables it. Defaults to 60 s.
    /// </summary>
    public TimeSpan KeepAlive { get; set; } = TimeSpan.FromSeconds(60);

    /// <summary>
    /// Time that sent bytes may stay unacknowledged (TCP_USER_TIMEOUT, Linux); zero keeps the system's default. Defaults to 30 s.
    /// </summary>
    public TimeSpan UserTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// TCP congestion control, by the system's name for it: <c>bbr</c>, <c>cubic</c>; 1 to 15 characters (TCP_CONGESTION, Linux). Defaults
    /// to null: the system's default, but <c>reno</c> on loopback addresses.
    /// </summary>
    public string? CongestionControl { get; set; }

    internal override void Describe(OptionSection section)
    {
        base.Describe(section);
        if (Endpoints.Count == 0)
        {
            section.Refuse(nameof(Endpoints), "empty", $"give a list of URIs: {TransportSelection.Examples}");
        }

        RefuseUnusedTls(section);
        MaxReceiveBytes = section.Number(nameof(MaxReceiveBytes), MaxReceiveBytes, 4096, 1 << 30);
        MaxSendBytes = section.Number(nameof(MaxSendBytes), MaxSendBytes, 4096, 1 << 30);
        WriteTimeout = section.Timeout(nameof(WriteTimeout), WriteTimeout);
        KeepAlive = section.Time(nameof(KeepAlive), KeepAlive, TimeSpan.Zero, ConnectionSettings.LongestKeepAlive);
        UserTimeout = section.Timeout(nameof(UserTimeout), UserTimeout);
        CongestionControl = section.Text(
            nameof(CongestionControl), CongestionControl, Transports.CongestionControl.IsPossible, Transports.CongestionControl.Allowed);
    }

    /// <inheritdoc/>
    protected internal override ConnectionSettings CreateSettings(ConnectionClock clock, ILogger logger) => new()
    {
        Clock = clock,
        Logger = logger,
        MaxReceiveBytes = MaxReceiveBytes,
        MaxSendBytes = MaxSendBytes,
        WriteTimeout = WriteTimeout,
        KeepAlive = KeepAlive,
        UserTimeout = UserTimeout,
        CongestionControl = CongestionControl,
    };
}
