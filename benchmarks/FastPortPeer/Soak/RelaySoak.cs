using FastPort;
using System.Buffers;
using System.Buffers.Binary;
using FastPort.Framing;

namespace FastPortPeer.Soak;

/// <summary>
/// Messages from one client to another by routing id, through the server's Relay: requests and one-way ones by turns, numbered, so that
/// each arrives once and in order.
/// </summary>
internal sealed class RelaySoak(string serverEndpoint) : SoakLoad("relay", serverEndpoint)
{
    private const ushort Numbered = 1;
    private readonly string _receiverId = $"soak-receiver.{Endpoint.Parse(serverEndpoint).Scheme}";
    private readonly string _senderId = $"soak-sender.{Endpoint.Parse(serverEndpoint).Scheme}";
    private const int InFlight = 16;
    private const int LargestPayload = 2048;

    private readonly TaskCompletionSource _complete = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // The receiver's, written by its session's loop: the next number due.
    private long _received;
    private long _awaited = long.MaxValue;

    protected override async Task RunRoundsAsync(CancellationToken stop)
    {
        // The handler is there before the sender is.
        await using FastPortClient receiver = await ConnectAsync(routingId: _receiverId);
        receiver.OnRelayed(Numbered, Take);
        await using FastPortClient sender = await ConnectAsync(routingId: _senderId);
        var random = new Random(3);
        long number = 0;
        while (!stop.IsCancellationRequested)
        {
            // Messages of one session are relayed in order, so the numbers arrive in order, too. Each round ends with a request, whose
            // reply says that all before it were relayed.
            Task[] inFlight = [.. Enumerable.Range(0, InFlight).Select(_ => SendAsync(sender, number++, random.Next(LargestPayload)))];
            await Task.WhenAll(inFlight);
        }

        Volatile.Write(ref _awaited, number);
        if (Volatile.Read(ref _received) < number)
        {
            // Accepted means queued: the last ones may still be on their way.
            await _complete.Task.WaitAsync(TimeSpan.FromSeconds(30), CancellationToken.None);
        }
    }

    private async Task SendAsync(FastPortClient sender, long number, int payload)
    {
        byte[] body = new byte[sizeof(long) + payload];
        BinaryPrimitives.WriteInt64LittleEndian(body, number);
        Account.Sent();
        if (number % 2 != 0)
        {
            await sender.RelayAsync(_receiverId, Numbered, body, cancellationToken: CancellationToken.None);
        }
        else
        {
            await sender.RelayOneWayAsync(_receiverId, Numbered, new SequenceBody(new(body)), CancellationToken.None);
        }
    }

    private void Take(scoped in RoutedMessage message)
    {
        Span<byte> head = stackalloc byte[sizeof(long)];
        message.Body.Slice(0, head.Length).CopyTo(head);
        long number = BinaryPrimitives.ReadInt64LittleEndian(head);
        if (number != _received || message.From != _senderId)
        {
            Account.Deviation($"Relayed message {number} of '{message.From}' came where {_received} of '{_senderId}' was due.");
        }

        // From here on as if all before had come: what is missing shows in the account's sum.
        Account.Arrived();
        Volatile.Write(ref _received, number + 1);
        if (_received >= Volatile.Read(ref _awaited))
        {
            _complete.TrySetResult();
        }
    }
}
