using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>
/// A server without security that answers what a test tells it to, for what a real one does rarely: losing sessions, subscriptions and
/// messages. It gives sessions and answers Reads by itself.
/// </summary>
internal sealed class ScriptedServer : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly CancellationTokenSource _stopping = new();
    private readonly ConcurrentDictionary<ScriptedConnection, bool> _connections = [];
    private readonly Task _accepting;
    private uint _lastSession;

    public ScriptedServer()
    {
        On<CreateSessionRequest>(call => call.ReplyAsync(new CreateSessionResponse
        {
            SessionId = new NodeId(1, _lastSession + 1),
            AuthenticationToken = new NodeId(1, ++_lastSession),
            RevisedSessionTimeout = 60_000,
        }));
        On<ActivateSessionRequest>(call => call.ReplyAsync(default(ActivateSessionResponse)));
        On<CloseSessionRequest>(call => call.ReplyAsync(default(CloseSessionResponse)));
        On<ReadRequest>(call => call.ReplyAsync(new ReadResponse
        {
            Results = [.. call.Request<ReadRequest>().NodesToRead!.Select(node => new DataValue(node.NodeId.Number switch
            {
                2255 => Variant.FromArray(Namespaces),
                2257 when StartTime is { } start => start,
                _ => Variant.Null,
            }))],
        }));
        _listener.Start();
        _accepting = AcceptAsync();
    }

    public string Url => $"opc.tcp://127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}/scripted";

    /// <summary>Sessions that were created.</summary>
    public uint SessionCount => _lastSession;

    public string[] Namespaces { get; set; } = ["http://opcfoundation.org/UA/", "urn:scripted"];

    /// <summary>When the server has started; null if it does not say.</summary>
    public DateTime? StartTime { get; set; }

    /// <summary>Connections that have not ended.</summary>
    public int ConnectionCount => _connections.Count;

    /// <summary>The URLs that connections began with.</summary>
    public ConcurrentQueue<string?> Hellos { get; } = [];

    private ConcurrentDictionary<uint, Func<ScriptedCall, Task>> Handlers { get; } = [];

    public Task<OpcUaClient> ConnectAsync(OpcUaClientOptions? options = null, TimeProvider? time = null) => OpcUaClient.ConnectAsync(
        Url,
        options ?? new OpcUaClientOptions { ReconnectDelay = TimeSpan.FromMilliseconds(1) },
        loggerFactory: null,
        time,
        CancellationToken.None);

    /// <summary>Says what is done with requests of a type.</summary>
    public void On<TRequest>(Func<ScriptedCall, Task> handle)
        where TRequest : struct, IServiceMessage => Handlers[TRequest.EncodingId] = handle;

    /// <summary>Ends all connections.</summary>
    public void Cut()
    {
        foreach (ScriptedConnection connection in _connections.Keys)
        {
            connection.Dispose();
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _accepting;
        _listener.Stop();
        _stopping.Dispose();
    }

    private async Task AcceptAsync()
    {
        List<Task> running = [];
        try
        {
            while (true)
            {
                TcpClient client = await _listener.AcceptTcpClientAsync(_stopping.Token);
                var connection = new ScriptedConnection(client, Handlers) { OnHello = Hellos.Enqueue };
                _connections[connection] = true;
                running.Add(RunAsync(connection));
            }
        }
        catch (OperationCanceledException)
        {
            // The test is over.
        }

        Cut();
        await Task.WhenAll(running);
    }

    private async Task RunAsync(ScriptedConnection connection)
    {
        await connection.RunAsync();
        _connections.TryRemove(connection, out _);
    }
}
