using System.Text.Json.Nodes;
using System.Threading.Channels;
using FastPort.Conformance.Adapters;
using FastPort.Conformance.Cases;
using FastPort.Conformance.Serving;

namespace FastPort.Conformance;

/// <summary>Plays cases with one client over one transport, one after the other.</summary>
internal sealed class SuiteRun(string transport, Func<IAdapter> start) : IAsyncDisposable
{
    private static readonly TimeSpan TimeToStart = TimeSpan.FromSeconds(30);

    private readonly Site _site = new(transport);
    private IAdapter? _adapter;
    private string[] _lacks = [];

    /// <summary>Plays a case, or says why it is skipped.</summary>
    /// <exception cref="CaseFailureException">The adapter does not start.</exception>
    public async Task<CaseResult> PlayAsync(ConformanceCase conformanceCase)
    {
        IAdapter adapter = _adapter ??= await StartAsync().ConfigureAwait(false);
        string? missing = conformanceCase.Needs.Append(transport).FirstOrDefault(_lacks.Contains);
        if (missing is not null)
        {
            return new CaseResult(conformanceCase, Outcome.Skipped, $"the client lacks {missing}", []);
        }

        CaseResult result = await CaseRun.PlayAsync(conformanceCase, adapter, _site).ConfigureAwait(false);
        if (result.Outcome == Outcome.Failed)
        {
            // A client that did not end could disturb the next case.
            await adapter.DisposeAsync().ConfigureAwait(false);
            _adapter = null;
        }

        return result;
    }

    public async ValueTask DisposeAsync()
    {
        if (_adapter is not null)
        {
            await _adapter.DisposeAsync().ConfigureAwait(false);
        }

        _site.Dispose();
    }

    private async Task<IAdapter> StartAsync()
    {
        IAdapter adapter = start();
        using var bound = new CancellationTokenSource(TimeToStart);
        try
        {
            JsonObject ready = await adapter.Events.ReadAsync(bound.Token).ConfigureAwait(false);
            if (Values.TextOf(ready["event"]) != "ready")
            {
                throw new CaseFailureException($"The adapter's first event is {ready.ToJsonString()}, not ready.");
            }

            _lacks = ready["lacks"] switch
            {
                null => [],
                JsonArray names => [.. names.Select(Values.TextOf)],
                _ => throw new CaseFailureException($"'lacks' is not an array in {ready.ToJsonString()}."),
            };
            string? unknown = _lacks.Except([.. CaseFolder.Capabilities, .. Site.Transports]).FirstOrDefault();
            return unknown is null
                ? adapter
                : throw new CaseFailureException($"The adapter lacks '{unknown}', which is neither a capability nor a transport.");
        }
        catch (Exception e) when (e is ChannelClosedException or OperationCanceledException or CaseFailureException)
        {
            await adapter.DisposeAsync().ConfigureAwait(false);
            string why = e is OperationCanceledException
                ? $"there is no event 'ready' within {TimeToStart.TotalSeconds} s."
                : (e.InnerException ?? e).Message;
            throw new CaseFailureException($"The adapter has not started: {why}");
        }
    }
}
