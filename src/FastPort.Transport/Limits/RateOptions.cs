using FastPort.Configuration;
using FastPort.Connections;

namespace FastPort;

/// <summary>What happens to a session that is over a rate of messages, bytes or loop time.</summary>
public enum RateExceededPolicy
{
    /// <summary>The session is not read until the rate allows it: the peer's own send queue fills, nothing is lost.</summary>
    Pause,

    /// <summary>
    /// Requests are answered with <c>Overloaded</c> and not run; one-way messages are dropped and counted. The answers also cost bytes and
    /// loop time, which no rate limits.
    /// </summary>
    Refuse,
}

/// <summary>Rates by address, by identity and in total. Every rate defaults to no limit.</summary>
public sealed class RateOptions
{
    /// <summary>Rates of each IP address, for IPv6 of each /64 network.</summary>
    public RateLimits PerAddress { get; } = new();

    /// <summary>Rates of each identity, by the name of <c>Session.User</c>, regardless of the number of its sessions.</summary>
    public RateLimits PerIdentity { get; } = new();

    /// <summary>Rates of all sessions together.</summary>
    public RateLimits Total { get; } = new();

    /// <summary>The largest burst: the amount that a rate allows in this time. 10 ms to 1 minute. Defaults to 1 s.</summary>
    public TimeSpan Burst { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// What happens to a session that is over a rate of messages, bytes or loop time. Connections over a rate are rejected. Defaults to
    /// <see cref="RateExceededPolicy.Pause"/>.
    /// </summary>
    public RateExceededPolicy WhenExceeded { get; set; } = RateExceededPolicy.Pause;

    /// <summary>
    /// Addresses (<c>10.0.0.1</c>) and networks (<c>10.0.0.0/8</c>) without rates and bans, for health probes and operators. Defaults to
    /// none.
    /// </summary>
    public IList<string> Exempt { get; set; } = [];

    internal bool IsEmpty => PerAddress.IsEmpty && PerIdentity.IsEmpty && Total.IsEmpty;

    internal void Describe(OptionSection section, bool onlyConnections)
    {
        section.Section(nameof(PerAddress), part => PerAddress.Describe(part, onlyConnections));
        section.Section(nameof(PerIdentity), part => PerIdentity.Describe(part, onlyConnections));
        section.Section(nameof(Total), part => Total.Describe(part, onlyConnections));
        if (onlyConnections && PerIdentity.ConnectionsPerSecond != 0)
        {
            section.Add(nameof(PerIdentity), "a server of this protocol does not know identities; use PerAddress or Total.");
        }

        Burst = section.Time(nameof(Burst), Burst, TimeSpan.FromMilliseconds(10), TimeSpan.FromMinutes(1));
        WhenExceeded = section.Choice(nameof(WhenExceeded), WhenExceeded);
        Exempt = section.List(nameof(Exempt), Exempt, AddressNetworks.Allowed);
        foreach (string entry in Exempt.Where(static entry => AddressNetworks.TryParse(entry) is null))
        {
            section.Refuse(nameof(Exempt), $"'{entry}'", AddressNetworks.Allowed);
        }
    }
}
