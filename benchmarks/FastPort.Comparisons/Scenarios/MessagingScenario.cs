using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>Messages by routing id against libzmq: one-way and in lock-step, over TCP, a Unix socket and inside one process.</summary>
internal sealed class MessagingScenario : ContestScenario
{
    private const string Shipped = "FastPort.Client to FastPort.Server (as shipped)";

    private static readonly int[] OneWaySizes = [64, 1024, 8192, 65536];
    private static readonly int[] LockStepSizes = [64, 1024, 8192, 65536];

    private static readonly int[] LockStepTargetSizes = [64, 1024, 8192];

    private static readonly MessagingLink[] Links = [MessagingLink.Tcp, MessagingLink.UnixSocket, MessagingLink.InProcess];

    private static readonly Dictionary<MessagingLink, double[]> OneWayTargets = new()
    {
        [MessagingLink.Tcp] = [4, 2.3, 3, 1.2],
        [MessagingLink.UnixSocket] = [2.8, 4, 3.5, 2.5],
        [MessagingLink.InProcess] = [2.3, 2.5, 1.5, 3],
    };

    // One way over TCP, of the two programs as they are shipped: by size, against libzmq with a core a process.
    private static readonly Dictionary<int, double> ShippedTargets = new() { [64] = 3, [1024] = 3, [8192] = 2.5 };

    public override string Name => "messaging";

    public override string Description =>
        "Messages by routing id against libzmq: one-way messages/s and lock-step round trips, over TCP, a Unix socket and inside one "
        + "process.";

    protected override string Method =>
        "FastPort's server looks the routing id up for every message and copies it into the session's queue; libzmq sends with zmq_send, "
        + "which copies as well, and receives without a copy. Receivers read the first and the last 64 bytes of every message; number, "
        + "order and edges are verified and both sides' counts compared. Server and client are two processes, each with all its threads "
        + "on its core. libzmq's two threads a process do better one-way where the scheduler places them, so it is measured that way, "
        + "too. Inside one process server and client share both cores as the scheduler likes. Queues are bounded: libzmq's by its own "
        + "1,000 messages, FastPort's by its own 1 MiB. The rows \"as shipped\" are the two programs, not the bare engine: "
        + "FastPort.Client's load in mode sink, with its 32 connections and 256 KiB of queue each, to FastPort.Server, which measures "
        + "every message; it counts their messages and bytes and verifies nothing else. They are compiled just in time; each run of the "
        + "client is a process of its own, warmed as long as a server.";

    protected override IReadOnlyList<Metric> Columns { get; } =
    [
        Metric.Throughput, Metric.Megabytes, Metric.ServerCpuPerMessage, Metric.ClientCpuPerMessage, Metric.RoundTripP50,
        Metric.RoundTripP95, Metric.RoundTripP99,
        Metric.ServerCpuShare, Metric.ClientCpuShare, Metric.OtherCpuShare, Metric.ServerPeakRss, Metric.ClientPeakRss,
    ];

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        var peers = new MessagingPeers(context);
        foreach (MessagingLink link in Links)
        {
            foreach (int size in context.Options.SizesOf(OneWaySizes))
            {
                yield return OneWay(link, size, peers, context);
            }
        }

        foreach (MessagingLink link in Links)
        {
            foreach (int size in context.Options.SizesOf(LockStepSizes))
            {
                yield return LockStep(link, size, peers, context);
            }
        }
    }

    private static Workload OneWay(MessagingLink link, int size, MessagingPeers peers, ScenarioContext context)
    {
        MessagingPeer fastPort = peers.FastPort("FastPort", link, size, lockStep: false, spinMicroseconds: null);
        MessagingPeer push = peers.ZmqPush(link, size, lockStep: false);
        MessagingPeer router = peers.ZmqRouter(link, size, lockStep: false);
        MessagingPeer[] unpinned = link == MessagingLink.InProcess ? [] : [peers.ZmqPushUnpinned(link, size)];
        int place = Array.IndexOf(OneWaySizes, size);
        Target? target = place < 0 ? null : Target.AtLeast(OneWayTargets[link][place]);
        IContestant[] shipped =
            link == MessagingLink.Tcp ? [new ShippedContestant(Shipped, context.Candidates.FastPort, size, context)] : [];
        return Create(
            $"{Title(link)}, {PayloadSize.Text(size)}, one-way",
            size,
            lockStep: false,
            context,
            [fastPort, push, .. unpinned, router],
            shipped,
            [
                new RatioQuestion(Metric.Throughput, fastPort.Name, push.Name, target),
                .. shipped.Select(programs => new RatioQuestion(
                    Metric.Throughput, programs.Name, push.Name, ShippedTargets.TryGetValue(size, out double ratio)
                        ? Target.AtLeast(ratio)
                        : null)),
                .. unpinned.Select(peer => new RatioQuestion(Metric.Throughput, fastPort.Name, peer.Name, target)),
                new RatioQuestion(Metric.Throughput, fastPort.Name, router.Name),
            ]);
    }

    private static Workload LockStep(MessagingLink link, int size, MessagingPeers peers, ScenarioContext context)
    {
        // A process pinned to one core never spins by itself, so both are measured: what an engine does that may, and what one does that
        // may not. Inside one process, which has both cores, it decides by itself.
        MessagingPeer[] fastPorts =
        [
            link == MessagingLink.InProcess
                ? peers.FastPort("FastPort", link, size, lockStep: true, spinMicroseconds: null)
                : peers.FastPort("FastPort, spinning 50 us", link, size, lockStep: true, spinMicroseconds: 50),
            peers.FastPort("FastPort, asleep between messages", link, size, lockStep: true, spinMicroseconds: 0),
        ];
        MessagingPeer push = peers.ZmqPush(link, size, lockStep: true);
        MessagingPeer router = peers.ZmqRouter(link, size, lockStep: true);
        Target? target = LockStepTargetSizes.Contains(size) ? Target.AtMost(0.5) : null;
        return Create(
            $"{Title(link)}, {PayloadSize.Text(size)}, lock-step",
            size,
            lockStep: true,
            context,
            [.. fastPorts, push, router],
            [],
            [
                new RatioQuestion(Metric.RoundTripP50, fastPorts[0].Name, router.Name, target),
                new RatioQuestion(Metric.RoundTripP50, fastPorts[0].Name, push.Name, target),
                .. fastPorts.Skip(1).Select(asleep => new RatioQuestion(Metric.RoundTripP50, asleep.Name, router.Name)),
            ]);
    }

    private static Workload Create(
        string title, int size, bool lockStep, ScenarioContext context, IReadOnlyList<MessagingPeer> peers,
        IReadOnlyList<IContestant> others, IReadOnlyList<RatioQuestion> questions) =>
        new(title, [.. peers.Select(peer => new MessagingContestant(peer, size, lockStep, context)), .. others], questions);

    private static string Title(MessagingLink link) => link switch
    {
        MessagingLink.Tcp => "TCP",
        MessagingLink.UnixSocket => "Unix socket",
        _ => "in-process",
    };
}
