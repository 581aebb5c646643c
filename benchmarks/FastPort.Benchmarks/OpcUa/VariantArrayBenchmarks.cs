using System.Buffers;
using BenchmarkDotNet.Attributes;
using FastPort.OpcUa;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;

namespace FastPort.Benchmarks.OpcUa;

/// <summary>Arrays in a variant: numbers are copied as a whole, texts and node ids one by one.</summary>
public class VariantArrayBenchmarks
{
    private const int Elements = 1000;

    private readonly MessageBuffer _buffer = new(ArrayPool<byte>.Shared);
    private Variant _value;
    private byte[] _encoded = [];

    [Params(BuiltInType.Int32, BuiltInType.Double, BuiltInType.String, BuiltInType.NodeId)]
    public BuiltInType Type { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        IEnumerable<int> numbers = Enumerable.Range(0, Elements);
        _value = Type switch
        {
            BuiltInType.Int32 => Variant.FromArray<int>([.. numbers]),
            BuiltInType.Double => Variant.FromArray<double>([.. numbers.Select(static i => i / 2.0)]),
            BuiltInType.String => Variant.FromArray<string>([.. numbers.Select(static i => $"tag-value-{i:D6}")]),
            _ => Variant.FromArray<NodeId>([.. numbers.Select(static i => new NodeId(2, (uint)i))]),
        };
        Encode();
        _encoded = _buffer.Written.ToArray();
    }

    [GlobalCleanup]
    public void Cleanup() => _buffer.Dispose();

    [Benchmark]
    public int Encode()
    {
        _buffer.Clear(int.MaxValue);
        var encoder = new BinaryEncoder(_buffer);
        encoder.WriteVariant(_value);
        encoder.Complete();
        return _buffer.Length;
    }

    [Benchmark]
    public Variant Decode() => new BinaryDecoder(_encoded.AsSpan(), EncodingLimits.Default).ReadVariant();
}
