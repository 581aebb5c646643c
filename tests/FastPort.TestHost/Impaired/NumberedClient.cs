using System.Buffers.Binary;
using System.Diagnostics;

namespace FastPort.TestHost.Impaired;

/// <summary>
/// A client that sends numbered requests, with many in flight, and among them numbered one-way messages, and accounts for each. One load at
/// a time.
/// </summary>
internal sealed class NumberedClient : IAsyncDisposable
{
    private const int Window = 64;
    private const int PostEvery = 4;

    private readonly int _index;
    private readonly FastPortClient _client;
    private readonly SemaphoreSlim _window = new(Window);
    private readonly CountSignal _connected = new();
    private readonly CountSignal _answered = new();
    private readonly List<bool> _wasAnswered = [];
    private readonly Lock _gate = new();
    private Task _load = Task.CompletedTask;
    private volatile int _end;

    public NumberedClient(int index, FastPortClientOptions options)
    {
        _index = index;
        _client = new FastPortClient(options);
        _client.Connected += _ => _connected.Add();
        _client.Disconnected += (_, reason) => Ends.Add(reason);
    }

    public SessionEnds Ends { get; } = new();

    public NumberedAccount Account { get; } = new();

    public Session? Session => _client.Session;

    public Task ConnectAsync() => _client.ConnectAsync();

    /// <summary>Completes when the client has been connected so often.</summary>
    public Task WhenConnectedAsync(int times) => _connected.WhenAsync(times);

    /// <summary>Begins to send this many more messages.</summary>
    public void Begin(int count)
    {
        _end = (int)Math.Min((long)_wasAnswered.Count + count, int.MaxValue);
        _load = LoadAsync();
    }

    /// <summary>Completes when so many requests have been answered.</summary>
    public Task WhenAnsweredAsync(int count) => _answered.WhenAsync(count);

    /// <summary>Begins no further message; completes when the outcome of each is known.</summary>
    public async Task FinishAsync(bool now)
    {
        if (now)
        {
            _end = 0;
        }

        await _load;
    }

    /// <summary>Compares with what the server has handled; the load must be over.</summary>
    public async Task CompareAsync()
    {
        byte[] body = new byte[sizeof(int)];
        BinaryPrimitives.WriteInt32LittleEndian(body, _index);
        byte[] times = await _client.RequestAsync(NumberedMessage.Account, body);
        Account.Compare(_wasAnswered, times);
        Account.RepliesToNothing = _client.Counters.Snapshot().RepliesToNothing;
    }

    public ValueTask DisposeAsync() => _client.DisposeAsync();

    // In the order of the numbers: a message is in the send queue when the call returns, but for a request that waits for a connection.
    private async Task LoadAsync()
    {
        while (_wasAnswered.Count < _end)
        {
            await _window.WaitAsync();
            int number;
            lock (_gate)
            {
                number = _wasAnswered.Count;
                _wasAnswered.Add(false);
            }

            if (number % PostEvery == PostEvery - 1)
            {
                await _client.SendAsync(NumberedMessage.Post, NumberedMessage.Body(_index, number));
                Account.Posted();
                _window.Release();
            }
            else
            {
                _ = AskAsync(number);
            }
        }

        for (int i = 0; i < Window; i++)
        {
            await _window.WaitAsync();
        }

        _window.Release(Window);
    }

    private async Task AskAsync(int number)
    {
        byte[] body = NumberedMessage.Body(_index, number);
        long started = Stopwatch.GetTimestamp();
        try
        {
            byte[] reply = await _client.RequestAsync(NumberedMessage.Request, body);
            Account.Answered(Stopwatch.GetElapsedTime(started), reply.AsSpan().SequenceEqual(NumberedMessage.Reply(body)));
            lock (_gate)
            {
                _wasAnswered[number] = true;
            }

            _answered.Add();
        }
        catch (Exception e)
        {
            Account.Failed((e as RequestFailedException)?.Failure == RequestFailure.ConnectionLost);
        }
        finally
        {
            _window.Release();
        }
    }
}
