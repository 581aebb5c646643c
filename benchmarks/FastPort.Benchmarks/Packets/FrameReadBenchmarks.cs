using BenchmarkDotNet.Attributes;
using FastPort.Connections;
using FastPort.Framing;

namespace FastPort.Benchmarks.Packets;

/// <summary>Ten messages of 64 B found in the receive ring, their headers and the first byte of each body looked at.</summary>
public class FrameReadBenchmarks
{
    private const int Frames = 10;

    private readonly ArrayPoolCircularBuffer _ring = new();
    private readonly byte[] _frames = new byte[Frames * (FrameHeader.Size + 64)];

    [GlobalSetup]
    public void Setup()
    {
        byte[] body = new byte[64];
        for (uint correlation = 1; correlation <= Frames; correlation++)
        {
            Random.Shared.NextBytes(body);
            var raw = new RawBody(body);
            FrameWriter.Write(_ring, 0x1000, FrameFlags.None, correlation, received: 0, ref raw, raw.Size);
        }

        _ring.CopyTo(0, _frames);
        _ring.Consume(_frames.Length);
    }

    [GlobalCleanup]
    public void Cleanup() => _ring.Dispose();

    [Benchmark(Baseline = true)]
    public uint Packets_read()
    {
        _ring.Write(_frames);
        uint sum = 0;
        foreach (Packet packet in Packet.ReadAll(_ring.FirstReadableSpan))
        {
            sum += packet.Type + packet.Correlation + packet.Body[0];
        }

        _ring.Consume(_frames.Length);
        return sum;
    }

    [Benchmark]
    public uint Frames_read_in_place()
    {
        _ring.Write(_frames);
        uint sum = 0;
        while (true)
        {
            _ring.GetReadableSpans(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second);
            if (FrameReader.TryRead(
                first, second, FrameLimits.Default, FrameBlocks.None, out FrameHeader header) != FrameReadStatus.Complete)
            {
                return sum;
            }

            sum += header.Type + header.Correlation + first[FrameHeader.Size];
            _ring.Consume((int)header.FrameSize);
        }
    }
}
