using FastPort.OpcUa;
using FastPort.OpcUa.Client;

namespace FastPort.Tags.OpcUa.Sources;

/// <content>Absent tags, which the server may get while it runs.</content>
internal sealed partial class OpcUaTagSource
{
    private static readonly TimeSpan MaxLookDelay = TimeSpan.FromSeconds(30);

    // Some servers report new nodes. The others are polled. All tags are listed again when some of them appear.
    private async Task LookForAbsentAsync(object connection, OpcUaTags tags)
    {
        if (tags.Absent.Count == 0)
        {
            return;
        }

        CancellationToken closing = _closing.Token;
        var delays = new ReconnectBackoff(RetryDelay, MaxLookDelay);

        // The first signal does not count: the server was just asked.
        delays.Next();
        try
        {
            await using ModelWatch watch = await _link!.WatchModelAsync(Name, _logger, closing).ConfigureAwait(false);
            while (tags.Absent.Count != 0)
            {
                if (await watch.WaitAsync(delays.Next(), _time, closing).ConfigureAwait(false))
                {
                    // Some servers tell before all is there.
                    delays.Reset();
                    delays.Next();
                }

                if (!IsCurrent(connection, tags))
                {
                    return;
                }

                tags = await TryListAppearedAsync(connection, tags).ConfigureAwait(false) ?? tags;
            }
        }
        catch (OperationCanceledException) when (closing.IsCancellationRequested)
        {
            // The source is closed.
        }
    }

    // A session that was resumed has the same tags, and another search.
    private bool IsCurrent(object connection, OpcUaTags tags)
    {
        lock (_changing)
        {
            return _connection == connection && _connected == tags;
        }
    }

    // Null if nothing has appeared, or the server does not answer.
    private async Task<OpcUaTags?> TryListAppearedAsync(object connection, OpcUaTags tags)
    {
        try
        {
            IOpcUaLink link = _link!;
            await link.RefreshNamespacesAsync(_closing.Token).ConfigureAwait(false);
            NamespaceTable namespaces = link.Namespaces;
            NodeId[] nodes =
            [
                .. tags.Absent
                    .Where(one => one.NamespaceUri is not { } uri || namespaces.TryGetIndex(uri, out _))
                    .Select(namespaces.MakeId),
            ];
            DataValue[] found = await link.ReadAsync(nodes, AttributeId.NodeClass, _closing.Token).ConfigureAwait(false);
            if (Array.TrueForAll(found, static one => TagLoader.IsAbsent(one.Status)))
            {
                return null;
            }
        }
        catch (OpcUaException)
        {
            return null;
        }

        await _loading.WaitAsync(_closing.Token).ConfigureAwait(false);
        try
        {
            OpcUaTags? next = await TryLoadAsync(_link!).ConfigureAwait(false);
            if (next is not null)
            {
                End(connection, next);
                foreach (IOpcUaFeed feed in _feeds.Keys)
                {
                    feed.TellAppeared();
                }
            }

            return next;
        }
        finally
        {
            _loading.Release();
        }
    }
}
