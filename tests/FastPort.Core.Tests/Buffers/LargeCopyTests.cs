using FastPort.Buffers;
using Xunit;

namespace FastPort.Core.Tests.Buffers;

public sealed class LargeCopyTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(LargeCopy.Piece - 1)]
    [InlineData(LargeCopy.Piece)]
    [InlineData(LargeCopy.Piece + 1)]
    [InlineData((2 * LargeCopy.Piece) - 1)]
    [InlineData(2 * LargeCopy.Piece)]
    [InlineData((5 * LargeCopy.Piece) + 17)]
    public void Copies_all_and_nothing_else(int length)
    {
        byte[] source = new byte[length];
        new Random(length).NextBytes(source);
        byte[] destination = new byte[length + 3];

        LargeCopy.Copy(source, destination.AsSpan(1));

        Assert.Equal([0, .. source, 0, 0], destination);
    }

    [Theory]
    [InlineData(1)]
    [InlineData((3 * LargeCopy.Piece) + 1)]
    public void What_does_not_fit_is_refused_and_nothing_is_copied(int length)
    {
        byte[] source = new byte[length];
        source.AsSpan().Fill(1);
        byte[] destination = new byte[length - 1];

        Assert.ThrowsAny<ArgumentException>(() => LargeCopy.Copy(source, destination));

        Assert.All(destination, static b => Assert.Equal(0, b));
    }
}
