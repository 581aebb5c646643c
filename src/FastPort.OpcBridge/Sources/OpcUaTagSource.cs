using FastPort.Connections;
using FastPort.OpcBridge.Configuration;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using FastPort.Protocol.Tags;
using FastPort.Protocol.Tags.Sources;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcBridge.Sources;

/// <summary>
/// The tags of an OPC UA server. Connects in the background, and again after each loss; the client brings its subscriptions back by itself.
/// After a restart of the server node ids are mapped again, and what lies below the configured nodes is browsed again.
/// </summary>
internal sealed partial class OpcUaTagSource : ITagSource
{
    private static readonly TimeSpan RetryDelay = TimeSpan.FromSeconds(1);

    private readonly EndpointOptions _options;
    private readonly BridgeSettings _settings;
    private readonly ILoggerFactory _loggerFactory;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _closing = new();
    private readonly TaskCompletionSource _loaded = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly SemaphoreSlim _loading = new(1);
    private readonly OpcUaParts _parts;

    // Keeps what is said of the connection in order.
    private readonly Lock _changing = new();
    private volatile OpcUaTags _tags;
    private volatile OpcUaClient? _client;
    private volatile bool _isConnected;
    private Task _running = Task.CompletedTask;

    // Of the task that loads: node ids are not those of the session of now.
    private bool _mustLoad;

    public OpcUaTagSource(EndpointOptions options, BridgeSettings settings, ILoggerFactory loggerFactory)
    {
        _options = options;
        _settings = settings;
        _loggerFactory = loggerFactory;
        _logger = loggerFactory.CreateLogger<OpcUaTagSource>();
        _parts = new OpcUaParts(options, _logger);
        _tags = Configured();
    }

    public event Action? ConnectionChanged;

    public string Name => _options.Name;

    public bool IsConnected => _isConnected;

    /// <summary>Completes when the tags have been known for the first time.</summary>
    public Task Loaded => _loaded.Task;

    /// <summary>Number of tags that are known.</summary>
    public int Count => _tags.All.Count;

    /// <summary>Begins to connect.</summary>
    /// <param name="url">The endpoint, if it is another one than that of the options; null if not.</param>
    public void Start(string? url)
    {
        _options.Client.EndpointUrl = url ?? _options.Client.EndpointUrl;
        _running = RunAsync();
    }

    public ValueTask ResolveAsync(IReadOnlyList<string> names, Memory<TagInfo?> tags, CancellationToken cancellationToken)
    {
        OpcUaTags known = _tags;
        for (int i = 0; i < names.Count; i++)
        {
            tags.Span[i] = known.Find(names[i])?.Info ?? _parts.Resolve(names[i], known);
        }

        return ValueTask.CompletedTask;
    }

    public ValueTask<TagStatus> BrowseAsync(string path, IList<TagBrowseNode> nodes, CancellationToken cancellationToken)
    {
        OpcUaTags known = _tags;
        return new(TagNameTree.Browse(path, known.Names, known.Methods.Keys, nodes));
    }

    public async ValueTask DisposeAsync()
    {
        await _closing.CancelAsync().ConfigureAwait(false);
        await _running.ConfigureAwait(false);
        if (_client is { } client)
        {
            await client.DisposeAsync().ConfigureAwait(false);
        }

        _closing.Dispose();
    }

    private OpcUaTags Configured()
    {
        List<OpcUaTag> tags = [];
        foreach (TagOptions tag in _settings.Tags.Where(tag => tag.Endpoint == _options.Name))
        {
            GroupOptions? group = _settings.Groups.GetValueOrDefault(tag.Group);
            tags.Add(new OpcUaTag(tag.Id, Describe(new TagInfo(tags.Count, tag.Name) { IsWritable = _options.AllowWrite }, group), group));
        }

        return new OpcUaTags(tags, new NodeId[tags.Count], []);
    }

    private static TagInfo Describe(TagInfo info, GroupOptions? group) => info with
    {
        Interval = group?.PublishingInterval,
        ReportsAllChanges = group is null || group.Filter == Deadband.None,
    };

    private async Task RunAsync()
    {
        try
        {
            OpcUaClient client = await OpcUaClient
                .ConnectAsync(_options.Client.EndpointUrl, _options.Client, _loggerFactory, _closing.Token).ConfigureAwait(false);
            _client = client;
            client.Disconnected += OnDisconnected;
            client.Reconnected += recovery => _ = LoadAsync(recovery);
            await LoadAsync(SessionRecovery.Replaced).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (_closing.IsCancellationRequested)
        {
            // The source is closed while it connects.
        }
        catch (OpcUaException e)
        {
            // It tries again unless that is of no use, as with a wrong password.
            BridgeLog.ConnectFailed(_logger, _options.Name, _options.Client.EndpointUrl, e.Message);
            _loaded.TrySetResult();
        }
    }

    private void OnDisconnected(CloseReason reason) => SetConnected(false);

    // Tags are served again when their node ids are those of the session of now.
    private async Task LoadAsync(SessionRecovery recovery)
    {
        await _loading.WaitAsync().ConfigureAwait(false);
        try
        {
            OpcUaClient client = _client!;
            _mustLoad |= recovery == SessionRecovery.Replaced;
            while (_mustLoad && client.IsConnected)
            {
                _mustLoad = !await TryLoadAsync(client).ConfigureAwait(false);
                await Task.Delay(_mustLoad ? RetryDelay : TimeSpan.Zero, _closing.Token).ConfigureAwait(false);
            }

            // The connection may be lost while this is said: then its loss is said again.
            SetConnected(!_mustLoad);
            SetConnected(!_mustLoad && client.IsConnected);
        }
        catch (OperationCanceledException) when (_closing.IsCancellationRequested)
        {
            // The source is closed.
        }
        finally
        {
            _loading.Release();
        }
    }

    private async Task<bool> TryLoadAsync(OpcUaClient client)
    {
        try
        {
            _tags = await new TagLoader(client, _options, _settings, _logger).LoadAsync(_tags, _closing.Token).ConfigureAwait(false);
            BridgeLog.Loaded(_logger, _options.Name, _options.Client.EndpointUrl, _tags.All.Count);
            return true;
        }
        catch (OpcUaException e)
        {
            BridgeLog.LoadFailed(_logger, _options.Name, e.Message);
            return false;
        }
    }

    private void SetConnected(bool isConnected)
    {
        if (isConnected)
        {
            _loaded.TrySetResult();
        }

        lock (_changing)
        {
            if (_isConnected != isConnected)
            {
                _isConnected = isConnected;
                ConnectionChanged?.Invoke();
            }
        }
    }
}
