using System.Buffers;
using System.IO.Pipelines;
using BenchmarkDotNet.Attributes;
using FastPort.Connections;

namespace FastPort.Benchmarks.Buffers;

/// <summary>4 KB written and dropped unread: the cost of taking received bytes in.</summary>
public class BufferWriteBenchmarks
{
    private readonly byte[] _source = new byte[4096];
    private readonly Queue<byte> _queue = new(8192);
    private readonly ArrayPoolCircularBuffer _ring = new(8192);
    private readonly Pipe _pipe = new();

    [GlobalSetup]
    public void Setup() => Random.Shared.NextBytes(_source);

    [GlobalCleanup]
    public void Cleanup()
    {
        _ring.Dispose();
        _pipe.Writer.Complete();
        _pipe.Reader.Complete();
    }

    [Benchmark(Baseline = true)]
    public int Queue_of_bytes()
    {
        foreach (byte value in _source)
        {
            _queue.Enqueue(value);
        }

        int length = _queue.Count;
        _queue.Clear();
        return length;
    }

    [Benchmark]
    public int Ring()
    {
        _ring.Write(_source);
        int length = _ring.Length;
        _ring.Consume(length);
        return length;
    }

    /// <summary>The life of a ring: made, an array rented, written, returned.</summary>
    [Benchmark]
    public int Ring_made_and_disposed()
    {
        using var ring = new ArrayPoolCircularBuffer();
        ring.Write(_source);
        return ring.Length;
    }

    [Benchmark]
    public long Pipe()
    {
        _pipe.Writer.Write(_source);

        // Completes at once: the pipe is read before it holds enough to pause its writer.
        PipeFlush.CompleteAtOnce(_pipe.Writer);
        _pipe.Reader.TryRead(out ReadResult result);
        long length = result.Buffer.Length;
        _pipe.Reader.AdvanceTo(result.Buffer.End);
        return length;
    }
}
