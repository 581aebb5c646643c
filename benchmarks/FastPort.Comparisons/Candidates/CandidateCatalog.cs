using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Candidates;

/// <summary>The servers that can be compared.</summary>
internal sealed class CandidateCatalog(ProgramLocator programs, ComparisonOptions options)
{
    /// <summary>What the comparison is about, with Inline handlers.</summary>
    public Candidate Subject => options.Subject == Comparisons.Subject.Kestrel ? Kestrel with { Name = "Kestrel (as subject)" } : FastPort;

    /// <summary>The subject with its Queued echo.</summary>
    public Candidate QueuedSubject => options.Subject == Comparisons.Subject.Kestrel
        ? Kestrel with { Name = "Kestrel (as Queued)", MessageType = options.QueuedType }
        : DotNet("FastPort (Queued)", programs.Find("src", "FastPort.Server"), "--listen", "tcp://127.0.0.1:0", "--queued-echo") with
        {
            MessageType = options.QueuedType,
        };

    /// <summary>A Kestrel connection handler on System.IO.Pipelines.</summary>
    public Candidate Kestrel => DotNet("Kestrel", programs.Find("benchmarks", "KestrelPeer"), "0");

    private Candidate FastPort => DotNet("FastPort", programs.Find("src", "FastPort.Server"), "--listen", "tcp://127.0.0.1:0");

    private static Candidate DotNet(string name, string assembly, params string[] arguments) => new()
    {
        Name = name,
        Program = assembly,
        Command = [ProgramLocator.DotNetHost, assembly, .. arguments],
    };
}
