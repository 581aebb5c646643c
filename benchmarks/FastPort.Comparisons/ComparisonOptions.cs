namespace FastPort.Comparisons;

/// <summary>Which program stands in the subject's place.</summary>
internal enum Subject
{
    /// <summary>FastPort.Server.</summary>
    FastPort,

    /// <summary>The Kestrel peer against itself: every ratio should come out at 1, which says how far the machine's noise goes.</summary>
    Kestrel,
}

/// <summary>What the command line asked for.</summary>
internal sealed record ComparisonOptions
{
    /// <summary>Measured seconds of each run.</summary>
    public required double Seconds { get; init; }

    /// <summary>Runs of each candidate in each workload.</summary>
    public required int Repetitions { get; init; }

    /// <summary>Seconds of load on each new server process before its first measured run.</summary>
    public required double WarmupSeconds { get; init; }

    /// <summary>Payload sizes in bytes.</summary>
    public required IReadOnlyList<int> Sizes { get; init; }

    /// <summary>Message type under which FastPort.Server offers its Queued echo.</summary>
    public required ushort QueuedType { get; init; }

    /// <summary>What is compared with the references.</summary>
    public required Subject Subject { get; init; }

    /// <summary>File for the JSON report, or null.</summary>
    public string? JsonFile { get; init; }

    /// <summary>File for the Markdown section, or null.</summary>
    public string? MarkdownFile { get; init; }

    /// <summary>The arguments as typed, without the report files.</summary>
    public required string CommandLine { get; init; }

    /// <summary>Whether a missing peer or tool is an error rather than a note: where CI=true says that all of them should be there.</summary>
    public required bool MissingIsError { get; init; }
}
