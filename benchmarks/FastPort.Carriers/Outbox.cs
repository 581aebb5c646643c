using System.Threading.Channels;

namespace FastPort.Carriers;

/// <summary>
/// Messages for another node: what has gathered while a batch was on its way is the next batch. With <paramref name="isBatched"/> false
/// each message is a batch. Thread-safe.
/// </summary>
internal sealed class Outbox(ICarrier carrier, string node, bool isBatched)
{
    private readonly Channel<bool> _signal = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite });

    private readonly Lock _gate = new();
    private List<byte[]> _waiting = [];
    private long _batches;
    private long _failed;

    public long Batches => Volatile.Read(ref _batches);

    public void Add(byte[] message)
    {
        lock (_gate)
        {
            _waiting.Add(message);
        }
    }

    /// <summary>A burst of messages is complete.</summary>
    public void Flush() => _signal.Writer.TryWrite(true);

    public async Task RunAsync()
    {
        List<byte[]> taken = [];
        await foreach (bool _ in _signal.Reader.ReadAllAsync())
        {
            lock (_gate)
            {
                (_waiting, taken) = (taken, _waiting);
            }

            if (taken.Count == 0)
            {
                continue;
            }

            if (isBatched)
            {
                await SendAsync(taken);
            }
            else
            {
                foreach (byte[] message in taken)
                {
                    await SendAsync([message]);
                }
            }

            taken.Clear();
        }
    }

    private async Task SendAsync(List<byte[]> messages)
    {
        _batches++;
        try
        {
            await carrier.SendAsync(node, Batch.Join(messages));
        }
        catch (Exception e)
        {
            // A carrier that says so while its engine is away: the messages stay without acknowledgement.
            if (_failed++ == 0)
            {
                Console.Error.WriteLine($"A batch for {node} failed: {e.GetType().Name}: {e.Message}");
            }
        }
    }
}
