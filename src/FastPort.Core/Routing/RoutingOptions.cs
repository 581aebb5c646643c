using System.Text;
using FastPort.Configuration;

namespace FastPort;

/// <summary>
/// The routing services that a server offers to peers; configuration section <c>FastPort:Routing</c>. Messages of a disabled service are
/// answered with UnknownType.
/// </summary>
public sealed class RoutingOptions
{
    /// <summary>Whether peers may send to each other by routing id (Relay). Defaults to false.</summary>
    public bool Relay { get; set; }

    /// <summary>Whether peers may subscribe to topics and publish (Subscribe, Unsubscribe, Publish). Defaults to false.</summary>
    public bool Topics { get; set; }

    /// <summary>Whether peers may list the sessions that have routing ids, with names and traffic (Peers). Defaults to false.</summary>
    public bool Peers { get; set; }

    /// <summary>
    /// Prefixes of the topics that peers share with the server's program; an empty prefix shares all topics. On other topics, messages of
    /// the program reach only the subscriptions made by the program (<see cref="ServerRouting.Subscribe"/>), and messages of peers reach
    /// only the subscriptions made by peers. Defaults to none.
    /// </summary>
    public IList<string> SharedTopics { get; set; } = [];

    /// <summary>
    /// Time that a Relay request may wait for room in the send queue of its target; then it is answered with
    /// <see cref="ErrorCode.Timeout"/>. Accurate to 100 ms; zero disables it, but a relay to a session of another server then waits
    /// for a minute. A one-way Relay waits until its target has room or is closed. Defaults to 10 s.
    /// </summary>
    public TimeSpan RelayTimeout { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>Maximum number of prefixes that one session is subscribed to; 1 to 1,000,000. Defaults to 1,000.</summary>
    public int MaxTopicsPerSession { get; set; } = 1000;

    /// <summary>
    /// Subscription changes per second that a peer may make, 1 to 1,000,000, with bursts of up to this number or
    /// <see cref="MaxTopicsPerSession"/>, whichever is larger. Defaults to 1,000.
    /// </summary>
    public int MaxTopicChangesPerSecond { get; set; } = 1000;

    /// <summary>Maximum length of a topic or prefix in UTF-8 bytes; 1 to 1,024. Defaults to 256.</summary>
    public int MaxTopicBytes { get; set; } = 256;

    /// <summary>Appends a sentence for every value that is out of range.</summary>
    /// <param name="section">Configuration path of this section, for the messages.</param>
    /// <param name="problems">Receives the sentences.</param>
    public void Validate(string section, ICollection<string> problems) =>
        OptionSection.Visit(section, problems, configured: null, Describe);

    internal void Describe(OptionSection section)
    {
        Relay = section.Flag(nameof(Relay), Relay);
        Topics = section.Flag(nameof(Topics), Topics);
        Peers = section.Flag(nameof(Peers), Peers);
        RelayTimeout = section.Timeout(nameof(RelayTimeout), RelayTimeout);
        MaxTopicsPerSession = section.Number(nameof(MaxTopicsPerSession), MaxTopicsPerSession, 1, 1_000_000);
        MaxTopicChangesPerSecond = section.Number(nameof(MaxTopicChangesPerSecond), MaxTopicChangesPerSecond, 1, 1_000_000);
        MaxTopicBytes = section.Number(nameof(MaxTopicBytes), MaxTopicBytes, 1, TopicLimits.MaxBytes);
        SharedTopics = section.List(nameof(SharedTopics), SharedTopics, "give a list of topic prefixes");
        foreach (string prefix in SharedTopics.Where(
            prefix => section.ChecksTogether && Encoding.UTF8.GetByteCount(prefix) > MaxTopicBytes))
        {
            section.Refuse(
                nameof(SharedTopics), $"'{prefix}'", $"a prefix has at most {MaxTopicBytes} bytes in UTF-8, as MaxTopicBytes says");
        }
    }
}

/// <summary>Limits that cannot be configured.</summary>
internal static class TopicLimits
{
    /// <summary>Maximum length in UTF-8 bytes; small enough for the stack.</summary>
    public const int MaxBytes = 1024;
}
