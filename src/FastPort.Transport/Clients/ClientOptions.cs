using FastPort.Configuration;
using FastPort.Transports;
using FastPort.Transports.Epoll;

namespace FastPort;

/// <summary>Options common to clients of every protocol: the transport, connecting and reconnecting.</summary>
public abstract class ClientOptions : IDescribedOptions
{
    private static readonly TimeSpan Day = TimeSpan.FromDays(1);

    private readonly string _section;

    /// <summary>Creates options with default values.</summary>
    /// <param name="section">The section that messages about wrong values name.</param>
    protected ClientOptions(string section) => _section = section;

    /// <summary>
    /// The transport of TCP and Unix sockets, unless the client gets a transport. With Epoll all clients of the process that have the same
    /// <see cref="Loops"/>, <see cref="SpinMicroseconds"/> and <see cref="PinLoops"/> share one set of event loops. Defaults to
    /// <see cref="TransportKind.Auto"/>.
    /// </summary>
    public TransportKind Transport { get; set; } = TransportKind.Auto;

    /// <summary>
    /// Event loops of the Epoll transport, one thread each; 0 to 256, 0 for one per core that the process may use. All clients with the
    /// same values here, in <see cref="SpinMicroseconds"/> and in <see cref="PinLoops"/> share the loops: a thousand such clients with 1
    /// use one thread. Each other combination of values uses its own loops and threads while it has connections, so give the clients of one
    /// process the same values. A transport passed to the client is not shared. Defaults to 0.
    /// </summary>
    public int Loops { get; set; }

    /// <summary>
    /// How long an event loop, or this end of an <c>inproc://</c> link, spins before it sleeps, in microseconds, 0 to 1,000,000. Defaults
    /// to null: adaptive (<see cref="EpollOptions.SpinMicroseconds"/>).
    /// </summary>
    public int? SpinMicroseconds { get; set; }

    /// <summary>
    /// Whether each event loop is pinned to a core: loop n to the n-th core that the process may use. The loops of a server in the same
    /// process with this option use the same cores. Defaults to false.
    /// </summary>
    public bool PinLoops { get; set; }

    /// <summary>
    /// Whether the code after the await of a request's reply runs at once on the connection's loop, which saves two thread switches per
    /// request. This code must then not block, nor wait for another request other than with await: the loop receives nothing in the
    /// meantime. After a failed request, it may still run on the thread pool. Defaults to false: the code runs on the thread pool.
    /// </summary>
    public bool RunContinuationsOnLoop { get; set; }

    /// <summary>Time for one connection attempt, including the protocol's handshake; above 0, up to a day. Defaults to 5 s.</summary>
    public TimeSpan ConnectTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Whether the client retries the first connection attempt, with the reconnect delays; requests wait in the meantime. For programs that
    /// may start before their server. Defaults to false: one attempt, whose error is thrown.
    /// </summary>
    public bool RetryConnect { get; set; }

    /// <summary>Whether the client reconnects after it has lost its connection, until it is closed. Defaults to true.</summary>
    public bool Reconnect { get; set; } = true;

    /// <summary>
    /// Delay before the second attempt to reconnect; the first has none. Doubles up to <see cref="MaxReconnectDelay"/>, with jitter, and
    /// starts over after a connection that lasted long enough (<see cref="ReconnectBackoff.ResetAfter"/>). Above 0, up to a day. Defaults
    /// to 100 ms.
    /// </summary>
    public TimeSpan ReconnectDelay { get; set; } = TimeSpan.FromMilliseconds(100);

    /// <summary>Maximum delay between attempts; <see cref="ReconnectDelay"/> to a day. Defaults to 1 s.</summary>
    public TimeSpan MaxReconnectDelay { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>Checks every value.</summary>
    /// <returns>One sentence per problem, with key, value and allowed range; empty if there is none.</returns>
    public IReadOnlyList<string> Validate()
    {
        List<string> problems = [];
        OptionSection.Visit(_section, problems, configured: null, Describe);
        return problems;
    }

    void IDescribedOptions.Describe(OptionSection section) => Describe(section);

    internal virtual void Describe(OptionSection section)
    {
        Transport = TransportSelection.Describe(section, nameof(Transport), Transport);
        Loops = EpollOptions.DescribeLoops(section, nameof(Loops), Loops);
        SpinMicroseconds = EpollOptions.DescribeSpin(section, nameof(SpinMicroseconds), SpinMicroseconds);
        PinLoops = section.Flag(nameof(PinLoops), PinLoops);
        RunContinuationsOnLoop = section.Flag(nameof(RunContinuationsOnLoop), RunContinuationsOnLoop);
        ConnectTimeout = Positive(nameof(ConnectTimeout), ConnectTimeout);
        RetryConnect = section.Flag(nameof(RetryConnect), RetryConnect);
        Reconnect = section.Flag(nameof(Reconnect), Reconnect);
        ReconnectDelay = Positive(nameof(ReconnectDelay), ReconnectDelay);
        MaxReconnectDelay = section.Time(
            nameof(MaxReconnectDelay),
            MaxReconnectDelay,
            time => time <= Day && (!section.ChecksTogether || time >= ReconnectDelay),
            $"allowed: values from ReconnectDelay ({ReconnectDelay:c}) to {Day:c}");


        TimeSpan Positive(string key, TimeSpan value) => section.Time(
            key, value, static time => time > TimeSpan.Zero && time <= Day, $"allowed: values above 00:00:00, up to {Day:c}");
    }

    /// <summary>The library's transports that these options select; event loops are shared with other clients.</summary>
    /// <exception cref="PlatformNotSupportedException"><see cref="Transport"/> is Epoll and the system is not Linux.</exception>
    public TransportCollection CreateTransports() => TransportCollection.CreateShared(
        Transport, new EpollOptions { Loops = Loops, SpinMicroseconds = SpinMicroseconds, PinLoops = PinLoops });
}
