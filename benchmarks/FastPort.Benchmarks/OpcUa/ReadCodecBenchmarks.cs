using System.Buffers;
using BenchmarkDotNet.Attributes;
using FastPort.OpcUa;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.Benchmarks.OpcUa;

/// <summary>The bodies of a Read's request and response, half Int32 and half Double, encoded and decoded.</summary>
public class ReadCodecBenchmarks
{
    private readonly MessageBuffer _buffer = new(ArrayPool<byte>.Shared);
    private ReadRequest _request;
    private ReadResponse _response;
    private byte[] _encodedRequest = [];
    private byte[] _encodedResponse = [];

    [Params(1, 100, 2000)]
    public int Tags { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        var now = new DateTime(2026, 11, 23, 12, 0, 0, DateTimeKind.Utc);
        _request = new ReadRequest
        {
            TimestampsToReturn = TimestampsToReturn.Both,
            NodesToRead =
            [
                .. Enumerable.Range(0, Tags).Select(
                    i => new ReadValueId { NodeId = new NodeId(2, (uint)(1000 + i)), AttributeId = (uint)AttributeId.Value }),
            ],
        };
        _response = new ReadResponse
        {
            Results = [.. Enumerable.Range(0, Tags).Select(
                i => new DataValue(i % 2 == 0 ? (Variant)i : i / 2.0, StatusCodes.Good, now, now))],
        };
        _encodedRequest = Encode(_request);
        _encodedResponse = Encode(_response);
    }

    [GlobalCleanup]
    public void Cleanup() => _buffer.Dispose();

    [Benchmark]
    public int Encode_request() => EncodeInto(_request);

    [Benchmark]
    public int Decode_request() =>
        new BinaryDecoder(_encodedRequest.AsSpan(), EncodingLimits.Default).ReadStructure<ReadRequest>().NodesToRead!.Length;

    [Benchmark]
    public int Encode_response() => EncodeInto(_response);

    [Benchmark]
    public int Decode_response() =>
        new BinaryDecoder(_encodedResponse.AsSpan(), EncodingLimits.Default).ReadStructure<ReadResponse>().Results!.Length;

    private int EncodeInto<T>(in T message)
        where T : struct, IStructure
    {
        _buffer.Clear(int.MaxValue);
        var encoder = new BinaryEncoder(_buffer);
        encoder.WriteStructure(message);
        encoder.Complete();
        return _buffer.Length;
    }

    private byte[] Encode<T>(in T message)
        where T : struct, IStructure
    {
        EncodeInto(message);
        return _buffer.Written.ToArray();
    }
}
