using FastPort.Comparisons.Candidates;

namespace FastPort.Comparisons.Processes;

/// <summary>Running servers, each of which was told where the one before it listens. Disposing it ends them.</summary>
internal sealed class ServerChain : IDisposable
{
    private readonly List<ServerProcess> _servers = [];

    /// <summary>Where the last one listens; empty where there is none.</summary>
    public string Endpoint => _servers.Count == 0 ? "" : _servers[^1].Endpoint;

    /// <summary>The first one's process id; 0 where there is none.</summary>
    public int Id => _servers.Count == 0 ? 0 : _servers[0].Id;

    /// <summary>The process id of the bridge, the last of several; null where there is none.</summary>
    public int? BridgeId => _servers.Count > 1 ? _servers[^1].Id : null;

    /// <summary>User and system time of all of them.</summary>
    public double CpuSeconds => _servers.Sum(static server => CoreMeter.ProcessSeconds(server.Id));

    /// <summary>Starts servers.</summary>
    /// <param name="servers">Each from the endpoint of the one before; the first gets an empty text.</param>
    /// <param name="bench">Where they belong.</param>
    /// <param name="cancellation">Gives up.</param>
    public static async Task<ServerChain> StartAsync(
        IReadOnlyList<Func<string, Candidate>> servers, Workbench bench, CancellationToken cancellation)
    {
        var chain = new ServerChain();
        try
        {
            foreach (Func<string, Candidate> server in servers)
            {
                chain._servers.Add(await ServerProcess.StartAsync(server(chain.Endpoint), bench, cancellation));
            }

            return chain;
        }
        catch
        {
            chain.Dispose();
            throw;
        }
    }

    public void Dispose()
    {
        _servers.ForEach(static server => server.Dispose());
        _servers.Clear();
    }
}
