namespace FastPort.Comparisons.Processes;

/// <summary>
/// Two networks of their own, joined by a virtual cable: the server's and the client's, as if on two machines. Linux only, as root. Neither
/// has a name nor anything to do with the machine's network, and both are gone with the last process in them: nothing can stay behind.
/// </summary>
internal sealed class NetworkPair : IDisposable
{
    /// <summary>The server's address.</summary>
    public const string ServerAddress = "10.99.0.1";

    /// <summary>What all addresses begin with.</summary>
    public const string Network = "10.99.0.";

    private const string ClientAddress = "10.99.0.2";
    private const string Device = "cable";

    // What holds a network open, once it is there, until its input ends.
    private const string Hold = "echo ready; exec cat";

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(10);
    private readonly Conversation _server;
    private readonly Conversation _client;

    private NetworkPair(Conversation server, Conversation client)
    {
        _server = server;
        _client = client;
    }

    /// <summary>What a command is preceded by to run in the server's network.</summary>
    public IReadOnlyList<string> Server => In(_server.Id);

    /// <summary>The same for the client's.</summary>
    public IReadOnlyList<string> Client => In(_client.Id);

    /// <summary>Makes the networks and joins them.</summary>
    /// <param name="bench">Where their processes belong.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <param name="moreClients">Last numbers of addresses that the client's network has besides.</param>
    /// <exception cref="ComparisonException">They cannot be made here; the message says why.</exception>
    public static async Task<NetworkPair> OpenAsync(
        Workbench bench, CancellationToken cancellation, IReadOnlyList<int>? moreClients = null)
    {
        Conversation? client = null, server = null;
        try
        {
            client = Start("the client's network", Hold);
            await client.HearAsync(Limit, cancellation);
            server = Start("the server's network", $"{Join(client.Id, moreClients ?? [])}; {Hold}");
            await server.HearAsync(Limit, cancellation);
            return new NetworkPair(server, client);
        }
        catch (Exception exception)
        {
            server?.Dispose();
            client?.Dispose();
            if (exception is ComparisonException)
            {
                throw new ComparisonException($"two networks cannot be made and joined here: {exception.Message}", exception);
            }

            throw;
        }

        Conversation Start(string name, string script) =>
            Conversation.Start(name, ["unshare", "--net", "--", "sh", "-ec", script], bench);
    }

    public void Dispose()
    {
        _server.Dispose();
        _client.Dispose();
    }

    // By the server's network, which reaches into the client's.
    private static string Join(int clientId, IReadOnlyList<int> moreClients)
    {
        string client = string.Join(' ', In(clientId));
        string[] steps =
        [
            $"ip link add {Device} type veth peer name {Device} netns {Invariant.Text(clientId)}",
            .. Up("", ServerAddress),
            .. Up($"{client} ", ClientAddress),
            .. moreClients.Select(last => $"{client} ip address add {Network}{Invariant.Text(last)}/24 dev {Device}"),
        ];
        return string.Join("; ", steps);

        static string[] Up(string prefix, string address) =>
            [$"{prefix}ip address add {address}/24 dev {Device}", $"{prefix}ip link set {Device} up"];
    }

    private static IReadOnlyList<string> In(int id) => ["nsenter", $"--net=/proc/{Invariant.Text(id)}/ns/net", "--"];
}
