using System.Buffers;
using Xunit;

namespace FastPort.OpcUa.Tests;

/// <summary>When two values are equal: it says what a change is.</summary>
public sealed class VariantTests
{
    [Fact]
    public void Arrays_are_equal_if_their_elements_are()
    {
        AssertElements(false, true);
        AssertElements<sbyte>(1, 2);
        AssertElements<byte>(1, 2);
        AssertElements<short>(1, 2);
        AssertElements<ushort>(1, 2);
        AssertElements(1, 2);
        AssertElements(1u, 2u);
        AssertElements(1L, 2L);
        AssertElements(1UL, 2UL);
        AssertElements(1f, 2f);
        AssertElements(1.0, 2.0);
        AssertElements("a", "b");
        AssertElements<string?>("a", null);
        AssertElements(new DateTime(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc), new DateTime(2027, 1, 1, 0, 0, 0, DateTimeKind.Utc));
        AssertElements(new Guid(1, 2, 3, new byte[8]), Guid.Empty);
        AssertElements<ByteString>(new byte[] { 1 }, new byte[] { 2 });
        AssertElements<ByteString>(Array.Empty<byte>(), default);
        AssertElements(new NodeId(0, 1), new NodeId(0, 2));
        AssertElements<LocalizedText>("a", "b");
        AssertElements<Variant>(1, 1u);

        static void AssertElements<T>(T one, T other)
        {
            Variant value = Variant.FromArray<T>([one, other]);
            Assert.Equal(value, Variant.FromArray<T>([one, other]));
            Assert.NotEqual(value, Variant.FromArray<T>([one, one]));
            Assert.NotEqual(value, Variant.FromArray<T>([one]));
            Assert.NotEqual(Variant.FromArray<T>([]), Variant.FromArray<T>(null));
            Assert.Equal(Variant.FromArray<T>(null), Variant.FromArray<T>(null));
            Assert.NotEqual(value, Variant.FromMatrix<T>([one, other], 1, 2));
        }
    }

    [Fact]
    public void A_matrix_may_have_no_elements_and_keeps_its_dimensions()
    {
        Variant value = Variant.FromMatrix(Array.Empty<int>(), 0, 3);
        var writer = new ArrayBufferWriter<byte>();
        value.WriteBinary(writer);

        Assert.Equal([0xC6, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0], writer.WrittenSpan.ToArray());
        Assert.True(Variant.TryReadBinary(writer.WrittenSpan, out Variant read));
        Assert.Equal(value, read);
        Assert.Equal([0, 3], read.Dimensions.ToArray());
        Assert.All(
            (int[][])[[], [0], [0, -1], [1, 1]],
            static dimensions => Assert.Throws<ArgumentException>(() => Variant.FromMatrix(Array.Empty<int>(), dimensions)));
    }

    [Fact]
    public void Numbers_of_arrays_are_equal_as_numbers_are()
    {
        Assert.Equal(Variant.FromArray([0.0, double.NaN]), Variant.FromArray([-0.0, -double.NaN]));
        Assert.Equal(Variant.FromArray([0f, float.NaN]), Variant.FromArray([-0f, -float.NaN]));
        Assert.NotEqual(Variant.FromArray([1, 2]), Variant.FromArray([1u, 2u]));
    }
}
