using System.Collections.Concurrent;
using FastPort.OpcUa;
using Microsoft.Extensions.Logging;

namespace FastPort.Tags.OpcUa.Sources;

/// <summary>
/// The tags of an OPC UA server, whichever stack connects to it. Connects in the background, and again after each loss. After a restart of
/// the server, node ids are mapped again, and the nodes below the configured ones are browsed again.
/// </summary>
internal sealed partial class OpcUaTagSource : ITagSource
{
    private static readonly TimeSpan RetryDelay = TimeSpan.FromSeconds(1);

    private readonly OpcUaEndpointOptions _options;
    private readonly OpcUaTagsOptions _settings;
    private readonly OpcUaLinkFactory _connect;
    private readonly ILoggerFactory _loggerFactory;
    private readonly ILogger _logger;
    private readonly TimeProvider _time;
    private readonly CancellationTokenSource _closing = new();
    private readonly TaskCompletionSource _loaded = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly SemaphoreSlim _loading = new(1);
    private readonly OpcUaParts _parts;
    private readonly ConcurrentDictionary<IOpcUaFeed, bool> _feeds = [];

    // Guards the fields of the connection, and keeps its notifications in order.
    private readonly Lock _changing = new();
    private volatile OpcUaTags _tags;
    private volatile IOpcUaLink? _link;
    private Task _running = Task.CompletedTask;
    private bool _isClosed;

    // The tags while their node ids are valid in the current session; null otherwise, or without a session. Read without the gate.
    private volatile OpcUaTags? _connected;

    // Another object for each connection; null while there is none.
    private object? _connection;

    // Read without the gate.
    private volatile bool _mustLoad = true;

    /// <param name="options">The server.</param>
    /// <param name="settings">All settings.</param>
    /// <param name="loggerFactory">Creates the loggers.</param>
    /// <param name="time">The clock of the steps in which tags are listed again and looked for. Defaults to the system's.</param>
    /// <param name="connect">Connects to the server. Defaults to FastPort's client.</param>
    public OpcUaTagSource(
        OpcUaEndpointOptions options,
        OpcUaTagsOptions settings,
        ILoggerFactory loggerFactory,
        TimeProvider? time = null,
        OpcUaLinkFactory? connect = null)
    {
        _connect = connect ?? ClientLink.ConnectAsync;
        _options = options;
        _settings = settings;
        _loggerFactory = loggerFactory;
        _time = time ?? TimeProvider.System;
        _logger = loggerFactory.CreateLogger<OpcUaTagSource>();
        _parts = new OpcUaParts(options, _logger);
        _tags = Configured();
    }

    public event Action? ConnectionChanged;

    public string Name => _options.Name;

    public bool IsConnected => _connected is not null;

    /// <summary>Completes when the tags have been known for the first time.</summary>
    public Task Loaded => _loaded.Task;

    /// <summary>Whether a connection has been made.</summary>
    public bool HasAnswered => _link is not null;

    /// <summary>Number of tags that are known.</summary>
    public int Count => _tags.All.Count;

    /// <summary>Whether the node ids of the tags may differ from those of the current session.</summary>
    public bool MustLoad => _mustLoad;

    /// <summary>Begins to connect.</summary>
    public void Start() => _running = RunAsync();

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
        if (Interlocked.Exchange(ref _isClosed, true))
        {
            return;
        }

        await _closing.CancelAsync().ConfigureAwait(false);
        await _running.ConfigureAwait(false);
        if (_link is { } link)
        {
            await link.DisposeAsync().ConfigureAwait(false);
        }

        _closing.Dispose();
    }

    private OpcUaTags Configured()
    {
        List<OpcUaTag> tags = [];
        foreach (OpcUaTagOptions tag in _settings.Tags.Where(tag => tag.Endpoint == _options.Name))
        {
            OpcUaTagGroupOptions? group = _settings.FindGroup(tag.Group);
            tags.Add(OpcUaTag.Create(tag.Id, new TagInfo(tags.Count, tag.Name) { IsWritable = _options.AllowWrite }, group));
        }

        return new OpcUaTags(tags, new NodeId[tags.Count], new Dictionary<string, OpcUaMethod>());
    }

    private async Task RunAsync()
    {
        try
        {
            IOpcUaLink? link;
            while ((link = await _connect(_options, _loggerFactory, _closing.Token).ConfigureAwait(false)) is null)
            {
                OpcUaTagsLog.NotConnected(_logger, _options.Name, _options.Client.EndpointUrl);
                await Task.Delay(RetryDelay, _time, _closing.Token).ConfigureAwait(false);
            }

            _link = link;
            lock (_changing)
            {
                _connection = new object();
            }

            link.Disconnected += OnDisconnected;
            link.Connected += OnConnected;
            await LoadAsync().ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (_closing.IsCancellationRequested)
        {
            // The source is closed while it connects.
        }
        catch (Exception e)
        {
            // The link reconnects automatically, even after a wrong password: with this error it has not started.
            OpcUaTagsLog.ConnectFailed(_logger, _options.Name, _options.Client.EndpointUrl, e.Message);
            _loaded.TrySetResult();
        }
    }

    // Before the link connects again.
    private void OnDisconnected()
    {
        lock (_changing)
        {
            _connection = null;
            SetConnected(null);
        }
    }

    private void OnConnected(bool isReplaced)
    {
        lock (_changing)
        {
            _connection = new object();
            _mustLoad |= isReplaced;
            SetConnected(null);
        }

        _ = LoadAsync();
    }

    // Tags are served again when their node ids are valid in the current session. Results from several connections are dropped: they may
    // mix the node ids of two sessions.
    private async Task LoadAsync()
    {
        await _loading.WaitAsync().ConfigureAwait(false);
        try
        {
            while (Begin() is var (connection, mustLoad))
            {
                OpcUaTags? tags = mustLoad ? await TryLoadAsync(_link!).ConfigureAwait(false) : _tags;
                if (tags is null)
                {
                    await Task.Delay(RetryDelay, _time, _closing.Token).ConfigureAwait(false);
                }
                else
                {
                    End(connection, tags);
                    _ = LookForAbsentAsync(connection, tags);
                }
            }
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

    // Null if there is nothing to do.
    private (object Connection, bool MustLoad)? Begin()
    {
        lock (_changing)
        {
            return _connection is { } connection && !IsConnected ? (connection, _mustLoad) : null;
        }
    }

    private void End(object connection, OpcUaTags tags)
    {
        lock (_changing)
        {
            if (_connection == connection)
            {
                _tags = tags;
                _mustLoad = false;
                foreach (IOpcUaFeed feed in _feeds.Keys)
                {
                    feed.EndIfMoved(tags);
                }

                SetConnected(tags);
            }
        }
    }

    // Null if they cannot be listed now.
    private async Task<OpcUaTags?> TryLoadAsync(IOpcUaLink link)
    {
        try
        {
            await link.RefreshNamespacesAsync(_closing.Token).ConfigureAwait(false);
            OpcUaTags tags = await new TagLoader(link, _options, _settings, _logger).LoadAsync(_tags, _closing.Token)
                .ConfigureAwait(false);
            OpcUaTagsLog.Loaded(_logger, _options.Name, _options.Client.EndpointUrl, tags.PresentCount);
            return tags;
        }
        catch (OpcUaException e)
        {
            OpcUaTagsLog.LoadFailed(_logger, exception: null, _options.Name, e.Message);
            return null;
        }
        catch (Exception e) when (!_closing.IsCancellationRequested)
        {
            // A defect, or an unexpected answer: the source must not stay disconnected permanently.
            OpcUaTagsLog.LoadFailed(_logger, e, _options.Name, e.Message);
            return null;
        }
    }

    // Under the gate.
    private void SetConnected(OpcUaTags? tags)
    {
        bool isChange = IsConnected != tags is not null;
        _connected = tags;
        if (tags is not null)
        {
            _loaded.TrySetResult();
        }

        if (isChange)
        {
            ConnectionChanged?.Invoke();
        }
    }
}
