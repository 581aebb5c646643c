using FastPort.OpcUa;

namespace FastPort.OpcBridge.Simulation;

/// <summary>What the command line of <c>simulate</c> says; null and empty mean as configured. Immutable.</summary>
internal sealed record SimulationSettings
{
    public IReadOnlyList<string> Listen { get; init; } = [];

    public int ChangeRate { get; init; }

    public IReadOnlyList<OpcUaSecurityPolicy> Policies { get; init; } = [];

    public IReadOnlyList<MessageSecurityMode> Modes { get; init; } = [];

    /// <summary>Users as <c>name:password</c>.</summary>
    public IReadOnlyList<string> Users { get; init; } = [];

    /// <summary>A file with a user in each line.</summary>
    public string? UsersFile { get; init; }

    public bool NoAnonymous { get; init; }

    public string? Certificates { get; init; }

    public bool UnsafeTrustAll { get; init; }

    public int? MaxMessageMegabytes { get; init; }

    public int? MaxSessions { get; init; }
}
