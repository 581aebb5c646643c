using FastPort.Configuration;

namespace FastPort;

/// <summary>Rates of one scope; 0 for no limit. Several sessions of the same scope share them.</summary>
public sealed class RateLimits
{
    /// <summary>
    /// Connections per second (for identities: Hellos whose token was accepted); 0 to 1,000,000. Defaults to 0: no limit.
    /// </summary>
    public int ConnectionsPerSecond { get; set; }

    /// <summary>Received messages of all kinds per second; 0 to 1,000,000,000. Defaults to 0: no limit.</summary>
    public int MessagesPerSecond { get; set; }

    /// <summary>Received bytes per second; 0 to 2,000,000,000. Defaults to 0: no limit.</summary>
    public int BytesPerSecond { get; set; }

    /// <summary>
    /// Time that the event loops spend on the scope's messages, inline handlers included, in percent of one core; 0 to 10,000. Defaults to
    /// 0: no limit.
    /// </summary>
    public int LoopTimePercent { get; set; }

    internal bool IsEmpty => ConnectionsPerSecond == 0 && !CountsMessages;

    internal bool CountsMessages => MessagesPerSecond != 0 || BytesPerSecond != 0 || LoopTimePercent != 0;

    // Servers of other protocols count connections only.
    internal void Describe(OptionSection section, bool onlyConnections)
    {
        ConnectionsPerSecond = section.Number(nameof(ConnectionsPerSecond), ConnectionsPerSecond, 0, 1_000_000);
        MessagesPerSecond = Number(nameof(MessagesPerSecond), MessagesPerSecond, 1_000_000_000);
        BytesPerSecond = Number(nameof(BytesPerSecond), BytesPerSecond, 2_000_000_000);
        LoopTimePercent = Number(nameof(LoopTimePercent), LoopTimePercent, 10_000);

        int Number(string key, int value, int maximum) => onlyConnections
            ? section.Number(key, value, 0, 0, "only 0 is allowed: a server of this protocol limits ConnectionsPerSecond only")
            : section.Number(key, value, 0, maximum);
    }
}
