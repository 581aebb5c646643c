using FastPort.Client.Commands;

namespace FastPort.Client.Tags;

/// <summary>What the command line of <c>tags</c> says. Immutable.</summary>
internal sealed record TagSettings
{
    public string Endpoint { get; init; } = "tcp://127.0.0.1:6629";

    /// <summary>File with the token for the server; empty for none.</summary>
    public string TokenFile { get; init; } = string.Empty;

    /// <summary>How the server is reached safely.</summary>
    public ServerAccess Access { get; init; } = new();

    /// <summary>Names of tags, or the path to browse; of a write names and values in turn.</summary>
    public IReadOnlyList<string> Names { get; init; } = [];

    public bool Json { get; init; }

    public bool Recursive { get; init; }

    public TimeSpan MaxAge { get; init; }

    /// <summary>Time for the request; zero for the server's default.</summary>
    public TimeSpan Timeout { get; init; }

    /// <summary>Time between updates; zero for the server's default.</summary>
    public TimeSpan Interval { get; init; }

    public int QueueSize { get; init; } = 1;

    /// <summary>Changes to show; null for all.</summary>
    public int? Count { get; init; }

    /// <summary>How long to watch; null for until Ctrl+C.</summary>
    public TimeSpan? Duration { get; init; }
}
