using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Measuring;

/// <summary>One connection, one request in flight, a raw client (benchmarks/Native/lock_step.c).</summary>
/// <param name="bench">Cores and processes.</param>
/// <param name="native">The compiled programs.</param>
/// <param name="payloadBytes">Payload of a message.</param>
/// <param name="spinning">Whether it reads its socket again and again rather than sleep in recv.</param>
internal sealed class LockStepLoad(Workbench bench, NativePrograms native, int payloadBytes, bool spinning) : ILoadProgram
{
    public IReadOnlyList<int> Cores { get; init; } = bench.Pinning.Client;

    /// <summary>A request is due every so many microseconds. Defaults to 0: as soon as the one before it has its reply.</summary>
    public int EveryMicroseconds { get; init; }

    public string? Missing() => native.Missing(native.LockStep);

    public IReadOnlyList<string> Command(ServerProcess server, double leadIn, double seconds) =>
    [
        native.LockStep,
        "--connect", server.Endpoint,
        "--wait", spinning ? "recv" : "block",
        "--size", Invariant.Text(payloadBytes),
        "--every", Invariant.Text(EveryMicroseconds),
        "--reply", server.Candidate.RepliesAsSent ? "as-sent" : "set",
        "--warmup", Invariant.Text(leadIn),
        "--duration", Invariant.Text(seconds),
        "--server-pid", Invariant.Text(server.Id),
        .. bench.Pinning.IsPinned ? (string[])["--watch-cores", string.Join(',', bench.Pinning.Both)] : [],
    ];
}

/// <summary>The same with FastPort's engine as the client (benchmarks/FastPortPeer).</summary>
/// <param name="bench">Cores and processes.</param>
/// <param name="payloadBytes">Payload of a message.</param>
/// <param name="spinMicroseconds">How long its loop looks for work before it sleeps.</param>
internal sealed class EngineLockStepLoad(Workbench bench, int payloadBytes, int spinMicroseconds) : ILoadProgram
{
    private readonly string _assembly = bench.Programs.Find("benchmarks", "FastPortPeer");

    /// <summary>Requests in flight, each in lock-step with its reply. Defaults to 1.</summary>
    public int InFlight { get; init; } = 1;

    public IReadOnlyList<int> Cores { get; init; } = bench.Pinning.Client;

    public string? Missing() => ProgramLocator.MissingAssembly("FastPort's client", _assembly);

    public IReadOnlyList<string> Command(ServerProcess server, double leadIn, double seconds) =>
    [
        ProgramLocator.DotNetHost, _assembly, "lock-step",
        "--endpoint", server.Endpoint,
        "--size", Invariant.Text(payloadBytes),
        "--in-flight", Invariant.Text(InFlight),
        "--spin-us", Invariant.Text(spinMicroseconds),
        "--warmup", Invariant.Text(leadIn),
        "--duration", Invariant.Text(seconds),
        "--server-pid", Invariant.Text(server.Id),
    ];
}
