using System.Buffers;
using System.IO.Pipelines;
using BenchmarkDotNet.Attributes;
using FastPort.Connections;

namespace FastPort.Benchmarks.Buffers;

/// <summary>A message's bytes written and read back into an array: in and out once.</summary>
public class BufferWriteReadBenchmarks
{
    private readonly Queue<byte> _queue = new(16384);
    private readonly ArrayPoolCircularBuffer _ring = new(16384);
    private readonly Pipe _pipe = new();
    private byte[] _source = [];
    private byte[] _destination = [];

    [Params(64, 1024, 8192)]
    public int Bytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _source = new byte[Bytes];
        _destination = new byte[Bytes];
        Random.Shared.NextBytes(_source);
    }

    [GlobalCleanup]
    public void Cleanup()
    {
        _ring.Dispose();
        _pipe.Writer.Complete();
        _pipe.Reader.Complete();
    }

    [Benchmark(Baseline = true)]
    public byte[] Queue_of_bytes()
    {
        foreach (byte value in _source)
        {
            _queue.Enqueue(value);
        }

        for (int i = 0; i < _destination.Length; i++)
        {
            _destination[i] = _queue.Dequeue();
        }

        return _destination;
    }

    [Benchmark]
    public byte[] Ring()
    {
        _ring.Write(_source);
        _ring.CopyTo(0, _destination);
        _ring.Consume(_destination.Length);
        return _destination;
    }

    [Benchmark]
    public byte[] Ring_made_and_disposed()
    {
        using var ring = new ArrayPoolCircularBuffer();
        ring.Write(_source);
        ring.CopyTo(0, _destination);
        ring.Consume(_destination.Length);
        return _destination;
    }

    [Benchmark]
    public byte[] Pipe()
    {
        _pipe.Writer.Write(_source);
        PipeFlush.CompleteAtOnce(_pipe.Writer);
        _pipe.Reader.TryRead(out ReadResult result);
        result.Buffer.CopyTo(_destination);
        _pipe.Reader.AdvanceTo(result.Buffer.End);
        return _destination;
    }
}
