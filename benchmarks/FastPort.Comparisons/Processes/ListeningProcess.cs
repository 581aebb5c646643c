using FastPort.Comparisons.Candidates;

namespace FastPort.Comparisons.Processes;

/// <summary>A server with several endpoints. What it says later is heard and forgotten but for the last lines.</summary>
internal sealed class ListeningProcess : IDisposable
{
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);

    private readonly Conversation _conversation;

    private ListeningProcess(Conversation conversation, IReadOnlyList<Uri> endpoints)
    {
        _conversation = conversation;
        Endpoints = endpoints;
        _ = ForgetAsync();
    }

    public int Id => _conversation.Id;

    /// <summary>Where it listens, in the order in which it was told to.</summary>
    public IReadOnlyList<Uri> Endpoints { get; }

    /// <summary>Whether it has ended, which nobody has told it to.</summary>
    public bool HasEnded => _conversation.Ended.IsCompleted;

    public string Errors() => _conversation.Errors();

    /// <summary>Starts a server.</summary>
    /// <param name="name">What messages call it.</param>
    /// <param name="command">The command.</param>
    /// <param name="environment">Variables beside the present ones.</param>
    /// <param name="endpoints">How many endpoints it has.</param>
    /// <param name="bench">Where it belongs.</param>
    /// <param name="cancellation">Gives up.</param>
    public static async Task<ListeningProcess> StartAsync(
        string name, IReadOnlyList<string> command, IReadOnlyDictionary<string, string> environment, int endpoints, Workbench bench,
        CancellationToken cancellation)
    {
        var conversation = Conversation.Start(name, command, environment, bench);
        try
        {
            var found = new List<Uri>();
            while (found.Count < endpoints)
            {
                if (ListeningLine.Read(await conversation.HearAsync(StartLimit, cancellation)) is { } endpoint)
                {
                    found.Add(new Uri(endpoint));
                }
            }

            return new ListeningProcess(conversation, found);
        }
        catch
        {
            conversation.Dispose();
            throw;
        }
    }

    public void Dispose() => _conversation.Dispose();

    private async Task ForgetAsync()
    {
        await foreach (string line in _conversation.HearAllAsync(CancellationToken.None))
        {
            _ = line;
        }
    }
}
