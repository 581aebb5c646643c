using FastPort.Comparisons.Candidates;

namespace FastPort.Comparisons.Processes;

/// <summary>A candidate's running server, ready for connections. What it prints later is read and forgotten.</summary>
internal sealed class ServerProcess : IDisposable
{
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);

    private readonly Conversation _conversation;

    private ServerProcess(Candidate candidate, Conversation conversation, IReadOnlyList<string> endpoints)
    {
        Candidate = candidate;
        _conversation = conversation;
        Endpoints = endpoints;
        _ = ForgetAsync();
    }

    public Candidate Candidate { get; }

    /// <summary>The endpoints on which the server listens, as URIs in the order of its arguments.</summary>
    public IReadOnlyList<string> Endpoints { get; }

    /// <summary>The first of them.</summary>
    public string Endpoint => Endpoints[0];

    public int Id => _conversation.Id;

    /// <summary>Whether it has ended, which nobody has told it to.</summary>
    public bool HasEnded => _conversation.Ended.IsCompleted;

    /// <summary>Starts a server.</summary>
    /// <param name="candidate">The server.</param>
    /// <param name="bench">Where it belongs.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <param name="endpoints">How many endpoints it has. Defaults to 1.</param>
    /// <exception cref="ComparisonException">It has ended, or did not say in time where it listens.</exception>
    public static async Task<ServerProcess> StartAsync(
        Candidate candidate, Workbench bench, CancellationToken cancellation, int endpoints = 1)
    {
        // The program's telemetry stays as it comes; only its files go where they are removed with everything else.
        var environment = new Dictionary<string, string>(candidate.Environment, StringComparer.Ordinal)
        {
            ["LatencyStats__OutputDirectory"] = Path.Combine(bench.TemporaryFolder, "Stats"),
        };
        var conversation = Conversation.Start(
            candidate.Name, bench.Pinning.On(candidate.Cores ?? bench.Pinning.Server, candidate.Command), bench, environment);
        try
        {
            var found = new List<string>();
            while (found.Count < endpoints)
            {
                if (ListeningLine.Read(await conversation.HearAsync(StartLimit, cancellation)) is { } endpoint)
                {
                    found.Add(endpoint);
                }
            }

            return new ServerProcess(candidate, conversation, found);
        }
        catch
        {
            conversation.Dispose();
            throw;
        }
    }

    /// <summary>The last lines the server wrote to standard error.</summary>
    public string Errors() => _conversation.Errors();

    public void Dispose() => _conversation.Dispose();

    private async Task ForgetAsync()
    {
        await foreach (string line in _conversation.HearAllAsync(CancellationToken.None))
        {
            _ = line;
        }
    }
}
