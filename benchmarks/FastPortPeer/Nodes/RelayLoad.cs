using FastPort;
using System.Diagnostics;
using System.Globalization;
using FastPort.Framing;

namespace FastPortPeer.Nodes;

/// <summary>Senders at one node whose relays go to as many targets at another one, each confirmed.</summary>
internal sealed class RelayLoad : NodeLoad, IAsyncDisposable
{
    private const ushort Relay = 0x0004;
    private const ushort MessageType = 0x4242;

    private readonly List<FastPortClient> _clients = [];
    private readonly List<Trip> _trips = [];
    private string? _failed;
    private long _received;

    protected override int Count => _trips.Count;

    /// <summary>Connects senders and targets.</summary>
    public async Task StartAsync(string from, string to, int senders, int inFlight, int size)
    {
        for (int i = 0; i < senders; i++)
        {
            await ConnectAsync(to, Name("target", i), size);
            FastPortClient sender = await ConnectAsync(from, Name("sender", i), size);
            byte[] relay = Encode(Name("target", i), new byte[size]);
            for (int k = 0; k < inFlight; k++)
            {
                _trips.Add(new Trip(this, sender.Session!, relay));
            }
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (FastPortClient client in _clients)
        {
            await client.DisposeAsync();
        }
    }

    protected override void Begin() => _trips.ForEach(static trip => trip.Send());

    protected override void Throw()
    {
        if (_failed is not null)
        {
            throw new PeerException(_failed);
        }
    }

    protected override void Verify(long confirmed, TimeSpan patience)
    {
        // The answer to the last sender may be faster than the relay to its target.
        SpinWait.SpinUntil(() => Volatile.Read(ref _received) >= confirmed, patience);
        long received = Volatile.Read(ref _received);
        if (received != confirmed)
        {
            throw new PeerException($"{confirmed} relays were confirmed, and {received} have come.");
        }
    }

    private static string Name(string role, int number) => string.Create(CultureInfo.InvariantCulture, $"{role}-{number}");

    // Relay: to (1), type (2), body (3).
    private static byte[] Encode(string to, byte[] body)
    {
        using var bytes = new MemoryStream();
        using var output = new Google.Protobuf.CodedOutputStream(bytes);
        output.WriteTag(0x0A);
        output.WriteString(to);
        output.WriteTag(0x10);
        output.WriteUInt32(MessageType);
        output.WriteTag(0x1A);
        output.WriteBytes(Google.Protobuf.ByteString.CopyFrom(body));
        output.Flush();
        return bytes.ToArray();
    }

    private async Task<FastPortClient> ConnectAsync(string endpoint, string routingId, int size)
    {
        var client = new FastPortClient(new FastPortClientOptions
        {
            Endpoint = endpoint,
            RoutingId = routingId,
            Loops = 1,
            Reconnect = false,
        });
        _clients.Add(client);
        client.OnRelayed(MessageType, (scoped in message) =>
        {
            if (message.Body.Length == size)
            {
                Interlocked.Increment(ref _received);
            }
        });
        await client.ConnectAsync();
        return client;
    }

    private sealed class Trip(RelayLoad load, Session session, byte[] relay) : PendingReply
    {
        private long _sentAt;

        public void Send()
        {
            _sentAt = Stopwatch.GetTimestamp();
            SendStatus status = session.TryRequest(Relay, new RawBody(relay), this, timing: false, TimeSpan.Zero, out _);
            if (status != SendStatus.Queued)
            {
                load._failed = $"A relay was not sent: {status}.";
            }
        }

        protected override void OnReply(scoped in InboundReply reply)
        {
            if (reply.IsError)
            {
                load._failed = $"A relay was answered with {reply.ReadError()}.";
            }

            if (load.Confirmed(_sentAt))
            {
                Send();
            }
        }

        protected override void OnFailed(RequestFailure failure, string message) => load._failed = $"{failure}: {message}";
    }
}
