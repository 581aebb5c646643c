using System.Collections.Concurrent;
using System.Threading.Channels;
using System.Threading.Tasks.Dataflow;
using BenchmarkDotNet.Attributes;

namespace FastPort.Benchmarks.Channels;

/// <summary>
/// 1,000 messages from one thread to another: the benchmark's thread writes, a thread-pool task reads until it has them all.
/// </summary>
public class HandOverBenchmarks
{
    private const int Messages = 1000;

    // Room for less than there is to hand over, so that the bounded queues make their writer wait as a session's queue does.
    private const int Bound = 256;

    private readonly Message[] _messages = [.. Enumerable.Range(0, Messages).Select(static number => new Message(number))];

    private readonly Channel<Message> _bounded = Channel.CreateBounded<Message>(
        new BoundedChannelOptions(Bound) { SingleReader = true, SingleWriter = true });

    private readonly Channel<Message> _unbounded = Channel.CreateUnbounded<Message>(
        new UnboundedChannelOptions { SingleReader = true, SingleWriter = true });

    private readonly BlockingCollection<Message> _boundedCollection = new(Bound);
    private readonly BlockingCollection<Message> _unboundedCollection = new();
    private readonly LockedQueue<Message> _lockedQueue = new();
    private readonly BufferBlock<Message> _bufferBlock = new();

    [GlobalCleanup]
    public void Cleanup()
    {
        _boundedCollection.Dispose();
        _unboundedCollection.Dispose();
        _lockedQueue.Dispose();
    }

    [Benchmark(Baseline = true)]
    public Task<long> BlockingCollection_bounded() => HandOver(_boundedCollection);

    [Benchmark]
    public Task<long> BlockingCollection_unbounded() => HandOver(_unboundedCollection);

    [Benchmark]
    public Task<long> Channel_bounded() => HandOver(_bounded);

    [Benchmark]
    public Task<long> Channel_unbounded() => HandOver(_unbounded);

    [Benchmark]
    public async Task<long> Locked_queue()
    {
        Task<long> reader = Task.Run(() =>
        {
            long sum = 0;
            for (int i = 0; i < Messages; i++)
            {
                sum += _lockedQueue.Dequeue().Number;
            }

            return sum;
        });
        foreach (Message message in _messages)
        {
            _lockedQueue.Enqueue(message);
        }

        return await reader;
    }

    [Benchmark]
    public async Task<long> Dataflow_BufferBlock()
    {
        Task<long> reader = Task.Run(async () =>
        {
            long sum = 0;
            for (int i = 0; i < Messages; i++)
            {
                sum += (await _bufferBlock.ReceiveAsync()).Number;
            }

            return sum;
        });
        foreach (Message message in _messages)
        {
            _bufferBlock.Post(message);
        }

        return await reader;
    }

    private async Task<long> HandOver(Channel<Message> channel)
    {
        Task<long> reader = Task.Run(async () =>
        {
            long sum = 0;
            int taken = 0;
            while (taken < Messages && await channel.Reader.WaitToReadAsync())
            {
                while (channel.Reader.TryRead(out Message? message))
                {
                    sum += message.Number;
                    taken++;
                }
            }

            return sum;
        });
        foreach (Message message in _messages)
        {
            if (!channel.Writer.TryWrite(message))
            {
                await channel.Writer.WriteAsync(message);
            }
        }

        return await reader;
    }

    private async Task<long> HandOver(BlockingCollection<Message> collection)
    {
        Task<long> reader = Task.Run(() =>
        {
            long sum = 0;
            for (int i = 0; i < Messages; i++)
            {
                sum += collection.Take().Number;
            }

            return sum;
        });
        foreach (Message message in _messages)
        {
            collection.Add(message);
        }

        return await reader;
    }
}
