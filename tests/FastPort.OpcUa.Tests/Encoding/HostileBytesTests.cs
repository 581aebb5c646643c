using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Services;
using Xunit;

namespace FastPort.OpcUa.Tests.Encoding;

/// <summary>Bytes that nobody would send: an error value, never an exception, never more memory than the input allows.</summary>
public sealed class HostileBytesTests
{
    // Far below the limit of memory. A null variant takes one byte on the wire and 24 in memory, a data value 48, the emptiest structure
    // 176.
    private const int MemoryPerByte = 400;
    private const int MemoryOfOne = 4096;

    private delegate void Reading(ref BinaryDecoder decoder);

    private static readonly Reading[] Readings =
    [
        static (ref BinaryDecoder d) => d.ReadVariant(),
        static (ref BinaryDecoder d) => d.ReadDataValue(),
        static (ref BinaryDecoder d) => d.ReadDiagnosticInfo(),
        static (ref BinaryDecoder d) => d.ReadExtensionObject(),
        static (ref BinaryDecoder d) => d.ReadStructure<RequestHeader>(),
        static (ref BinaryDecoder d) => d.ReadStructure<ResponseHeader>(),
        static (ref BinaryDecoder d) => d.ReadStructure<ReadRequest>(),
        static (ref BinaryDecoder d) => d.ReadStructure<WriteRequest>(),
        static (ref BinaryDecoder d) => d.ReadStructure<CallRequest>(),
        static (ref BinaryDecoder d) => d.ReadStructure<BrowseRequest>(),
        static (ref BinaryDecoder d) => d.ReadStructure<CreateSessionRequest>(),
        static (ref BinaryDecoder d) => d.ReadStructure<ActivateSessionRequest>(),
        static (ref BinaryDecoder d) => d.ReadStructure<CreateMonitoredItemsRequest>(),
        static (ref BinaryDecoder d) => d.ReadStructure<PublishResponse>(),
        static (ref BinaryDecoder d) => d.ReadStructure<GetEndpointsResponse>(),
        static (ref BinaryDecoder d) => d.ReadStructure<TranslateBrowsePathsResponse>(),
    ];

    [Fact]
    public void Two_hundred_thousand_messages_that_were_changed_at_random()
    {
        var random = new Random(17);
        var values = new RandomValues(random);
        byte[][] seeds = [.. Enumerable.Range(0, 500).Select(_ => RoundTripTests.Encode((ref BinaryEncoder e) =>
        {
            e.WriteVariant(values.Variant());
            e.WriteDataValue(values.DataValue());
            e.WriteDiagnosticInfo(values.DiagnosticInfo(3));
            e.WriteExtensionObject(values.ExtensionObject());
        }))];
        int failed = 0;
        for (int i = 0; i < 200_000; i++)
        {
            byte[] bytes = (byte[])seeds[random.Next(seeds.Length)].Clone();
            for (int changes = random.Next(1, 5); changes > 0; changes--)
            {
                bytes[random.Next(bytes.Length)] = random.Next(4) == 0 ? (byte)0xFF : (byte)random.Next();
            }

            failed += TryRead(bytes.AsSpan(0, random.Next(1, bytes.Length)), Readings[i % Readings.Length]) ? 0 : 1;
        }

        Assert.True(failed > 50_000, $"Only {failed} of the inputs were wrong.");
    }

    [Fact]
    public void Random_bytes()
    {
        var random = new Random(18);
        byte[] bytes = new byte[200];
        for (int i = 0; i < 100_000; i++)
        {
            random.NextBytes(bytes);
            bytes[random.Next(8)] = 0;
            TryRead(bytes.AsSpan(0, random.Next(1, bytes.Length)), Readings[i % Readings.Length]);
        }
    }

    [Theory]
    [InlineData("86" + "40420F00")]
    [InlineData("98" + "40420F00")]
    [InlineData("97" + "FFFFFF7F")]
    [InlineData("0C" + "FFFFFF7F")]
    [InlineData("0F" + "00000010")]
    public void A_long_array_in_a_short_message(string bytes)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        var decoder = new BinaryDecoder(Convert.FromHexString(bytes + "00000000"), EncodingLimits.Default);
        decoder.ReadVariant();

        Assert.Equal(StatusCodes.BadDecodingError, decoder.Error);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, MemoryOfOne);
    }

    [Theory]
    [InlineData("98", "", 10_000)]
    [InlineData("98", "", 64)]
    [InlineData("97", "01", 10_000)]
    [InlineData("97", "01", 64)]
    public void A_long_array_in_a_long_array_a_hundred_times(string array, string element, int length)
    {
        string level = array + Convert.ToHexString(BitConverter.GetBytes(length)) + element;
        byte[] bytes = Convert.FromHexString(string.Concat(Enumerable.Repeat(level, 100)) + new string('0', 2 * length));

        Assert.False(TryRead(bytes, Readings[0]));
    }

    [Fact]
    public void An_array_above_the_limit()
    {
        byte[] bytes = [0x83, 0x03, 0, 0, 0, 1, 2, 3];
        var decoder = new BinaryDecoder(bytes, new EncodingLimits(MaxArrayLength: 2));
        decoder.ReadVariant();
        Assert.Equal(StatusCodes.BadEncodingLimitsExceeded, decoder.Error);
    }

    [Theory]
    [InlineData("98" + "01000000", 99, true)]
    [InlineData("98" + "01000000", 101, false)]
    [InlineData("17" + "01", 99, true)]
    [InlineData("17" + "01", 101, false)]
    public void Nesting_ends_at_100(string level, int depth, bool isAccepted)
    {
        byte[] bytes = Convert.FromHexString(string.Concat(Enumerable.Repeat(level, depth)) + "0301");
        var decoder = new BinaryDecoder(bytes, EncodingLimits.Default);
        decoder.ReadVariant();
        Assert.Equal(isAccepted ? StatusCodes.Good : StatusCodes.BadEncodingLimitsExceeded, decoder.Error);
    }

    [Fact]
    public void Diagnostic_infos_nest_ten_times()
    {
        byte[] bytes = [.. Enumerable.Repeat((byte)0x40, 11), 0];
        var decoder = new BinaryDecoder(bytes, EncodingLimits.Default);
        decoder.ReadDiagnosticInfo();
        Assert.Equal(StatusCodes.BadEncodingLimitsExceeded, decoder.Error);
    }

    // Each element takes far more memory than its bytes on the wire. The arrays of the first two reach the limit by themselves, the others'
    // take less.
    [Theory]
    [InlineData("97", "00", 100_000)]
    [InlineData("98", "00", 100_000)]
    [InlineData("98", "1700")]
    [InlineData("98", "1500")]
    [InlineData("98", "120000")]
    [InlineData("98", "8200000000")]
    [InlineData("98", "9710000000" + "00000000000000000000000000000000")]
    [InlineData("96", "000500")]
    [InlineData("99", "4000")]
    [InlineData("8C", "0100000041")]
    [InlineData("8F", "0100000041")]
    [InlineData("91", "0300000100000041")]
    [InlineData("91", "040000" + "00000000000000000000000000000041")]
    [InlineData("91", "0500000100000041")]
    public void Memory_ends_at_the_limit(string array, string element, int count = 40_000)
    {
        const int Limit = 1024 * 1024;
        byte[] bytes =
        [
            .. Convert.FromHexString(array),
            .. BitConverter.GetBytes(count),
            .. Enumerable.Repeat(Convert.FromHexString(element), count).SelectMany(static one => one),
        ];
        long before = GC.GetAllocatedBytesForCurrentThread();
        var decoder = new BinaryDecoder(bytes, new EncodingLimits(MaxMemoryBytes: Limit));
        decoder.ReadVariant();

        Assert.Equal(StatusCodes.BadEncodingLimitsExceeded, decoder.Error);

        // With arrays that have grown.
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 2 * Limit);
    }

    [Fact]
    public void Memory_of_structures_ends_at_the_limit()
    {
        const int Limit = 1024 * 1024;
        byte[] results = new byte[200_000];
        BitConverter.TryWriteBytes(results, results.Length - sizeof(int));
        long before = GC.GetAllocatedBytesForCurrentThread();
        var decoder = new BinaryDecoder(results, new EncodingLimits(MaxMemoryBytes: Limit));
        DataValueHolder[]? values = null;
        decoder.Structures(ref values);

        Assert.Equal(StatusCodes.BadEncodingLimitsExceeded, decoder.Error);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 3 * Limit);
    }

    [Theory]
    [InlineData("18" + "0301")]
    [InlineData("43" + "01")]
    [InlineData("C3" + "02000000" + "0102" + "02000000" + "01000000" + "03000000")]
    [InlineData("C3" + "02000000" + "0102" + "02000000" + "FEFFFFFF" + "FFFFFFFF")]
    [InlineData("11" + "86" + "00")]
    [InlineData("16" + "0000" + "03" + "00000000")]
    [InlineData("20")]
    public void What_the_standard_forbids(string bytes)
    {
        var decoder = new BinaryDecoder(Convert.FromHexString(bytes), EncodingLimits.Default);
        decoder.ReadVariant();
        Assert.Equal(StatusCodes.BadDecodingError, decoder.Error);
    }

    [Fact]
    public void Reserved_types_are_read_as_byte_strings()
    {
        var decoder = new BinaryDecoder(Convert.FromHexString("1F" + "02000000" + "0102"), EncodingLimits.Default);
        Assert.Equal(new byte[] { 1, 2 }, decoder.ReadVariant().Get<ByteString>().ToArray());
    }

    private static bool TryRead(ReadOnlySpan<byte> bytes, Reading read)
    {
        long allowed = MemoryOfOne + (MemoryPerByte * (long)bytes.Length);
        bool isGood = TryReadOnce(bytes, read, out long allocated);
        if (allocated > allowed)
        {
            // What the runtime allocates once, as it compiles a method again, is not the input's.
            TryReadOnce(bytes, read, out allocated);
        }

        Assert.True(allocated <= allowed, $"{allocated} bytes for {bytes.Length}: {Convert.ToHexString(bytes)}");
        return isGood;
    }

    private static bool TryReadOnce(ReadOnlySpan<byte> bytes, Reading read, out long allocated)
    {
        var decoder = new BinaryDecoder(bytes, EncodingLimits.Default);
        long before = GC.GetAllocatedBytesForCurrentThread();
        read(ref decoder);
        allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        return decoder.Error.IsGood;
    }

    private struct DataValueHolder : IStructure
    {
        public DataValue Value;

        void IStructure.Code<T>(ref T codec) => codec.Field(ref Value);
    }
}
