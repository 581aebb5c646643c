using System.Buffers;

namespace FastPort.Tags.Wire;

/// <summary>Reads bodies that may lie in two pieces.</summary>
internal static class Contiguous
{
    public delegate TResult Reader<out TResult>(ReadOnlySpan<byte> body);

    public static TResult Read<TResult>(in ReadOnlySequence<byte> body, Reader<TResult> reader)
    {
        if (body.IsSingleSegment)
        {
            return reader(body.FirstSpan);
        }

        int length = (int)body.Length;
        byte[] copy = ArrayPool<byte>.Shared.Rent(length);
        try
        {
            body.CopyTo(copy);
            return reader(copy.AsSpan(0, length));
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(copy);
        }
    }
}
