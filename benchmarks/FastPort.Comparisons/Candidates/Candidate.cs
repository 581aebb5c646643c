namespace FastPort.Comparisons.Candidates;

/// <summary>A server that takes part in a comparison: what it is called, how it is started, how it says where it listens.</summary>
internal sealed record Candidate
{
    /// <summary>Name in the tables.</summary>
    public required string Name { get; init; }

    /// <summary>The program's file; where it does not exist, the candidate is missing.</summary>
    public required string Program { get; init; }

    /// <summary>Executable and arguments, without pinning.</summary>
    public required IReadOnlyList<string> Command { get; init; }

    /// <summary>Message type the load client sends. Defaults to Echo.</summary>
    public ushort MessageType { get; init; } = 0x0100;

    /// <summary>Finds the endpoint in a line of the program's output. Defaults to <see cref="ListeningLine.Read"/>.</summary>
    public Func<string, Uri?> ReadEndpoint { get; init; } = ListeningLine.Read;

    /// <summary>Why the candidate cannot take part, or null where it can.</summary>
    public string? Missing() =>
        File.Exists(Program)
            ? null
            : $"{Name} is missing: {Path.GetFileName(Program)} has not been built in this program's configuration; build FastPort.sln";
}
