namespace FastPort.Comparisons.Hostile;

/// <summary>Every kind of attacker.</summary>
internal static class AttackerCatalog
{
    /// <summary>Those that a plan asks for.</summary>
    /// <param name="plan">The plan.</param>
    /// <param name="isIdle">Whether those whose number is limited by descriptors are meant, which have a process of their own.</param>
    public static IReadOnlyList<IAttacker> Of(HostilePlan plan, bool isIdle)
    {
        IReadOnlyList<IAttacker> all = isIdle
            ? [IdleConnections.Of(plan.IdleConnections)]
            :
            [
                .. ConnectAttacks.All,
                .. plan.IsOwnNetwork ? (IEnumerable<IAttacker>)[new SynFlood()] : [],
                .. SlowAttacks.All,
                .. SlowReaders.All,
                .. Storms.All,
                .. BrokenFrames.All,
                .. TokenAttacks.All,
                .. TlsAttacks.All,
                .. ProxyAttacks.All,
                .. WebSocketHandshakeAttacks.All,
                .. WebSocketAttacks.All,
                .. OpcUaBombs.All,
            ];
        return plan.Only.Count == 0
            ? all
            : [.. all.Where(attacker => plan.Only.Any(text => attacker.Name.Contains(text, StringComparison.OrdinalIgnoreCase)))];
    }
}
