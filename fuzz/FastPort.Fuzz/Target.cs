namespace FastPort.Fuzz;

/// <summary>Code that takes bytes of a stranger.</summary>
/// <param name="Name">Its name, and that of its corpus.</param>
/// <param name="Run">Takes an input; throws if the code does what it must not.</param>
/// <param name="Seeds">Inputs to begin with, which are as they should be.</param>
/// <param name="MaxBytes">Size up to which inputs are worth trying.</param>
internal sealed record Target(string Name, Action<byte[]> Run, Func<IEnumerable<byte[]>> Seeds, int MaxBytes = 4096)
{
    /// <summary>All targets.</summary>
    public static IReadOnlyList<Target> All { get; } =
    [
        SessionTarget.Create(),
        BodyTargets.Control(),
        BodyTargets.Tags(),
        ProxyTarget.Create(),
        OpcUaTargets.Decoder(),
        OpcUaTargets.Channel(),
        SecurityTargets.Policy(),
        SecurityTargets.Users(),
        SecurityTargets.Keys(),
        SecurityTargets.Token(),
    ];
}
