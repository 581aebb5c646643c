using System.Buffers;
using System.Buffers.Binary;
using System.Text;
using FastPort.Clients;
using FastPort.Dispatch;

namespace FastPortPeer.Soak;

/// <summary>
/// Messages from one client to another by routing id, through the server: numbered, so that each arrives once and in order. Speaks <see cref="SoakTypes.Relay"/>;
/// a server that serves the protocol's own Relay (0x0004) takes the same load with that type and body.
/// </summary>
internal sealed class RelaySoak(SoakTarget target) : SoakLoad("relay", target)
{
    private const string ReceiverId = "soak-receiver";
    private const int InFlight = 16;
    private const int LargestPayload = 2048;

    private readonly TaskCompletionSource _complete = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // The receiver's, written by its session's loop: the next number due.
    private long _received;
    private long _awaited = long.MaxValue;

    protected override async Task RunRoundsAsync(CancellationToken stop)
    {
        MessageHandlers handlers = new MessageHandlers().MapInline(SoakTypes.Relayed, Take);
        await using FastPortClient receiver = await ConnectAsync(handlers, ReceiverId);
        await using FastPortClient sender = await ConnectAsync(routingId: "soak-sender");
        var random = new Random(3);
        long number = 0;
        while (!stop.IsCancellationRequested)
        {
            // Requests of one session are handled in order, so the numbers arrive in order, too.
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
        byte[] body = new byte[1 + ReceiverId.Length + sizeof(long) + payload];
        body[0] = (byte)ReceiverId.Length;
        Encoding.UTF8.GetBytes(ReceiverId, body.AsSpan(1));
        BinaryPrimitives.WriteInt64LittleEndian(body.AsSpan(1 + ReceiverId.Length), number);
        Account.Sent();
        await sender.RequestAsync(SoakTypes.Relay, body, cancellationToken: CancellationToken.None);
    }

    private void Take(ref InlineRequest request)
    {
        Span<byte> head = stackalloc byte[sizeof(long)];
        request.Body.Slice(0, head.Length).CopyTo(head);
        long number = BinaryPrimitives.ReadInt64LittleEndian(head);
        if (number != _received)
        {
            Account.Deviation($"Relayed message {number} came where {_received} was due.");
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
