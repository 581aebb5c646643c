using System.Collections.Concurrent;
using System.Threading.Channels;
using System.Threading.Tasks.Dataflow;
using BenchmarkDotNet.Attributes;

namespace FastPort.Benchmarks.Channels;

/// <summary>
/// 1,000 messages in and out again on one thread: what each queue costs by itself, without the scheduler's part in a hand-over.
/// </summary>
public class QueueCostBenchmarks
{
    private const int Messages = 1000;

    private readonly Message[] _messages = [.. Enumerable.Range(0, Messages).Select(static number => new Message(number))];

    private readonly Channel<Message> _bounded = Channel.CreateBounded<Message>(
        new BoundedChannelOptions(Messages) { SingleReader = true, SingleWriter = true });

    private readonly Channel<Message> _unbounded = Channel.CreateUnbounded<Message>(
        new UnboundedChannelOptions { SingleReader = true, SingleWriter = true });

    private readonly BlockingCollection<Message> _collection = new(Messages);
    private readonly LockedQueue<Message> _lockedQueue = new();
    private readonly BufferBlock<Message> _bufferBlock = new();

    [GlobalCleanup]
    public void Cleanup()
    {
        _collection.Dispose();
        _lockedQueue.Dispose();
    }

    [Benchmark(Baseline = true)]
    public long BlockingCollection_bounded()
    {
        foreach (Message message in _messages)
        {
            _collection.Add(message);
        }

        long sum = 0;
        while (_collection.TryTake(out Message? message))
        {
            sum += message.Number;
        }

        return sum;
    }

    [Benchmark]
    public long Channel_bounded() => ThereAndBack(_bounded);

    [Benchmark]
    public long Channel_unbounded() => ThereAndBack(_unbounded);

    [Benchmark]
    public long Dataflow_BufferBlock()
    {
        foreach (Message message in _messages)
        {
            _bufferBlock.Post(message);
        }

        long sum = 0;
        while (_bufferBlock.TryReceive(out Message? message))
        {
            sum += message.Number;
        }

        return sum;
    }

    /// <summary>The lock only: nobody waits for the semaphore.</summary>
    [Benchmark]
    public long Locked_queue()
    {
        foreach (Message message in _messages)
        {
            _lockedQueue.Enqueue(message);
        }

        long sum = 0;
        while (_lockedQueue.TryDequeue(out Message? message))
        {
            sum += message.Number;
        }

        return sum;
    }

    private long ThereAndBack(Channel<Message> channel)
    {
        foreach (Message message in _messages)
        {
            channel.Writer.TryWrite(message);
        }

        long sum = 0;
        while (channel.Reader.TryRead(out Message? message))
        {
            sum += message.Number;
        }

        return sum;
    }
}
