using System.Buffers;
using FastPort.OpcUa.Encoding;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.OpcUa.Tests.Encoding;

/// <summary>
/// What is written is read, for every built-in type; and a message that was cut off anywhere is an error, never an exception.
/// </summary>
public sealed class RoundTripTests
{
    private static readonly Config Runs = Config.QuickThrowOnFailure.WithMaxTest(2000).WithQuietOnSuccess(true)
        .WithReplay(new Replay(new Rnd(4840, 1), null));

    private static readonly Arbitrary<int> Seeds = Arb.From(Gen.Choose(0, int.MaxValue));

    public static TheoryData<BuiltInType> Types => [.. Enum.GetValues<BuiltInType>().Where(static t => t != BuiltInType.Null)];

    [Theory]
    [MemberData(nameof(Types))]
    public void Every_type_survives_as_scalar_array_and_matrix(BuiltInType type)
    {
        var values = new RandomValues(new Random((int)type));
        for (int i = 0; i < 200; i++)
        {
            if (type != BuiltInType.Variant)
            {
                AssertSurvives(values.Scalar(type, depth: 2));
            }

            AssertSurvives(values.ArrayOf(type, depth: 2));
            AssertSurvives(values.MatrixOf(type, depth: 2));
        }
    }

    [Fact]
    public void Any_variant_survives() =>
        Check.One(Runs, Prop.ForAll(Seeds, static seed => AssertSurvives(new RandomValues(new Random(seed)).Variant())));

    [Fact]
    public void Any_data_value_survives() => Check.One(Runs, Prop.ForAll(Seeds, static seed =>
    {
        DataValue value = new RandomValues(new Random(seed)).DataValue(3);
        byte[] bytes = Encode((ref BinaryEncoder e) => e.WriteDataValue(value));
        var decoder = new BinaryDecoder(bytes, EncodingLimits.Default);
        Assert.Equal(value, decoder.ReadDataValue());
        Assert.Equal((StatusCodes.Good, 0), (decoder.Error, decoder.Left));
    }));

    [Fact]
    public void A_message_that_was_cut_off_is_an_error() => Check.One(Runs, Prop.ForAll(Seeds, static seed =>
    {
        var random = new Random(seed);
        DataValue value = new RandomValues(random).DataValue(2);
        byte[] bytes = Encode((ref BinaryEncoder e) => e.WriteDataValue(value));
        var decoder = new BinaryDecoder(bytes.AsSpan(0, random.Next(bytes.Length)), EncodingLimits.Default);
        decoder.ReadDataValue();
        Assert.Equal(StatusCodes.BadDecodingError, decoder.Error);
    }));

    [Fact]
    public void Byte_strings_can_be_borrowed_from_the_message()
    {
        byte[] message = [9, 9, .. Encode(static (ref BinaryEncoder e) => e.WriteByteString(new byte[] { 1, 2, 3 })), 9];
        var decoder = new BinaryDecoder(new ArraySegment<byte>(message, 2, 7), EncodingLimits.Default);

        ByteString borrowed = decoder.ReadByteString();

        Assert.Equal(new byte[] { 1, 2, 3 }, borrowed.ToArray());
        Assert.True(borrowed.Memory.Span.Overlaps(message));
        Assert.Equal(0, decoder.Left);
    }

    internal delegate void Writing(ref BinaryEncoder encoder);

    internal static byte[] Encode(Writing write)
    {
        var buffer = new ArrayBufferWriter<byte>();
        var encoder = new BinaryEncoder(buffer);
        write(ref encoder);
        encoder.Complete();
        Assert.Equal(buffer.WrittenCount, encoder.Length);
        return buffer.WrittenSpan.ToArray();
    }

    private static void AssertSurvives(Variant value)
    {
        byte[] bytes = Encode((ref BinaryEncoder e) => e.WriteVariant(value));
        var decoder = new BinaryDecoder(bytes, EncodingLimits.Default);
        Variant read = decoder.ReadVariant();
        Assert.Equal((StatusCodes.Good, 0), (decoder.Error, decoder.Left));
        Assert.Equal(value, read);
        Assert.Equal(value.GetHashCode(), read.GetHashCode());
    }
}
