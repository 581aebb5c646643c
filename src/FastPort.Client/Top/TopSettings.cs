using FastPort.Client.Commands;

namespace FastPort.Client.Top;

/// <summary>What the command line of <c>top</c> says. Immutable.</summary>
internal sealed record TopSettings
{
    public string Endpoint { get; init; } = "tcp://127.0.0.1:6628";

    /// <summary>File with the token for the server; empty for none.</summary>
    public string TokenFile { get; init; } = string.Empty;

    /// <summary>How the server is reached safely.</summary>
    public ServerAccess Access { get; init; } = new();

    /// <summary>Time between two looks.</summary>
    public TimeSpan Interval { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>What message types are sorted by, one of <see cref="TopSort.Names"/>.</summary>
    public string Sort { get; init; } = TopSort.Default;

    /// <summary>Looks until the end; null for until Ctrl+C.</summary>
    public int? Count { get; init; }
}
