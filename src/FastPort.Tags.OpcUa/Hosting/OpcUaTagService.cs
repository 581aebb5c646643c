using FastPort.Logging;
using FastPort.Tags.OpcUa.Sources;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace FastPort.Tags.OpcUa.Hosting;

/// <summary>
/// Starts the sources and gives endpoints that answer the time to list their tags: the FastPort server listens afterwards. Stops them after
/// that server.
/// </summary>
internal sealed class OpcUaTagService(
    OpcUaTagSources sources,
    TagServer tags,
    ILogger<OpcUaTagService> logger) : IHostedService
{
    // An endpoint that has not answered by then counts as disconnected.
    private static readonly TimeSpan ConnectPatience = TimeSpan.FromSeconds(3);

    // Listing the tags of an endpoint that has answered may take longer. After this time the host starts without them.
    private static readonly TimeSpan ListPatience = TimeSpan.FromSeconds(30);

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (OpcUaTagSource source in sources.All)
        {
            source.Start();
        }

        await WaitAsync(sources.All, ConnectPatience, cancellationToken).ConfigureAwait(false);
        await WaitAsync(sources.All.Where(static source => source.HasAnswered), ListPatience, cancellationToken).ConfigureAwait(false);

        WarnAboutSharedNames();
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await tags.DisposeAsync().ConfigureAwait(false);
        foreach (OpcUaTagSource source in sources.All)
        {
            await source.DisposeAsync().ConfigureAwait(false);
        }
    }

    // Two endpoints may use the same name. That is logged, and the host starts.
    private void WarnAboutSharedNames()
    {
        Dictionary<string, OpcUaTagSource> owners = new(StringComparer.Ordinal);
        foreach (OpcUaTagSource source in sources.All)
        {
            OpcUaTags known = source.Known;
            foreach (string name in known.Names.Concat(known.Methods.Keys))
            {
                if (!owners.TryAdd(name, source) && owners[name] is var owner && owner != source)
                {
                    OpcUaTagsLog.NameTwice(logger, PeerText.Escape(name), NodeOf(owner, name), NodeOf(source, name));
                }
            }
        }
    }

    private static string NodeOf(OpcUaTagSource source, string name) =>
        $"{PeerText.Escape($"{source.Known.Find(name)?.Id ?? source.Known.Methods[name].Method}")} of endpoint {source.Name}";

    private static async Task WaitAsync(IEnumerable<OpcUaTagSource> sources, TimeSpan patience, CancellationToken cancellationToken)
    {
        await Task.WhenAll(sources.Select(static source => source.Loaded))
            .WaitAsync(patience, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        cancellationToken.ThrowIfCancellationRequested();
    }
}
