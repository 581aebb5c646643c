
namespace OpcUaPeer;

/// <summary>What processes have taken until now, or between two such times.</summary>
/// <param name="ClientCpu">CPU time of this process.</param>
/// <param name="ServerCpu">CPU time of the server's.</param>
/// <param name="BridgeCpu">CPU time of the bridge's; null where there is none.</param>
/// <param name="ClientAllocated">Bytes that this process has allocated.</param>
internal sealed record ProcessUsage(TimeSpan ClientCpu, TimeSpan ServerCpu, TimeSpan? BridgeCpu, long ClientAllocated)
{
    /// <summary>What has been taken until now.</summary>
    public static ProcessUsage Read(int serverId, int? bridgeId = null) => new(
        ProcessFigures.OwnCpu,
        ProcessFigures.Cpu(serverId),
        bridgeId is { } id ? ProcessFigures.Cpu(id) : null,
        GC.GetTotalAllocatedBytes(precise: true));

    /// <summary>What has been taken since another time.</summary>
    public ProcessUsage Since(ProcessUsage before) => new(
        ClientCpu - before.ClientCpu,
        ServerCpu - before.ServerCpu,
        BridgeCpu - before.BridgeCpu,
        ClientAllocated - before.ClientAllocated);
}
