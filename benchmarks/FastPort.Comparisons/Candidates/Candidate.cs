using System.Collections.ObjectModel;

namespace FastPort.Comparisons.Candidates;

/// <summary>A server that takes part in a comparison: what it is called, how it is started, what its replies look like.</summary>
internal sealed record Candidate
{
    /// <summary>Name in the tables.</summary>
    public required string Name { get; init; }

    /// <summary>Executable and arguments, without pinning.</summary>
    public required IReadOnlyList<string> Command { get; init; }

    /// <summary>Says why the candidate cannot take part, or null where it can.</summary>
    public required Func<string?> Missing { get; init; }

    /// <summary>Variables it is started with, beside the present ones. Defaults to none.</summary>
    public IReadOnlyDictionary<string, string> Environment { get; init; } = ReadOnlyDictionary<string, string>.Empty;

    /// <summary>Whether its code is compiled and tuned while it runs, so that it needs a long warm-up. Defaults to true.</summary>
    public bool IsManaged { get; init; } = true;

    /// <summary>Message type the load client sends. Defaults to Echo.</summary>
    public ushort MessageType { get; init; } = 0x0100;

    /// <summary>Whether its replies are the requests' very bytes: a raw echo knows no frames. Defaults to false.</summary>
    public bool RepliesAsSent { get; init; }

    /// <summary>Cores it runs on instead of the servers' one; null for that one. Defaults to null.</summary>
    public IReadOnlyList<int>? Cores { get; init; }

    /// <summary>The candidate with one more variable.</summary>
    public Candidate With(string variable, string value) =>
        this with { Environment = new Dictionary<string, string>(Environment, StringComparer.Ordinal) { [variable] = value } };
}
